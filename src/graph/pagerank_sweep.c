/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagerank_sweep.c - the inner loops of PageRank; see pagerank_matrix.h.
 *
 * One body, compiled for one vector, for two and for any number.
 */
#include <math.h>
#include <string.h>

#include "graph/pagerank.h"
#include "graph/pagerank_matrix.h"

#define INLINE static inline __attribute__((always_inline))
#define K_MAX (PAGERANK_VECTORS_MAX + 1)

typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

INLINE void sum_row_1(const uint32_t *links, uint32_t length, const double *shares,
                      double *ret)
{
	double a = 0, b = 0, c = 0, d = 0;
	uint32_t i = 0;

	for (; i + 4 <= length; i += 4) {
		a += shares[links[i]];
		b += shares[links[i + 1]];
		c += shares[links[i + 2]];
		d += shares[links[i + 3]];
	}
	for (; i < length; i++)
		a += shares[links[i]];
	*ret = (a + b) + (c + d);
}

INLINE pair sum_pair(const uint32_t *links, uint32_t length, const double *shares)
{
	const pair *from = (const pair *)shares;
	pair a = { 0, 0 }, b = a, c = a, d = a;
	uint32_t i = 0;

	for (; i + 4 <= length; i += 4) {
		a += from[links[i]];
		b += from[links[i + 1]];
		c += from[links[i + 2]];
		d += from[links[i + 3]];
	}
	for (; i < length; i++)
		a += from[links[i]];
	return (a + b) + (c + d);
}

/* The sums of the shares of a row's links. */
INLINE void sum_row(const uint32_t *links, uint32_t length, const double *shares,
                    unsigned n_vectors, double *ret)
{
	if (n_vectors == 1) {
		sum_row_1(links, length, shares, ret);
	} else if (n_vectors == 2) {
		pair sums = sum_pair(links, length, shares);

		ret[0] = sums[0];
		ret[1] = sums[1];
	} else {
		for (unsigned k = 0; k < n_vectors; k++)
			ret[k] = 0;
		for (uint32_t i = 0; i < length; i++)
			for (unsigned k = 0; k < n_vectors; k++)
				ret[k] += shares[(size_t)links[i] * n_vectors + k];
	}
}

/* New shares of a row from the sums over its links. */
INLINE void update_row(const struct pagerank_sweep *s, uint32_t row, const double *sums,
                       unsigned n_vectors, struct pagerank_sums *ret)
{
	const struct pagerank_matrix *m = s->m;
	double d = s->damping, uniform = 1.0 / m->n;
	double degree = m->degree[row], kept = degree - d * m->core_degree[row];
	double inverse = 1 / (degree - (pagerank_has_loop(m, row) ? d : 0));

	for (unsigned k = 0; k < n_vectors; k++) {
		double t = s->teleports[k] ? s->teleports[k][m->node[row]] : uniform;
		double *share = s->shares + (size_t)row * n_vectors + k;
		double v = (d * sums[k] + s->scale[k] * t) * inverse;

		ret[k].change += fabs(v - *share) * degree;
		ret[k].balance += v * kept;
		*share = v;
	}
}

INLINE void sweep_cell(const struct pagerank_sweep *s, const struct pagerank_cell *cell,
                       unsigned n_vectors, struct pagerank_sums *ret)
{
	const struct pagerank_matrix *m = s->m;
	const uint32_t *links = m->links + cell->link_begin;
	uint32_t row = cell->row_begin;
	struct pagerank_sums totals[K_MAX];
	double sums[K_MAX];

	memset(totals, 0, sizeof totals);
	for (uint32_t i = cell->run_begin; i < cell->run_end; i++) {
		uint32_t length = m->runs[i].length, end = row + m->runs[i].n_rows;

		for (; row < end; row++, links += length) {
			sum_row(links, length, s->shares, n_vectors, sums);
			update_row(s, row, sums, n_vectors, totals);
		}
	}
	for (unsigned k = 0; k < n_vectors; k++)
		ret[k] = totals[k];
}

/* The same for two vectors, side by side in one register. */
static void sweep_cell_pair(const struct pagerank_sweep *s, const struct pagerank_cell *cell,
                            struct pagerank_sums *ret)
{
	const struct pagerank_matrix *m = s->m;
	const uint32_t *links = m->links + cell->link_begin;
	const double *const *t = s->teleports;
	double d = s->damping, uniform = 1.0 / m->n;
	pair *shares = (pair *)s->shares, scale = { s->scale[0], s->scale[1] };
	pair fixed = scale * uniform, change = { 0, 0 }, balance = { 0, 0 };
	bool given = t[0] || t[1];
	uint32_t row = cell->row_begin;

