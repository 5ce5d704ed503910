/* SPDX-License-Identifier: Apache-2.0 */
/*
 * centroid.c - cosines between rows and centroids; see centroid.h.
 *
 * Centroids are laid out in tiles of KERNEL_TILE side by side, number by number,
 * so that one pass over a row meets all of a tile in registers; a tile over 1,000
 * words is 128 KB and stays in L2 while all rows go by.
 */
#include "cluster/centroid.h"

#include <math.h>

#include "base/mem.h"
#include "cluster/kernel.h"

#define CHUNK 32                /* rows of one call of the kernel */

/* Centroids first .. first + KERNEL_TILE, zeros behind the last. */
static void fill_tile(const struct rows *c, uint32_t first, float *tile)
{
	uint32_t n = c->n - first < KERNEL_TILE ? c->n - first : KERNEL_TILE;

	memset(tile, 0, (size_t)c->dim * KERNEL_TILE * sizeof *tile);
	for (uint32_t i = 0; i < n; i++) {
		if (rows_is_dense(c)) {
			const float *x = rows_dense(c, first + i);

			for (uint32_t j = 0; j < c->dim; j++)
				tile[(size_t)j * KERNEL_TILE + i] = x[j];
			continue;
		}
		for (uint64_t p = c->start[first + i]; p < c->start[first + i + 1]; p++)
			tile[(size_t)c->term[p] * KERNEL_TILE + i] = c->weight[p];
	}
}

/* What is done with the cosines of one row and one tile. */
typedef void use_tile(void *arg, uint32_t i, uint32_t first, uint32_t width,
                      const float *cosine);

static void use_chunk(const struct rows *rows, const uint32_t *id, uint32_t from, uint32_t n,
                      const float *tile, uint32_t first, uint32_t width, use_tile *use,
                      void *arg)
{
	float out[CHUNK * KERNEL_TILE];
	uint32_t all[CHUNK];

	for (uint32_t i = 0; i < n && !id; i++)
		all[i] = from + i;
	kernel_dots_tile(rows, id ? id + from : all, n, tile, out);
	for (uint32_t i = 0; i < n; i++)
		use(arg, from + i, first, width, out + (size_t)i * KERNEL_TILE);
}

static void each_tile(const struct rows *rows, const uint32_t *id, uint32_t n,
                      const struct rows *centroids, use_tile *use, void *arg)
{
	float *tile = mem_array((size_t)rows->dim * KERNEL_TILE, sizeof *tile);

	for (uint32_t first = 0; first < centroids->n; first += KERNEL_TILE) {
		uint32_t rest = centroids->n - first;
		uint32_t width = rest < KERNEL_TILE ? rest : KERNEL_TILE;

		fill_tile(centroids, first, tile);
		#pragma omp parallel for schedule(static) if (n > 4 * CHUNK)
		for (int64_t from = 0; from < (int64_t)n; from += CHUNK)
			use_chunk(rows, id, (uint32_t)from,
			          (int64_t)n - from < CHUNK ? n - (uint32_t)from : CHUNK, tile,
			          first, width, use, arg);
	}
	free(tile);
}

struct table { float *out; uint32_t k; };

static void put_table(void *arg, uint32_t i, uint32_t first, uint32_t width,
                      const float *cosine)
{
	struct table *t = arg;

	memcpy(t->out + (size_t)i * t->k + first, cosine, width * sizeof *cosine);
}

void centroid_cosines(const struct rows *rows, const uint32_t *id, uint32_t n,
                      const struct rows *centroids, float *ret)
{
	struct table t = { ret, centroids->n };

	each_tile(rows, id, n, centroids, put_table, &t);
}

struct nearest { uint32_t *cluster; float *cosine; };

static void put_nearest(void *arg, uint32_t i, uint32_t first, uint32_t width,
                        const float *cosine)
{
	struct nearest *best = arg;
	float top = best->cluster[i] == CLUSTER_NONE ? -HUGE_VALF : best->cosine[i];

	for (uint32_t c = 0; c < width; c++) {
		if (cosine[c] > top) {
			top = cosine[c];
			best->cluster[i] = first + c;
		}
	}
	best->cosine[i] = top;
}

void centroid_assign(const struct rows *rows, const uint32_t *id, uint32_t n,
                     const struct rows *centroids, uint32_t *ret_cluster,
                     float *ret_cosine)
{
	struct nearest best = { ret_cluster, ret_cosine };

	for (uint32_t i = 0; i < n; i++) {
		ret_cluster[i] = CLUSTER_NONE;
		ret_cosine[i] = 0;
	}
	each_tile(rows, id, n, centroids, put_nearest, &best);
}

struct ranked { float cosine; uint32_t number; };

static int by_cosine(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->cosine != y->cosine)
		return x->cosine < y->cosine ? 1 : -1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void centroid_order(const struct rows *centroids, uint32_t c, uint32_t *ret_order)
{
	uint32_t k = centroids->n;
	struct ranked *list = mem_array(k, sizeof *list);

	for (uint32_t i = 0; i < k; i++)
		list[i] = (struct ranked){ (float)rows_dot(centroids, c, centroids, i), i };
	list[c].cosine = 2;             /* comes first, even among equal centroids */
	qsort(list, k, sizeof *list, by_cosine);
	for (uint32_t i = 0; i < k; i++)
		ret_order[i] = list[i].number;
	free(list);
}

void centroid_members(const struct clusters *c, const struct rows *rows, uint32_t cluster,
                      uint32_t *ret_rows)
{
	size_t dim = rows_is_dense(rows) ? rows->stride : rows->dim;
	double *sum = mem_zalloc(dim, sizeof *sum);
	float *v = mem_array(dim, sizeof *v), *dots;
	struct ranked *list;
	uint32_t n;
	const uint32_t *members = clusters_members(c, cluster, &n);

	rows_add_to(&c->centroids, cluster, 1, sum);
	for (size_t j = 0; j < dim; j++)
		v[j] = (float)sum[j];
	dots = mem_array(n, sizeof *dots);
	list = mem_array(n, sizeof *list);
	kernel_dots(rows, members, n, v, dots);
	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct ranked){ dots[i], members[i] };
	qsort(list, n, sizeof *list, by_cosine);
	for (uint32_t i = 0; i < n; i++)
		ret_rows[i] = list[i].number;
	free(list);
	free(dots);
	free(v);
	free(sum);
}

void centroid_rank_features(const struct clusters *c, uint32_t n_labels, float *ret)
{
	uint32_t *order = mem_array(c->k, sizeof *order);
	float *rank = mem_array(c->k, sizeof *rank);

	memset(ret, 0, (size_t)c->n_rows * n_labels * sizeof *ret);
	for (uint32_t f = 0; f < n_labels && f < c->k; f++) {
		centroid_order(&c->centroids, f, order);        /* cluster 0 is the largest */
		for (uint32_t i = 0; i < c->k; i++)
			rank[order[i]] = c->k > 1 ? (float)i / (float)(c->k - 1) : 0;
		for (uint32_t i = 0; i < c->n_rows; i++)
			if (c->of[i] != CLUSTER_NONE)
				ret[(size_t)i * n_labels + f] = rank[c->of[i]];
	}
	free(order);
	free(rank);
}
