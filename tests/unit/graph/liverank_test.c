/* SPDX-License-Identifier: Apache-2.0 */
/* LiveRank: the cost function and every order worked by hand on small graphs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "graph/liverank.h"

static void test_cost_by_hand(void **state)
{
	static const uint32_t good[] = { 3, 0, 1, 2 }, bad[] = { 1, 2, 0, 3 };
	static const uint8_t alive[] = { 1, 0, 0, 1 }, none[4] = { 0 };
	static const double alphas[] = { 0.05, 0.5, 0.55, 1 };
	double cost[4];

	(void)state;
	/* two alive: alpha .05 and .5 need one of them, .55 and 1 need both */
	liverank_cost(good, 4, alive, alphas, 4, cost);
	assert_true(fabs(cost[0] - 1 / 0.1) < 1e-12);
	assert_true(fabs(cost[1] - 1) < 1e-12);
	assert_true(fabs(cost[2] - 2 / 1.1) < 1e-12);
	assert_true(fabs(cost[3] - 1) < 1e-12);
	liverank_cost(bad, 4, alive, alphas, 4, cost);
	assert_true(fabs(cost[1] - 3) < 1e-12);
	assert_true(fabs(cost[3] - 2) < 1e-12);
	liverank_cost(bad, 4, none, alphas, 4, cost);
	assert_true(isnan(cost[0]) && isnan(cost[3]));
}

struct made {
	struct graph g;
	struct pagerank_matrix *matrix;
	uint32_t degrees[600];
	struct liverank_world w;
};

static void make(struct made *m, const uint32_t *from, const uint32_t *to, size_t n_links,
                 uint32_t n, const double *pagerank)
{
	memset(m, 0, sizeof *m);
	assert_int_equal(graph_build(from, to, n_links, n, true, &m->g, NULL), 0);
	m->matrix = pagerank_prepare(&m->g);
	graph_in_degrees(&m->g, m->degrees);
	m->w = (struct liverank_world){ .out = &m->g, .matrix = m->matrix,
		.pagerank = pagerank, .in_degree = m->degrees };
}

static void unmake(struct made *m)
{
	pagerank_free(m->matrix);
	graph_release(&m->g);
}

static void run(const struct liverank_world *w, const struct liverank_opts *o,
                const uint8_t *alive, uint32_t *ret)
{
	struct liverank *l;
	struct err err;
	uint32_t page, n = 0;

	if (liverank_new(&l, w, o, &err))
		fail_msg("%s", err.text);
	while ((page = liverank_next(l)) != GRAPH_NONE) {
		assert_true(n < w->out->n_nodes);
		ret[n++] = page;
		liverank_tell(l, page, alive[page]);
	}
	assert_int_equal(n, w->out->n_nodes);
	liverank_free(l);
}

static void assert_order(const struct liverank_world *w, enum liverank_order order,
                         uint32_t sample, const uint8_t *alive, const uint32_t *want)
{
	struct liverank_opts o = { .order = order, .sample = sample,
	                           .by = LIVERANK_BY_PAGERANK };
	uint32_t got[16];

	for (o.seed = 0; o.seed < 5; o.seed++) {
		run(w, &o, alive, got);
		for (uint32_t i = 0; i < w->out->n_nodes; i++)
			if (got[i] != want[i])
				fail_msg("place %u: page %u, wanted %u", i, got[i], want[i]);
	}
}

#define ORDER(...) ((const uint32_t[]){ __VA_ARGS__ })
#define LIFE(...) ((const uint8_t[]){ __VA_ARGS__ })

/*  0 -> 1 2    1 -> 3    4 -> 5    5 -> 6;  sample 0 and 4, by the ranks given
 *
 *  From 0 alone, d = .85, dropped: y0 = .15, y1 = y2 = .06375, y3 = .0542.
 *  From 4 alone: y4 = .15, y5 = .1275, y6 = .1084.                           */
