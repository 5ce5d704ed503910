/* SPDX-License-Identifier: Apache-2.0 */
/* Saved graphs: the round trip, and every way a file can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "graph/graph_file.h"
#include "../../lib/scratch.h"

static char path[SCRATCH_PATH];

static void make(struct graph *g, uint32_t n, size_t n_links)
{
	uint32_t *from = mem_array(n_links + 1, 4), *to = mem_array(n_links + 1, 4);
	struct rng r;

	rng_init(&r, n);
	for (size_t i = 0; i < n_links; i++) {
		from[i] = (uint32_t)rng_below(&r, n);
		to[i] = (uint32_t)rng_below(&r, n);
	}
	assert_int_equal(graph_build(from, to, n_links, n, true, g, NULL), 0);
	free(from);
	free(to);
}

static void test_round_trip(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 7, 300000 };
	struct graph g, got;

	(void)state;
	for (int i = 0; i < 4; i++) {
		make(&g, sizes[i], sizes[i] ? sizes[i] * 3u : 0);
		assert_int_equal(graph_file_save(&g, path, NULL), 0);
		assert_true(graph_file_is(path));
		assert_int_equal(graph_file_map(path, true, &got, NULL), 0);
		assert_non_null(got.map);
		assert_int_equal(got.n_nodes, g.n_nodes);
		assert_int_equal(got.n_links, g.n_links);
		assert_memory_equal(got.offsets, g.offsets, (g.n_nodes + 1) * 8ul);
		assert_memory_equal(got.targets, g.targets, g.n_links * 4);
		graph_release(&got);
		graph_release(&g);
	}
	assert_int_equal(graph_file_save(&(struct graph){ 0 }, path, NULL), 0);
	assert_int_equal(graph_file_map(path, true, &got, NULL), 0);
	assert_int_equal(got.n_nodes, 0);
	graph_release(&got);
}

static void overwrite(long at, const void *data, size_t size)
{
	FILE *f = fopen(path, "r+b");

	assert_non_null(f);
	fseek(f, at, SEEK_SET);
	assert_int_equal(fwrite(data, 1, size, f), size);
	fclose(f);
}

static void test_wrong_files_are_refused(void **state)
{
	static const uint32_t other_order = 0x04030201;
	struct graph g, got = { .n_nodes = 77 };
	struct err err;
	uint8_t byte = 0x5a;

	(void)state;
	unlink(path);
	assert_int_equal(graph_file_map(path, true, &got, &err), E_IO);
	make(&g, 500, 2000);
	/* every byte of header and offsets, some of the targets */
	for (long at = 0; at < 64 + 501 * 8 + 2000 * 3; at += at < 200 ? 1 : 97) {
		assert_int_equal(graph_file_save(&g, path, NULL), 0);
		overwrite(at, &byte, 1);
		assert_int_equal(graph_file_map(path, true, &got, &err), E_PARSE);
		assert_non_null(strstr(err.text, path));
	}
	assert_int_equal(graph_file_save(&g, path, NULL), 0);
	overwrite(12, &other_order, 4);
	assert_int_equal(graph_file_map(path, true, &got, &err), E_PARSE);
	assert_non_null(strstr(err.text, "byte order"));
	for (int cut = 0; cut < 5000; cut += 999) {
		assert_int_equal(graph_file_save(&g, path, NULL), 0);
		assert_int_equal(truncate(path, cut), 0);
		assert_int_equal(graph_file_map(path, false, &got, &err), E_PARSE);
	}
	assert_false(graph_file_is("/dev/null"));
	assert_int_equal(got.n_nodes, 77);      /* untouched by failures */
	assert_int_equal(graph_file_save(&g, "/nonexistent/x", &err), E_IO);
	graph_release(&g);
}

/* Sums that are right do not make a link to nowhere right. */
static void test_links_to_nowhere_are_refused(void **state)
{
	uint64_t offsets[] = { 0, 2, 2, 3 }, backwards[] = { 0, 3, 2, 3 };
	uint32_t targets[] = { 1, 2, 0 };
	struct graph g = { .n_nodes = 3, .n_links = 3, .offsets = offsets, .targets = targets }, got;
	struct err err;

	(void)state;
	assert_int_equal(graph_file_save(&g, path, NULL), 0);
	assert_int_equal(graph_file_map(path, true, &got, NULL), 0);
	graph_release(&got);
	for (int i = 0; i < 3; i++) {
		uint32_t right = targets[i];

		targets[i] = 3;
		assert_int_equal(graph_file_save(&g, path, NULL), 0);
		assert_int_equal(graph_file_map(path, true, &got, &err), E_PARSE);
		targets[i] = right;
	}
	g.offsets = backwards;
	assert_int_equal(graph_file_save(&g, path, NULL), 0);
	assert_int_equal(graph_file_map(path, true, &got, &err), E_PARSE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_wrong_files_are_refused),
		cmocka_unit_test(test_links_to_nowhere_are_refused),
	};

	scratch_path(path, "graph");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
