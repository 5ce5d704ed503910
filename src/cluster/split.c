/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.c - one bisection by the cosine criterion I2; see split.h.
 *
 * Trials.  Several pairs of random members are taken as seeds; every member joins the
 * nearer one, refinement follows, the best pair wins.  In a large cluster
 * this happens on an evenly spread sample of the members: what is compared is
 * directions, and a few hundred rows show them (256 found as good ones as 1,024).
 * The winner's direction then divides all members, and all of them are refined.
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
 *
 * Cost.  O(non-zeros) for the division, and for about two or three passes in
 * all; O(trials * sample) for the trials.  Sparse rows over a large vocabulary:
 * sums are cleared and v renewed over the terms of the part only.
 */
#include "cluster/split.h"

#include <math.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "cluster/kernel.h"

#define BLOCK 512               /* rows compared with the same v */
#define BLOCK_LARGE 32768       /* the same, if threads share the work */
#define LARGE 65536             /* from so many rows on, threads share the work */
#define TASK 4096               /* rows of one task */
#define SHARES 4                /* tasks that compute sums of shared work */
#define CHUNK 128               /* rows that stay in cache for dot products and sums */
#define ALIKE 1e-6f             /* 1 - cosine below which rows are the same */
#define SEED_DRAWS 8
#define SLACK 4e-6f             /* more than the rounding error of keys */

struct split_work {
	const struct rows *rows;
	struct split_options o;
	double *sum[2];         /* sums of the rows of each side; zero between uses */
	double *whole;          /* sum of both sides, during trials on the same rows */
	double *share[SHARES - 1];      /* sums of two sides, made when first needed */
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

struct split_work *split_work_new(const struct rows *rows, const struct split_options *o)
{
	struct split_work *w = mem_zalloc(1, sizeof *w);
	size_t dim = rows_is_dense(rows) ? rows->stride : rows->dim;

	w->rows = rows;
	w->o = *o;
	for (int s = 0; s < 2; s++)
		w->sum[s] = mem_zalloc(dim, sizeof(double));
	w->whole = mem_zalloc(dim, sizeof(double));
	w->v = mem_zalloc(dim, sizeof(float));
	w->best = mem_zalloc(dim, sizeof(float));
	w->list = mem_array(BLOCK_LARGE, sizeof *w->list);
	w->place = mem_array(BLOCK_LARGE, sizeof *w->place);
	w->dots = mem_array(BLOCK_LARGE, sizeof *w->dots);
	w->sample_id = mem_array(o->sample, sizeof *w->sample_id);
	w->sample_side = mem_array(o->sample, 1);
	w->sample_key = mem_array(o->sample, sizeof *w->sample_key);
	if (!rows_is_dense(rows)) {
		w->active = mem_array(dim, sizeof *w->active);
		w->seen = mem_zalloc(dim, 1);
	}
	return w;
}

void split_work_free(struct split_work *w)
{
	if (!w)
		return;
	free(w->sum[0]);
	free(w->sum[1]);
	free(w->whole);
	for (int i = 0; i < SHARES - 1; i++)
		free(w->share[i]);
	free(w->v);
	free(w->best);
	free(w->list);
	free(w->place);
	free(w->dots);
	free(w->sample_id);
	free(w->sample_side);
	free(w->sample_key);
	free(w->active);
	free(w->seen);
	free(w->blocks);
	free(w);
}

/* Which coordinates can be other than zero: all, or the terms of these rows when
 * they are fewer than the vocabulary. */
static void find_active(struct split_work *w, const struct split_part *p)
{
	const struct rows *r = w->rows;
	uint64_t total = 0;

	w->all = true;
	w->n_active = rows_is_dense(r) ? r->stride : r->dim;
	if (rows_is_dense(r))
		return;
	for (uint32_t i = 0; i < p->n && total < r->dim; i++)
		total += rows_size(r, p->id[i]);
	if (total >= r->dim)
		return;
	w->all = false;
	w->n_active = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		for (uint64_t j = r->start[p->id[i]]; j < r->start[p->id[i] + 1]; j++) {
			if (!w->seen[r->term[j]]) {
				w->seen[r->term[j]] = 1;
				w->active[w->n_active++] = r->term[j];
			}
		}
	}
	for (uint32_t a = 0; a < w->n_active; a++)
		w->seen[w->active[a]] = 0;
}

