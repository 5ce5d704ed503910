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

#define WAIT_SHARE 0.1          /* of the time since the first page was asked for, */
#define WAIT_FREE 0.2           /* and so many seconds */
#define WAIT_MOST 30            /* seconds at a time */
#define WINDOW 4096             /* pages at the fetcher at a time, without those that wait for */
#define WINDOW_QUIET 65536      /* quiet hosts; with them */

/* Of so many pages, those that do not wait for a quiet host.  With one connection order is
 * all: there a page that takes long is waited for. */
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

static bool is_impatient(const struct crawl *c, double now)
{
	double wait = c->asking.wait_began > 0 ? now - c->asking.wait_began : 0;

	return wait > 0 && (wait > WAIT_MOST || (c->opts->goal != GOAL_ALIVE &&
	                    c->asking.waited + wait > WAIT_FREE + WAIT_SHARE * (now - c->asking.began)));
}

bool crawl_ask(struct crawl *c, uint32_t *ret_lease)
{
	double now = crawl_seconds();
	bool idle = count_moving(c, fetch_pending(c->fetch), now) < c->opts->fetch.connections;
	struct asking a = { .want = 1, .queue_only = !idle, .hops = c->opts->goal != GOAL_ALIVE,
	                    .impatient = is_impatient(c, now) };
	size_t n;

	if (!(c->asking.began > 0))
		c->asking.began = now;
	if (engine_ask(&c->resumed->engine, &a, ret_lease, &n) != ASK_OFFERS) {
		if (idle && !(c->asking.wait_began > 0))
			c->asking.wait_began = now;
		return false;
	}
	if (c->asking.wait_began > 0)
		c->asking.waited += now - c->asking.wait_began;
	c->asking.wait_began = 0;
	return true;
}

/* When each round was planned, for a cycle that goes on. */
int crawl_rounds_save(struct crawl *c, struct err *err)
{
	const struct cycle *e = &c->resumed->engine.cycle;
	int rc = 0;

	for (; rc == 0 && c->asking.rounds_kept < e->planned_after.n; c->asking.rounds_kept++)
		rc = store_round_add(c->store, c->report->cycle.number, c->asking.rounds_kept + 1,
		                     e->planned_after.v[c->asking.rounds_kept], err);
	return rc;
}

/* ---- going on ---- */

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
	int rc = store_visits(c->store, STORE_NONE, cycle, cycle + 1, see_visit, m, err);

	if (rc == 0)
		rc = store_rounds(c->store, cycle, see_round, m, err);
	return rc;
}

void crawl_made_release(struct crawl_made *m)
{
	vec_release(&m->events);
	vec_release(&m->place);
	vec_release(&m->planned_after);
}
