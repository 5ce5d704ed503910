/* SPDX-License-Identifier: Apache-2.0 */
/* export_rows.c - pages, visits and changes, one JSON object a line; see export.h. */
#include <math.h>

#include "cli/export/changes.h"
#include "cli/export/export.h"
#include "policy/policy.h"

static void end_line(struct exporting *e)
{
	json_end_object(&e->j);
	json_newline(&e->j);
	e->n_written++;
}

static int export_page(void *arg, const struct store_page *p, struct err *err)
{
	struct exporting *e = arg;
	struct json *j = &e->j;

	(void)err;
	if (!tagged_has(&e->tagged, p->number))
		return 0;
	json_object(j);
	page_print_json(j, p);
	moved_to_json(&e->moved, p->number, j);
	end_line(e);
	return 0;
}

int export_pages(struct exporting *e, struct err *err)
{
	int rc = moved_load(&e->moved, e->store, err);

	if (rc == 0)
		rc = store_pages(e->store, 0, export_page, e, err);
	moved_release(&e->moved);
	return rc;
}

struct visiting { struct exporting *e; struct store_page page; bool has_page; };

/* Visits of a page come one after the other in imported history only: so the last page is
 * remembered, which is enough. */
static int write_url(struct visiting *w, uint32_t page, struct err *err)
{
	int rc = 1;

	if (!w->has_page || w->page.number != page)
		rc = store_page_get(w->e->store, page, &w->page, err);
	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "a visit of page %u, which is not there",
		                             page);
	w->has_page = true;
	export_text(&w->e->j, "url", w->page.url);
	return 0;
}

static int export_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct visiting *w = arg;
	struct exporting *e = w->e;
	struct json *j = &e->j;
	int rc;

	if (v->time < e->since)
		return 0;
	json_object(j);
	rc = write_url(w, v->page, err);
	if (rc < 0)
		return rc;
	visit_print_json(j, v);
	json_kbool(j, "hit", v->hit);
	if (v->reason)
		json_kstr(j, "reason", reason_name(v->reason));
	if (!isnan(v->score))
		json_knum(j, "score", (double)v->score);
	if (!isnan(v->probability))
		json_knum(j, "probability", (double)v->probability);
	end_line(e);
	return 0;
}

int export_visits(struct exporting *e, struct err *err)
{
	struct visiting w = { .e = e };

	return store_visits(e->store, e->from, e->to_cycle, export_visit, &w, err);
}

int export_changed(struct exporting *e, struct err *err)
{
	struct changes c = { 0 };
	int rc = changes_load(&c, e->store, e->since, e->from, e->to_cycle, err);

	for (size_t i = 0; i < c.rows.n && rc == 0; i++) {
		rc = change_print_json(&e->j, e->store, e->cli->common.repository, &c.rows.v[i], err);
		e->n_written += rc == 0;
	}
	changes_release(&c);
	return rc;
}
