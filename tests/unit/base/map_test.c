/* SPDX-License-Identifier: Apache-2.0 */
/* Random operations on the hash tables and the heap against naive arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/heap.h"
#include "base/map.h"
#include "base/math/rng.h"
#include "base/mem.h"

static void test_map_equals_array(void **state)
{
	uint32_t naive[1000];
	struct map m = { 0 };
	struct rng r;

	(void)state;
	memset(naive, 0xff, sizeof naive);      /* MAP_NONE */
	rng_init(&r, 7);
	for (int i = 0; i < 40000; i++) {
		uint64_t k = rng_below(&r, 1000);
		uint32_t v = (uint32_t)rng_below(&r, 1u << 30);

		if (i > 20000 && rng_below(&r, 300) == 0) {
			if (rng_below(&r, 2))
				map_clear(&m);
			else
				map_clear_for(&m, rng_below(&r, 1500));
			memset(naive, 0xff, sizeof naive);
		}
		if (rng_below(&r, 2000) == 0)
			map_reserve(&m, rng_below(&r, 3000));
		map_soon(&m, k);
		switch (rng_below(&r, 3)) {
		case 0:
			map_put(&m, k * 0x9e3779b97f4a7c15u, v);
			naive[k] = v;
			break;
		case 1:
			if (naive[k] == MAP_NONE)
				naive[k] = v;
			assert_int_equal(map_intern(&m, k * 0x9e3779b97f4a7c15u, v, NULL), naive[k]);
			break;
		default:
			assert_int_equal(map_get(&m, k * 0x9e3779b97f4a7c15u), naive[k]);
		}
	}
	map_release(&m);
}

static void test_strtab_numbers_strings(void **state)
{
	struct strtab t = { 0 };
	char s[32];
	bool fresh;

	(void)state;
	assert_int_equal(strtab_find(&t, "x", 1), MAP_NONE);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 5000; i++) {
			size_t n = (size_t)snprintf(s, sizeof s, "http://h%u/p%u", i % 7, i);

			assert_int_equal(strtab_intern(&t, s, n, &fresh), i);
			assert_int_equal(fresh, round == 0);
		}
	}
	assert_string_equal(strtab_get(&t, 4321), "http://h2/p4321");
	assert_int_equal(strtab_size(&t, 4321), 15);
	assert_int_equal(strtab_intern(&t, "", 0, &fresh), 5000);
	assert_int_equal(strtab_size(&t, 5000), 0);
	strtab_release(&t);
}

static void test_heap_equals_scan(void **state)
{
	double key[200];
	bool in[200] = { 0 };
	struct heap h;
	struct rng r;

	(void)state;
	heap_init(&h, 200);
	rng_init(&r, 3);
	for (int i = 0; i < 20000; i++) {
		uint32_t k = (uint32_t)rng_below(&r, 200), best = MAP_NONE, got;

		switch (rng_below(&r, 4)) {
		case 0:
		case 1:
			key[k] = (double)rng_below(&r, 20);     /* many ties */
			in[k] = true;
			heap_set(&h, k, key[k]);
			break;
		case 2:
			in[k] = false;
			heap_remove(&h, k);
			break;
		default:
			for (uint32_t j = 0; j < 200; j++)
				if (in[j] && (best == MAP_NONE || key[j] > key[best]))
					best = j;
			if (heap_pop(&h, &got, NULL)) {
				assert_int_equal(got, best);
				in[got] = false;
			} else {
				assert_int_equal(best, MAP_NONE);
			}
		}
	}
	heap_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_equals_array),
		cmocka_unit_test(test_strtab_numbers_strings),
		cmocka_unit_test(test_heap_equals_scan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
