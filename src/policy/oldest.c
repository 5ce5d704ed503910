/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oldest.c - the pages not visited for the longest time, as YaCy recrawls.
 *
 * Differs from round-robin when pages are visited out of turn (a guarantee, a
 * fill-up, another policy before) or join later.  Ties fall by chance.
 *
 * Cost.  O(pages) a cycle, no memory.
 */
#include "policy/plan.h"

static void oldest_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	(void)p;
	for (uint32_t i = 0; i < v->n_pages; i++)
		plan_offer(plan, i, (double)view_age(v, i), 1, REASON_OLDEST);
}

const struct policy_ops policy_oldest = {
	.name = "oldest",
	.summary = "longest unvisited first",
	.origin = "YaCy's recrawl; round-robin by age",
	.ask = oldest_ask,
};