static void test_static_and_sampled_by_hand(void **state)
{
	static const uint32_t from[] = { 0, 0, 1, 4, 5 }, to[] = { 1, 2, 3, 5, 6 };
	static const double rank[] = { 10, 1, 2, 3, 9, 5, 6 };
	struct made m;

	(void)state;
	make(&m, from, to, 5, 7, rank);
	assert_order(&m.w, LIVERANK_PAGERANK, 0, LIFE(0, 0, 0, 0, 0, 0, 0),
	             ORDER(0, 4, 6, 5, 3, 2, 1));
	/* degree 1: 6 5 3 2 1 by rank; then 0 and 4 */
	assert_order(&m.w, LIVERANK_INDEGREE, 0, LIFE(0, 0, 0, 0, 0, 0, 0),
	             ORDER(6, 5, 3, 2, 1, 0, 4));
	/* Pa: 1 and 2 tie, 2 has the rank; 3; 5 and 6 have nothing, by rank */
	assert_order(&m.w, LIVERANK_ALIVE, 2, LIFE(1, 0, 0, 0, 0, 0, 0),
	             ORDER(0, 4, 2, 1, 3, 6, 5));
	/* Pa+/-: Y- of 1 2 3 counts as .1084, so Y+ decides; 5 and 6 are 0 */
	assert_order(&m.w, LIVERANK_ALIVE_DEAD, 2, LIFE(1, 0, 0, 0, 0, 0, 0),
	             ORDER(0, 4, 2, 1, 3, 6, 5));
	/* both alive, no dead: Pa from both: y5 .0638 y6 .0542 y1 y2 .0319 y3 .0271 */
	assert_order(&m.w, LIVERANK_ALIVE_DEAD, 2, LIFE(1, 0, 0, 0, 1, 0, 0),
	             ORDER(0, 4, 5, 6, 2, 1, 3));
	/* none alive: by PageRank */
	assert_order(&m.w, LIVERANK_ALIVE_DEAD, 2, LIFE(0, 0, 0, 0, 0, 0, 0),
	             ORDER(0, 4, 6, 5, 3, 2, 1));
	assert_order(&m.w, LIVERANK_ALIVE, 2, LIFE(0, 0, 0, 0, 0, 0, 0),
	             ORDER(0, 4, 6, 5, 3, 2, 1));
	m.w.truth = LIFE(0, 1, 0, 1, 0, 0, 1);
	assert_order(&m.w, LIVERANK_ORACLE, 0, m.w.truth, ORDER(6, 3, 1, 0, 4, 5, 2));
	unmake(&m);
}

/*  Y+ over Y- where both reach: 0 -> 2 3, 1 -> 3 4; 0 alive, 1 dead.
 *  Y+: 2 and 3 .06375; Y-: 3 and 4 .06375.  2: .06375 / min(Y-) = 1, 3: 1,
 *  4: 0.  2 and 3 tie, 3 has the rank.                                        */
static void test_ratio_by_hand(void **state)
{
	static const uint32_t from[] = { 0, 0, 1, 1 }, to[] = { 2, 3, 3, 4 };
	static const double rank[] = { 9, 8, 1, 3, 2 };
	struct made m;

	(void)state;
	make(&m, from, to, 4, 5, rank);
	assert_order(&m.w, LIVERANK_ALIVE_DEAD, 2, LIFE(1, 0, 1, 1, 1), ORDER(0, 1, 3, 2, 4));
	unmake(&m);
}

/*  4 -> 5 in addition: the least Y- is that of 5, .85 * .06375, and counts for 2:
 *  2: 1 / .85, before 3: 1.  4 and 5 have 0, by rank.                         */
static void test_the_least_stands_for_zero(void **state)
{
	static const uint32_t from[] = { 0, 0, 1, 1, 4 }, to[] = { 2, 3, 3, 4, 5 };
	static const double rank[] = { 9, 8, 1, 3, 2, 4 };
	struct made m;

	(void)state;
	make(&m, from, to, 5, 6, rank);
	assert_order(&m.w, LIVERANK_ALIVE_DEAD, 2, LIFE(1, 0, 1, 1, 1, 0),
	             ORDER(0, 1, 2, 3, 5, 4));
	unmake(&m);
}

/*  0 -> 2 3    2 -> 5    3 -> 4    4 -> 1    6 7 have no links in
 *  Sample: 0.                                                              */
