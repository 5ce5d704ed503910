/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.c - one bisection by the cosine criterion I2; see split.h.
 *
 * Trials.  Several pairs of random members are taken as seeds; every member joins the
 * nearer one, refinement (split_refine.c) follows, the best pair wins.  In a large cluster
 * this happens on an evenly spread sample of the members: what is compared is
 * directions, and a few hundred rows show them (256 found as good ones as 1,024).
 * The winner's direction then divides all members, and all of them are refined.
 *
 * Cost.  O(non-zeros) for the division, and for about two or three passes in
 * all; O(trials * sample) for the trials.  Sparse rows over a large vocabulary:
 * sums are cleared and v renewed over the terms of the part only.
 */
#include "cluster/split_inner.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#define ALIKE 1e-6f             /* 1 - cosine below which rows are the same */
#define SEED_DRAWS 8

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
	w->list = mem_array(SPLIT_BLOCK, sizeof *w->list);
	w->place = mem_array(SPLIT_BLOCK, sizeof *w->place);
	w->dots = mem_array(SPLIT_BLOCK, sizeof *w->dots);
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
	for (int i = 0; i < SPLIT_SHARES - 1; i++)
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

static void clear_sums(struct split_work *w)
{
	for (uint32_t a = 0; a < w->n_active; a++)
		w->sum[0][split_term(w, a)] = w->sum[1][split_term(w, a)] = 0;
}

static void clear_v(struct split_work *w)
{
	for (uint32_t a = 0; a < w->n_active; a++)
		w->v[split_term(w, a)] = 0;
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
	split_renew(w);
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
			split_divide(w, p, true);
			split_renew(w);
			split_refine(w, p, rng);
			if (w->norm[0] + w->norm[1] > best) {
				best = w->norm[0] + w->norm[1];
				split_renew(w);
				for (uint32_t a = 0; a < w->n_active; a++)
					w->best[split_term(w, a)] = w->v[split_term(w, a)];
			}
			clear_sums(w);
		}
		clear_v(w);
		w->drift = 0;
	}
	for (uint32_t a = 0; a < w->n_active; a++)
		w->whole[split_term(w, a)] = 0;
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

	split_renew(w);
	for (uint32_t a = 0; a < w->n_active; a++) {
		double d = w->sum[0][split_term(w, a)] + w->sum[1][split_term(w, a)];

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
			w->best[split_term(w, a)] = w->v[split_term(w, a)];
		clear_sums(w);
		clear_v(w);
	}
	find_active(w, p);
	if (!seeded)
		return;
	for (uint32_t a = 0; a < w->n_active; a++) {
		w->v[split_term(w, a)] = w->best[split_term(w, a)];
		w->best[split_term(w, a)] = 0;
	}
	w->drift = 0;
	split_divide(w, p, false);
	split_renew(w);
	split_refine(w, p, &rng);
	measure(w, p, ret);
	clear_sums(w);
	clear_v(w);
	w->drift = 0;
}
