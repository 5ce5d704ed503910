/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - one bisection: the members of a cluster into two.
 *
 * The criterion is |A| + |B|, the lengths of the sums of each side's rows,
 * which for unit rows is the sum of each row's cosine to its side's centroid.
 */
#ifndef CLUSTER_SPLIT_H
#define CLUSTER_SPLIT_H

#include "cluster/rows.h"

struct split_options {
	unsigned trials;        /* pairs of seeds tried */
	unsigned sample;        /* members on which they are tried and compared */
	unsigned passes;        /* refinement passes at most */
};

struct split_part {             /* the members, and room for the answer */
	const uint32_t *id;
	uint32_t n;
	uint8_t *side;          /* 0 or 1 of each member */
	float *key;             /* scratch, n of them */
};

struct split_result {
	bool done;              /* false: fewer than two, or all alike */
	uint32_t n[2];
	double norm;            /* |A + B| */
	double gain;            /* |A| + |B| - |A + B|, never negative */
};

/* Working memory for rows of one dim, to be used by one split at a time. */
struct split_work;
struct split_work *split_work_new(const struct rows *rows, const struct split_options *o);
void split_work_free(struct split_work *w);

/* Depends on rows, members and seed only.  Inside an OpenMP parallel region
 * large parts are shared out as tasks. */
void split_run(struct split_work *w, const struct split_part *part, uint64_t seed,
               struct split_result *ret);

#endif
