/* SPDX-License-Identifier: Apache-2.0 */
/* Student's t against GSL, tests against hand-worked examples, weights against
 * the sums that define them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>
#include <gsl/gsl_cdf.h>

#include "base/math/rng.h"
#include "base/math/stat.h"

#define ASSERT_NEAR(x, y, tolerance) do { \
	double x_ = (x), y_ = (y); \
	if (!(fabs(x_ - y_) <= (tolerance))) \
		fail_msg("%s = %.12g, not %.12g", #x, x_, y_); \
} while (0)

static void test_quantiles_equal_gsl(void **state)
{
	static const double nu[] = { 1, 1.3, 2, 2.5, 3, 4, 5, 7.7, 10, 29, 30, 100, 1234.5,
	                             1e5, 1e7 };
	static const double p[] = { 1e-9, 1e-4, 0.01, 0.1, 0.3, 0.499, 0.5, 0.51, 0.6, 0.75,
	                            0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.9995, 0.999999 };

	(void)state;
	for (size_t i = 0; i < sizeof nu / sizeof *nu; i++) {
		for (size_t j = 0; j < sizeof p / sizeof *p; j++) {
			double want = gsl_cdf_tdist_Pinv(p[j], nu[i]);
			double got = stat_t_quantile(p[j], nu[i]);

			ASSERT_NEAR(got, want, 1e-6 * (fabs(want) > 1 ? fabs(want) : 1));
			ASSERT_NEAR(1 - stat_t_above(got, nu[i]), p[j], 1e-9);
		}
	}
	for (size_t j = 0; j < sizeof p / sizeof *p; j++)
		ASSERT_NEAR(stat_normal_quantile(p[j]), gsl_cdf_ugaussian_Pinv(p[j]), 1e-9);
}

static void test_tails_equal_gsl(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 3);
	for (int i = 0; i < 5000; i++) {
		double nu = exp(rng_next_unit(&r) * 10), t = 8 * rng_normal(&r);
		double want = gsl_cdf_tdist_Q(t, nu);

		ASSERT_NEAR(stat_t_above(t, nu), want, 1e-10);
		if (t > 0 && want > 1e-280)
			ASSERT_NEAR(stat_t_above(t, nu) / want, 1, 1e-6);
	}
}

static void test_edges_are_finite_or_stated(void **state)
{
	(void)state;
	assert_true(stat_t_quantile(0, 5) == -HUGE_VAL);
	assert_true(stat_t_quantile(1, 5) == HUGE_VAL);
	assert_true(stat_t_quantile(0.5, 3) == 0);
	assert_true(stat_t_above(HUGE_VAL, 4) == 0);
	assert_true(stat_t_above(-HUGE_VAL, 4) == 1);
	assert_true(stat_t_above(0, 4) == 0.5);
	assert_true(isfinite(stat_t_quantile(1e-300, 1.5)));
	assert_true(isfinite(stat_t_quantile(0.999, 0.3)));
	ASSERT_NEAR(stat_t_quantile(0.9, 1e300), 1.2815515655, 1e-9);
}

static void test_mean_and_error(void **state)
{
	/* 2 4 4 4 5 5 7 9: mean 5, squared deviations 32, n - 1 = 7 */
	static const double x[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct stat_mean all = { 0 }, left = { 0 }, right = { 0 }, none = { 0 };

	(void)state;
	assert_true(stat_se(&all) == 0 && stat_variance(&all) == 0);
	for (int i = 0; i < 8; i++) {
		stat_add(&all, x[i]);
		stat_add(i < 3 ? &left : &right, x[i]);
	}
	ASSERT_NEAR(all.mean, 5, 1e-15);
	ASSERT_NEAR(stat_variance(&all), 32.0 / 7, 1e-14);
	ASSERT_NEAR(stat_se(&all), sqrt(32.0 / 7 / 8), 1e-15);
	stat_merge(&left, &none);
	stat_merge(&none, &left);
	stat_merge(&none, &right);
	assert_int_equal(none.n, 8);
	ASSERT_NEAR(none.mean, 5, 1e-15);
	ASSERT_NEAR(none.m2, 32, 1e-13);
}

static void test_paired_by_hand(void **state)
{
	/* differences 1 2 3 4: mean 2.5, sd sqrt(5/3), t = 2.5 / (sd / 2) = 3.8730 */
	static const double a[] = { 2, 4, 6, 8 }, b[] = { 1, 2, 3, 4 }, c[] = { 1, 3, 5, 7 };
	struct stat_test r = stat_paired(a, b, 4);

	(void)state;
	ASSERT_NEAR(r.t, 2.5 / sqrt(5.0 / 12), 1e-12);
	ASSERT_NEAR(r.p, 2 * gsl_cdf_tdist_Q(r.t, 3), 1e-12);
	r = stat_paired(a, a, 4);
	assert_true(r.t == 0 && r.p == 1);
	r = stat_paired(a, c, 4);
	assert_true(r.t == HUGE_VAL && r.p == 0);
	r = stat_paired(a, b, 1);
	assert_true(r.t == 0 && r.p == 1);
}

static void test_welch_by_hand(void **state)
{
	/* 1 2 3 4 5 (variance 2.5) and 2 4 6 (variance 4): 3 - 4,
	 * se^2 = 0.5 + 4/3, nu = se^4 / (0.25/4 + (16/9)/2) */
	struct stat_mean a = { 0 }, b = { 0 };
	double se2 = 0.5 + 4.0 / 3, nu = se2 * se2 / (0.25 / 4 + 16.0 / 18);
	struct stat_test r;

	(void)state;
	for (int i = 1; i <= 5; i++)
		stat_add(&a, i);
	for (int i = 1; i <= 3; i++)
		stat_add(&b, 2 * i);
	r = stat_welch(&a, &b);
	ASSERT_NEAR(r.t, -1 / sqrt(se2), 1e-12);
	ASSERT_NEAR(r.nu, nu, 1e-12);
	ASSERT_NEAR(r.p, 2 * gsl_cdf_tdist_P(r.t, nu), 1e-12);
}

