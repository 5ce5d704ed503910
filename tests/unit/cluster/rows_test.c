/* SPDX-License-Identifier: Apache-2.0 */
/* Rows: hand-worked TF-IDF, lengths, blocks, scaling, and what must not hurt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "cluster/rows.h"

#define ASSERT_NEAR(x, y, tolerance) do { \
	double x_ = (x), y_ = (y); \
	if (!(fabs(x_ - y_) <= (tolerance))) \
		fail_msg("%s = %.12g, not %.12g", #x, x_, y_); \
} while (0)

static void test_tfidf_by_hand(void **state)
{
	struct rows r;

	(void)state;
	rows_init_sparse(&r, 3);
	rows_add(&r, 2, 1);             /* out of order, and one term twice */
	rows_add(&r, 0, 1);
	rows_add(&r, 2, 2);
	rows_close(&r);
	rows_add(&r, 0, 4);
	rows_close(&r);
	rows_close(&r);                 /* an empty page */
	assert_int_equal(r.n, 3);
	assert_int_equal(r.open, 3);
	assert_int_equal(r.term[0], 0);
	rows_tfidf(&r);
	/* df(0) = 2, df(2) = 1 of 3 rows */
	ASSERT_NEAR(r.weight[0], log(2.5), 1e-6);
	ASSERT_NEAR(r.weight[1], 3 * log(4), 1e-6);
	ASSERT_NEAR(r.weight[2], 4 * log(2.5), 1e-6);
	rows_unit(&r);
	ASSERT_NEAR(rows_dot(&r, 0, &r, 0), 1, 1e-6);
	ASSERT_NEAR(rows_dot(&r, 1, &r, 0),
	            log(2.5) / hypot(log(2.5), 3 * log(4)), 1e-6);
	assert_true(rows_dot(&r, 2, &r, 0) == 0);
	rows_release(&r);
}

static void test_random_rows_are_sorted_and_merged(void **state)
{
	struct rng g;
	struct rows r;

	(void)state;
	rng_init(&g, 5);
	rows_init_sparse(&r, 50);
	for (int i = 0; i < 300; i++) {
		double naive[50] = { 0 }, out[50] = { 0 };
		int n = (int)rng_below(&g, 80);

		for (int j = 0; j < n; j++) {
			uint32_t t = (uint32_t)rng_below(&g, 50);
			float w = (float)(1 + rng_below(&g, 9));

			naive[t] += (double)w;
			rows_add(&r, t, w);
		}
		rows_close(&r);
		for (uint64_t j = r.start[i] + 1; j < r.start[i + 1]; j++)
			assert_true(r.term[j - 1] < r.term[j]);
		rows_add_to(&r, (uint32_t)i, 1, out);
		for (int t = 0; t < 50; t++)
			ASSERT_NEAR(out[t], naive[t], 1e-9);
	}
	rows_release(&r);
}

static void test_bad_numbers_vanish(void **state)
{
	struct rows r, d;

	(void)state;
	rows_init_sparse(&r, 4);
	rows_add(&r, 4, 1);             /* no such term */
	rows_add(&r, UINT32_MAX, 1);
	rows_add(&r, 1, NAN);
	rows_add(&r, 2, INFINITY);
	rows_close(&r);
	assert_int_equal(r.open, 0);
	rows_add(&r, 0, 1e38f);
	rows_add(&r, 1, 1e38f);
	rows_add(&r, 2, 1e-40f);
	rows_close(&r);
	rows_unit(&r);
	ASSERT_NEAR(rows_dot(&r, 1, &r, 1), 1, 1e-6);
	rows_release(&r);

	rows_init_dense(&d, 2, 3);
	rows_dense(&d, 0)[0] = NAN;
	rows_dense(&d, 0)[1] = -INFINITY;
	rows_dense(&d, 1)[2] = 1e-42f;
	rows_unit(&d);
	assert_true(rows_dot(&d, 0, &d, 0) == 0);
	ASSERT_NEAR(rows_dot(&d, 1, &d, 1), 1, 1e-6);
	rows_release(&d);
}

