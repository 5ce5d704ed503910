/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle_plan.c - choose the pages of the next round.
 *
 * In this order: the caller's reserved pages, the guarantee of age, the opening sample,
 * then the policy, as often as it asks for pages.  When the policy asks for none, pages
 * are drawn at random (as the papers do).  Each of these makes its own plan.  Pages above
 * a ceiling are taken out of the plan, and the next plan has room for others.
 */
#include "engine/cycle/cycle.h"

#include <math.h>

#include "base/math/rng.h"

/* Grants of a metered cycle come in parts, so its first phases may take several plans. */
static void plan_reserved(struct engine *e)
{
	const struct engine_rules *r = &e->rules;

	plan_limit(&e->plan, r->reserved_most - e->cycle.n_reserved);
	for (size_t i = 0; i < r->n_reserved && plan_room(&e->plan); i++) {
		const struct offer *o = &r->reserved[i];

		plan_take(&e->plan, o->page, o->score, o->probability, o->reason);
	}
	plan_finish(&e->plan);
	e->cycle.n_reserved += (uint32_t)e->plan.n_taken;
}

/* Pages that rest, and pages back from a rest, are not part of the guarantee. */
static struct guarantee guarantee_in(const struct engine *e)
{
	return (struct guarantee){ e->rules.max_age, e->rules.site_max_age };
}

static void plan_guarantee(struct engine *e)
{
	struct guarantee g = guarantee_in(e);
	struct cycle *c = &e->cycle;
	uint32_t need, now;

	retry_hide(&e->retry, &e->view, e->visits.state);
	need = c->guarantee_left ? c->guarantee_left : guarantee_need(&e->view, &g);
	now = need > e->view.room ? e->view.room : need;
	c->n_guaranteed += now;
	c->guarantee_left = need - now;
	c->guarantee_broken = c->guarantee_left > 0;    /* unless more is granted */
	plan_limit(&e->plan, now);
	for (uint32_t i = 0; i < e->view.n_pages && now; i++)
		if (guarantee_of(&g, &e->view, i))
			plan_offer(&e->plan, i, guarantee_score(&e->view, &g, i), 1, REASON_GUARANTEE);
	plan_finish(&e->plan);
	retry_show(&e->retry, &e->view, e->visits.state);
}

uint32_t cycle_guarantee(struct engine *e)
{
	struct guarantee g = guarantee_in(e);
	uint32_t need;

	if (e->cycle.phase > PHASE_GUARANTEE || !guarantee_is_on(&g, &e->view))
		return 0;
	if (e->cycle.guarantee_left)
		return e->cycle.guarantee_left;
	retry_hide(&e->retry, &e->view, e->visits.state);
	need = guarantee_need(&e->view, &g);
	retry_show(&e->retry, &e->view, e->visits.state);
	return need;
}

static void plan_fill(struct engine *e)
{
	struct sampler s = { 0 };
	uint32_t page;

	sampler_begin(&s, &e->view, RNG_FILL);
	while (plan_room(&e->plan) && (page = sampler_next(&s, &e->view)) != PAGE_NONE)
		plan_take(&e->plan, page, 0, NAN, REASON_FILL);
	sampler_release(&s);
}

static void plan_policy(struct engine *e)
{
	policy_ask(e->policy, &e->view, &e->plan);
	e->view.round++;
	if (!e->plan.n_taken && !e->rules.no_fill)
		plan_fill(e);
}

/* Fill e->plan for the current phase, skipping phases without work; returns the phase. */
static enum cycle_phase plan_phase(struct engine *e)
{
	struct guarantee g = guarantee_in(e);
	enum cycle_phase phase = e->cycle.phase;

	if (phase == PHASE_RESERVED && !e->rules.reserved_most)
		phase = PHASE_GUARANTEE;
	if (phase == PHASE_GUARANTEE && !guarantee_is_on(&g, &e->view))
		phase = PHASE_SAMPLE;
	if (phase == PHASE_SAMPLE && sample_ended(&e->sample))
		phase = PHASE_POLICY;
	switch (phase) {
	case PHASE_RESERVED:
		plan_reserved(e);
		break;
	case PHASE_GUARANTEE:
		plan_guarantee(e);
		break;
	case PHASE_SAMPLE:
		sample_plan(&e->sample, &e->view, &e->plan);
		break;
	case PHASE_POLICY:
	case PHASE_DRY:
		plan_policy(e);
		break;
	}
	return phase;
}

