/* SPDX-License-Identifier: Apache-2.0 */
/* Repeated bisection: planted clusters, the criterion against naive sums, the
 * tree, threads, and input that has no clusters to find. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "cluster/bisect.h"

#define ASSERT_NEAR(x, y, tolerance) do { \
	double x_ = (x), y_ = (y); \
	if (!(fabs(x_ - y_) <= (tolerance))) \
		fail_msg("%s = %.12g, not %.12g", #x, x_, y_); \
} while (0)

/* n rows around `groups` random directions; sizes uneven; truth in label. */
static void plant_dense(struct rows *r, uint32_t n, uint32_t dim, uint32_t groups,
                        double noise, uint32_t *label, uint64_t seed)
{
	double (*centre)[64] = calloc(groups, sizeof *centre);
	struct rng g;

	rng_init(&g, seed);
	for (uint32_t c = 0; c < groups; c++)
		for (uint32_t j = 0; j < dim; j++)
			centre[c][j] = rng_normal(&g);
	rows_init_dense(r, n, dim);
	for (uint32_t i = 0; i < n; i++) {
		double u = rng_next_unit(&g);

		label[i] = i < groups ? i : (uint32_t)(groups * u * sqrt(u));
		for (uint32_t j = 0; j < dim; j++)
			rows_dense(r, i)[j] = (float)(centre[label[i]][j] + noise * rng_normal(&g));
	}
	rows_unit(r);
	free(centre);
}

/* Each group draws most of its words from its own part of the vocabulary. */
static void plant_sparse(struct rows *r, uint32_t n, uint32_t dim, uint32_t groups,
                         uint32_t *label, uint64_t seed)
{
	struct rng g;

	rng_init(&g, seed);
	rows_init_sparse(r, dim);
	for (uint32_t i = 0; i < n; i++) {
		double u = rng_next_unit(&g);

		label[i] = i < groups ? i : (uint32_t)(groups * u * sqrt(u));
		for (int j = 0; j < 60; j++) {
			uint32_t own = dim / groups;
			uint64_t t = rng_below(&g, 10) < 7 ? label[i] * own + rng_below(&g, own)
			                                   : rng_below(&g, dim);

			rows_add(r, (uint32_t)t, 1);
		}
		rows_close(r);
	}
	rows_tfidf(r);
	rows_unit(r);
}

/* Adjusted Rand index, from the table of pairs of labels. */
static double rand_index(const uint32_t *a, const uint32_t *b, uint32_t n, uint32_t ka,
                         uint32_t kb)
{
	double *table = calloc((size_t)ka * kb, sizeof *table), both = 0, pa = 0, pb = 0, all;

	for (uint32_t i = 0; i < n; i++)
		table[a[i] * kb + b[i]]++;
	for (uint32_t x = 0; x < ka; x++) {
		double row = 0;

		for (uint32_t y = 0; y < kb; y++) {
			double v = table[x * kb + y];

			both += v * (v - 1) / 2;
			row += v;
		}
		pa += row * (row - 1) / 2;
	}
	for (uint32_t y = 0; y < kb; y++) {
		double column = 0;

		for (uint32_t x = 0; x < ka; x++)
			column += table[x * kb + y];
		pb += column * (column - 1) / 2;
	}
	free(table);
	all = (double)n * (n - 1) / 2;
	return (both - pa * pb / all) / ((pa + pb) / 2 - pa * pb / all);
}

static double naive_criterion(const struct rows *r, const uint32_t *of, uint32_t k)
{
	double *sum = calloc((size_t)k * r->dim, sizeof *sum), total = 0;

	for (uint32_t i = 0; i < r->n; i++)
		if (of[i] != CLUSTER_NONE)
			rows_add_to(r, i, 1, sum + (size_t)of[i] * r->dim);
	for (uint32_t c = 0; c < k; c++) {
		double square = 0;

		for (uint32_t j = 0; j < r->dim; j++)
			square += sum[(size_t)c * r->dim + j] * sum[(size_t)c * r->dim + j];
		total += sqrt(square);
	}
	free(sum);
	return total;
}

