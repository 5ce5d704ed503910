/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - the random sample that a cycle may open with.
 *
 * The sample is the pages with the smallest hashes of (seed, cycle, page), in that
 * order: a simple random sample, and the same one after a crash.  It is asked for before
 * the policy, in rounds as long as the hits still wanted should need.  The number of hits
 * in the whole repository is estimated from it, whatever the policy does afterwards.
 */
#ifndef ENGINE_CYCLE_SAMPLE_H
#define ENGINE_CYCLE_SAMPLE_H

#include "policy/plan.h"

struct sample_rule {            /* zeroed: no sample */
	uint32_t most;          /* pages */
	uint32_t hits;          /* it ends at so many hits, */
	uint32_t least;         /* but not before so many answers */
};

struct sample {
	struct sample_rule rule;        /* set by the caller before the cycle */
	uint32_t *pages;                /* of this cycle, in the order drawn */
	uint32_t n;
	uint32_t asked;                 /* the first so many are planned */
	uint32_t n_open;                /* planned, and not told */
	uint32_t n_hits, n_known;       /* of those that answered */
};

void sample_draw(struct sample *s, const struct view *v);
/* No more of it is to be planned. */
bool sample_ended(const struct sample *s);
/* And all of it is told. */
bool sample_is_whole(const struct sample *s);
/* Put the next pages of the sample into a plan. */
void sample_plan(struct sample *s, const struct view *v, struct plan *p);
/* What came of a page of the sample; NULL: nobody knows. */
void sample_told(struct sample *s, const struct seen *seen);
void sample_release(struct sample *s);

#endif
