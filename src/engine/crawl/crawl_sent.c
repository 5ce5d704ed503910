/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_sent.c - requests under way, and what becomes of them when the program ends.
 *
 * Every request for a page is in the store before it goes out (one write for all that go
 * out together; while it is under way they wait, and all else goes on).  If the program
 * then ends, by a page that crashes it or a kill, the pages that were asked for and have no
 * visit have lapsed: their requests are spent, and they are not asked for again in that
 * cycle.  So a page that crashes the program does it once a cycle and not at every start.
 * (A stop or an error, such as a full disk, is no page's fault: what it leaves is asked for
 * again.  Not so after an error in a fleet, or with a store at network distance: there the
 * budget holds for all that is sent.)
 *
 * A lapse says nothing of the page the first time: the visit is `blocked`.  The second
 * time in a row it is `failed`, and counts as any failure does; but not of a page whose
 * answer had been read when the program ended, for then another page ended it.  (Tests of
 * life ask for such a page again: what is not tested now is never tested.)
 */
#include "engine/crawl/crawl_inner.h"

#include <math.h>

#include "base/mem.h"
#include "engine/book/visit.h"
#include "engine/crawl/life_inner.h"

#define READ_AT_ONCE 64         /* answers read, in a write of their own */

static struct store_sent crawl_sent_row(const struct crawl *c, uint32_t lease, bool read)
{
	const struct offer *o = &engine_lease(&c->resumed->engine, lease)->offer;

	return (struct store_sent){ c->report->cycle.number, o->page, lease, o->reason, read };
}

/* Write what is to be written: nothing is under way. */
static void write_next(struct crawl *c)
{
	struct crawl_sent_log *l = &c->sent;

	for (size_t i = 0; i < l->asked.n; i++)         /* one write for both */
		vec_push(&l->read, l->asked.v[i]);
	if (l->rc == 0 && l->read.n)
		l->rc = store_sent_start(c->store, l->read.v, l->read.n, &l->err);
	l->read.n = l->asked.n = 0;
}

/* Is what was started safe?  An error: it never is, so what it is of does not go out. */
static bool is_safe(struct crawl *c, bool wait)
{
	int rc = c->sent.rc;

	if (rc == 0)
		rc = store_sent_done(c->store, wait, &c->sent.err);
	c->sent.rc = rc < 0 ? rc : 0;
	return rc > 0;
}

bool crawl_sent(void *arg, const struct fetch_sent *requests, size_t n)
{
	struct crawl *c = arg;

	if (c->apart)
		return true;
	for (size_t i = 0; i < n; i++) {
		uint32_t lease = c->life ? life_lease(c->life, &requests[i]) : requests[i].site;

		if (lease)
			vec_push(&c->sent.asked, crawl_sent_row(c, lease, false));
	}
	return crawl_cleared(c, false);
}

bool crawl_cleared(void *arg, bool wait)
{
	struct crawl *c = arg;

	if (!is_safe(c, wait))
		return false;
	if (!c->sent.asked.n)
		return true;
	write_next(c);
	return is_safe(c, wait);
}

void crawl_sent_read(struct crawl *c, uint32_t lease)
{
	vec_push(&c->sent.read, crawl_sent_row(c, lease, true));
}

void crawl_sent_flush(struct crawl *c, bool now)
{
	if ((now || c->sent.read.n >= READ_AT_ONCE) && is_safe(c, false))
		write_next(c);
}

int crawl_sent_check(struct crawl *c, struct err *err)
{
	if (c->sent.rc < 0)
		*err = c->sent.err;
	return c->sent.rc;
}

struct lapse { struct store_sent sent; uint32_t requests; };

struct lapsing {
	VEC(struct lapse) pages;        /* in the order asked; requests 0: it has a visit */
	struct map at;                  /* by page: its index in pages */
	uint32_t cycle, n_pages;
	bool before;                    /* the last visit of the page at hand lapsed, too */
};

static int see_sent(void *arg, const struct store_sent *s, struct err *err)
{
	struct lapsing *l = arg;
	uint32_t at = map_get(&l->at, s->page);

	if (s->cycle != l->cycle)
		return 0;
	if (s->reason >= N_REASONS || !s->place)
		return err_set(err, E_STORE, "a request for page %u makes no sense", s->page);
	if (at != MAP_NONE) {
		l->pages.v[at].requests += !s->read;
		l->pages.v[at].sent.read |= s->read;
		return 0;
	}
	map_put(&l->at, s->page, (uint32_t)l->pages.n);
	vec_push(&l->pages, ((struct lapse){ *s, !s->read }));
	return 0;
}

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct lapsing *l = arg;
	uint32_t at = map_get(&l->at, v->page);

	(void)err;
	if (at != MAP_NONE)
		l->pages.v[at].requests = 0;
	return 0;
}

static int see_last(void *arg, const struct store_visit *v, struct err *err)
{
	struct lapsing *l = arg;

	(void)err;
	l->before = v->cause == CAUSE_LAPSED;
	return 0;
}

/* The visit of one page that lapsed. */
static int lapse(struct crawl *c, struct lapsing *l, const struct store_sent *s,
                 uint32_t requests, struct store_cycle *row, struct err *err)
{
	int64_t now = c->opts->now ? row->time : crawl_now(c);
	struct new_visit v = {
		.page = s->page, .cycle = s->cycle, .place = s->place, .reason = s->reason,
		.time = now > row->time ? now : row->time, .outcome = OUTCOME_BLOCKED,
		.score = NAN, .probability = NAN, .cause = CAUSE_LAPSED,
	};
	struct verdict kept;
	int rc;

	l->before = false;
	rc = store_visits_of(c->store, &s->page, 1, 1, UINT32_MAX, see_last, l, err);
	if (l->before && !s->read && row->goal != GOAL_ALIVE)
		v.outcome = OUTCOME_FAILED;
	v.extra = requests - (v.outcome == OUTCOME_FAILED);
	if (rc == 0)
		rc = visit_write(c->store, &v, c->opts->confirmations, &kept, err);
	row->failed += v.outcome == OUTCOME_FAILED;
	row->blocked += v.outcome == OUTCOME_BLOCKED;
	return rc;
}

int crawl_sent_lapse(struct crawl *c, struct store_cycle *row, uint32_t *ret_n,
                     struct err *err)
{
	struct lapsing l = { .cycle = row->number };
	uint64_t spent = row->downloads;
	int rc = store_sent(c->store, see_sent, &l, err);

	*ret_n = 0;
	if (rc == 0)
		rc = store_visits(c->store, row->number, row->number + 1, see_visit,
		                  &l, err);
	for (size_t i = 0; i < l.pages.n && rc == 0; i++) {
		if (!l.pages.v[i].requests || (row->goal == GOAL_ALIVE && l.pages.v[i].sent.read))
			continue;
		rc = lapse(c, &l, &l.pages.v[i].sent, l.pages.v[i].requests, row, err);
		spent += l.pages.v[i].requests;
		++*ret_n;
	}
	row->downloads = (uint32_t)(spent < row->budget ? spent : row->budget);
	vec_release(&l.pages);
	map_release(&l.at);
	return rc;
}