static void test_joined_blocks_weigh_the_same(void **state)
{
	struct rows a, b, j;

	(void)state;
	rows_init_sparse(&a, 3);
	rows_init_sparse(&b, 2);
	rows_add(&a, 0, 3);
	rows_add(&a, 2, 4);
	rows_add(&b, 1, 100);
	rows_close(&a);
	rows_close(&b);
	rows_close(&a);                 /* second row: only b speaks */
	rows_add(&b, 0, 7);
	rows_close(&b);
	rows_join(&j, &a, &b);
	assert_int_equal(j.n, 2);
	assert_int_equal(j.dim, 5);
	assert_int_equal(j.term[2], 4);
	ASSERT_NEAR(j.weight[0], 0.6 / sqrt(2), 1e-6);
	ASSERT_NEAR(j.weight[1], 0.8 / sqrt(2), 1e-6);
	ASSERT_NEAR(j.weight[2], 1 / sqrt(2), 1e-6);
	ASSERT_NEAR(j.weight[3], 1, 1e-6);
	rows_release(&a);
	rows_release(&b);
	rows_release(&j);
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static void test_scaling(void **state)
{
	static const enum rows_scale kinds[] = {
		ROWS_SHARE, ROWS_COUNT, ROWS_VALUE, ROWS_SHARE, ROWS_VALUE, ROWS_VALUE,
	};
	enum { N = 1001 };
	static float before[N][6], sorted[N];
	struct rng g;
	struct rows r;

	(void)state;
	rng_init(&g, 11);
	rows_init_dense(&r, N, 6);
	for (uint32_t i = 0; i < N; i++) {
		float *x = rows_dense(&r, i);

		x[0] = i == 3 ? 7 : (float)rng_next_unit(&g);
		x[1] = i == 4 ? NAN : (float)floor(exp(8 * rng_next_unit(&g)));
		x[2] = (float)rng_normal(&g);
		x[3] = (float)rng_below(&g, 100) / 99;
		x[4] = i < 5 ? 2.5f : 0;        /* nearly constant */
		x[5] = 4;                       /* constant */
		for (int j = 0; j < 6; j++)
			before[i][j] = x[j];
	}
	before[4][1] = 0;
	rows_scale(&r, kinds);
	for (int j = 1; j <= 2; j++) {
		for (int i = 0; i < N; i++)
			sorted[i] = j == 1 ? log1pf(before[i][j]) : before[i][j];
		qsort(sorted, N, sizeof *sorted, by_value);
		for (uint32_t i = 0; i < N; i++) {
			float x = j == 1 ? log1pf(before[i][j]) : before[i][j];
			float want = (x - sorted[10]) / (sorted[990] - sorted[10]);

			want = want < 0 ? 0 : want > 1 ? 1 : want;
			ASSERT_NEAR(rows_dense(&r, i)[j], want, 1e-6);
		}
	}
	for (uint32_t i = 0; i < N; i++) {
		const float *x = rows_dense(&r, i);

		ASSERT_NEAR(x[0], i == 3 ? 1 : before[i][0], 0);
		ASSERT_NEAR(x[3], before[i][3], 0);
		ASSERT_NEAR(x[4], i < 5 ? 1 : 0, 0);
		ASSERT_NEAR(x[5], 0, 0);
	}
	rows_release(&r);
}

static void test_one_row_and_none(void **state)
{
	static const enum rows_scale kinds[] = { ROWS_COUNT, ROWS_SHARE };
	struct rows r;

	(void)state;
	for (uint32_t n = 0; n < 2; n++) {
		rows_init_dense(&r, n, 2);
		if (n)
			rows_dense(&r, 0)[1] = 7;
		rows_scale(&r, kinds);
		rows_unit(&r);
		assert_int_equal(r.n, n);
		/* one value has no range: nothing tells it from others */
		for (uint32_t j = 0; n && j < 2; j++)
			assert_true(rows_dense(&r, 0)[j] == 0 || rows_dense(&r, 0)[j] == 1);
		rows_release(&r);
	}
	rows_init_sparse(&r, 0);
	rows_close(&r);
	rows_tfidf(&r);
	rows_unit(&r);
	assert_int_equal(r.n, 1);       /* an empty one */
	assert_int_equal(rows_size(&r, 0), 0);
	rows_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tfidf_by_hand),
		cmocka_unit_test(test_random_rows_are_sorted_and_merged),
		cmocka_unit_test(test_bad_numbers_vanish),
		cmocka_unit_test(test_joined_blocks_weigh_the_same),
		cmocka_unit_test(test_scaling),
		cmocka_unit_test(test_one_row_and_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
