/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_ask.c - when the crawl asks the engine for its next page.
 *
 * Pages of a round that is planned are handed to the fetcher as soon as it has room for
 * them.  A new round is asked for only when connections are idle: the later it is
 * planned, the more is known.
 *
 * A policy wants to be told most of a round before it plans the next (its patience).  While
 * slow pages keep it waiting, connections are idle.  That may last for a tenth of the cycle's
 * time, all waits together, and for WAIT_MOST at a time; then the next round is planned with
 * what is known.  So a cycle takes little longer than the pages of it would if they
 * were known beforehand.  Tests of life have no such limit: there requests count, not time.
 *
 * With one connection, pages are asked for one by one, and answered in the order asked: the
 * cycle is then the same as in replay.
 */
#include "engine/crawl/crawl_inner.h"

#include "engine/archive/judge.h"

#define WAIT_SHARE 0.1          /* at most this share of the time since the first request */
#define WAIT_FREE 0.2           /* plus so many seconds */
#define WAIT_MOST 30            /* seconds at a time */
#define WINDOW 4096             /* pages at the fetcher at a time, without those of quiet hosts */
#define WINDOW_QUIET 65536      /* with those of quiet hosts */

/* How many of these pages do not wait for a quiet host.  With one connection all count: the
 * order of pages must be kept, so a slow page is waited for. */
static size_t count_moving(struct crawl *c, size_t pages, double now)
{
	size_t quiet = c->opts->fetch.connections == 1 ? 0 : crawl_quiet_pages(c, now);

	return pages > quiet ? pages - quiet : 0;
}

bool crawl_has_room(struct crawl *c, size_t pending)
{
	if (c->opts->fetch.connections == 1)
		return !pending;
	return pending < WINDOW_QUIET && count_moving(c, pending, crawl_seconds()) < WINDOW;
}

bool crawl_is_idle(struct crawl *c, size_t n_asked, double now)
{
	return count_moving(c, fetch_pending(c->fetch) + n_asked, now) < c->opts->fetch.connections;
}

static bool is_impatient(const struct crawl *c, double now)
{
	double wait = c->asking.wait_began > 0 ? now - c->asking.wait_began : 0;

	return wait > 0 && (wait > WAIT_MOST || (c->opts->goal != GOAL_ALIVE &&
	                    c->asking.waited + wait > WAIT_FREE + WAIT_SHARE * (now - c->asking.began)));
}

bool crawl_ask(struct crawl *c, size_t n_asked, uint32_t *ret_lease)
{
	double now = crawl_seconds();
	bool idle = crawl_is_idle(c, n_asked, now);
	struct asking a = { .want = 1, .queue_only = !idle, .hops = c->opts->goal != GOAL_ALIVE,
	                    .impatient = is_impatient(c, now) };
	enum ask answer;
	size_t n;

	if (!(c->asking.began > 0))
		c->asking.began = now;
	answer = engine_ask(&c->resumed->engine, &a, ret_lease, &n);
	c->asking.wants_grant = answer == ASK_GRANT;
	if (answer != ASK_OFFERS) {
		if (idle && !(c->asking.wait_began > 0))
			c->asking.wait_began = now;
		return false;
	}
	if (c->asking.wait_began > 0)
		c->asking.waited += now - c->asking.wait_began;
	c->asking.wait_began = 0;
	return true;
}

/* After a stop the page is asked for by the next start.  Otherwise the store must know that
 * it was refused, so that a resumed cycle does not expect its answer. */
void crawl_drop(struct crawl *c, uint32_t lease)
{
	struct engine *e = &c->resumed->engine;
	const struct lease *l = engine_lease(e, lease);
	struct store_lease row = {
		.cycle = c->report->cycle.number, .page = l->offer.page, .requests = l->requests,
		.state = STORE_LEASE_DROPPED, .reason = l->offer.reason, .score = l->offer.score,
		.probability = l->offer.probability,
	};

	if (crawl_stopped(c)) {
		engine_put_off(e, lease);
		return;
	}
	engine_drop(e, lease);
	row.place = row.order = e->cycle.n_events;
	vec_push(&c->asking.dropped, row);
}

