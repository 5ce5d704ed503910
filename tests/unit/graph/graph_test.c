/* SPDX-License-Identifier: Apache-2.0 */
/* Building and transposing against a matrix of link counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "graph/graph.h"

#define N 150

struct world {
	uint32_t *from, *to;
	size_t n;
	uint8_t count[N][N];            /* links from, to */
};

static void make_world(struct world *w, uint64_t seed, size_t n)
{
	struct rng r;

	memset(w, 0, sizeof *w);
	rng_init(&r, seed);
	w->n = n;
	w->from = mem_array(n, 4);
	w->to = mem_array(n, 4);
	for (size_t i = 0; i < n; i++) {
		/* the last node has no links at all, the one before none out */
		w->from[i] = (uint32_t)rng_below(&r, rng_below(&r, 2) ? N - 2 : 7);
		w->to[i] = (uint32_t)rng_below(&r, N - 1);
		if (w->count[w->from[i]][w->to[i]] < 255)
			w->count[w->from[i]][w->to[i]]++;
		else
			i--;
	}
}

static void free_world(struct world *w)
{
	free(w->from);
	free(w->to);
}

/* g holds exactly the world's links: all of them, or each kind once. */
static void assert_same(const struct graph *g, const struct world *w, bool dedupe,
                        bool loops, bool turned)
{
	uint64_t total = 0;

	assert_int_equal(g->n_nodes, N);
	assert_true(graph_is_sound(g));
	for (uint32_t a = 0; a < N; a++) {
		uint64_t n, at = 0;
		const uint32_t *links = graph_links(g, a, &n);

		for (uint32_t b = 0; b < N; b++) {
			unsigned want = turned ? w->count[b][a] : w->count[a][b];

			want = a == b && !loops ? 0 : dedupe ? want > 0 : want;
			for (unsigned i = 0; i < want; i++) {
				assert_true(at < n);
				assert_int_equal(links[at++], b);
			}
		}
		assert_int_equal(at, n);
		assert_int_equal(graph_degree(g, a), n);
		total += n;
	}
	assert_int_equal(total, g->n_links);
}

static void test_build_equals_matrix(void **state)
{
	struct world w;
	struct graph g, in;

	(void)state;
	make_world(&w, 1, 5000);
	for (int dedupe = 0; dedupe < 2; dedupe++) {
		uint32_t degrees[N];

		assert_int_equal(graph_build(w.from, w.to, w.n, N, dedupe, &g, NULL), 0);
		assert_same(&g, &w, dedupe, true, false);
		graph_transpose(&g, &in);
		assert_same(&in, &w, dedupe, true, true);
		graph_in_degrees(&g, degrees);
		for (uint32_t v = 0; v < N; v++)
			assert_int_equal(degrees[v], graph_degree(&in, v));
		graph_release(&in);
		graph_release(&g);
	}
	free_world(&w);
}

/* A tiny memory bound: several runs through the temporary file. */
static void test_build_spills(void **state)
{
	struct graph_build_opts opts = { .dedupe = true, .drop_loops = true, .memory = 8192 };
	struct graph_builder *b = graph_builder_new(&opts);
	struct world w;
	struct graph g;

	(void)state;
	make_world(&w, 2, 20000);
	for (size_t i = 0; i < w.n; i++)
		assert_int_equal(graph_builder_add(b, w.from[i], w.to[i], NULL), 0);
	assert_int_equal(graph_builder_finish(b, N, &g, NULL), 0);
	assert_same(&g, &w, true, false, false);
	graph_release(&g);
	free_world(&w);
}

static void test_build_high_numbers_and_limits(void **state)
{
	uint32_t from[] = { 5000000, 0, 5000000 }, to[] = { 3, 4999999, 1 }, huge = UINT32_MAX;
	struct err err;
	struct graph g;
	uint64_t n;

	(void)state;
	assert_int_equal(graph_build(from, to, 3, 0, false, &g, &err), 0);
	assert_int_equal(g.n_nodes, 5000001);
	assert_int_equal(graph_links(&g, 5000000, &n)[0], 1);
	assert_int_equal(n, 2);
	assert_int_equal(graph_links(&g, 0, &n)[0], 4999999);
	graph_release(&g);
	assert_int_equal(graph_build(from, to, 3, 100, false, &g, &err), E_PARSE);
	assert_non_null(strstr(err.text, "5000000"));
	assert_int_equal(graph_build(&huge, to, 1, 0, false, &g, &err), E_LIMIT);
	assert_int_equal(graph_build(NULL, NULL, 0, 0, true, &g, &err), 0);
	assert_int_equal(g.n_nodes, 0);
	graph_release(&g);
	assert_int_equal(graph_build(NULL, NULL, 0, 4, true, &g, &err), 0);
	assert_int_equal(g.offsets[4], 0);
	graph_release(&g);
}

static void test_rows_sort(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 2, 31, 32, 33, 500, 4097, 20000 };
	struct rng r;

	(void)state;
	rng_init(&r, 3);
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		uint32_t *row = mem_array(sizes[s] + 1, 4);
		uint64_t sum = 0, sorted = 0;

		for (uint64_t i = 0; i < sizes[s]; i++) {
			row[i] = (uint32_t)rng_next(&r) >> rng_below(&r, 32);
			sum += rng_mix(row[i]);
		}
		graph_sort_row(row, sizes[s]);
		for (uint64_t i = 0; i < sizes[s]; i++) {
			sorted += rng_mix(row[i]);
			if (i)
				assert_true(row[i - 1] <= row[i]);
		}
		assert_true(sum == sorted);
		free(row);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build_equals_matrix),
		cmocka_unit_test(test_build_spills),
		cmocka_unit_test(test_build_high_numbers_and_limits),
		cmocka_unit_test(test_rows_sort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
