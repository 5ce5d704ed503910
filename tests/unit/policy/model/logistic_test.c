/* SPDX-License-Identifier: Apache-2.0 */
/* The ridge logistic regression stands where its gradient is zero, also where plain
 * Newton steps run away. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "policy/model/logistic.h"

enum { N = 3, ROWS = 200 };

static void gradient(const float *rows, const uint8_t *hit, const struct logistic_prior *prior,
                     const double *w, double *g)
{
	for (int i = 0; i < N; i++)
		g[i] = prior[i].precision * (prior[i].mean - w[i]);
	for (int r = 0; r < ROWS; r++) {
		double s = 0;

		for (int i = 0; i < N; i++)
			s += w[i] * (double)rows[r * N + i];
		for (int i = 0; i < N; i++)
			g[i] += (hit[r] - 1 / (1 + exp(-s))) * (double)rows[r * N + i];
	}
}

/* spread: of the features; a few rows are a hundred times as large. */
static void fits(double spread, double start)
{
	static const struct logistic_prior prior[N] = { { 1, 10 }, { 0.3, 10 }, { 0, 20 } };
	float rows[ROWS * N];
	uint8_t hit[ROWS];
	double w[N] = { start, -start, start }, g[N];
	struct rng r;

	rng_init(&r, 5);
	for (int i = 0; i < ROWS; i++) {
		double s = 0;

		for (int k = 0; k < N; k++) {
			double x = spread * rng_normal(&r) * (i % 40 == 0 ? 100 : 1);

			rows[i * N + k] = (float)x;
			s += (k - 0.5) * x;
		}
		hit[i] = rng_next_unit(&r) < 1 / (1 + exp(-s)) || i % 40 == 0;
	}
	/* ten steps at a time: the caller comes again with what it has */
	for (int k = 0; k < 5; k++)
		logistic_fit(rows, hit, ROWS, N, prior, w);
	gradient(rows, hit, prior, w, g);
	for (int i = 0; i < N; i++) {
		assert_true(isfinite(w[i]) && fabs(w[i]) < 10);
		assert_true(fabs(g[i]) < 0.05 * (1 + 10 * spread));
	}
}

static void gradient_is_zero(void **state)
{
	(void)state;
	fits(0.3, 0);
	fits(1, 0);
}

static void from_far_away(void **state)
{
	(void)state;
	fits(1, 5);
	fits(3, -5);
}

static void no_rows_is_the_prior(void **state)
{
	static const struct logistic_prior prior[2] = { { 1, 10 }, { -0.5, 2 } };
	double w[2] = { 4, 4 };

	(void)state;
	logistic_fit(NULL, NULL, 0, 2, prior, w);
	for (int k = 0; k < 3; k++)
		logistic_fit(NULL, NULL, 0, 2, prior, w);
	assert_true(fabs(w[0] - 1) < 1e-9 && fabs(w[1] + 0.5) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gradient_is_zero),
		cmocka_unit_test(from_far_away),
		cmocka_unit_test(no_rows_is_the_prior),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
