/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle_tell.c - how offers end: told, given back, dropped or lapsed; and cycles of the past,
 * told again from their record.  See cycle.h.
 */
#include "engine/cycle/cycle.h"

#define AHEAD_FAR 12            /* visits */
#define AHEAD_NEAR 4

/* ---- one offer ---- */

/* Seconds since the last visit.  A page without a visit or a copy counts from the first
 * cycle, not from 1970; another crawler may tell of such a page (`freshet tell`). */
static int64_t seconds_since(const struct engine *e, uint32_t page)
{
	int64_t last = e->visits.last_visit[page];

	return last ? e->view.now - last :
	       (int64_t)view_age(&e->view, page) * e->view.cycle_seconds;
}

/* Record a visit that cost so many requests; tell ceiling, retry and policy. */
static void note_visit(struct engine *e, const struct offer *o, uint32_t round,
                       const struct delivery *d, uint32_t requests)
{
	struct cycle *c = &e->cycle;
	struct seen seen = {
		.page = o->page, .outcome = d->outcome, .hit = d->hit,
		.known = d->outcome < OUTCOME_FAILED,
		.gap = view_age(&e->view, o->page),
		.gap_seconds = seconds_since(e, o->page),
		.score = o->score, .probability = o->probability, .reason = o->reason,
		.round = round, .failure = (uint8_t)d->failure, .extra = d->extra,
	};

	mem_grow((void **)&c->seen, &c->cap_seen, c->n_seen + 1, sizeof *c->seen);
	c->seen[c->n_seen++] = seen;
	ceiling_told(&e->ceiling, &e->view, e->visits.state, o->page, requests);
	retry_told(&e->retry, &e->view, e->visits.state, o->page,
	           d->outcome < OUTCOME_FAILED ? FAILURE_NO : d->failure, requests);
	c->n_first += d->first;
	if (!d->first)
		policy_tell(e->policy, &e->view, &seen);
	if (!seen.known)
		return;
	e->visits.last_cycle[o->page] = e->view.cycle;
	e->visits.last_visit[o->page] = e->view.now;
	/* a page that is gone, or was tested for life, is never offered again */
	if (d->outcome == OUTCOME_GONE || e->view.goal == GOAL_ALIVE)
		e->visits.state[o->page] &= (uint8_t)~PAGE_HERE;
}

static uint32_t cost_of(const struct delivery *d)
{
	return (d->outcome != OUTCOME_BLOCKED) + d->extra;
}

/* End an offer: update the counters, set the last state. */
static void close_lease(struct engine *e, struct lease *l, enum lease_state state)
{
	struct cycle *c = &e->cycle;

	c->n_offered--;
	c->n_waiting -= !l->requests;
	c->n_granted -= l->requests;
	c->plan_open -= l->plan && l->plan == c->n_plans;
	c->n_events++;
	l->state = (uint8_t)state;
}

bool engine_tell(struct engine *e, uint32_t lease, const struct delivery *d)
{
	struct cycle *c = &e->cycle;
	struct lease *l = &c->leases.v[lease - 1];
	uint32_t requests = cost_of(d);

	if (l->state == LEASE_LAPSED) {         /* late; its requests are in n_spent already */
		l->state = LEASE_TOLD;
		c->n_events++;
		note_visit(e, &l->offer, l->round, d, requests);
		return true;
	}
	if (l->state != LEASE_OFFERED)
		return false;
	close_lease(e, l, LEASE_TOLD);
	c->n_spent += requests;
	ceiling_spent(&e->ceiling, &e->view, l->offer.page, requests - l->requests);
	c->extras += d->extra;
	c->answers++;
	note_visit(e, &l->offer, l->round, d, requests);
	if (l->sampled)
		sample_told(&e->sample, &c->seen[c->n_seen - 1]);
	return true;
}

void engine_return(struct engine *e, uint32_t lease, uint32_t n)
{
	struct lease *l = &e->cycle.leases.v[lease - 1];

	for (; n && l->requests; n--) {
		ceiling_return(&e->ceiling, &e->view, l->offer.page);
		e->cycle.n_granted--;
		e->cycle.n_waiting += !--l->requests;
	}
}

void engine_charge(struct engine *e, uint32_t n)
{
	e->cycle.n_spent += n;
}

bool engine_give_back(struct engine *e, uint32_t lease)
{
	struct lease *l = &e->cycle.leases.v[lease - 1];

	if (l->state != LEASE_OFFERED)
		return false;
	engine_return(e, lease, l->requests);
	close_lease(e, l, LEASE_GIVEN_BACK);
	e->cycle.n_given_back++;
	if (l->sampled)
		sample_told(&e->sample, NULL);
	ceiling_told(&e->ceiling, &e->view, e->visits.state, l->offer.page, 0);
	retry_undo(&e->retry, e->visits.state, l->offer.page);
	e->visits.state[l->offer.page] &= (uint8_t)~PAGE_TAKEN;
	return true;
}

