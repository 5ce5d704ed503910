/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_moved.c - pages that moved for good (engine/book/moved.h): seen, followed, and
 * believed no longer.
 *
 * A page that is followed is asked for by its target.  Its own URL is asked again after
 * LOOK_AGAIN, and when the target has no page any more.  If the own URL then has a page, or
 * leads there by a redirect that is not permanent, it has moved back.
 */
#include "engine/crawl/crawl_inner.h"

#include "base/status.h"

#define LOOK_AGAIN (30 * INT64_C(86400))        /* seconds */

int crawl_moved_load(struct crawl *c, struct err *err)
{
	int rc = moved_load(&c->moved, c->store, err);

	if (rc == 0 && !c->opts->scope)
		rc = care_rules_load(&c->moved_care, c->store, err);
	return rc;
}

void crawl_moved_release(struct crawl *c)
{
	moved_release(&c->moved);
	care_rules_release(&c->moved_care);
}

const char *crawl_moved_url(struct crawl *c, uint32_t page)
{
	const struct moved *m = moved_find(&c->moved, page);

	return m && m->how == MOVED_FOLLOWED && c->report->cycle.time - m->seen < LOOK_AGAIN ?
	       m->to : NULL;
}

static bool is_permanent(int status)
{
	return status == 301 || status == 308;
}

/* Where permanent redirects from the first URL lead; NULL: nowhere. */
static const char *target_of(const struct fetch_result *r)
{
	size_t n = 0;

	while (n < r->n_hops && is_permanent(r->hops[n].status))
		n++;
	return !n ? NULL : n < r->n_hops ? r->hops[n].url : r->url;
}

/* The page's own URL led to a target, or to none. */
static int see(struct crawl *c, uint32_t page, const struct crawl_answer *a, struct err *err)
{
	const char *to = target_of(&a->result), *why;
	struct moved *m = moved_find(&c->moved, page);
	int rc;

	if (!to) {
		if (m)
			moved_forget(m);
		return 0;
	}
	if (!m || strcmp(m->to, to)) {
		enum moved_how how = m && m->how == MOVED_NEVER ? MOVED_NEVER : MOVED_SEEN;

		m = moved_set(&c->moved, page, to);
		m->how = how;
		m->times = m->cycle = 0;
		m->since = a->time;
	}
	m->status = a->result.hops[0].status;
	m->times += m->times < UINT32_MAX;
	m->seen = a->time > m->since ? a->time : m->since;
	m->dirty = true;
	if (m->how != MOVED_SEEN || !c->opts->moved_after || m->times < c->opts->moved_after)
		return 0;
	rc = moved_hindrance(&c->moved, c->store, c->opts->scope ? c->opts->scope : &c->moved_care,
	                     m, &why, err);
	if (rc == 0 && !why) {
		moved_follow(&c->moved, m, c->report->cycle.number);
		c->report->moved++;
	}
	return rc;
}

/* Says the answer that there is no page at the target, or that it moved on? */
static bool is_lost(const struct fetch_result *r, bool page)
{
	if (page)
		return target_of(r) != NULL;
	return r->status >= 400 || r->error == FETCH_REDIRECT || r->error == FETCH_DNS ||
	       r->error == FETCH_GATE || r->error == FETCH_PORT || r->error == FETCH_ROBOTS;
}

int crawl_moved_told(struct crawl *c, uint32_t page, const struct crawl_answer *a,
                     enum outcome outcome, struct err *err)
{
	const struct fetch_result *r = &a->result;
	bool had = outcome == OUTCOME_SAME || outcome == OUTCOME_CHANGED;
	struct moved *m;

	if (!a->own_url)
		return had ? see(c, page, a, err) : 0;
	m = moved_find(&c->moved, page);
	if (m && m->how == MOVED_FOLLOWED && is_lost(r, had)) {
		m->how = MOVED_SEEN;    /* the next visit begins at its own URL */
		m->times = 0;
		m->dirty = true;
	}
	return 0;
}
