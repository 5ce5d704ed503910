/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prices of downloads: against the closed form of a constant rate, against the integral
 * worked out in small steps, and against brute force: a chain of days in which a page is
 * fetched or not, solved by value iteration, must be indifferent at the price we say.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policy/tide/tide_worth.h"

#define FAR 1e9f

static void near_to(double x, double want, double share)
{
	if (!(fabs(x - want) <= share * fabs(want) + 1e-9))
		fail_msg("%.9g instead of %.9g", x, want);
}

/* A large shape is a rate that is known: (p + (1 - p) log(1 - p)) / d. */
static void a_known_rate(void **state)
{
	(void)state;
	for (int i = 1; i < 100; i++) {
		double p = i / 100.0, d = 0.2;
		struct tide_future f = { 1e5f, (float)(1e5 / d) };

		near_to((double)tide_worth_of_truth((float)p, f, FAR),
		        (p + (1 - p) * log1p(-p)) / d, 0.01);
	}
}

/* The integral over x of the time at which F reaches x, at most the horizon. */
static void the_integral_in_small_steps(void **state)
{
	(void)state;
	for (int k = 0; k < 60; k++) {
		double a = (double[]){ 0.3, 0.999, 1, 1.001, 3 }[k % 5], b = k % 2 ? 4 : 0.5;
		double p = (double[]){ 0.001, 0.02, 0.05, 0.4, 0.9, 0.999 }[k / 5 % 6];
		double h = k < 30 ? 3 : 1e6, sum = 0;
		enum { N = 200000 };

		for (int i = 0; i < N; i++) {
			double x = (i + 0.5) * p / N;

			sum += fmin(h, b * (pow(1 - x, -1 / a) - 1)) * p / N;
		}
		near_to((double)tide_worth_of_truth((float)p, (struct tide_future){ (float)a, (float)b },
		                                    (float)h), sum, 0.005);
	}
}

/*
 * Brute force.  A page is fetched every n-th day, at a price W each time: its reward a day
 * is truth (or less age) less the price.  The best n, found by trying all, must be where
 * the chance (or the age) first passes what our formula makes worth W.
 */
static void best_interval_pays_the_price(void **state)
{
	(void)state;
	for (int k = 0; k < 24; k++) {
		double d = (double[]){ 0.002, 0.01, 0.05 }[k % 3], step = 0.05;
		double price = (double[]){ 0.3, 2, 15, 60 }[k / 3 % 4];
		bool age = k >= 12;
		double best = -INFINITY, at = 0, truth = 0, stale = 0, old = 0;
		struct tide_future f = { 1e5f, (float)(1e5 / d) };
		double p, worth;

		if (age)
			price *= 30;
		else if (price > 0.8 / d)
			continue;               /* no truth is worth more than 1 / d */
		for (int n = 1; n < 60000; n++) {
			double t = n * step, mid = t - step / 2, gain;

			truth += exp(-d * mid) * step;
			stale += -expm1(-d * mid) * step;       /* the mean age at t */
			old += stale * step;                    /* ages summed */
			gain = ((age ? -old : truth) - price) / t;
			if (gain > best) {
				best = gain;
				at = t;
			}
		}
		assert_true(at < 2990);                         /* within what was tried */
		p = -expm1(-d * at);
		worth = age ? (double)tide_worth_of_age((float)p, (float)at, f, FAR) :
		        (double)tide_worth_of_truth((float)p, f, FAR);
		near_to(worth, price, 0.03);
	}
}

/* More of a chance, more worth; a page that lasts longer, more; never beyond the horizon. */
static void worth_is_in_order(void **state)
{
	(void)state;
	for (int k = 0; k < 400; k++) {
		float p = (float)(k % 20 + 1) / 21, a = (float)(k / 20 % 5 + 1) / 2;
		struct tide_future f = { a, 1 + (float)(k / 100) }, g = { a, f.time * 2 };

		assert_true(tide_worth_of_truth(p, f, 5) < tide_worth_of_truth(p + 0.04f, f, 5));
		assert_true(tide_worth_of_truth(p, f, 5) <= tide_worth_of_truth(p, g, 5));
		assert_true(tide_worth_of_truth(1, f, 5) <= 5);
		assert_true(tide_worth_of_age(p, 3, f, 5) < tide_worth_of_age(p, 4, f, 5));
		assert_true(tide_worth_of_age(p, 3, f, 5) < tide_worth_of_age(p + 0.04f, 3, f, 5));
		assert_true(tide_worth_of_age(p, 3, f, 5) <= tide_worth_of_age(p, 3, g, 5) * 1.0001f);
	}
	assert_true(tide_worth_of_truth(0, (struct tide_future){ 1, 1 }, 5) <= 0);
	assert_true(tide_worth_of_age(0, 3, (struct tide_future){ 1, 1 }, 5) <= 0);
	assert_true(isfinite(tide_worth_of_truth(1, (struct tide_future){ 0.2f, 1e6f }, 1e6f)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_known_rate),
		cmocka_unit_test(the_integral_in_small_steps),
		cmocka_unit_test(best_interval_pays_the_price),
		cmocka_unit_test(worth_is_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
