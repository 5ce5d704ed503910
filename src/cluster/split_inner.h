/* SPDX-License-Identifier: Apache-2.0 */
/* split_inner.h - what split.c (trials) and split_refine.c (sides and moves) share. */
#ifndef CLUSTER_SPLIT_INNER_H
#define CLUSTER_SPLIT_INNER_H

#include "base/math/rng.h"
#include "cluster/kernel.h"
#include "cluster/split.h"

#define SPLIT_BLOCK 32768       /* rows compared with the same v, at most */
#define SPLIT_SHARES 4          /* tasks that compute sums of shared work */

struct split_work {
	const struct rows *rows;
	struct split_options o;
	double *sum[2];         /* sums of the rows of each side; zero between uses */
	double *whole;          /* sum of both sides, during trials on the same rows */
	double *share[SPLIT_SHARES - 1];      /* sums of two sides, made when first needed */
	float *v, *best;        /* direction from side 0 to side 1; zero between uses */
	uint32_t *active;       /* terms that occur, unless `all` do */
	uint32_t n_active;
	bool all;
	uint8_t *seen;          /* by term: it is in active */
	double norm[2];
	double drift;           /* sum of all movements of v so far */
	float margin;
	/* memory for one block, and for the sample */
	uint32_t *list, *place;
	float *dots;
	uint32_t *sample_id;
	uint8_t *sample_side;
	float *sample_key;
	uint32_t *blocks;
	size_t blocks_cap;
};

/* The number of the term `a` of those that occur. */
static inline uint32_t split_term(const struct split_work *w, uint32_t a)
{
	return w->all ? a : w->active[a];
}

/* Compute v from the sums; add how far it moved to drift. */
void split_renew(struct split_work *w);
/* Divide all rows of the part by v.  Where the sum of the whole is known only the smaller side
 * is summed up. */
void split_divide(struct split_work *w, const struct split_part *p, bool whole_known);
/* Move rows to the other side as long as the criterion gains. */
void split_refine(struct split_work *w, const struct split_part *p, struct rng *rng);

#endif