static void test_walks_step_by_step(void **state)
{
	static const uint32_t from[] = { 0, 0, 2, 3, 4 }, to[] = { 2, 3, 5, 4, 1 };
	static const double rank[] = { 9, 1, 2, 3, 4, 5, 7, 6 };
	struct made m;

	(void)state;
	make(&m, from, to, 5, 8, rank);
	/* BFS: 0 alive queues 2 3; 2 alive queues 5; 3 dead; 5 dead; dry: 6, then
	 * 7 dead, 4 alive queues 1 */
	assert_order(&m.w, LIVERANK_BFS, 1, LIFE(1, 0, 1, 0, 1, 0, 0, 0),
	             ORDER(0, 2, 3, 5, 6, 7, 4, 1));
	/* 0 dead: by rank, 6 7 5, then 4 queues 1, then 3, 2 */
	assert_order(&m.w, LIVERANK_BFS, 1, LIFE(0, 0, 1, 0, 1, 0, 0, 0),
	             ORDER(0, 6, 7, 5, 4, 1, 3, 2));
	unmake(&m);
}

/*  0 -> 2 3 4    1 -> 4 5    2 -> 6    4 -> 6 5    Sample: 0 1, both alive.
 *  Scores then: 4: 2, 5: 1, 3: 1, 2: 1.                                       */
static void test_alive_indegree_step_by_step(void **state)
{
	static const uint32_t from[] = { 0, 0, 0, 1, 1, 2, 4, 4 };
	static const uint32_t to[] = { 2, 3, 4, 4, 5, 6, 6, 5 };
	static const double rank[] = { 9, 8, 3, 4, 1, 2, 5, 7 };
	struct made m;

	(void)state;
	make(&m, from, to, 8, 8, rank);
	/* 4 first; alive: 5 has 2, 6 has 1: 5; then 6, 3, 2 have 1, by rank 6 3 2 */
	assert_order(&m.w, LIVERANK_ALIVE_INDEGREE, 2, LIFE(1, 1, 1, 1, 1, 0, 0, 0),
	             ORDER(0, 1, 4, 5, 6, 3, 2, 7));
	/* 4 dead: 3 2 5 have 1: 3, then 2, alive: 6 has 1 and the better rank */
	assert_order(&m.w, LIVERANK_ALIVE_INDEGREE, 2, LIFE(1, 1, 1, 1, 0, 0, 0, 0),
	             ORDER(0, 1, 4, 3, 2, 6, 5, 7));
	unmake(&m);
}

static void test_sites(void **state)
{
	static const uint32_t sites[] = { 0, 0, 0, 0, 1, 1, 2 };
	static const uint8_t alive[] = { 0, 0, 0, 0, 1, 1, 0 };
	struct liverank_opts o = { .order = LIVERANK_SITE, .sample = 3 };
	uint32_t got[7], n_of[3], differ = 0, first = 99;
	struct made m;

	(void)state;
	make(&m, NULL, NULL, 0, 7, NULL);
	m.w.sites = sites;
	m.w.n_sites = 3;
	for (o.seed = 0; o.seed < 20; o.seed++) {
		/* z = 3: one test in each site (two would be 4); then site 1, the live one */
		run(&m.w, &o, alive, got);
		memset(n_of, 0, sizeof n_of);
		for (int i = 0; i < 3; i++)
			n_of[sites[got[i]]]++;
		assert_true(n_of[0] == 1 && n_of[1] == 1 && n_of[2] == 1);
		assert_int_equal(sites[got[3]], 1);
		for (int i = 4; i < 7; i++)
			assert_int_equal(sites[got[i]], 0);
		differ += first != 99 && got[4] != first;
		first = got[4];
	}
	assert_true(differ > 0);        /* ties are random */
	o.sample = 2;                   /* fewer tests than sites: one each in two */
	run(&m.w, &o, alive, got);
	assert_true(sites[got[0]] != sites[got[1]]);
	unmake(&m);
}

/* z = 4: two tests in each site of two pages or more; the one-page site has none and
 * comes last, behind sites all of whose tests were dead. */
static void test_sites_without_a_test_come_last(void **state)
{
	static const uint32_t sites[] = { 0, 0, 0, 0, 1, 1, 1, 2 };
	static const uint8_t alive[8];
	struct liverank_opts o = { .order = LIVERANK_SITE, .sample = 4 };
	uint32_t got[8];
	struct made m;

	(void)state;
	make(&m, NULL, NULL, 0, 8, NULL);
	m.w.sites = sites;
	m.w.n_sites = 3;
	for (o.seed = 0; o.seed < 20; o.seed++) {
		run(&m.w, &o, alive, got);
		assert_int_equal(sites[got[7]], 2);
	}
	unmake(&m);
}