/* Everything that must hold of any result, refined or not. */
static void check_partition(const struct rows *r, const struct clusters *c)
{
	uint8_t *seen = calloc(r->n + 1, 1);
	uint32_t total = 0;

	assert_true(c->n_nodes == (c->k ? 2 * c->k - 1 : 0));
	for (uint32_t i = 0; i < c->k; i++) {
		uint32_t n;
		const uint32_t *members = clusters_members(c, i, &n);
		double *sum = calloc(r->dim, sizeof *sum), square = 0, dot = 0;

		assert_true(n == c->size[i] && n > 0);
		assert_true(i == 0 || c->size[i] <= c->size[i - 1]);
		for (uint32_t j = 0; j < n; j++) {
			assert_int_equal(c->of[members[j]], i);
			assert_false(seen[members[j]]);
			seen[members[j]] = 1;
			rows_add_to(r, members[j], 1, sum);
			dot += rows_dot(r, members[j], &c->centroids, i);
		}
		for (uint32_t j = 0; j < r->dim; j++)
			square += sum[j] * sum[j];
		/* the mean cosine to the centroid is the length of the sum */
		ASSERT_NEAR(c->nodes[c->leaf[i]].norm, sqrt(square), 1e-6 * (1 + sqrt(square)));
		ASSERT_NEAR(dot, sqrt(square), 1e-4 * (1 + sqrt(square)));
		total += n;
		free(sum);
	}
	assert_int_equal(total, c->n_members);
	ASSERT_NEAR(c->criterion, naive_criterion(r, c->of, c->k), 1e-6 * (1 + c->criterion));
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		const struct cluster_node *nd = &c->nodes[i];

		if (nd->child[0] == CLUSTER_NONE)
			continue;
		assert_int_equal(c->nodes[nd->child[0]].size + c->nodes[nd->child[1]].size, nd->size);
		assert_int_equal(c->nodes[nd->child[0]].begin, nd->begin);
		assert_int_equal(c->nodes[nd->child[1]].parent, i);
	}
	free(seen);
}

/* ... and of one that was only divided: the criterion never falls. */
static void check_clusters(const struct rows *r, const struct clusters *c)
{
	double last = 0;

	check_partition(r, c);
	for (uint32_t k = 1; k <= c->k; k++) {
		double now = clusters_criterion_at(c, k);

		assert_true(isfinite(now) && now >= last - 1e-9 * now);
		last = now;
	}
}

static void test_finds_planted_dense(void **state)
{
	enum { N = 20000, K = 25 };
	static uint32_t label[N];

	(void)state;
	for (int choose = 0; choose < 2; choose++) {
		struct rows r;
		struct clusters c;
		double ari;

		plant_dense(&r, N, 48, K, 0.35, label, 1);
		bisect_run(&r, NULL, 0, &(struct bisect_options){
			.k = K, .choose = (enum bisect_choose)choose, .seed = 5 }, &c);
		check_clusters(&r, &c);
		ari = rand_index(label, c.of, N, K, c.k);
		printf("dense, %s: adjusted Rand index %.4f\n", choose ? "largest" : "best", ari);
		if (choose == BISECT_BEST)
			assert_true(ari > 0.95);
		clusters_release(&c);
		rows_release(&r);
	}
}

static void test_finds_planted_sparse(void **state)
{
	enum { N = 8000, K = 20 };
	static uint32_t label[N];
	struct rows r;
	struct clusters c;
	double ari;

	(void)state;
	plant_sparse(&r, N, 1000, K, label, 2);
	bisect_run(&r, NULL, 0, &(struct bisect_options){
		.k = K, .choose = BISECT_BEST, .seed = 5 }, &c);
	check_clusters(&r, &c);
	ari = rand_index(label, c.of, N, K, c.k);
	printf("sparse, best: adjusted Rand index %.4f\n", ari);
	assert_true(ari > 0.95);
	clusters_release(&c);
	rows_release(&r);
}

/* A vocabulary larger than the rows fill: only terms that occur are worked on. */
static void test_large_vocabulary(void **state)
{
	enum { N = 600, K = 6 };
	static uint32_t label[N];
	struct rows r;
	struct clusters c;

	(void)state;
	plant_sparse(&r, N, 150, K, label, 3);
	r.dim = 600000;
	for (uint64_t i = 0; i < r.open; i++)   /* 25 words per group, far apart */
		r.term[i] *= 4000;
	bisect_run(&r, NULL, 0, &(struct bisect_options){
		.k = K, .choose = BISECT_BEST, .seed = 1 }, &c);
	assert_true(rand_index(label, c.of, N, K, c.k) > 0.95);
	clusters_release(&c);
	rows_release(&r);
}

