/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval.h - the rule of today's crawlers: every page has its own interval.
 *
 * A page is due when its interval has passed since the previous visit.  The interval of a
 * changed page shrinks, that of an unchanged page grows.  The rules know no budget.  We
 * add "most overdue first": pages are ordered by the share of their interval that has
 * passed, so a page one interval late comes before a page that is due today, whatever the
 * intervals.  Pages not yet due fill the rest.
 */
#ifndef POLICY_MODEL_INTERVAL_H
#define POLICY_MODEL_INTERVAL_H

#include "policy/plan.h"

/* Begins the page memory of each policy of this kind. */
struct interval_page {
	float interval;                 /* seconds until the next visit; 0: never visited */
};

/* Offer every page by the share of its interval that has passed. */
static inline void interval_ask(struct policy *p, const struct view *v, struct plan *plan,
                                double start)
{
	for (uint32_t i = 0; i < v->n_pages; i++) {
		const struct interval_page *h = policy_page(p, i);
		double wait = h->interval > 0 ? (double)h->interval : start;

		plan_offer(plan, i, (double)(v->now - v->last_visit[i]) / wait, NAN, REASON_DUE);
	}
}

#endif
