/* SPDX-License-Identifier: Apache-2.0 */
/* api_changes.c - changes since a cursor, and exports; include/freshet.h is their manual. */
#include "base/io/output.h"
#include "engine/api/api.h"
#include "engine/export/export.h"
#include "engine/changes/change_feed.h"

struct changes {
	struct freshet *f;
	int (*each)(void *arg, const struct freshet_change *change);
	void *arg;
};

/* 1: the caller has enough. */
static int hand_out(void *arg, const struct store_visit *v, struct err *err)
{
	struct changes *c = arg;
	struct freshet *f = c->f;
	struct freshet_change change = {
		.size = sizeof change, .time = v->time, .cycle = v->cycle, .status = v->status,
		.kind = v->outcome == OUTCOME_GONE ? FRESHET_GONE_PAGE :
		        v->hit ? FRESHET_CHANGED_PAGE : FRESHET_NEW_PAGE,
		.offset = -1, .length = -1,
	};
	struct store_capture copy;
	struct store_page page;
	char cursor[CHANGE_CURSOR_SIZE];
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
	change_cursor_write(&(struct change_cursor){ v->cycle, v->order }, cursor);
	change.cursor = cursor;
	return c->each(c->arg, &change) != 0;
}

int freshet_changes(struct freshet *f, const char *cursor,
                    int (*each)(void *arg, const struct freshet_change *change), void *arg)
{
	struct changes c = { .f = f, .each = each, .arg = arg };
	struct change_cursor from;
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	rc = each ? store_freeze(f->store, &f->err) :
	     err_set(&f->err, E_USAGE, "nobody takes the changes");
	if (rc == 0)
		rc = change_cursor_read(&from, f->store, cursor, &f->err);
	if (rc == 0)
		rc = change_feed(f->store, &from, hand_out, &c, &f->err);
	return api_end(f, rc);
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
