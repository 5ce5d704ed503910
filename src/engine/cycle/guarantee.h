/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guarantee.h - no page stays unvisited for longer than the user allows.
 *
 * A page visited in cycle c must be visited again by c + max_age.  Every cycle reserves
 * the smallest even pace that meets all deadlines known now: with D_j pages due within j
 * cycles, the largest ceil(D_j / j).  The oldest pages come first.  If the policy visits
 * old pages itself, the reserve shrinks to nothing.  If the reserve is larger than the
 * budget, the guarantee is broken: the whole budget goes to the oldest pages, and
 * cycle.guarantee_broken is set.
 */
#ifndef ENGINE_CYCLE_GUARANTEE_H
#define ENGINE_CYCLE_GUARANTEE_H

#include "base/err.h"
#include "policy/view.h"

/* How old pages may become, in cycles; 0: no limit. */
struct guarantee {
	uint32_t max_age;               /* of all pages, */
	const uint32_t *of_site;        /* or of those of a site, which has its own; NULL: none has */
};

static inline uint32_t guarantee_of(const struct guarantee *g, const struct view *v,
                                    uint32_t page)
{
	uint32_t own = g->of_site ? g->of_site[v->site[page]] : 0;

	return own ? own : g->max_age;
}

/* Is any age guaranteed, for all pages or for those of a site? */
bool guarantee_is_on(const struct guarantee *g, const struct view *v);
/* Pages that must be visited now so that none becomes too old. */
uint32_t guarantee_need(const struct view *v, const struct guarantee *g);
/* Those whose time is nearest come first; a NAN: it may become as old as it likes. */
double guarantee_score(const struct view *v, const struct guarantee *g, uint32_t page);

/* --max-age in cycles; 0: none was asked for. */
MUST_CHECK int guarantee_cycles(int64_t max_age, int64_t cycle_seconds, uint32_t *ret,
                                struct err *err);

#endif
