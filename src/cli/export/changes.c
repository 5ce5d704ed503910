/* SPDX-License-Identifier: Apache-2.0 */
/* changes.c - see changes.h. */
#include "cli/export/changes.h"

#include <limits.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/when.h"
#include "cli/print/failing_print.h"
#include "cli/print/history_print.h"
#include "engine/archive/archive_name.h"
#include "policy/policy.h"

struct loading {
	struct changes *c;
	int64_t since;
	VEC(uint32_t) by_page;          /* number of its change + 1 */
};

/* Keep, for each page, the last visit that found it new, changed or gone. */
static int note_change(void *arg, const struct store_visit *v, struct err *err)
{
	struct loading *l = arg;
	uint32_t *k;

	(void)err;
	if (v->time < l->since)
		return 0;
	while (l->by_page.n <= v->page)
		vec_push(&l->by_page, 0);
	k = &l->by_page.v[v->page];
	if (!*k) {
		vec_push(&l->c->rows, *v);
		*k = (uint32_t)l->c->rows.n;
	} else if (v->time >= l->c->rows.v[*k - 1].time) {
		l->c->rows.v[*k - 1] = *v;
	}
	return 0;
}

static int by_page(const void *pa, const void *pb)
{
	const struct store_visit *a = pa, *b = pb;

	return a->page < b->page ? -1 : a->page > b->page;
}

int changes_load(struct changes *c, struct store *s, int64_t since, uint32_t from,
                 uint32_t to, struct err *err)
{
	struct loading l = { .c = c, .since = since };
	int rc = store_visits_found(s, from, to, note_change, &l, err);

	if (c->rows.n)
		qsort(c->rows.v, c->rows.n, sizeof *c->rows.v, by_page);
	vec_release(&l.by_page);
	return rc;
}

void changes_release(struct changes *c)
{
	vec_release(&c->rows);
}

const char *change_name(const struct store_visit *v)
{
	return visit_is_first(v) ? "new" : outcome_name((enum outcome)v->outcome);
}

void export_time(struct json *j, const char *key, int64_t t)
{
	char text[21];

	if (!t)
		return;
	when_iso(t, text);
	json_kstr(j, key, text);
}

void export_text(struct json *j, const char *key, struct text t)
{
	if (!t.s)
		return;
	json_key(j, key);
	json_strn(j, t.s, t.size);
}

void visit_print_json(struct json *j, const struct store_visit *v)
{
	json_kint(j, "cycle", v->cycle);
	export_time(j, "time", v->time);
	json_kstr(j, "outcome", change_name(v));
	if (v->status)
		json_kint(j, "status", v->status);
	cause_print_json(j, v);
}

void page_print_json(struct json *j, const struct store_page *p)
{
	export_text(j, "url", p->url);
	if (p->given.size)
		export_text(j, "given", p->given);
	json_kstr(j, "state", store_state_name(p->state));
	if (p->care)
		json_kstr(j, "care", store_care_name(p->care));
	export_time(j, "added", p->added);
	if (p->found)
		json_kint(j, "found", p->found);
	export_time(j, "last_visit", p->last_visit);
	export_time(j, "last_change", p->last_change);
	json_kint(j, "visits", p->visits);
	json_kint(j, "changes", p->changes);
	export_time(j, "lastmod", p->hint);
	json_knum(j, "weight", p->weight);
}

/* The whole path of the archive, so that a reader elsewhere finds it. */
static void print_path(struct json *j, const char *folder, struct text file)
{
	char *name = mem_strndup(file.s, file.size), whole[PATH_MAX];
	struct buf path;

	buf_init(&path, ARCHIVE_NAME_MAX);
	archive_name_path(folder, name, &path);
	if (realpath(buf_text(&path), whole))
		json_kstr(j, "path", whole);
	buf_release(&path);
	free(name);
}

int change_print_json(struct json *j, struct store *s, const char *folder,
                      const struct store_visit *v, struct err *err)
{
	struct store_capture c;
	struct store_page page;
	int rc = store_page_get(s, v->page, &page, err);

	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "a visit of page %u, which is not there",
		                             v->page);
	json_object(j);
	export_text(j, "url", page.url);
	visit_print_json(j, v);
	rc = v->capture ? store_capture_get(s, v->capture, &c, err) : 0;
	if (rc > 0) {
		export_text(j, "mime", c.mime);
		export_text(j, "title", c.title);
		export_text(j, "robots", c.robots);
		export_text(j, "digest", c.digest);
		export_text(j, "file", c.file);
		if (c.file.s && folder)
			print_path(j, folder, c.file);
		if (c.offset >= 0)
			json_kint(j, "offset", c.offset);
		if (c.size >= 0)
			json_kint(j, "size", c.size);
	}
	json_end_object(j);
	json_newline(j);
	return rc < 0 ? rc : 0;
}
