/* SPDX-License-Identifier: Apache-2.0 */
/* pages.c - pages in a list, from a cursor; the visits of one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/when.h"
#include "cli/export/changes.h"
#include "cli/frame/command.h"
#include "policy/policy.h"
#include "serve/fleet/fleet.h"
#include "serve/serve_inner.h"
#include "web/url/url.h"

#define LIMIT_MAX 1000          /* pages of one answer */
#define FAILING "failing"       /* a state of this list: here, but its last visits failed */
#define SCAN_MAX 200000         /* rows that one answer looks at */

struct listing {
	struct json *j;
	const char *site, *state, *q;
	int64_t changed_since, limit, scanned;
	bool failing;
	int64_t n;
	int32_t shard;                  /* of a fleet; -1: of none */
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

static bool is_state(const char *name)
{
	static const unsigned cares[] = { CARE_REMOVED, CARE_SCOPE, CARE_PAUSED, CARE_SITE };

	for (unsigned i = STORE_PAGE_HERE; i <= STORE_PAGE_LEFT; i++)
		if (!strcmp(name, store_state_name(i)))
			return true;
	for (size_t i = 0; i < sizeof cares / sizeof *cares; i++)
		if (!strcmp(name, store_care_name(cares[i])))
			return true;
	return !strcmp(name, FAILING);
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

/* A page as {page} names it. */
static void print_number(struct listing *l, const char *key, uint32_t number)
{
	char text[32];

	snprintf(text, sizeof text, "%d.%u", l->shard, number);
	if (l->shard >= 0)
		json_kstr(l->j, key, text);
	else
		json_kint(l->j, key, number);
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
	print_number(l, "page", p->number);
	page_print_json(l->j, p);
	json_kint(l->j, "fails", p->fails);
	json_end_object(l->j);
	return 0;
}

/* Shard after shard, from this one on. */
static int list_fleet(struct listing *l, struct serve_fleet *f, uint32_t from, struct err *err)
{
	struct fleet_shard *list = NULL;
	int32_t first = l->shard;
	size_t n = 0;
	int rc = serve_fleet_shards(f, &list, &n, err);

	for (size_t i = 0; i < n && rc == 0 && l->next == STORE_NONE; i++) {
		struct store *s = NULL;

		if (list[i].shard < first)
			continue;
		l->shard = list[i].shard;
		rc = serve_fleet_store(f, l->shard, &s, err);
		if (rc == 0)
			rc = store_pages(s, l->shard == first ? from : 0, see_page, l, err);
		rc = rc > 0 ? 0 : rc;
		store_close(s);
	}
	free(list);
	return rc;
}

static int list_pages(struct call *c, struct listing *l, uint32_t from, struct err *err)
{
	struct store *s = NULL;
	int rc;

	if (c->serve->fleet)
		return list_fleet(l, c->serve->fleet, from, err);
	rc = serve_store(c->serve, STORE_READ, &s, err);
	if (rc == 0)
		rc = store_pages(s, from, see_page, l, err);
	store_close(s);
	return rc;
}

/* Over a fleet SHARD.NUMBER.  False: the answer is there. */
static bool read_cursor(struct call *c, struct listing *l, uint32_t *ret)
{
	const char *text = uri_param(&c->request->uri, "cursor");
	unsigned shard = 0, number = 0;
	int64_t from;
	int end = 0;

	l->shard = -1;
	if (!c->serve->fleet) {
		if (!call_number(c, "cursor", 0, 0, STORE_NONE - 1, &from))
			return false;
		*ret = (uint32_t)from;
		return true;
	}
	if (text && (text[strspn(text, "0123456789.")] ||
	             sscanf(text, "%5u.%9u%n", &shard, &number, &end) != 2 || text[end])) {
		http_problem(c->answer, 400, "cursor: `next` of the answer before, please");
		return false;
	}
	l->shard = (int32_t)shard;
	*ret = number;
	return true;
}

void route_pages(struct call *c)
{
	const struct uri *u = &c->request->uri;
	const char *since = uri_param(u, "changed_since");
	struct listing l = { .j = &c->j, .site = uri_param(u, "site"), .q = uri_param(u, "q"),
	                     .state = uri_param(u, "state"), .changed_since = INT64_MIN,
	                     .next = STORE_NONE };
	struct err err = { 0 };
	uint32_t from;
	int rc;

	if (!call_number(c, "limit", 100, 1, LIMIT_MAX, &l.limit) || !read_cursor(c, &l, &from))
		return;
	if (since && !when_parse(since, strlen(since), &l.changed_since)) {
		http_problem(c->answer, 400, "changed_since: a time as 2026-01-31, please");
		return;
	}
	if (l.state && !is_state(l.state)) {
		http_problem(c->answer, 400, "state: here, gone, left, failing, paused, site-paused, removed "
		             "or out-of-scope, please");
		return;
	}
	l.failing = l.state && !strcmp(l.state, FAILING);
	buf_init(&l.text, BUF_NO_LIMIT);
	cli_json_schema(&c->j, "pages");
	json_key(&c->j, "pages");
	json_array(&c->j);
	rc = list_pages(c, &l, from, &err);
	json_end_array(&c->j);
	json_key(&c->j, "next");
	if (l.next == STORE_NONE) {
		json_null(&c->j);
	} else {
		char next[32];

		snprintf(next, sizeof next, "%d.%u", l.shard, l.next);
		json_str(&c->j, l.shard >= 0 ? next : strchr(next, '.') + 1);
	}
	cli_json_end(&c->j);
	if (rc < 0)
		answer_error(c, rc, &err);
	else
		answer_json(c);
	buf_release(&l.text);
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
	struct err err = { 0 };
	struct store_page page;
	const char *url;
	struct store *s = call_page(c, &page, &url);
	int rc;

	if (s) {
		cli_json_schema(&c->j, "history");
		json_kstr(&c->j, "url", url);
		if (c->serve->fleet)
			json_kstr(&c->j, "page", c->args[0]);
		else
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