static void test_every_order_is_a_permutation(void **state)
{
	static uint32_t from[3000], to[3000], sites[600], got[600], again[600];
	static double rank[600];
	static uint8_t alive[600];
	double *ranks = rank;
	struct pagerank_opts po = PAGERANK_DEFAULTS;
	struct pagerank_result res;
	struct made m;
	struct rng r;

	(void)state;
	rng_init(&r, 4);
	for (int i = 0; i < 3000; i++) {
		from[i] = (uint32_t)rng_below(&r, 600);
		to[i] = (uint32_t)rng_below(&r, 1 + rng_below(&r, 600));
	}
	make(&m, from, to, 3000, 600, rank);
	for (uint32_t v = 0; v < 600; v++) {
		sites[v] = v / 37;
		alive[v] = v / 37 % 3 == 0 || rng_below(&r, 5) == 0;
	}
	assert_int_equal(pagerank(&m.g, &po, ranks, &res, NULL), 0);
	m.w.sites = sites;
	m.w.n_sites = 17;
	m.w.truth = alive;
	for (unsigned i = 0; i < 9u * 4 * 2 * 2; i++) {
		struct liverank_opts o = { .order = (enum liverank_order)(i % 9), .sample = 60,
			.by = (enum liverank_by)(i / 9 % 4), .spread = i / 36 % 2,
			.random_ties = i / 72 % 2, .seed = i };
		bool seen[600] = { 0 };

		run(&m.w, &o, alive, got);
		run(&m.w, &o, alive, again);
		assert_memory_equal(got, again, sizeof got);
		for (int k = 0; k < 600; k++) {
			assert_false(seen[got[k]]);
			seen[got[k]] = true;
		}
		if (o.spread && o.by == LIVERANK_BY_RANDOM && o.order == LIVERANK_ALIVE)
			for (int a = 0; a < 60; a++)
				for (uint64_t k = m.g.offsets[got[a]]; k < m.g.offsets[got[a] + 1]; k++)
					for (int b = 0; b < 60; b++)
						assert_true(b == a || m.g.targets[k] != got[b]);
	}
	unmake(&m);
}

static void test_systematic_is_even(void **state)
{
	static double rank[600];
	static uint8_t alive[600];
	static uint32_t got[600];
	struct liverank_opts o = { .order = LIVERANK_BFS, .sample = 50,
	                           .by = LIVERANK_BY_SYSTEMATIC };
	struct made m;

	(void)state;
	make(&m, NULL, NULL, 0, 600, rank);
	for (o.seed = 0; o.seed < 10; o.seed++) {
		unsigned in_part[50] = { 0 };

		run(&m.w, &o, alive, got);
		for (int i = 0; i < 50; i++)    /* one of every twelve */
			in_part[got[i] / 12]++;
		for (int i = 0; i < 50; i++)
			assert_int_equal(in_part[i], 1);
	}
	unmake(&m);
}

static void test_missing_parts_are_told(void **state)
{
	struct liverank_world w = { 0 };
	struct graph g = { 0 };
	struct liverank *l;

	(void)state;
	w.out = &g;
	for (int i = LIVERANK_INDEGREE; i <= LIVERANK_ORACLE; i++) {
		struct liverank_opts o = { .order = (enum liverank_order)i, .sample = 3 };

		assert_int_equal(liverank_new(&l, &w, &o, NULL), E_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cost_by_hand),
		cmocka_unit_test(test_static_and_sampled_by_hand),
		cmocka_unit_test(test_ratio_by_hand),
		cmocka_unit_test(test_the_least_stands_for_zero),
		cmocka_unit_test(test_sites_without_a_test_come_last),
		cmocka_unit_test(test_walks_step_by_step),
		cmocka_unit_test(test_alive_indegree_step_by_step),
		cmocka_unit_test(test_sites),
		cmocka_unit_test(test_every_order_is_a_permutation),
		cmocka_unit_test(test_systematic_is_even),
		cmocka_unit_test(test_missing_parts_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