bool engine_drop(struct engine *e, uint32_t lease)
{
	struct lease *l = &e->cycle.leases.v[lease - 1];

	if (l->state != LEASE_OFFERED)
		return false;
	close_lease(e, l, LEASE_DROPPED);
	if (l->sampled)
		sample_told(&e->sample, NULL);
	e->cycle.n_spent += l->requests;
	ceiling_told(&e->ceiling, &e->view, e->visits.state, l->offer.page, l->requests);
	retry_undo(&e->retry, e->visits.state, l->offer.page);
	return true;
}

bool engine_put_off(struct engine *e, uint32_t lease)
{
	bool done = engine_drop(e, lease);

	e->cycle.n_events -= done;
	return done;
}

bool engine_lapse(struct engine *e, uint32_t lease)
{
	struct lease *l = &e->cycle.leases.v[lease - 1];

	if (l->state != LEASE_OFFERED)
		return false;
	close_lease(e, l, LEASE_LAPSED);
	if (l->sampled)
		sample_told(&e->sample, NULL);
	e->cycle.n_spent += l->requests ? l->requests : 1;
	ceiling_spent(&e->ceiling, &e->view, l->offer.page, !l->requests);
	return true;
}

/* ---- cycles of the past ---- */

static struct delivery recalled(const struct seen *s)
{
	return (struct delivery){ .outcome = s->outcome, .hit = s->hit,
		.first = !s->known && s->outcome < OUTCOME_FAILED, .extra = s->extra,
		.failure = (enum failure)s->failure };
}

/* Visits are of pages far apart, so memory is asked for in time. */
static void fetch_ahead(const struct engine *e, const struct seen *visits, size_t n, size_t i)
{
	if (i + AHEAD_FAR < n) {
		uint32_t page = visits[i + AHEAD_FAR].page;

		__builtin_prefetch(&e->view.dir[page]);
		__builtin_prefetch(&e->view.site[page]);
		__builtin_prefetch(&e->visits.state[page], 1);
		__builtin_prefetch(&e->visits.last_cycle[page], 1);
		__builtin_prefetch(&e->visits.last_visit[page], 1);
		policy_soon(e->policy, &e->view, page, false);
	}
	if (i + AHEAD_NEAR < n)
		policy_soon(e->policy, &e->view, visits[i + AHEAD_NEAR].page, true);
}

void engine_recall(struct engine *e, int64_t now, uint32_t budget,
                   const struct seen *visits, size_t n)
{
	engine_begin(e, now, budget);
	for (size_t i = 0; i < n; i++) {
		const struct seen *s = &visits[i];
		struct offer o = { s->page, s->score, s->probability, s->reason };
		struct delivery d = recalled(s);

		if (d.first) {
			retry_told(&e->retry, &e->view, e->visits.state, s->page, FAILURE_NO, 1);
			continue;
		}
		fetch_ahead(e, visits, n, i);
		e->visits.state[s->page] |= PAGE_TAKEN;
		ceiling_recall(&e->ceiling, &e->view, e->visits.state, s->page);
		note_visit(e, &o, 0, &d, cost_of(&d));
	}
	engine_end(e);
}

/* ---- restart ---- */

/* Plan all rounds that were planned after at most as many events as there are now.
 * Without a record, plan until the queue has a page or the page of the next event has a
 * lease. */
static void plan_again(struct engine *e, const uint32_t *planned_after, size_t n_plans,
                       const struct event *next)
{
	struct cycle *c = &e->cycle;

	if (n_plans) {
		while (c->n_plans < n_plans && planned_after[c->n_plans] <= c->n_events) {
			if (e->rules.planned_with)
				c->granted = e->rules.planned_with[c->n_plans];
			if (!cycle_plan(e))
				break;
		}
		return;
	}
	while (next && !c->n_queued && !engine_find(e, next->offer.page) && cycle_plan(e))
		;
}

void engine_continue(struct engine *e, int64_t now, uint32_t budget,
                     const struct event *events, size_t n, const uint32_t *planned_after,
                     size_t n_plans, bool same_policy)
{
	for (size_t i = 0; i < n; i++)          /* each page was here when it was offered */
		e->visits.state[events[i].offer.page] |= PAGE_HERE;
	engine_begin(e, now, budget);
	for (size_t i = 0; i < n; i++) {
		uint32_t lease;

		if (same_policy)
			plan_again(e, planned_after, n_plans, &events[i]);
		lease = engine_adopt(e, &events[i].offer);
		if (events[i].kind == EVENT_TOLD)
			engine_tell(e, lease, &events[i].delivery);
		else if (events[i].kind == EVENT_GIVEN_BACK)
			engine_give_back(e, lease);
		else if (events[i].kind == EVENT_DROPPED ? engine_drop(e, lease) :
		         engine_lapse(e, lease)) {
			e->cycle.n_spent += events[i].delivery.extra;
			ceiling_spent(&e->ceiling, &e->view, events[i].offer.page,
			              events[i].delivery.extra);
		}
	}
	if (same_policy)
		plan_again(e, planned_after, n_plans, NULL);
}
