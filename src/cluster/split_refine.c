/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split_refine.c - the two sides of a bisection: divided by a direction, and refined.
 *
 * Refinement.  Members are visited in blocks, blocks in random order; x moves
 * from A to B if |A - x| + |B + x| > |A| + |B|.  Sums are doubles and each move
 * is checked against the sums of that moment, so the criterion never falls.
 *
 * What makes it fast.  With v = B/|B| - A/|A| a move from A to B can only gain if
 * x.v > -m, m = 1/(2|A|) + 1/(2|B|) (from sqrt(a^2 + b) <= a + b/2a), so one float
 * dot product per row dismisses nearly all.  And x.v moves by at most |v' - v|
 * while v moves to v' (x has length 1): each row keeps the sum of all movements
 * of v at which it must be checked again (`key`), and until then costs one
 * comparison.  Passes after the first touch few rows.
 *
 * Threads.  A block is evaluated against one v, row by row independently, then
 * its moves are made in order; blocks depend on the part alone.  The result is
 * the same for any number of threads.
 */
#include "cluster/split_inner.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

#define BLOCK 512               /* rows compared with the same v, */
#define LARGE 65536             /* and SPLIT_BLOCK from so many rows on: threads share the work */
#define TASK 4096               /* rows of one task */
#define CHUNK 128               /* rows that stay in cache for dot products and sums */
#define SLACK 4e-6f             /* more than the rounding error of keys */

void split_renew(struct split_work *w)
{
	double square[2] = { 0, 0 }, scale[2], moved = 0;

	for (uint32_t a = 0; a < w->n_active; a++) {
		uint32_t t = split_term(w, a);

		square[0] += w->sum[0][t] * w->sum[0][t];
		square[1] += w->sum[1][t] * w->sum[1][t];
	}
	for (int s = 0; s < 2; s++) {
		w->norm[s] = sqrt(square[s]);
		scale[s] = w->norm[s] > 0 ? 1 / w->norm[s] : 0;
	}
	for (uint32_t a = 0; a < w->n_active; a++) {
		uint32_t t = split_term(w, a);
		float v = (float)(w->sum[1][t] * scale[1] - w->sum[0][t] * scale[0]);
		double d = (double)v - (double)w->v[t];

		moved += d * d;
		w->v[t] = v;
	}
	w->drift += sqrt(moved);
	w->margin = (float)((scale[0] + scale[1]) / 2);
}

/* Side by the sign of x.v; keys as seen from the side taken. */
static uint32_t choose_sides(struct split_work *w, const struct split_part *p,
                             uint32_t from, uint32_t to)
{
	uint32_t ones = 0;

	kernel_dots(w->rows, p->id + from, to - from, w->v, p->key + from);
	for (uint32_t i = from; i < to; i++) {
		p->side[i] = p->key[i] > 0;
		ones += p->side[i];
		p->key[i] = (float)w->drift + fabsf(p->key[i]);
	}
	return ones;
}

/* Set the sides and the sums of a range of rows, while they are in cache. */
static void divide_range(struct split_work *w, const struct split_part *p, uint32_t from,
                         uint32_t to, double *const sum[2])
{
	for (uint32_t i = from; i < to; i += CHUNK) {
		uint32_t end = to - i < CHUNK ? to : i + CHUNK;

		choose_sides(w, p, i, end);
		kernel_add_rows(w->rows, p->id + i, end - i, p->side + i, sum);
	}
}

static void divide_shared(struct split_work *w, const struct split_part *p)
{
	size_t dim = rows_is_dense(w->rows) ? w->rows->stride : w->rows->dim;

	#pragma omp taskgroup
	for (uint32_t s = 0; s < SPLIT_SHARES; s++) {
		uint32_t from = (uint32_t)((uint64_t)p->n * s / SPLIT_SHARES);
		uint32_t to = (uint32_t)((uint64_t)p->n * (s + 1) / SPLIT_SHARES);

		if (s && !w->share[s - 1])
			w->share[s - 1] = mem_zalloc(2 * dim, sizeof(double));
		#pragma omp task
		{
			double *sum[2] = { w->sum[0], w->sum[1] };

			if (s) {
				sum[0] = w->share[s - 1];
				sum[1] = sum[0] + dim;
			}
			divide_range(w, p, from, to, sum);
		}
	}
	for (uint32_t s = 0; s + 1 < SPLIT_SHARES; s++) {
		for (size_t j = 0; j < dim; j++) {
			w->sum[0][j] += w->share[s][j];
			w->sum[1][j] += w->share[s][dim + j];
		}
		memset(w->share[s], 0, 2 * dim * sizeof(double));
	}
}

