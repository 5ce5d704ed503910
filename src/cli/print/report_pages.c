/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_pages.c - see report_pages.h.
 *
 * Cost: the pages without an answer are read, and VISIT_CHANGES_MAX copies are read back twice;
 * the next cycle costs what a plan does.
 */
#include "cli/print/report_pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/when.h"
#include "cli/frame/command.h"
#include "cli/print/failing_print.h"
#include "engine/changes/change_lines.h"
#include "policy/policy.h"

#define LINES 2                 /* of a change */
#define LINES_SIZE 600          /* bytes of them */
#define LIST_MAX 100            /* pages of the other lists */

/* A page without an answer, and what its last visit came to; outcome N_OUTCOMES: it had none. */
struct unreached {
	uint32_t page;
	int64_t added;
	uint8_t outcome, cause;
	int32_t status;
};

struct gathering {
	VEC(struct unreached) unreached;        /* the first of them */
	struct map at;                  /* page to unreached */
	uint32_t n_unreached;
};

static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	struct gathering *g = arg;
	struct unreached u = { .page = p->number, .added = p->added, .outcome = N_OUTCOMES };

	(void)err;
	if (p->care || p->visits || p->capture || p->state != STORE_PAGE_HERE)
		return 0;
	g->n_unreached++;
	if (g->unreached.n == LIST_MAX)
		return 0;
	map_put(&g->at, p->number, (uint32_t)g->unreached.n);
	vec_push(&g->unreached, u);
	return 0;
}

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct gathering *g = arg;
	struct unreached *u = &g->unreached.v[map_get(&g->at, v->page)];

	(void)err;
	u->outcome = v->outcome;
	u->cause = v->cause;
	u->status = v->status;
	return 0;
}

/* Pages that never had an answer are among those of which no visit was counted as answered. */
static int find_unreached(struct gathering *g, const struct report_pages *p, struct err *err)
{
	const struct visit_counts *c = p->counts;
	VEC(uint32_t) pages = { 0 };
	int rc;

	for (uint32_t i = 0; i < c->n_pages; i++)
		if (!c->answered[i] && p->loaded->visits.state[i] == PAGE_HERE)
			vec_push(&pages, i);
	rc = store_pages_get(p->store, pages.v, pages.n, see_page, g, err);
	pages.n = 0;
	for (size_t i = 0; i < g->unreached.n; i++)
		vec_push(&pages, g->unreached.v[i].page);
	if (rc == 0)
		rc = store_visits_of(p->store, pages.v, pages.n, 1, UINT32_MAX, see_visit, g, err);
	vec_release(&pages);
	return rc;
}

static int newest_first(const void *pa, const void *pb)
{
	const struct store_visit *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return a->page < b->page ? -1 : a->page > b->page;
}

static void put_time(struct json *j, const char *key, int64_t t)
{
	char text[21];

	if (!t)
		return;
	when_iso(t, text);
	json_kstr(j, key, text);
}

static int put_url(struct json *j, struct store *s, uint32_t page, char **ret, struct err *err)
{
	struct store_page p;
	int rc = store_page_get(s, page, &p, err);

	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "no page %u", page);
	json_key(j, "url");
	json_strn(j, p.url.s, p.url.size);
	if (ret)
		*ret = mem_strndup(p.url.s, p.url.size);
	return 0;
}

static int put_change(struct json *j, struct store *s, const struct store_visit *v,
                      struct change_lines *lines, struct err *err)
{
	struct store_capture c;
	char *url = NULL;
	struct buf text;
	int rc;

	buf_init(&text, LINES_SIZE);
	json_object(j);
	rc = put_url(j, s, v->page, &url, err);
	put_time(j, "time", v->time);
	json_kint(j, "cycle", v->cycle);
	json_kstr(j, "outcome", outcome_name((enum outcome)v->outcome));
	if (rc == 0 && v->capture && (rc = store_capture_get(s, v->capture, &c, err)) > 0 &&
	    c.title.size) {
		json_key(j, "title");
		json_strn(j, c.title.s, c.title.size);
	}
	if (rc >= 0 && v->outcome == OUTCOME_CHANGED)
		rc = change_lines_add(lines, url, v->page, v->capture, LINES, &text, err);
	json_kstr(j, "lines", buf_text(&text));
	json_end_object(j);
	buf_release(&text);
	free(url);
	return rc < 0 ? rc : 0;
}

static int put_changes(struct json *j, struct report_pages *p, struct err *err)
{
	const struct visit_counts *c = p->counts;
	struct store_visit newest[VISIT_CHANGES_MAX];
	struct change_lines lines;
	int rc = 0;

	for (size_t i = 0; i < c->newest.n; i++)
		newest[i] = c->newest.v[i];
	qsort(newest, c->newest.n, sizeof *newest, newest_first);
	change_lines_init(&lines, p->store, p->folder);
	json_kint(j, "n_changes", (int64_t)c->n_changes);
	json_key(j, "changes");
	json_array(j);
	for (size_t i = 0; i < c->newest.n && rc == 0; i++)
		rc = put_change(j, p->store, &newest[i], &lines, err);
	json_end_array(j);
	change_lines_release(&lines);
	return rc;
}

static int put_unreached(struct json *j, struct report_pages *p, const struct gathering *g,
                         struct err *err)
{
	int rc = 0;

	json_kint(j, "n_unreached", g->n_unreached);
	json_key(j, "unreached");
	json_array(j);
	for (size_t i = 0; i < g->unreached.n && rc == 0; i++) {
		const struct unreached *u = &g->unreached.v[i];
		struct cause_words why = { "not asked for yet" };

		if (u->outcome < N_OUTCOMES)
			why = cause_words((enum outcome)u->outcome, u->cause, u->status);
		json_object(j);
		rc = put_url(j, p->store, u->page, NULL, err);
		put_time(j, "added", u->added);
		json_kstr(j, "why", why.text);
		json_end_object(j);
	}
	json_end_array(j);
	return rc;
}

/* The next cycle, as `freshet plan` has it. */
static int put_next(struct json *j, struct report_pages *p, struct err *err)
{
	const struct engine *e = &p->plan->r.engine;
	int rc = planning_make(p->plan, err);

	if (rc < 0)
		return rc;
	json_key(j, "next");
	json_object(j);
	json_kstr(j, "policy", p->plan->opts.resume.policy);
	json_kint(j, "budget", p->plan->budget);
	json_kint(j, "n_pages", (int64_t)e->cycle.n_seen);
	json_kint(j, "resting", e->retry.n_resting);
	json_key(j, "pages");
	json_array(j);
	for (size_t i = 0; i < e->cycle.n_seen && i < LIST_MAX; i++) {
		const struct seen *s = &e->cycle.seen[i];

		json_object(j);
		json_kstr(j, "url", pages_url(&p->loaded->pages, s->page));
		json_knum(j, "probability", (double)s->probability);
		json_kstr(j, "reason", reason_name(s->reason));
		json_kstr(j, "why", reason_text(s->reason));
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
	return 0;
}

int report_pages_json(struct json *j, struct report_pages *p, struct err *err)
{
	struct gathering g = { 0 };
	int rc = find_unreached(&g, p, err);

	cli_json_schema(j, "report");
	if (rc == 0)
		rc = put_changes(j, p, err);
	if (rc == 0)
		rc = put_unreached(j, p, &g, err);
	if (rc == 0 && p->plan)
		rc = put_next(j, p, err);
	cli_json_end(j);
	vec_release(&g.unreached);
	map_release(&g.at);
	return rc;
}
