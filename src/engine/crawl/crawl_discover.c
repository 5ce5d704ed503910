/* SPDX-License-Identifier: Apache-2.0 */
/* crawl_discover.c - discovery in a cycle on the live web: before it, and what of the
 * budget it takes; see discover.h. */
#include "engine/crawl/crawl_inner.h"

#include <string.h>

int crawl_discover(struct crawl *c, struct err *err)
{
	struct crawl_report *rep = c->report;
	struct discover_opts how = c->opts->discover;
	int rc;

	if (!(c->opts->discover.share.value > 0))
		return 0;
	if (!c->opts->scope && (rc = care_rules_load(&c->care, c->store, err)) < 0)
		return rc;
	how.care = c->opts->scope ? c->opts->scope : &c->care;
	rc = discover_new(&c->discover, c->store, &how, &rep->cycle, err);
	if (rc < 0)
		return rc;
	if (rep->resumed)
		return discover_recall(c->discover, &rep->discovery, err);
	/* the number of pages is that before new ones come */
	crawl_row_budget_of(c, discover_here(c->discover));
	c->apart = true;
	rc = discover_run(c->discover, rep->cycle.budget, c->fetch, c->opts->stop,
	                  &rep->discovery, err);
	c->apart = false;
	if (rc == E_STOP)
		rep->stopped = true;
	return rc;
}

static uint32_t *asked_of(struct discovery *d, uint8_t reason)
{
	return reason == REASON_NEW ? &d->asked_new : reason == REASON_TOLD ? &d->asked_told :
	       reason == REASON_HUB ? &d->asked_hubs : NULL;
}

void crawl_discover_count(struct crawl *c, uint8_t reason, enum outcome outcome)
{
	uint32_t *n = asked_of(&c->report->discovery, reason);

	if (n && outcome != OUTCOME_BLOCKED)
		++*n;
}

int crawl_discover_alias(struct crawl *c, uint32_t page, const struct fetch_result *r,
                         struct err *err)
{
	struct store_page p, was;
	int rc = store_page_find(c->store, (struct text){ r->url, strlen(r->url) }, &p, err);

	if (rc <= 0 || p.number == page)
		return rc < 0 ? rc : 0;
	rc = store_page_get(c->store, page, &p, err);
	if (rc <= 0)
		return rc;
	was = p;
	p.state = STORE_PAGE_LEFT;
	c->report->discovery.aliases++;
	return store_page_update(c->store, &was, &p, err);
}

struct had { uint32_t place; struct offer offer; };

static int compare_places(const void *pa, const void *pb)
{
	const struct had *a = pa, *b = pb;

	return a->place < b->place ? -1 : a->place > b->place;
}

/* What the share is for, as when the cycle began: what was asked for before it broke off
 * is no longer among the offers, and stands in the place it had, behind the touched pages. */
static void reserve(struct crawl *c, const struct crawl_made *made, const struct offer *offers,
                    size_t n)
{
	VEC(struct had) had = { 0 };
	size_t m = 0, next = 0;

	for (size_t i = 0; i < made->events.n; i++)
		if (made->events.v[i].kind == EVENT_TOLD &&
		    asked_of(&c->report->discovery, made->events.v[i].offer.reason))
			vec_push(&had, ((struct had){ made->place.v[i], made->events.v[i].offer }));
	if (had.n)
		qsort(had.v, had.n, sizeof *had.v, compare_places);
	for (uint32_t place = (uint32_t)c->touched.v.n + 1; m < had.n || next < n; place++)
		if (m < had.n && (had.v[m].place <= place || next == n))
			vec_push(&c->reserved, had.v[m++].offer);
		else
			vec_push(&c->reserved, offers[next++]);
	vec_release(&had);
}

/* The pages that were touched before the cycle began; they are kept with it. */
static int find_touched(struct crawl *c, struct err *err)
{
	const struct store_cycle *row = &c->report->cycle;
	struct touch_rule rule = { c->opts->notifier_share, c->budget,
	                           c->resumed->engine.view.n_pages, row->time };
	int rc;

	if (c->opts->goal == GOAL_ALIVE)
		return 0;
	if (c->report->resumed) {
		rc = touch_recall(&c->touched, c->store, row->number, rule.n_pages, err);
		return rc < 0 ? rc : 0;
	}
	if ((rc = touch_choose(&c->touched, c->store, &rule, err)) < 0 || !c->touched.v.n)
		return rc;
	if ((rc = store_begin(c->store, err)) == 0 &&
	    (rc = touch_keep(&c->touched, c->store, row->number, err)) == 0)
		rc = store_commit(c->store, err);
	if (rc < 0)
		store_rollback(c->store);
	return rc;
}

static int reserve_new(struct crawl *c, const struct crawl_made *made, struct err *err)
{
	struct discovery *d = &c->report->discovery;
	const struct offer *offers;
	size_t n;
	int rc;

	for (size_t i = 0; i < made->events.n; i++)
		crawl_discover_count(c, made->events.v[i].offer.reason,
		                     made->events.v[i].delivery.outcome);
	if (!d->on)
		return 0;
	rc = discover_offers(c->discover, c->opts->cycle_seconds, &offers, &n, err);
	if (rc == 0)
		reserve(c, made, offers, n);
	return rc;
}

int crawl_reserve(struct crawl *c, const struct crawl_made *made, struct err *err)
{
	struct engine_rules *r = &c->resumed->engine.rules;
	int rc = find_touched(c, err);

	for (size_t i = 0; i < c->touched.v.n; i++)
		vec_push(&c->reserved, c->touched.v.v[i]);
	if (rc == 0)
		rc = reserve_new(c, made, err);
	r->reserved = c->reserved.v;
	r->n_reserved = c->reserved.n;
	r->reserved_most = (uint32_t)c->touched.v.n +
	                   (c->report->discovery.on ? c->report->discovery.share : 0);
	return rc;
}
