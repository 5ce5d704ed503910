/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c - v-fold cross-validation over k, and knees; see choose.h. */
#include "cluster/choose.h"

#include <math.h>

#include "base/math/rng.h"
#include "base/math/stat.h"
#include "base/mem.h"
#include "cluster/centroid.h"

#define FOLDS 10
#define ROWS_AT_ONCE 4096       /* of the table of cosines */

uint32_t choose_grid(uint32_t most, uint32_t grid[CHOOSE_GRID_MAX])
{
	uint32_t n = 0;

	for (int i = 0; n < CHOOSE_GRID_MAX; i++) {
		double k = round(exp2(i / 2.0));

		if (k > most)
			break;
		if (n == 0 || (uint32_t)k > grid[n - 1])
			grid[n++] = (uint32_t)k;
	}
	if (n && n < CHOOSE_GRID_MAX && grid[n - 1] < most)
		grid[n++] = most;
	return n;
}

/* Node numbers of the clusters at each k of the grid, one list behind another. */
static uint32_t *lists_of_nodes(const struct clusters *c, const uint32_t *grid, uint32_t n,
                                uint32_t *ret_k)
{
	size_t total = 0;
	uint32_t *list;

	for (uint32_t g = 0; g < n; g++) {
		ret_k[g] = grid[g] < c->k ? grid[g] : c->k;
		total += ret_k[g];
	}
	list = mem_array(total, sizeof *list);
	total = 0;
	for (uint32_t g = 0; g < n; total += ret_k[g++])
		clusters_at(c, ret_k[g], list + total);
	return list;
}

/* Sum over the held-out rows of the cosine to the nearest centroid, by grid
 * point. */
static void score_rows(const struct rows *rows, const uint32_t *out, uint32_t n_out,
                       const struct rows *nodes, const uint32_t *list, const uint32_t *k,
                       uint32_t n, double *ret)
{
	float *cosine = mem_array((size_t)ROWS_AT_ONCE * nodes->n, sizeof *cosine);

	for (uint32_t first = 0; first < n_out; first += ROWS_AT_ONCE) {
		uint32_t m = n_out - first < ROWS_AT_ONCE ? n_out - first : ROWS_AT_ONCE;

		centroid_cosines(rows, out + first, m, nodes, cosine);
		for (uint32_t i = 0; i < m; i++) {
			const float *x = cosine + (size_t)i * nodes->n;
			const uint32_t *at = list;

			for (uint32_t g = 0; g < n; at += k[g++]) {
				float best = x[at[0]];

				for (uint32_t j = 1; j < k[g]; j++)
					best = x[at[j]] > best ? x[at[j]] : best;
				ret[g] += (double)best;
			}
		}
	}
	free(cosine);
}

static void run_fold(const struct rows *rows, const uint32_t *in, uint32_t n_in,
                     const uint32_t *out, uint32_t n_out, const uint32_t *grid, uint32_t n,
                     const struct bisect_options *o, struct stat_mean *held,
                     struct stat_mean *fitted)
{
	double *sum = mem_zalloc(n, sizeof *sum);
	uint32_t *k = mem_array(n, sizeof *k), *list, *all;
	struct clusters c;
	struct rows nodes;

	bisect_run(rows, in, n_in, o, &c);
	list = lists_of_nodes(&c, grid, n, k);
	all = mem_array(c.n_nodes, sizeof *all);
	for (uint32_t i = 0; i < c.n_nodes; i++)
		all[i] = i;
	clusters_centroids(&c, rows, all, c.n_nodes, &nodes);
	score_rows(rows, out, n_out, &nodes, list, k, n, sum);
	for (uint32_t g = 0; g < n; g++) {
		stat_add(&held[g], sum[g] / n_out);
		stat_add(&fitted[g], clusters_criterion_at(&c, k[g]) / n_in);
	}
	rows_release(&nodes);
	clusters_release(&c);
	free(all);
	free(list);
	free(sum);
	free(k);
}

void choose_k(const struct rows *rows, const uint32_t *grid, uint32_t n, unsigned folds,
              const struct bisect_options *options, struct choose_point *points)
{
	struct bisect_options o = *options;
	struct stat_mean *held = mem_zalloc(n, sizeof *held);
	struct stat_mean *fitted = mem_zalloc(n, sizeof *fitted);
	uint32_t *order = mem_array(rows->n, sizeof *order);
	uint32_t *part = mem_array(rows->n, sizeof *part);
	struct rng rng;

	folds = folds < 2 ? FOLDS : folds;
	folds = folds > rows->n ? rows->n : folds;
	o.k = n ? grid[n - 1] : 1;
	for (uint32_t i = 0; i < rows->n; i++)
		order[i] = i;
	rng_init(&rng, rng_draw(o.seed, 0, rows->n, RNG_SAMPLE));
	rng_shuffle(&rng, order, rows->n);
	for (unsigned f = 0; f < folds && folds > 1; f++) {
		uint32_t from = (uint32_t)((uint64_t)rows->n * f / folds);
		uint32_t to = (uint32_t)((uint64_t)rows->n * (f + 1) / folds), n_in = 0;

		for (uint32_t i = 0; i < rows->n; i++)
			if (i < from || i >= to)
				part[n_in++] = order[i];
		o.seed = rng_draw(options->seed, f, 0, RNG_SPLIT);
		run_fold(rows, part, n_in, order + from, to - from, grid, n, &o, held, fitted);
	}
	for (uint32_t g = 0; g < n; g++)
		points[g] = (struct choose_point){ grid[g], held[g].mean, stat_se(&held[g]),
		                                   fitted[g].mean };
	free(held);
	free(fitted);
	free(order);
	free(part);
}

uint32_t choose_knee(const struct choose_point *points, uint32_t n)
{
	double best = -HUGE_VAL, dk, dy;
	uint32_t knee = n ? points[0].k : 0;

	if (n < 3)
		return knee;
	dk = (double)points[n - 1].k - points[0].k;
	dy = points[n - 1].cosine - points[0].cosine;
	if (!(dk > 0 && dy > 0))
		return knee;            /* flat: one cluster is as good as many */
	for (uint32_t i = 0; i < n; i++) {
		double above = (points[i].cosine - points[0].cosine) / dy
		               - ((double)points[i].k - points[0].k) / dk;

		if (above > best) {
			best = above;
			knee = points[i].k;
		}
	}
	return knee;
}

/* The curve at k, between points[0].k and points[n - 1].k. */
static double curve(const struct choose_point *points, uint32_t n, double k)
{
	uint32_t i = 1;
	double share;

	while (i + 1 < n && points[i].k < k)
		i++;
	share = log(k / points[i - 1].k) / log((double)points[i].k / points[i - 1].k);
	return points[i - 1].cosine + share * (points[i].cosine - points[i - 1].cosine);
}

uint32_t choose_doubling(const struct choose_point *points, uint32_t n)
{
	double low = HUGE_VAL, high = -HUGE_VAL;

	if (n < 2)
		return n ? points[0].k : 0;
	for (uint32_t i = 0; i < n; i++) {
		low = fmin(low, points[i].cosine);
		high = fmax(high, points[i].cosine);
	}
	if (!(high > low))
		return points[0].k;
	for (uint32_t i = 0; i < n && 2 * (uint64_t)points[i].k <= points[n - 1].k; i++)
		if (curve(points, n, 2.0 * points[i].k) - points[i].cosine < 0.05 * (high - low))
			return points[i].k;
	return points[n - 1].k;
}
