/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.h - how many clusters: v-fold cross-validation and the knee.
 *
 * For each fold the other rows are clustered, and the rows held out are compared
 * with the nearest centroid: their mean cosine says how well k clusters describe
 * pages not seen.  It rises with k, steeply at first; the knee is where it stops
 * paying.  One run per fold serves all k of the grid (bisect.h).
 */
#ifndef CLUSTER_CHOOSE_H
#define CLUSTER_CHOOSE_H

#include "cluster/bisect.h"

struct choose_point {
	uint32_t k;
	double cosine;          /* mean over folds, of rows held out */
	double se;              /* of that mean, over the folds */
	double fitted;          /* mean cosine of the rows clustered */
};

/* Values of k from 1 up to most: 1 2 3 4 6 8 11 16 ..., two steps a doubling, and
 * most itself; returns how many. */
#define CHOOSE_GRID_MAX 64
uint32_t choose_grid(uint32_t most, uint32_t grid[CHOOSE_GRID_MAX]);

/* Fill points[0..n) for the rising grid[0..n).  folds < 2 means 10; options.k is
 * not used.  A fold that cannot be cut into k clusters is scored by those it
 * has. */
void choose_k(const struct rows *rows, const uint32_t *grid, uint32_t n, unsigned folds,
              const struct bisect_options *options, struct choose_point *points);

/* The point farthest above the chord from the first to the last, both axes
 * scaled to [0, 1]. */
uint32_t choose_knee(const struct choose_point *points, uint32_t n);
/* The first k whose doubling adds less than 5 % of the curve's range; between
 * points the curve is taken as straight over log k. */
uint32_t choose_doubling(const struct choose_point *points, uint32_t n);

#endif
