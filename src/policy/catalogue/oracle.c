/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle.c - knows the truth and plans the pages that serve an aim best: an upper bound
 * for every other policy.  Replay only.
 *
 * changes    pages that would be a hit.  Chance decides which of the hits, and which
 *            other pages after them.
 * freshness  the stale pages that will stay as they are for the longest time: each
 *            download buys the most days of truth.  A page that is gone needs no other.
 * age        a copy stale since s, of a page that changes next at n, is fetched.  Then
 *            for all time its age counts from n and not from s: the largest n - s first.
 * Both look at one page at a time: nearly optimal, not proven to be.
 */
#include "policy/plan.h"

#define DAY 86400.0

struct oracle_opts { int aim; };

static const struct option_spec oracle_options[] = {
	OPT_CHOICE(oracle_opts, aim, AIM_CHOICES, "changes", "what it asks for"),
	OPT_END
};

static unsigned oracle_needs(const void *opts)
{
	const struct oracle_opts *o = opts;

	return o->aim == AIM_CHANGES ? NEED_TRUTH : NEED_TRUTH | NEED_FUTURE;
}

/* Days that a download buys; a fresh page is worth less than any stale one. */
static double worth(const struct view *v, enum aim aim, uint32_t page)
{
	double ahead, weight = v->weight ? (double)v->weight[page] : 1;

	if (v->stale_since[page] == INT64_MAX)
		return -1;
	ahead = (double)(v->next_change[page] - v->now) / DAY;
	if (aim == AIM_AGE)
		ahead += (double)(v->now - v->stale_since[page]) / DAY;
	return ahead * weight;
}

static double score(const struct policy *p, const struct view *v, uint32_t page)
{
	const struct oracle_opts *o = p->opts;

	return o->aim == AIM_CHANGES || v->goal == GOAL_ALIVE ?
	       (double)v->truth[page] * (v->weight ? (double)v->weight[page] : 1) :
	       worth(v, (enum aim)o->aim, page);
}

static void oracle_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	for (uint32_t i = 0; i < v->n_pages; i++)
		plan_offer(plan, i, score(p, v, i), 1, REASON_TRUTH);
}

static bool oracle_demand(struct policy *p, const struct view *v, struct demand *ret)
{
	for (uint32_t i = 0; i < v->n_pages; i++)
		if (view_open(v, i))
			demand_page(ret, v->site[i], score(p, v, i));
	return true;
}

const struct policy_ops policy_oracle = {
	.name = "oracle",
	.summary = "knows the truth: the ceiling, for replay only",
	.only_replay = true,
	.comparable = true,
	.options = oracle_options,
	.opts_size = sizeof(struct oracle_opts),
	.needs = oracle_needs,
	.ask = oracle_ask,
	.demand = oracle_demand,
};