static void test_same_for_any_threads(void **state)
{
	enum { N = 70000 };             /* past the size from which parts are shared */
	static uint32_t label[N];
	struct rows dense, sparse;

	(void)state;
	plant_dense(&dense, N, 16, 30, 0.8, label, 4);
	plant_sparse(&sparse, 3000, 400, 10, label, 4);
	for (int choose = 0; choose < 2; choose++) {
		for (int kind = 0; kind < 2; kind++) {
			const struct rows *r = kind ? &dense : &sparse;
			struct bisect_options o = { .k = 20, .seed = 9, .trials = 4,
			                            .choose = (enum bisect_choose)choose };
			struct clusters one, many;

			o.threads = 1;
			bisect_run(r, NULL, 0, &o, &one);
			for (o.threads = 2; o.threads <= 5; o.threads += 3) {
				bisect_run(r, NULL, 0, &o, &many);
				assert_int_equal(one.k, many.k);
				assert_memory_equal(one.of, many.of, r->n * sizeof *one.of);
				assert_true(one.criterion == many.criterion);
				clusters_release(&many);
			}
			o.seed = 10;
			bisect_run(r, NULL, 0, &o, &many);
			assert_true(memcmp(one.of, many.of, r->n * sizeof *one.of) != 0);
			clusters_release(&many);
			clusters_release(&one);
		}
	}
	rows_release(&dense);
	rows_release(&sparse);
}

/* One run holds the runs of all smaller k. */
static void test_prefix_is_smaller_k(void **state)
{
	static uint32_t label[3000];

	(void)state;
	for (int choose = 0; choose < 2; choose++) {
		struct bisect_options o = { .k = 40, .choose = (enum bisect_choose)choose };
		struct clusters large, small;
		uint32_t nodes[15];
		struct rows r;

		plant_dense(&r, 3000, 20, 12, 0.7, label, 6);
		bisect_run(&r, NULL, 0, &o, &large);
		o.k = 15;
		bisect_run(&r, NULL, 0, &o, &small);
		ASSERT_NEAR(clusters_criterion_at(&large, 15), small.criterion, 1e-6);
		clusters_at(&large, 15, nodes);
		for (int i = 0; i < 15; i++) {
			const struct cluster_node *nd = &large.nodes[nodes[i]];
			uint32_t cluster = small.of[large.order[nd->begin]];

			assert_int_equal(nd->size, small.size[cluster]);
			for (uint32_t j = 0; j < nd->size; j++)
				assert_int_equal(small.of[large.order[nd->begin + j]], cluster);
		}
		clusters_release(&large);
		clusters_release(&small);
		rows_release(&r);
	}
}

/* No move of a single row from one side of the last division to the other can
 * still gain: what refinement promises, checked from the definition. */
static void test_division_is_a_local_optimum(void **state)
{
	static uint32_t label[300];
	struct clusters c;
	struct rows r;

	(void)state;
	plant_dense(&r, 300, 8, 5, 1.0, label, 8);
	bisect_run(&r, NULL, 0, &(struct bisect_options){ .k = 2, .passes = 100 }, &c);
	assert_int_equal(c.k, 2);
	for (uint32_t i = 0; i < r.n; i++) {
		c.of[i] = 1 - c.of[i];
		assert_true(naive_criterion(&r, c.of, 2) < c.criterion + 1e-6);
		c.of[i] = 1 - c.of[i];
	}
	clusters_release(&c);
	rows_release(&r);
}