void split_divide(struct split_work *w, const struct split_part *p, bool whole_known)
{
	uint32_t ones;
	int few;
	double *sum[2] = { NULL, NULL };

	if (!whole_known) {
		if (p->n >= LARGE)
			divide_shared(w, p);
		else
			divide_range(w, p, 0, p->n, w->sum);
		return;
	}
	ones = choose_sides(w, p, 0, p->n);
	few = ones <= p->n / 2;
	sum[few] = w->sum[few];
	kernel_add_rows(w->rows, p->id, p->n, p->side, sum);
	for (uint32_t a = 0; a < w->n_active; a++) {
		uint32_t t = split_term(w, a);

		w->sum[1 - few][t] = w->whole[t] - w->sum[few][t];
	}
}

/* Look again at the rows of a range that v's movements may have turned. */
static void evaluate(struct split_work *w, const struct split_part *p, uint32_t block,
                     uint32_t from, uint32_t to)
{
	float drift = (float)w->drift, bound = drift + w->margin + SLACK;
	uint32_t base = from - block, n = 0;

	for (uint32_t i = from; i < to; i++) {
		if (p->key[i] <= bound) {
			w->list[base + n] = p->id[i];
			w->place[base + n++] = i;
		}
	}
	if (n == 0)
		return;
	kernel_dots(w->rows, w->list + base, n, w->v, w->dots + base);
	for (uint32_t k = base; k < base + n; k++) {
		uint32_t i = w->place[k];

		p->key[i] = drift + (p->side[i] ? w->dots[k] : -w->dots[k]);
	}
}

/* Compute exactly if the criterion gains by moving this row; if so, move it. */
static bool try_move(struct split_work *w, const struct split_part *p, uint32_t i)
{
	int from = p->side[i], to = 1 - from;
	double dot[3], less, more, norm_less, norm_more, gain;

	kernel_dot_pair(w->rows, p->id[i], w->sum[from], w->sum[to], dot);
	less = dot[2] - 2 * dot[0];
	more = dot[2] + 2 * dot[1];
	norm_less = sqrt(fmax(0, w->norm[from] * w->norm[from] + less));
	norm_more = sqrt(fmax(0, w->norm[to] * w->norm[to] + more));
	if (dot[2] == 0)
		return false;           /* an empty row */
	gain = less / (norm_less + w->norm[from]) + more / (norm_more + w->norm[to]);
	if (!(gain > 1e-11 * (w->norm[0] + w->norm[1])))
		return false;
	kernel_add(w->rows, p->id[i], -1, w->sum[from]);
	kernel_add(w->rows, p->id[i], 1, w->sum[to]);
	w->norm[from] = norm_less;
	w->norm[to] = norm_more;
	p->side[i] = (uint8_t)to;
	p->key[i] = (float)w->drift;
	return true;
}

static uint32_t refine_block(struct split_work *w, const struct split_part *p,
                             uint32_t from, uint32_t to)
{
	uint32_t n_tasks = (to - from + TASK - 1) / TASK, moved = 0;
	float bound = (float)w->drift + w->margin + SLACK;

	if (n_tasks < 2) {
		evaluate(w, p, from, from, to);
	} else {
		#pragma omp taskgroup
		for (uint32_t t = 0; t < n_tasks; t++) {
			#pragma omp task
			evaluate(w, p, from, from + t * TASK,
			         t + 1 < n_tasks ? from + (t + 1) * TASK : to);
		}
	}
	for (uint32_t i = from; i < to; i++)
		if (p->key[i] <= bound)
			moved += try_move(w, p, i);
	if (moved)
		split_renew(w);
	return moved;
}

/* Rows per block: so many that computing v again costs little in comparison. */
static uint32_t block_size(const struct split_work *w, const struct split_part *p)
{
	uint64_t pairs = rows_size(w->rows, p->id[0]) + 2
	                 + rows_size(w->rows, p->id[p->n / 2]);
	uint64_t size = p->n >= LARGE ? SPLIT_BLOCK : BLOCK;

	while (size < SPLIT_BLOCK && size * pairs / 2 < 4 * (uint64_t)w->n_active)
		size *= 2;
	return (uint32_t)size;
}

void split_refine(struct split_work *w, const struct split_part *p, struct rng *rng)
{
	uint32_t size = block_size(w, p), n_blocks = (p->n + size - 1) / size;

	mem_grow((void **)&w->blocks, &w->blocks_cap, n_blocks, sizeof *w->blocks);
	for (uint32_t b = 0; b < n_blocks; b++)
		w->blocks[b] = b;
	for (unsigned pass = 0; pass < w->o.passes; pass++) {
		uint32_t moved = 0;

		rng_shuffle(rng, w->blocks, n_blocks);
		for (uint32_t b = 0; b < n_blocks; b++) {
			uint32_t from = w->blocks[b] * size;

			uint32_t to = p->n - from < size ? p->n : from + size;

			moved += refine_block(w, p, from, to);
		}
		if (moved == 0)
			break;
	}
}