static enum cycle_phase next_phase(struct engine *e, enum cycle_phase phase)
{
	bool full = e->rules.metered && e->plan.n_taken == e->view.room;

	switch (phase) {
	case PHASE_RESERVED:
		return full && e->cycle.n_reserved < e->rules.reserved_most ? phase :
		       PHASE_GUARANTEE;
	case PHASE_GUARANTEE:
		return full && e->cycle.guarantee_left ? phase : PHASE_SAMPLE;
	case PHASE_SAMPLE:
		return PHASE_SAMPLE;            /* as long as it has not ended */
	default:
		return e->plan.n_taken ? PHASE_POLICY : PHASE_DRY;
	}
}

/* Append the pages of e->plan to the queue. */
static void queue_plan(struct engine *e, enum cycle_phase phase)
{
	struct cycle *c = &e->cycle;

	c->n_plans++;
	c->plan_size = c->plan_open = (uint32_t)e->plan.n_taken;
	e->sample.n_open += phase == PHASE_SAMPLE ? c->plan_size : 0;
	for (size_t i = 0; i < e->plan.n_taken; i++) {
		struct lease l = { .offer = e->plan.taken[i], .round = e->view.round,
		                   .plan = c->n_plans, .state = LEASE_QUEUED,
		                   .sampled = phase == PHASE_SAMPLE };
		uint32_t number = (uint32_t)c->leases.n + 1;

		vec_push(&c->leases, l);
		if (c->queue_last)
			c->leases.v[c->queue_last - 1].next = number;
		else
			c->queue_first = number;
		c->queue_last = number;
		c->n_queued++;
	}
}

uint32_t cycle_room(const struct engine *e)
{
	const struct cycle *c = &e->cycle;
	uint32_t open = c->n_spent + c->n_queued + c->n_offered, budget = engine_budget(e);

	return budget - (open < budget ? open : budget);
}

bool cycle_plan_begin(struct engine *e)
{
	struct cycle *c = &e->cycle;

	if (!c->thinks)
		c->round_before = e->view.round;
	/* The true cost of a page is known when it is told; a plan must not depend on how far
	 * the fetch is just now. */
	e->view.room = cycle_room(e);
	c->thinks = e->view.room > 0;
	if (c->thinks)
		plan_begin(&e->plan, &e->view, e->visits.state);
	return c->thinks;
}

void cycle_plan_think(struct engine *e)
{
	double from = engine_seconds();

	e->cycle.phase_thought = plan_phase(e);
	e->cycle.think_seconds += engine_seconds() - from;
}

enum planned cycle_plan_end(struct engine *e)
{
	struct cycle *c = &e->cycle;
	enum cycle_phase phase = c->phase_thought;
	bool asked;

	c->phase = next_phase(e, phase);
	asked = e->plan.n_taken > 0;
	retry_plan(&e->retry, &e->view, e->visits.state, &e->plan);
	ceiling_plan(&e->ceiling, &e->view, e->visits.state, &e->plan, phase != PHASE_GUARANTEE);
	retry_planned(&e->retry, &e->view, e->visits.state, &e->plan);
	if (!e->plan.n_taken) {
		if (c->phase != PHASE_DRY || asked ||
		    ceiling_lift(&e->ceiling, &e->view, e->visits.state))
			return PLANNED_AGAIN;
		e->view.round = c->round_before;        /* no round was: a restart knows of none */
		c->thinks = false;
		return PLANNED_NONE;
	}
	c->thinks = false;
	vec_push(&c->planned_after, c->n_events);
	if (e->rules.metered)
		vec_push(&c->planned_with, c->granted);
	queue_plan(e, phase);
	return PLANNED_ROUND;
}

bool cycle_plan(struct engine *e)
{
	enum planned what = PLANNED_AGAIN;

	while (what == PLANNED_AGAIN && cycle_plan_begin(e)) {
		cycle_plan_think(e);
		what = cycle_plan_end(e);
	}
	return what == PLANNED_ROUND;
}