/* Rows that a division at the top parted wrongly come together again. */
static void test_refinement_only_gains(void **state)
{
	static uint32_t label[6000];

	(void)state;
	for (int dense = 0; dense < 2; dense++) {
		struct bisect_options o = { .k = 30, .seed = 3, .trials = 1 };
		struct clusters plain, once, many, same;
		struct rows r;

		if (dense)
			plant_dense(&r, 6000, 24, 40, 0.6, label, 21);
		else
			plant_sparse(&r, 6000, 400, 40, label, 21);
		bisect_run(&r, NULL, 0, &o, &plain);
		o.refine = 1;
		bisect_run(&r, NULL, 0, &o, &once);
		o.refine = 30;
		bisect_run(&r, NULL, 0, &o, &many);
		o.threads = 1;
		bisect_run(&r, NULL, 0, &o, &same);
		check_partition(&r, &many);
		check_partition(&r, &once);
		assert_int_equal(many.k, 30);
		assert_true(once.criterion >= plain.criterion * (1 - 1e-9) + dense);
		assert_true(many.criterion >= once.criterion * (1 - 1e-9) + dense);
		assert_memory_equal(many.of, same.of, r.n * sizeof *many.of);
		/* at rest every row is with its nearest centroid */
		for (uint32_t i = 0; i < r.n; i += 7) {
			double own = rows_dot(&r, i, &many.centroids, many.of[i]);

			for (uint32_t k = 0; k < many.k; k++)
				assert_true(rows_dot(&r, i, &many.centroids, k) < own + 1e-5);
		}
		clusters_release(&plain);
		clusters_release(&once);
		clusters_release(&many);
		clusters_release(&same);
		rows_release(&r);
	}
}

static void test_some_members_only(void **state)
{
	static uint32_t label[1000];
	uint32_t members[500];
	struct clusters c;
	struct rows r;

	(void)state;
	plant_dense(&r, 1000, 12, 4, 0.3, label, 7);
	for (uint32_t i = 0; i < 500; i++)
		members[i] = 2 * i + 1;
	bisect_run(&r, members, 500,
	           &(struct bisect_options){ .k = 4, .choose = BISECT_BEST }, &c);
	check_clusters(&r, &c);
	assert_int_equal(c.n_members, 500);
	for (uint32_t i = 0; i < 1000; i++)
		assert_true((c.of[i] != CLUSTER_NONE) == (i % 2 == 1));
	clusters_release(&c);
	rows_release(&r);
}

static void make_odd(struct rows *r, int kind, bool dense)
{
	/* 0 none, 1 one row, 2 five alike, 3 all empty, 4 alike and empty,
	 * 5 three kinds many times, 6 alike but one, 7 two rows */
	static const uint32_t count[] = { 0, 1, 5, 40, 50, 3000, 3000, 2 };

	if (dense)
		rows_init_dense(r, count[kind], 4);
	else
		rows_init_sparse(r, 4);
	for (uint32_t i = 0; i < count[kind]; i++) {
		uint32_t t = kind == 5 ? i % 3 : kind == 6 ? i == 2999 : kind == 7 ? i : 0;
		float w = kind == 3 || (kind == 4 && i % 2) ? 0 : 2;

		if (dense)
			rows_dense(r, i)[t] = w;
		else {
			rows_add(r, t, w);
			rows_close(r);
		}
	}
	rows_unit(r);
}

static void test_odd_input(void **state)
{
	static const uint32_t want[] = { 0, 1, 1, 1, 1, 3, 2, 2 };

	(void)state;
	for (int kind = 0; kind < 8; kind++) {
		for (int variant = 0; variant < 4; variant++) {
			struct rows r;
			struct clusters c;

			make_odd(&r, kind, variant & 1);
			bisect_run(&r, NULL, 0, &(struct bisect_options){
				.k = 50, .choose = variant & 2 ? BISECT_BEST : BISECT_LARGEST }, &c);
			assert_int_equal(c.k, want[kind]);
			check_clusters(&r, &c);
			clusters_release(&c);
			rows_release(&r);
		}
	}
}

static void test_k_as_large_as_the_rows(void **state)
{
	static uint32_t label[700];
	struct clusters c;
	struct rows r;

	(void)state;
	plant_dense(&r, 700, 10, 7, 0.5, label, 12);
	bisect_run(&r, NULL, 0, &(struct bisect_options){ .k = 5000 }, &c);
	assert_int_equal(c.k, 700);
	check_clusters(&r, &c);
	ASSERT_NEAR(c.criterion, 700, 1e-3);
	clusters_release(&c);
	rows_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_planted_dense),
		cmocka_unit_test(test_finds_planted_sparse),
		cmocka_unit_test(test_large_vocabulary),
		cmocka_unit_test(test_same_for_any_threads),
		cmocka_unit_test(test_prefix_is_smaller_k),
		cmocka_unit_test(test_division_is_a_local_optimum),
		cmocka_unit_test(test_refinement_only_gains),
		cmocka_unit_test(test_some_members_only),
		cmocka_unit_test(test_odd_input),
		cmocka_unit_test(test_k_as_large_as_the_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
