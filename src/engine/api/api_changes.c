/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_changes.c - changes since a cursor, and exports; include/freshet.h is their manual.
 *
 * A cursor is a cycle and the order of a visit in it.  Both only rise: cycles come one after
 * the other, visits of a cycle are kept in the order told, and a cycle that is over gets no
 * more.  So what is kept later stands behind every cursor that was handed out before.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/io/output.h"
#include "engine/api/api.h"
#include "engine/archive/export.h"

#define CURSOR_SIZE 40

struct changes {
	struct freshet *f;
	uint32_t cycle, order;          /* those up to here were seen */
	uint32_t last_cycle;
	int (*each)(void *arg, const struct freshet_change *change);
	void *arg;
};

static void write_cursor(char out[CURSOR_SIZE], uint32_t cycle, uint32_t order)
{
	snprintf(out, CURSOR_SIZE, "1.%" PRIu32 ".%" PRIu32, cycle, order);
}

static int last_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	(void)err;
	*(uint32_t *)arg = c->number;
	return 0;
}

/* The first number is the version of the cursors. */
static int read_cursor(struct changes *c, const char *cursor)
{
	char again[CURSOR_SIZE];
	int rc;

	if (!cursor)
		return 0;
	if (sscanf(cursor, "1.%" SCNu32 ".%" SCNu32, &c->cycle, &c->order) == 2)
		write_cursor(again, c->cycle, c->order);
	else
		again[0] = '\0';
	if (!again[0] || strcmp(again, cursor))
		return err_set(&c->f->err, E_USAGE, "this is no cursor of changes");
	rc = store_cycles(c->f->store, last_cycle, &c->last_cycle, &c->f->err);
	if (rc == 0 && c->cycle > c->last_cycle)
		rc = err_set(&c->f->err, E_USAGE, "the cursor is ahead of this repository: it is of "
		             "another, or of a later state; begin without one");
	return rc;
}

/* 1: the caller has enough. */
static int hand_out(struct changes *c, const struct store_visit *v, struct err *err)
{
	struct freshet *f = c->f;
	struct freshet_change change = {
		.size = sizeof change, .time = v->time, .cycle = v->cycle, .status = v->status,
		.kind = v->outcome == OUTCOME_GONE ? FRESHET_GONE_PAGE :
		        v->hit ? FRESHET_CHANGED_PAGE : FRESHET_NEW_PAGE,
		.offset = -1, .length = -1,
	};
	struct store_capture copy;
	struct store_page page;
	char cursor[CURSOR_SIZE];
	int rc = store_page_get(f->store, v->page, &page, err);

	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "a visit of page %u, which is not there",
		                             v->page);
	arena_reset(&f->texts);
	change.url = api_text(f, page.url);
	rc = v->capture ? store_capture_get(f->store, v->capture, &copy, err) : 0;
	if (rc < 0)
		return rc;
	if (rc > 0) {
		change.mime = api_text(f, copy.mime);
		change.title = api_text(f, copy.title);
		change.digest = api_text(f, copy.digest);
		change.robots = api_text(f, copy.robots);
		change.file = api_text(f, copy.file);
		change.offset = copy.offset;
		change.length = copy.size;
	}
	write_cursor(cursor, v->cycle, v->order);
	change.cursor = cursor;
	return c->each(c->arg, &change) != 0;
}

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct changes *c = arg;

	if ((v->cycle == c->cycle && v->order <= c->order) ||
	    (v->outcome != OUTCOME_CHANGED && v->outcome != OUTCOME_GONE))
		return 0;
	return hand_out(c, v, err);
}

int freshet_changes(struct freshet *f, const char *cursor,
                    int (*each)(void *arg, const struct freshet_change *change), void *arg)
{
	struct changes c = { .f = f, .each = each, .arg = arg };
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	rc = each ? store_freeze(f->store, &f->err) :
	     err_set(&f->err, E_USAGE, "nobody takes the changes");
	if (rc == 0)
		rc = read_cursor(&c, cursor);
	if (rc == 0)            /* cycle 0 is imported history */
		rc = store_visits(f->store, STORE_NONE, c.cycle ? c.cycle : 1, UINT32_MAX, see_visit,
		                  &c, &f->err);
	return api_end(f, rc < 0 ? rc : 0);
}

static int export_index(struct freshet *f, struct export *x, const char *path, bool extended)
{
	struct output *out;
	int rc = output_open(&out, path, &f->err);

	if (rc < 0)
		return rc;
	rc = export_cdxj(x, extended, output_file(out), &f->err);
	if (rc == 0)
		return output_close(out, &f->err);
	output_abandon(out);
	return rc;
}

int freshet_export(struct freshet *f, const char *kind, const char *path)
{
	struct export x;
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	x = (struct export){ .store = f->store, .folder = f->folder, .report = api_warn, .arg = f };
	if (!kind || !path)
		rc = err_set(&f->err, E_USAGE, "say what to export, and where to");
	else if (!strcmp(kind, "cdxj") || !strcmp(kind, "cdxj-extended"))
		rc = export_index(f, &x, path, kind[4] != '\0');
	else if (!strcmp(kind, "warc"))
		rc = export_warc(&x, path, (uint64_t)api_now(f, 0) << 20, &f->err);
	else
		rc = err_set(&f->err, E_USAGE, "'%.60s' is none of cdxj, cdxj-extended, warc", kind);
	return api_end(f, rc);
}