/* Save when each round was planned, and what was dropped: a resumed cycle needs both. */
int crawl_rounds_save(struct crawl *c, struct err *err)
{
	const struct cycle *e = &c->resumed->engine.cycle;
	uint32_t kept = c->asking.rounds_kept;
	size_t n = e->planned_after.n;
	int rc = 0;

	if (kept < n)
		rc = store_rounds_add(c->store, c->report->cycle.number, kept + 1,
		                      e->planned_after.v + kept, n - kept, err);
	c->asking.rounds_kept = (uint32_t)n;
	if (rc == 0)
		rc = crawl_grants_save(c, err);
	if (rc == 0 && c->asking.dropped.n)
		rc = store_leases_put(c->store, c->asking.dropped.v, c->asking.dropped.n, err);
	if (rc == 0)
		c->asking.dropped.n = 0;
	return rc;
}

/* ---- resuming ---- */

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct crawl_made *m = arg;
	enum outcome o = (enum outcome)v->outcome;
	struct event e = {
		.kind = EVENT_TOLD,
		.offer = { v->page, v->score, v->probability, v->reason },
		.delivery = { .outcome = m->goal == GOAL_ALIVE ? recall_life(o, v->status) : o,
			.hit = v->hit, .extra = v->extra,
			.first = judge_was_first(v),
			.failure = retry_judge(o, (enum cause)v->cause, v->status) },
	};

	(void)err;
	vec_push(&m->events, e);
	vec_push(&m->place, v->place);
	return 0;
}

/* Leases come by their place, which is that of the event among all. */
struct merging { struct crawl_made all, *visits; size_t next; };

static void take_visits(struct merging *m, size_t n)
{
	for (; m->next < m->visits->events.n && m->all.events.n < n; m->next++) {
		vec_push(&m->all.events, m->visits->events.v[m->next]);
		vec_push(&m->all.place, m->visits->place.v[m->next]);
	}
}

static int see_dropped(void *arg, const struct store_lease *l, struct err *err)
{
	struct merging *m = arg;
	struct event e = {
		.kind = EVENT_DROPPED, .offer = { l->page, l->score, l->probability, l->reason },
		.delivery = { .outcome = OUTCOME_BLOCKED, .extra = l->requests },
	};

	(void)err;
	if (l->state != STORE_LEASE_DROPPED)
		return 0;
	take_visits(m, l->place - 1ul);
	vec_push(&m->all.events, e);
	vec_push(&m->all.place, 0);
	return 0;
}

static int merge_dropped(struct crawl *c, struct crawl_made *made, struct err *err)
{
	struct merging m = { .visits = made, .all.goal = made->goal };
	int rc = store_leases(c->store, c->report->cycle.number, see_dropped, &m, err);

	take_visits(&m, SIZE_MAX);
	crawl_made_release(made);
	*made = m.all;
	return rc;
}

static int see_round(void *arg, uint32_t number, uint32_t after, struct err *err)
{
	struct crawl_made *m = arg;

	(void)number;
	(void)err;
	vec_push(&m->planned_after, after);
	return 0;
}

void crawl_rounds_made(struct crawl *c, const struct crawl_made *m)
{
	const struct cycle *e = &c->resumed->engine.cycle;
	uint32_t n = 0;

	while (n < e->planned_after.n && n < m->planned_after.n &&
	       e->planned_after.v[n] == m->planned_after.v[n])
		n++;
	c->asking.rounds_kept = n;
}

int crawl_made_load(struct crawl *c, struct crawl_made *m, struct err *err)
{
	uint32_t cycle = c->report->cycle.number;
	int rc = store_visits(c->store, cycle, cycle + 1, see_visit, m, err);

	if (rc == 0)
		rc = merge_dropped(c, m, err);
	if (rc == 0)
		rc = store_rounds(c->store, cycle, see_round, m, err);
	if (rc == 0 && c->opts->fleet)
		rc = crawl_grants_load(c, m, err);
	return rc;
}

void crawl_made_release(struct crawl_made *m)
{
	vec_release(&m->events);
	vec_release(&m->place);
	vec_release(&m->planned_after);
	grants_release(&m->grants);
}