/* Ones and zeros alternating: after n values the variance is known, so the n at
 * which the rule stops can be worked by hand. */
static unsigned stops_at(const double *x, unsigned n, double delta)
{
	struct stat_mean m = { 0 };

	for (unsigned i = 0; i < n; i++) {
		stat_add(&m, x[i]);
		if (stat_enough(&m, 0.8, delta, 5))
			return i + 1;
	}
	return 0;
}

static void test_sample_sizes_by_hand(void **state)
{
	static const double same[] = { 1, 1, 1, 1, 1, 1, 1 };
	static const double one_off[] = { 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0 };
	double alternating[100];

	(void)state;
	for (int i = 0; i < 100; i++)
		alternating[i] = i % 2;
	/* No variance: the least number, 5. */
	assert_int_equal(stops_at(same, 7, 0.1), 5);
	/* n = 5: s = sqrt(0.2 * 0.25) = 0.2236, t(0.9, 4) = 1.5332: half width
	 * 0.1533 > 0.15; n = 6: s = sqrt(0.25 / 6) = 0.2041, t(0.9, 5) = 1.4759:
	 * 0.1230; n = 7: s = sqrt(0.25 / 7) = 0.1890, t = 1.4398: 0.1028;
	 * n = 8: s = sqrt(0.25 / 8) = 0.1768, t = 1.4149: 0.0884. */
	assert_int_equal(stops_at(one_off, 10, 0.16), 5);
	assert_int_equal(stops_at(one_off, 10, 0.15), 6);
	assert_int_equal(stops_at(one_off, 10, 0.1), 8);
	/* Alternating: n = 2m: s^2 = (m/2) / (2m - 1).  m = 21, n = 42: s = 0.50606,
	 * t(0.9, 41) = 1.30254: 0.10171; n = 43 (21 ones): s^2 = 21 * 22 / 43 / 42,
	 * s = 0.50578, t(0.9, 42) = 1.30204: 0.10043; n = 44:
	 * s = sqrt(11 / 43) = 0.50579, t(0.9, 43) = 1.30155: 0.09925. */
	assert_int_equal(stops_at(alternating, 100, 0.1), 44);
}

static double direct_share(enum stat_weights w, const int *seen, int n)
{
	double sum = 0, all = 0;

	for (int i = 1; i <= n; i++) {
		double k = w == STAT_NON ? 1 : w == STAT_SHORT ? i == n
		           : w == STAT_ARITH ? i : pow(2, i - 1);

		all += k;
		sum += k * seen[i];
	}
	return sum / all;
}

static void test_weights_equal_their_sums(void **state)
{
	(void)state;
	/* Each of 5 cycles: not visited, visited and same, visited and changed. */
	for (int pattern = 0; pattern < 243; pattern++) {
		for (int w = STAT_NON; w <= STAT_GEO; w++) {
			struct stat_history h = { 0 };
			int seen[6] = { 0 }, rest = pattern;

			for (int n = 1; n <= 5; n++, rest /= 3) {
				seen[n] = rest % 3 == 2;
				if (rest % 3)
					stat_note(&h, (enum stat_weights)w, (uint32_t)n,
					          rest % 3 == 2);
				ASSERT_NEAR(stat_share(&h, (enum stat_weights)w, (uint32_t)n),
				            direct_share((enum stat_weights)w, seen, n), 1e-6);
			}
		}
	}
}

static void test_weights_after_long_silence(void **state)
{
	struct stat_history h = { 0 };

	(void)state;
	stat_note(&h, STAT_GEO, 1, true);
	ASSERT_NEAR(stat_share(&h, STAT_GEO, 100000), 0, 1e-12);
	stat_note(&h, STAT_GEO, 100001, true);
	ASSERT_NEAR(stat_share(&h, STAT_GEO, 100001), 0.5, 1e-7);
}

/* Newcombe 1998, table 1, method 3: 81 of 263 is 0.2553 to 0.3662, 15 of 148 is 0.0624 to
 * 0.1605, 0 of 20 is 0 to 0.1611, 1 of 29 is 0.0061 to 0.1718. */
static void test_wilson_equals_newcombe(void **state)
{
	static const struct { double x, n, low, high; } rows[] = {
		{ 81, 263, 0.2553, 0.3662 }, { 15, 148, 0.0624, 0.1605 }, { 0, 20, 0, 0.1611 },
		{ 1, 29, 0.0061, 0.1718 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double middle, half;

		stat_wilson(rows[i].x / rows[i].n, rows[i].n, STAT_Z95, &middle, &half);
		ASSERT_NEAR(middle - half, rows[i].low, 5e-5);
		ASSERT_NEAR(middle + half, rows[i].high, 5e-5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles_equal_gsl),
		cmocka_unit_test(test_tails_equal_gsl),
		cmocka_unit_test(test_edges_are_finite_or_stated),
		cmocka_unit_test(test_wilson_equals_newcombe),
		cmocka_unit_test(test_mean_and_error),
		cmocka_unit_test(test_paired_by_hand),
		cmocka_unit_test(test_welch_by_hand),
		cmocka_unit_test(test_sample_sizes_by_hand),
		cmocka_unit_test(test_weights_equal_their_sums),
		cmocka_unit_test(test_weights_after_long_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
