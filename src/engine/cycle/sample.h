/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - the random sample that a cycle may open with.
 *
 * The sample is the pages with the smallest hashes of (seed, cycle, page), in that order.
 * So it is a simple random sample, and the same one after a crash.  It is planned before
 * the policy is asked, in rounds of about as many pages as the missing hits should need.
 * The number of hits in the whole repository is estimated from it, whatever the policy
 * does.
 */
#ifndef ENGINE_CYCLE_SAMPLE_H
#define ENGINE_CYCLE_SAMPLE_H

#include "policy/plan.h"

struct sample_rule {            /* zeroed: no sample */
	uint32_t most;          /* pages */
	uint32_t hits;          /* it ends when it has so many hits ... */
	uint32_t least;         /* ... and so many answers */
};

struct sample {
	struct sample_rule rule;        /* set by the caller before the cycle */
	uint32_t *pages;                /* of this cycle, in the order drawn */
	uint32_t n;
	uint32_t asked;                 /* pages planned so far: pages[0 .. asked - 1] */
	uint32_t n_open;                /* planned, without an answer */
	uint32_t n_hits, n_known;       /* hits, answers */
};

void sample_draw(struct sample *s, const struct view *v);
/* Nothing more of the sample has to be planned. */
bool sample_ended(const struct sample *s);
/* The sample has ended, and all its pages are answered. */
bool sample_is_whole(const struct sample *s);
/* Put the next pages of the sample into a plan. */
void sample_plan(struct sample *s, const struct view *v, struct plan *p);
/* The answer of a page of the sample; NULL: unknown. */
void sample_told(struct sample *s, const struct seen *seen);
void sample_release(struct sample *s);

#endif
