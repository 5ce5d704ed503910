/* SPDX-License-Identifier: Apache-2.0 */
/* pages.c - pages in a list, from a cursor; the visits of one. */
#include <math.h>
#include <stdio.h>

#include "base/when.h"
#include "cli/export/changes.h"
#include "cli/frame/command.h"
#include "policy/policy.h"
#include "serve/serve_inner.h"
#include "web/url/url.h"

#define LIMIT_MAX 1000          /* pages of one answer */
#define SCAN_MAX 200000         /* rows that one answer looks at */

struct listing {
	struct json *j;
	const char *site, *state, *q;
	int64_t changed_since, limit, scanned;
	bool failing;
	int64_t n;
	uint32_t next;                  /* page to go on from; STORE_NONE: there is no more */
	struct buf text;
};

static bool has_word(struct text url, const char *q)
{
	size_t size = strlen(q);

	for (size_t i = 0; i + size <= url.size; i++)
		if (!strncasecmp(url.s + i, q, size))
			return true;
	return false;
}

static bool is_wanted(struct listing *l, const struct store_page *p)
{
	if (l->state && (l->failing ? !p->fails || p->state != STORE_PAGE_HERE :
	                 strcmp(p->care ? store_care_name(p->care) : store_state_name(p->state), l->state)))
		return false;
	if (p->last_change < l->changed_since || (l->q && !has_word(p->url, l->q)))
		return false;
	if (l->site) {
		buf_clear(&l->text);
		url_site(p->url.s, p->url.size, false, &l->text);
		if (strcmp(buf_text(&l->text), l->site))
			return false;
	}
	return true;
}

static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	struct listing *l = arg;

	(void)err;
	if (l->n == l->limit || l->scanned++ == SCAN_MAX) {
		l->next = p->number;
		return 1;
	}
	if (!is_wanted(l, p))
		return 0;
	l->n++;
	json_object(l->j);
	json_kint(l->j, "page", p->number);
	page_print_json(l->j, p);
	json_kint(l->j, "fails", p->fails);
	json_end_object(l->j);
	return 0;
}

void route_pages(struct call *c)
{
	const struct uri *u = &c->request->uri;
	const char *since = uri_param(u, "changed_since");
	struct listing l = { .j = &c->j, .site = uri_param(u, "site"), .q = uri_param(u, "q"),
	                     .state = uri_param(u, "state"), .changed_since = INT64_MIN,
	                     .next = STORE_NONE };
	struct err err = { 0 };
	struct store *s;
	int64_t from;
	int rc;

	if (!call_number(c, "limit", 100, 1, LIMIT_MAX, &l.limit) ||
	    !call_number(c, "cursor", 0, 0, STORE_NONE - 1, &from))
		return;
	if (since && !when_parse(since, strlen(since), &l.changed_since)) {
		http_problem(c->answer, 400, "changed_since: a time as 2026-01-31, please");
		return;
	}
	l.failing = l.state && !strcmp(l.state, "failing");
	if (!(s = call_store(c, STORE_READ)))
		return;
	buf_init(&l.text, BUF_NO_LIMIT);
	cli_json_schema(&c->j, "pages");
	json_key(&c->j, "pages");
	json_array(&c->j);
	rc = store_pages(s, (uint32_t)from, see_page, &l, &err);
	json_end_array(&c->j);
	json_key(&c->j, "next");
	if (l.next == STORE_NONE) {
		json_null(&c->j);
	} else {
		char next[16];

		snprintf(next, sizeof next, "%u", l.next);
		json_str(&c->j, next);
	}
	cli_json_end(&c->j);
	if (rc < 0)
		answer_error(c, rc, &err);
	else
		answer_json(c);
	buf_release(&l.text);
	store_close(s);
}

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct json *j = arg;

	(void)err;
	json_object(j);
	visit_print_json(j, v);
	json_kbool(j, "hit", v->hit);
	if (v->reason)
		json_kstr(j, "reason", reason_name(v->reason));
	if (!isnan(v->score))
		json_knum(j, "score", (double)v->score);
	json_end_object(j);
	return 0;
}

void route_history(struct call *c)
{
	struct store *s = call_store(c, STORE_READ);
	struct err err = { 0 };
	struct store_page page;
	const char *url;
	int rc;

	if (s && call_page(c, s, &page, &url)) {
		cli_json_schema(&c->j, "history");
		json_kstr(&c->j, "url", url);
		json_kint(&c->j, "page", page.number);
		json_key(&c->j, "visits");
		json_array(&c->j);
		rc = store_visits_of(s, &page.number, 1, 0, UINT32_MAX, see_visit, &c->j, &err);
		json_end_array(&c->j);
		cli_json_end(&c->j);
		if (rc < 0)
			answer_error(c, rc, &err);
		else
			answer_json(c);
	}
	store_close(s);
}
