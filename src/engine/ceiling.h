/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ceiling.h - how much of a cycle one site may have.
 *
 * A site whose pages change whenever they are looked at (a clock, an ad, malice) is the
 * best of all sites to a policy that is rewarded for changes.  So a site may have a share
 * of the budget, or as much as is its share of the pages, if that is more; a repository of
 * one site has no ceiling.  Of few sites one may well be where things happen, and who
 * crawls few knows them: so the usual ceiling is for many.
 *
 * A policy need not know: pages of a site that has had its part are closed for the rest
 * of the cycle, and the policy is asked again for what is left.
 *
 * Pages that the guarantee of age asks for are counted, but never given up.
 * Cost.  O(pages) when a cycle begins, O(pages of the site) when one is full.
 */
#ifndef ENGINE_CEILING_H
#define ENGINE_CEILING_H

#include <stdint.h>

#include "base/when.h"
#include "policy/plan.h"
#include "policy/view.h"

#define CEILING_SITES 20        /* from so many sites on there is a usual ceiling of */
#define CEILING_PERCENT 50      /* the budget */

struct ceiling {                /* zeroed: none */
	struct share share;     /* of the budget; 100 %: no ceiling */
	bool usual;             /* with share.value 0: the usual one, else none */
	/* of the last cycle */
	uint32_t *most, *had;   /* by site; most: NULL while there is no ceiling */
	uint32_t n_sites;
	uint32_t n_full;        /* sites that were asked for more than they may have */
	uint32_t n_excess;      /* pages that others were asked for instead */
	uint32_t worst;         /* the site that gave up most of them */
	uint32_t *excess;       /* by site */
};

void ceiling_begin(struct ceiling *c, const struct view *v, uint8_t *state);
/* Count the pages of a plan; with `give_up`, take out those that are too many. */
void ceiling_plan(struct ceiling *c, const struct view *v, uint8_t *state, struct plan *p,
                  bool give_up);
/* A page that the cycle had asked for before it was broken off. */
void ceiling_recall(struct ceiling *c, const struct view *v, uint8_t *state, uint32_t page);
void ceiling_end(struct ceiling *c, const struct view *v, uint8_t *state);
void ceiling_release(struct ceiling *c);

#endif
