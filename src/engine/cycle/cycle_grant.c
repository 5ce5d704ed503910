/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle_grant.c - a cycle whose budget is granted in parts, and its bid for more; see cycle.h.
 *
 * The policy plans for view.budget, which is expected and not promised: it sizes its batches
 * by it.  What may be spent is cycle.granted.  A round depends on the events before it and on
 * what was granted before it; both are stored (planned_after, planned_with), so that
 * engine_continue() plans the same rounds again.
 */
#include "engine/cycle/cycle.h"

#include <stdlib.h>

uint32_t engine_budget(const struct engine *e)
{
	return e->rules.metered ? e->cycle.granted : e->view.budget;
}

void engine_grant(struct engine *e, uint32_t n)
{
	struct cycle *c = &e->cycle;

	c->granted = n > UINT32_MAX - c->granted ? UINT32_MAX : c->granted + n;
}

uint32_t engine_ungrant(struct engine *e)
{
	uint32_t room = cycle_room(e), left = engine_left(e);
	uint32_t n = !e->rules.metered ? 0 : room < left ? room : left;

	e->cycle.granted -= n;
	return n;
}

/* Pages back from a rest for which the share of retries has room. */
static uint32_t count_retries(const struct engine *e)
{
	const struct retry *r = &e->retry;
	uint64_t used = (uint64_t)r->had + r->under_way;
	uint32_t most = r->most > used ? (uint32_t)(r->most - used) : 0, n = 0;

	for (size_t i = 0; i < r->backoff.pages.n && n < most; i++) {
		uint32_t page = r->backoff.pages.v[i].page;

		n += r->backoff.pages.v[i].fails && view_open(&e->view, page) &&
		     backoff_look(&r->backoff, page, e->view.site[page]) == REST_BACK;
	}
	return n;
}

bool engine_demand(struct engine *e, struct demand *ret)
{
	const struct engine_rules *r = &e->rules;
	struct demand_limits limits = { 0 };
	bool limited = ceiling_limits(&e->ceiling, &e->view, &limits);
	bool can = policy_demand(e->policy, &e->view, limited ? &limits : NULL, ret);
	uint32_t reserved = (uint32_t)(r->n_reserved < r->reserved_most ? r->n_reserved :
	                               r->reserved_most);

	if (e->cycle.phase == PHASE_RESERVED && reserved > e->cycle.n_reserved)
		ret->first += reserved - e->cycle.n_reserved;
	ret->first += cycle_guarantee(e);
	if (e->view.goal == GOAL_CHANGED)
		ret->first += count_retries(e);
	free(limits.room);
	vec_release(&limits.pages);
	return can;
}
