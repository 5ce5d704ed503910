/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle.c - knows which pages would be a hit, and asks for those: the ceiling
 * of every other policy's hits in a cycle.  Replay only.
 *
 * Which of the hits, and which pages beyond them, chance decides: choosing the
 * oldest would serve freshness better and use the hits up sooner.
 */
#include "policy/plan.h"

static unsigned oracle_needs(const void *opts)
{
	(void)opts;
	return NEED_TRUTH;
}

static void oracle_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	(void)p;
	for (uint32_t i = 0; i < v->n_pages; i++)
		plan_offer(plan, i, v->truth[i], 1, REASON_TRUTH);
}

const struct policy_ops policy_oracle = {
	.name = "oracle",
	.summary = "knows the truth: the ceiling, for replay only",
	.only_replay = true,
	.needs = oracle_needs,
	.ask = oracle_ask,
};
