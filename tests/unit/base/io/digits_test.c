/* SPDX-License-Identifier: Apache-2.0 */
/* digits_test.c - the oracle is printf. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/io/digits.h"
#include "base/math/rng.h"

static void check(double x)
{
	char ours[DIGITS_SIZE], right[DIGITS_SIZE];
	size_t n = digits_12g(ours, x);

	snprintf(right, sizeof right, "%.12g", x);
	assert_string_equal(ours, right);
	assert_int_equal(n, strlen(right));
}

static void test_as_printf(void **state)
{
	static const double hard[] = { 0, 1, 0.15, 1e-5, 1e-6, 1e-15, 1e-16, 1e-300, 9.99999999999949e-7,
		9.999999999995e-7, 9.9999999999951e-7, 1.5e-7, 2.5e-8, 0.00001, 9.999999e-6, 1e9,
		1.234567890125e-7, 1.234567890135e-10, -1e-7, 4.0e-12, INFINITY };
	struct rng r;

	(void)state;
	rng_init(&r, 7);
	for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
		check(hard[i]);
	for (int i = 0; i < 100000; i++) {
		double x = pow(10, -4 - 13 * rng_next_unit(&r));

		check(x);
		/* thirteen digits, the last a five: as near to a half as doubles come */
		check(((double)(rng_below(&r, 900000000000) + 100000000000) * 10 + 5) *
		      pow(10, -18 - (double)rng_below(&r, 8)));
	}
}

static void test_whole_numbers(void **state)
{
	static const uint32_t hard[] = { 0, 9, 10, 4294967295u, 1000000000, 999999999 };

	(void)state;
	for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
		char ours[DIGITS_SIZE], right[DIGITS_SIZE];

		snprintf(right, sizeof right, "%u", hard[i]);
		assert_int_equal(digits_u32(ours, hard[i]), strlen(right));
		assert_string_equal(ours, right);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_printf),
		cmocka_unit_test(test_whole_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
