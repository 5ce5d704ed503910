/* SPDX-License-Identifier: Apache-2.0 */
/* The interval for a number of marks: tails by counting, coverage by drawing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/math/hypergeometric.h"
#include "base/math/rng.h"

/* P(X <= x) by Pascal's triangle, nothing but additions and one division. */
static double naive_below(unsigned n, unsigned k, unsigned m, unsigned x)
{
	static double c[31][31];
	double sum = 0;

	for (unsigned i = 0; i <= 30; i++) {
		c[i][0] = 1;
		for (unsigned j = 1; j <= i; j++)
			c[i][j] = (j < i ? c[i - 1][j] : 0) + c[i - 1][j - 1];
	}
	for (unsigned i = 0; i <= x && i <= k && i <= m; i++)
		if (m - i <= n - k)
			sum += c[k][i] * c[n - k][m - i] / c[n][m];
	return sum;
}

static void test_tails(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 30; n += 3)
		for (unsigned k = 0; k <= n; k++)
			for (unsigned m = 0; m <= n; m++)
				for (unsigned x = 0; x <= m; x++)
					if (fabs(hypergeometric_below(n, k, m, x) -
					         naive_below(n, k, m, x)) > 1e-10)
						fail_msg("n %u marked %u drawn %u x %u: %g, by counting %g", n,
						         k, m, x, hypergeometric_below(n, k, m, x),
						         naive_below(n, k, m, x));
}

static void test_ends(void **state)
{
	uint64_t low, high;

	(void)state;
	hypergeometric_interval(50, 0, 0, 0.95, &low, &high);
	assert_true(low == 0 && high == 50);
	hypergeometric_interval(50, 50, 17, 0.95, &low, &high); /* all were seen */
	assert_true(low == 17 && high == 17);
	/* without end this is Clopper and Pearson's: 10 of 100 is 4.90 % to 17.62 % */
	hypergeometric_interval(1000000000, 100, 10, 0.95, &low, &high);
	assert_true(fabs((double)low * 1e-9 - 0.0490) < 1e-4);
	assert_true(fabs((double)high * 1e-9 - 0.1762) < 1e-4);
	hypergeometric_interval(1000000000, 100, 0, 0.95, &low, &high);
	assert_true(low == 0 && fabs((double)high * 1e-9 - 0.0362) < 1e-4);
}

/* Draw until `stop` marks, but at least `least` and at most m things (the rule of
 * `freshet live`); how often does the interval hold the truth? */
static double coverage(uint32_t n, uint32_t marked, uint32_t m, uint32_t stop, uint32_t least,
                       unsigned runs)
{
	static uint32_t v[5000];
	unsigned held = 0;

	for (unsigned s = 0; s < runs; s++) {
		uint64_t low, high, x = 0, drawn = 0;
		struct rng r;

		rng_init(&r, rng_draw(s, n, marked, m));
		for (uint32_t i = 0; i < n; i++)
			v[i] = i;
		rng_shuffle(&r, v, n);
		while (drawn < m && (x < stop || drawn < least))
			x += v[drawn++] < marked;
		hypergeometric_interval(n, drawn, x, 0.95, &low, &high);
		held += low <= marked && marked <= high;
	}
	return (double)held / runs;
}

static void test_coverage(void **state)
{
	static const struct { uint32_t n, marked, m, stop, least; } cases[] = {
		{ 2000, 1000, 100, 2000, 0 }, { 2000, 128, 200, 2000, 0 },
		{ 2000, 10, 100, 2000, 0 }, { 2000, 1000, 200, 40, 0 }, { 2000, 128, 400, 20, 0 },
		{ 5000, 2500, 500, 200, 100 }, { 300, 150, 250, 300, 0 }, { 300, 299, 30, 300, 0 },
		{ 2000, 1000, 400, 55, 100 }, { 4000, 1300, 800, 30, 100 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double c = coverage(cases[i].n, cases[i].marked, cases[i].m, cases[i].stop,
		                    cases[i].least, 1500);

		/* 95 % less three standard errors of 1,500 runs */
		if (c < 0.95 - 3 * sqrt(0.95 * 0.05 / 1500))
			fail_msg("case %zu: the truth was held in %.3f of the runs", i, c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tails),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
