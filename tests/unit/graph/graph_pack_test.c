/* SPDX-License-Identifier: Apache-2.0 */
/* Packed rows against the graph itself: any order of links, any memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "graph/graph_pack.h"

#define N 3000u
#define LINKS_MAX 300u

/* Rows of all lengths; links near, far and to the node itself, in any order, some twice. */
static void make(struct graph *g, uint64_t seed)
{
	uint64_t *offsets;
	uint32_t *targets;
	struct rng r;

	rng_init(&r, seed);
	graph_alloc(g, N, N * LINKS_MAX, &offsets, &targets);
	for (uint32_t v = 0; v < N; v++) {
		uint64_t n = rng_below(&r, 3) ? rng_below(&r, 8) : rng_below(&r, LINKS_MAX);

		offsets[v + 1] = offsets[v] + n;
		for (uint64_t i = offsets[v]; i < offsets[v + 1]; i++) {
			uint32_t kind = (uint32_t)rng_below(&r, 10);

			targets[i] = kind == 0 ? v : kind < 5 ? (uint32_t)rng_below(&r, N) :
				(v + (uint32_t)rng_below(&r, 100)) % N;
		}
		if (rng_below(&r, 2))
			graph_sort_row(targets + offsets[v], n);
	}
	g->n_links = offsets[N];
}

static void test_rows_come_back(void **state)
{
	static const size_t memories[] = { 0, 1, 50, 5000, 100000, 200001, SIZE_MAX };

	(void)state;
	for (unsigned i = 0; i < 7 * 5; i++) {
		uint32_t *ours = mem_array(N, sizeof *ours), *right = mem_array(N, sizeof *right);
		size_t memory = memories[i % 7];
		uint64_t loops = 0, packed = 0;
		struct graph_pack p;
		struct graph g;

		make(&g, i);
		graph_pack(&p, &g, memory);
		assert_int_equal(p.halves[0].begin, 0);
		assert_int_equal(p.halves[0].end, p.halves[1].begin);
		assert_int_equal(p.halves[1].end, N);
		for (unsigned half = 0; half < PACK_HALVES; half++) {
			struct graph_rows rows;

			graph_rows_begin(&rows, &p, half);
			for (uint32_t v = p.halves[half].begin; v < p.halves[half].end; v++) {
				uint64_t n, here = 0;
				const uint32_t *links = graph_links(&g, v, &n);

				graph_rows_next(&rows);
				assert_int_equal(rows.n, n);
				assert_memory_equal(rows.links, links, n * sizeof *links);
				for (uint64_t k = 0; k < n; k++)
					here += links[k] == v;
				assert_int_equal(rows.loops, here);
				loops += here;
			}
			graph_rows_end(&rows);
			packed += p.halves[half].packed_end - p.halves[half].begin;
		}
		assert_true(memory == SIZE_MAX ? packed == N : memory < 50 ? packed == 0 :
		            memory < 5000 || (packed > 0 && packed < N));
		assert_int_equal(graph_pack_in_degrees(&p, ours), loops);
		graph_in_degrees(&g, right);
		assert_memory_equal(ours, right, N * sizeof *ours);
		graph_pack_release(&p);
		graph_release(&g);
		free(ours);
		free(right);
	}
}

static void test_near_links_take_a_byte(void **state)
{
	uint32_t from[2000], to[2000];
	struct graph_pack p;
	struct graph g;

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		from[i] = i / 20;
		to[i] = (i / 20 + i % 20 * 3) % 100;
	}
	assert_int_equal(graph_build(from, to, 2000, 100, true, &g, NULL), 0);
	/* a row of 20 links: a byte for their number, for the loop, for each link, for a first link far back */
	graph_pack(&p, &g, 2 * (50 * 23 + 110));
	assert_int_equal(p.halves[0].packed_end, p.halves[0].end);
	assert_int_equal(p.halves[1].packed_end, p.halves[1].end);
	graph_pack_release(&p);
	graph_release(&g);
}

static void test_nothing(void **state)
{
	struct graph g = { 0 };
	struct graph_pack p;
	uint32_t none;

	(void)state;
	graph_pack(&p, &g, SIZE_MAX);
	assert_int_equal(graph_pack_in_degrees(&p, &none), 0);
	graph_pack_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_come_back),
		cmocka_unit_test(test_near_links_take_a_byte),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
