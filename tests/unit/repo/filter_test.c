/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adding many pages: each URL has one number, whatever was there before, was
 * rolled back, or came from another program in between.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

#include "base/math/rng.h"
#include "repo/store.h"
#include "../../lib/scratch.h"

#define N 20000u

static int add(struct store *s, uint32_t i, uint32_t *ret)
{
	char url[64];
	int n = snprintf(url, sizeof url, "http://a.example/%u", i);

	return store_page_add(s, (struct text){ url, (size_t)n }, 1, ret, NULL);
}

static struct store *open_at(const char *path, enum store_mode mode)
{
	struct store *s;

	assert_int_equal(store_open(&s, path, mode, NULL), 0);
	return s;
}

static void numbers_are_unique(void **state)
{
	static uint32_t number[N];
	struct store *s = open_at("sqlite::memory:", STORE_CREATE);
	uint32_t n = 0, got;
	struct rng r;

	(void)state;
	rng_init(&r, 3);
	for (uint32_t i = 0; i < N; i++)
		number[i] = UINT32_MAX;
	for (int batch = 0; batch < 20; batch++) {
		assert_int_equal(store_begin(s, NULL), 0);
		for (int k = 0; k < 2000; k++) {
			uint32_t i = (uint32_t)rng_below(&r, N);
			int rc = add(s, i, &got);

			assert_int_equal(rc, number[i] == UINT32_MAX);
			if (rc == 1)
				number[i] = n++;
			assert_int_equal(got, number[i]);
		}
		assert_int_equal(store_commit(s, NULL), 0);
	}
	store_close(s);
}

static void rolled_back_pages_are_new_again(void **state)
{
	struct store *s = open_at("sqlite::memory:", STORE_CREATE);
	uint32_t got;

	(void)state;
	for (int round = 0; round < 3; round++) {
		assert_int_equal(store_begin(s, NULL), 0);
		for (uint32_t i = 0; i < 3000; i++) {
			assert_int_equal(add(s, i, &got), 1);
			assert_int_equal(got, i);
		}
		store_rollback(s);
	}
	store_close(s);
}

static void other_programs_are_seen(void **state)
{
	char path[SCRATCH_PATH];
	struct store *a, *b;
	uint32_t got;

	(void)state;
	a = open_at(scratch_path(path, "db"), STORE_CREATE);
	b = open_at(path, STORE_EXISTING);
	assert_int_equal(store_begin(a, NULL), 0);
	for (uint32_t i = 0; i < 3000; i++)
		assert_int_equal(add(a, i, &got), 1);
	assert_int_equal(store_commit(a, NULL), 0);
	assert_int_equal(store_begin(b, NULL), 0);
	assert_int_equal(add(b, 5000, &got), 1);
	assert_int_equal(got, 3000);
	assert_int_equal(store_commit(b, NULL), 0);
	assert_int_equal(store_begin(a, NULL), 0);
	assert_int_equal(add(a, 5000, &got), 0);
	assert_int_equal(got, 3000);
	assert_int_equal(add(a, 5001, &got), 1);
	assert_int_equal(got, 3001);
	assert_int_equal(store_commit(a, NULL), 0);
	store_close(a);
	store_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_unique),
		cmocka_unit_test(rolled_back_pages_are_new_again),
		cmocka_unit_test(other_programs_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