	for (uint32_t i = cell->run_begin; i < cell->run_end; i++) {
		uint32_t length = m->runs[i].length, end = row + m->runs[i].n_rows;

		for (; row < end; row++, links += length) {
			double degree = m->degree[row], kept = degree - d * m->core_degree[row];
			double inverse = 1 / (degree - (pagerank_has_loop(m, row) ? d : 0));
			pair v = sum_pair(links, length, s->shares) * d, moved;

			if (given) {
				uint32_t node = m->node[row];

				fixed = scale * (pair){ t[0] ? t[0][node] : uniform,
				                        t[1] ? t[1][node] : uniform };
			}
			v = (v + fixed) * inverse;
			moved = v - shares[row];
			shares[row] = v;
			change += (pair){ fabs(moved[0]), fabs(moved[1]) } * degree;
			balance += v * kept;
		}
	}
	for (int k = 0; k < 2; k++)
		ret[k] = (struct pagerank_sums){ change[k], balance[k] };
}

/* Renew what other cells of its step see of a cell, where they look.  Snapshots are in the
 * order of the rows: those that are read most stay side by side. */
static void renew_snapshot(const struct pagerank_sweep *s, const struct pagerank_cell *cell)
{
	const struct pagerank_matrix *m = s->m;
	size_t k = s->n_vectors;

	for (uint32_t r = cell->row_begin; r < cell->row_end; r += SNAP_BLOCK) {
		uint32_t left = cell->row_end - r;

		if (m->snapped[r / SNAP_BLOCK])
			memcpy(s->shares + ((size_t)m->n_core + r) * k, s->shares + (size_t)r * k,
			       (left < SNAP_BLOCK ? left : SNAP_BLOCK) * k * sizeof *s->shares);
	}
}

void pagerank_renew(const struct pagerank_sweep *s)
{
	for (uint32_t c = 0; c < s->m->n_steps * s->m->n_lanes; c++)
		renew_snapshot(s, &s->m->cells[c]);
}

static void sweep_one(const struct pagerank_sweep *s, uint32_t step, uint32_t lane)
{
	const struct pagerank_matrix *m = s->m;
	uint32_t before = (step + m->n_steps - 1) % m->n_steps * m->n_lanes + lane;
	const struct pagerank_cell *cell = &m->cells[step * m->n_lanes + lane];
	struct pagerank_sums *sums = s->sums + (size_t)(step * m->n_lanes + lane) * s->n_vectors;

	renew_snapshot(s, &m->cells[before]);
	switch (s->n_vectors) {
	case 1:  sweep_cell(s, cell, 1, sums); break;
	case 2:  sweep_cell_pair(s, cell, sums); break;
	default: sweep_cell(s, cell, s->n_vectors, sums); break;
	}
}

static int n_threads(const struct pagerank_sweep *s)
{
	return (int)(s->m->n_lanes < s->threads ? s->m->n_lanes : s->threads);
}

void pagerank_sweep(const struct pagerank_sweep *s)
{
	for (uint32_t step = 0; step < s->m->n_steps; step++) {
		#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads(s))
		for (uint32_t lane = 0; lane < s->m->n_lanes; lane++)
			sweep_one(s, step, lane);
	}
}

INLINE void gather_cell(const struct pagerank_sweep *s, const struct pagerank_cell *cell,
                        unsigned n_vectors, double *const *out)
{
	const struct pagerank_matrix *m = s->m;
	const uint32_t *links = m->links + cell->link_begin;
	uint32_t row = cell->row_begin;
	double sums[K_MAX];

	for (uint32_t i = cell->run_begin; i < cell->run_end; i++) {
		uint32_t length = m->runs[i].length, end = row + m->runs[i].n_rows;

		for (; row < end; row++, links += length) {
			/* loops are left out of the rows: a sweep solves for them */
			bool loop = row < m->n_core && pagerank_has_loop(m, row);

			sum_row(links, length, s->shares, n_vectors, sums);
			for (unsigned k = 0; k < n_vectors; k++)
				out[k][m->node[row]] = sums[k] +
					(loop ? s->shares[(size_t)row * n_vectors + k] : 0);
		}
	}
}

void pagerank_gather(const struct pagerank_sweep *s, double *const *out)
{
	const struct pagerank_matrix *m = s->m;
	uint32_t n = m->n_steps * m->n_lanes + m->n_tails;

	pagerank_renew(s);              /* rows then see one and the same vector */
	#pragma omp parallel for schedule(dynamic, 1) num_threads((int)s->threads)
	for (uint32_t c = 0; c < n; c++) {
		if (s->n_vectors == 1)
			gather_cell(s, &m->cells[c], 1, out);
		else if (s->n_vectors == 2)
			gather_cell(s, &m->cells[c], 2, out);
		else
			gather_cell(s, &m->cells[c], s->n_vectors, out);
	}
}