static inline uint32_t term_of(const struct split_work *w, uint32_t a)
{
	return w->all ? a : w->active[a];
}

static void clear_sums(struct split_work *w)
{
	for (uint32_t a = 0; a < w->n_active; a++)
		w->sum[0][term_of(w, a)] = w->sum[1][term_of(w, a)] = 0;
}

static void clear_v(struct split_work *w)
{
	for (uint32_t a = 0; a < w->n_active; a++)
		w->v[term_of(w, a)] = 0;
}

/* Compute v from the sums; add how far it moved to drift. */
static void renew(struct split_work *w)
{
	double square[2] = { 0, 0 }, scale[2], moved = 0;

	for (uint32_t a = 0; a < w->n_active; a++) {
		uint32_t t = term_of(w, a);

		square[0] += w->sum[0][t] * w->sum[0][t];
		square[1] += w->sum[1][t] * w->sum[1][t];
	}
	for (int s = 0; s < 2; s++) {
		w->norm[s] = sqrt(square[s]);
		scale[s] = w->norm[s] > 0 ? 1 / w->norm[s] : 0;
	}
	for (uint32_t a = 0; a < w->n_active; a++) {
		uint32_t t = term_of(w, a);
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
	for (uint32_t s = 0; s < SHARES; s++) {
		uint32_t from = (uint32_t)((uint64_t)p->n * s / SHARES);
		uint32_t to = (uint32_t)((uint64_t)p->n * (s + 1) / SHARES);

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
	for (uint32_t s = 0; s + 1 < SHARES; s++) {
		for (size_t j = 0; j < dim; j++) {
			w->sum[0][j] += w->share[s][j];
			w->sum[1][j] += w->share[s][dim + j];
		}
		memset(w->share[s], 0, 2 * dim * sizeof(double));
	}
}

/* Divide all rows of the part by v.  Where the sum of the whole is known only
 * the smaller side is summed up. */
static void divide(struct split_work *w, const struct split_part *p, bool whole_known)
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
		uint32_t t = term_of(w, a);

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
		renew(w);
	return moved;
}

/* Rows per block: so many that computing v again costs little in comparison. */
static uint32_t block_size(const struct split_work *w, const struct split_part *p)
{
	uint64_t pairs = rows_size(w->rows, p->id[0]) + 2
	                 + rows_size(w->rows, p->id[p->n / 2]);
	uint64_t size = p->n >= LARGE ? BLOCK_LARGE : BLOCK;

	while (size < BLOCK_LARGE && size * pairs / 2 < 4 * (uint64_t)w->n_active)
		size *= 2;
	return (uint32_t)size;
}

static void refine(struct split_work *w, const struct split_part *p, struct rng *rng)
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

/* A member that differs from member `first`: a random one, or the one that
 * differs most; p->n if all are alike. */
static uint32_t other_than(struct split_work *w, const struct split_part *p, uint32_t first,
                           struct rng *rng)
{
	uint32_t far = p->n;
	float least = 1 - ALIKE;

	for (int i = 0; i < SEED_DRAWS; i++) {
		uint32_t j = (uint32_t)rng_below(rng, p->n);

		if (rows_dot(w->rows, p->id[first], w->rows, p->id[j]) < 1 - (double)ALIKE)
			return j;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		double dot = rows_dot(w->rows, p->id[first], w->rows, p->id[i]);

		if (dot < (double)least && rows_dot(w->rows, p->id[i], w->rows, p->id[i]) > 0) {
			least = (float)dot;
			far = i;
		}
	}
	return far;
}

/* Set v from two seeds; every member joins the nearer one.  False: all rows are equal. */
static bool seed_sides(struct split_work *w, const struct split_part *p, struct rng *rng)
{
	uint32_t a = (uint32_t)rng_below(rng, p->n), b;

	for (uint32_t i = 0; rows_dot(w->rows, p->id[a], w->rows, p->id[a]) == 0; i++) {
		if (i == p->n)
			return false;   /* nothing but empty rows */
		a = (a + 1) % p->n;
	}
	b = other_than(w, p, a, rng);
	if (b == p->n)
		return false;
	rows_add_to(w->rows, p->id[a], 1, w->sum[0]);
	rows_add_to(w->rows, p->id[b], 1, w->sum[1]);
	renew(w);
	return true;
}

/* The best of several trials on the sample; its direction is left in best. */
static bool run_trials(struct split_work *w, const struct split_part *p, struct rng *rng)
{
	double best = -1, *sum[2] = { w->whole, NULL };

	find_active(w, p);
	kernel_add_rows(w->rows, p->id, p->n, NULL, sum);
	for (unsigned t = 0; t < w->o.trials; t++) {
		bool seeded = seed_sides(w, p, rng);

		clear_sums(w);
		if (!seeded && t == 0)
			break;          /* all alike */
		if (seeded) {
			divide(w, p, true);
			renew(w);
			refine(w, p, rng);
			if (w->norm[0] + w->norm[1] > best) {
				best = w->norm[0] + w->norm[1];
				renew(w);
				for (uint32_t a = 0; a < w->n_active; a++)
					w->best[term_of(w, a)] = w->v[term_of(w, a)];
			}
			clear_sums(w);
		}
		clear_v(w);
		w->drift = 0;
	}
	for (uint32_t a = 0; a < w->n_active; a++)
		w->whole[term_of(w, a)] = 0;
	return best >= 0;
}

static void take_sample(struct split_work *w, const struct split_part *p, struct rng *rng,
                        struct split_part *ret)
{
	uint32_t n = p->n < w->o.sample ? p->n : w->o.sample;

	for (uint32_t i = 0; i < n; i++) {
		double at = n == p->n ? i : (i + rng_next_unit(rng)) * p->n / n;

		w->sample_id[i] = p->id[(uint32_t)at];
	}
	*ret = (struct split_part){ w->sample_id, n, w->sample_side, w->sample_key };
}

/* Set the lengths of the sides and of the whole, and the members of each side. */
static void measure(struct split_work *w, const struct split_part *p,
                    struct split_result *ret)
{
	double square = 0;

	renew(w);
	for (uint32_t a = 0; a < w->n_active; a++) {
		double d = w->sum[0][term_of(w, a)] + w->sum[1][term_of(w, a)];

		square += d * d;
	}
	for (uint32_t i = 0; i < p->n; i++)
		ret->n[p->side[i]]++;
	ret->norm = sqrt(square);
	ret->gain = fmax(0, w->norm[0] + w->norm[1] - ret->norm);
	ret->done = ret->n[0] > 0 && ret->n[1] > 0 && ret->gain > 1e-10 * ret->norm;
}

void split_run(struct split_work *w, const struct split_part *p, uint64_t seed,
               struct split_result *ret)
{
	struct split_part sample;
	struct rng rng;
	bool seeded;

	*ret = (struct split_result){ 0 };
	if (p->n < 2)
		return;
	rng_init(&rng, rng_draw(seed, 0, p->n, RNG_SPLIT));
	take_sample(w, p, &rng, &sample);
	seeded = run_trials(w, &sample, &rng);
	if (!seeded && sample.n < p->n) {
		/* all rows of the sample are equal: find the few others among all
		 * members */
		find_active(w, p);
		seeded = seed_sides(w, p, &rng);
		for (uint32_t a = 0; a < w->n_active; a++)
			w->best[term_of(w, a)] = w->v[term_of(w, a)];
		clear_sums(w);
		clear_v(w);
	}
	find_active(w, p);
	if (!seeded)
		return;
	for (uint32_t a = 0; a < w->n_active; a++) {
		w->v[term_of(w, a)] = w->best[term_of(w, a)];
		w->best[term_of(w, a)] = 0;
	}
	w->drift = 0;
	divide(w, p, false);
	renew(w);
	refine(w, p, &rng);
	measure(w, p, ret);
	clear_sums(w);
	clear_v(w);
	w->drift = 0;
}
