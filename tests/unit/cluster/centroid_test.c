/* SPDX-License-Identifier: Apache-2.0 */
/* Distances to and between centroids against naive loops; the curve over k and
 * its knees on curves and worlds whose answer is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "cluster/centroid.h"
#include "cluster/choose.h"

#define ASSERT_NEAR(x, y, tolerance) do { \
	double x_ = (x), y_ = (y); \
	if (!(fabs(x_ - y_) <= (tolerance))) \
		fail_msg("%s = %.12g, not %.12g", #x, x_, y_); \
} while (0)

/* Rows around `groups` directions; every third row is empty if asked. */
static void make_rows(struct rows *r, bool dense, uint32_t n, uint32_t groups, bool holes)
{
	struct rng g;

	rng_init(&g, 77);
	if (dense)
		rows_init_dense(r, n, 20);
	else
		rows_init_sparse(r, 20);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < 20 && !(holes && i % 3 == 0); j++) {
			float x = (float)(rng_next_unit(&g) + 3 * (j % groups == i % groups));

			if (dense)
				rows_dense(r, i)[j] = x;
			else if (rng_below(&g, 3))
				rows_add(r, j, x);
		}
		if (!dense)
			rows_close(r);
	}
	rows_unit(r);
}

static void test_cosines_and_assignment(void **state)
{
	(void)state;
	for (int dense = 0; dense < 2; dense++) {
		struct rows r;
		struct clusters c;
		uint32_t *nearest;
		float *cosine, *table;

		make_rows(&r, dense, 1500, 7, true);
		bisect_run(&r, NULL, 0, &(struct bisect_options){ .k = 40 }, &c);
		assert_int_equal(c.k, 40);      /* more than one tile, and a part of one */
		nearest = calloc(r.n, sizeof *nearest);
		cosine = calloc(r.n, sizeof *cosine);
		table = calloc((size_t)r.n * c.k, sizeof *table);
		centroid_cosines(&r, NULL, r.n, &c.centroids, table);
		centroid_assign(&r, NULL, r.n, &c.centroids, nearest, cosine);
		for (uint32_t i = 0; i < r.n; i++) {
			double best = -2;

			for (uint32_t k = 0; k < c.k; k++) {
				double dot = rows_dot(&r, i, &c.centroids, k);

				ASSERT_NEAR(table[i * c.k + k], dot, 1e-5);
				best = dot > best ? dot : best;
			}
			ASSERT_NEAR(cosine[i], best, 1e-5);
			ASSERT_NEAR(rows_dot(&r, i, &c.centroids, nearest[i]), best, 1e-5);
		}
		free(nearest);
		free(cosine);
		free(table);
		clusters_release(&c);
		rows_release(&r);
	}
}

/* Centroids on a quarter circle: the order of distances can be read off. */
static void test_order_by_hand(void **state)
{
	static const double degrees[] = { 0, 80, 30, 35, 34 };
	static const uint32_t from2[] = { 2, 4, 3, 0, 1 }, from1[] = { 1, 3, 4, 2, 0 };
	struct rows r;
	uint32_t order[5];

	(void)state;
	rows_init_dense(&r, 5, 2);
	for (uint32_t i = 0; i < 5; i++) {
		rows_dense(&r, i)[0] = (float)cos(degrees[i] * M_PI / 180);
		rows_dense(&r, i)[1] = (float)sin(degrees[i] * M_PI / 180);
	}
	centroid_order(&r, 2, order);
	assert_memory_equal(order, from2, sizeof order);
	centroid_order(&r, 1, order);
	assert_memory_equal(order, from1, sizeof order);
	rows_release(&r);
}

static void test_members_and_rank_features(void **state)
{
	enum { LABELS = 10 };
	struct rows r;
	struct clusters c;
	uint32_t *list, *order;
	float *feature;

	(void)state;
	make_rows(&r, true, 900, 7, false);
	bisect_run(&r, NULL, 0, &(struct bisect_options){ .k = 12 }, &c);
	list = calloc(r.n, sizeof *list);
	order = calloc(c.k, sizeof *order);
	feature = calloc((size_t)r.n * LABELS, sizeof *feature);
	for (uint32_t k = 0; k < c.k; k++) {
		centroid_members(&c, &r, k, list);
		for (uint32_t i = 0; i < c.size[k]; i++) {
			assert_int_equal(c.of[list[i]], k);
			if (i)
				assert_true(rows_dot(&r, list[i - 1], &c.centroids, k) >=
				            rows_dot(&r, list[i], &c.centroids, k) - 1e-6);
		}
	}
	centroid_rank_features(&c, LABELS, feature);
	for (uint32_t f = 0; f < LABELS; f++) {
		centroid_order(&c.centroids, f, order);
		for (uint32_t i = 0; i < r.n; i++) {
			float scaled = feature[i * LABELS + f] * (float)(c.k - 1);
			uint32_t rank = (uint32_t)lroundf(scaled);

			ASSERT_NEAR(scaled, rank, 1e-4);
			assert_int_equal(order[rank], c.of[i]);
			assert_true((rank == 0) == (c.of[i] == f));
		}
	}
	free(list);
	free(order);
	free(feature);
	clusters_release(&c);
	rows_release(&r);
}

static void test_fewer_clusters_than_labels(void **state)
{
	struct rows r;
	struct clusters c;
	float feature[2 * 10];

	(void)state;
	rows_init_dense(&r, 2, 3);
	rows_dense(&r, 0)[0] = rows_dense(&r, 1)[1] = 1;
	bisect_run(&r, NULL, 0, &(struct bisect_options){ .k = 5 }, &c);
	centroid_rank_features(&c, 10, feature);
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t f = 0; f < 10; f++)
			ASSERT_NEAR(feature[i * 10 + f], f < 2 && c.of[i] != f, 0);
	clusters_release(&c);
	rows_release(&r);
}

static void test_knees_of_known_curves(void **state)
{
	/* y = 1 - 1/k over 1 .. 64: above the chord by 1 - 1/k scaled minus k
	 * scaled; the maximum of (1 - 1/k) 64/63 - (k - 1)/63 is at k = 8.
	 * Doubling adds 1/(2k) < 0.05 * 63/64 first at k = 16. */
	struct choose_point flat[3] = { { 1, 0.5, 0, 0 }, { 2, 0.5, 0, 0 }, { 4, 0.5, 0, 0 } };
	struct choose_point p[7];

	(void)state;
	for (uint32_t i = 0; i < 7; i++)
		p[i] = (struct choose_point){ 1u << i, 1 - 1.0 / (1 << i), 0, 0 };
	assert_int_equal(choose_knee(p, 7), 8);
	assert_int_equal(choose_doubling(p, 7), 16);
	assert_int_equal(choose_knee(flat, 3), 1);
	assert_int_equal(choose_doubling(flat, 3), 1);
	assert_int_equal(choose_knee(p, 1), 1);
	assert_int_equal(choose_doubling(p, 0), 0);
}

static void test_cross_validation_finds_the_planted_number(void **state)
{
	uint32_t grid[CHOOSE_GRID_MAX], n = choose_grid(64, grid);
	struct choose_point *p = calloc(n, sizeof *p);
	struct rows r;

	(void)state;
	assert_true(n > 8 && grid[0] == 1 && grid[n - 1] == 64);
	make_rows(&r, true, 2000, 8, false);
	choose_k(&r, grid, n, 5, &(struct bisect_options){ .seed = 3 }, p);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(isfinite(p[i].cosine) && isfinite(p[i].se) && p[i].se >= 0);
		assert_true(p[i].cosine <= p[i].fitted + 3 * p[i].se + 1e-6);
		if (i)
			assert_true(p[i].fitted >= p[i - 1].fitted - 1e-9);
	}
	assert_int_equal(choose_knee(p, n), 8);
	assert_int_equal(choose_doubling(p, n), 8);
	rows_release(&r);
	free(p);
}

/* Rows that are the same within each of four groups: held out, each has a centroid at
 * distance nothing where k is 4, and 10 folds are the default. */
static void test_cross_validation_of_four_points(void **state)
{
	static const uint32_t grid[] = { 1, 2, 4 };
	struct choose_point ten[3], usual[3], two[3];
	struct rows r;

	(void)state;
	rows_init_dense(&r, 90, 4);
	for (uint32_t i = 0; i < 90; i++)
		rows_dense(&r, i)[i % 4] = 1;
	rows_unit(&r);
	choose_k(&r, grid, 3, 10, &(struct bisect_options){ .seed = 3 }, ten);
	choose_k(&r, grid, 3, 0, &(struct bisect_options){ .seed = 3 }, usual);
	choose_k(&r, grid, 3, 2, &(struct bisect_options){ .seed = 3 }, two);
	assert_true(fabs(ten[2].cosine - 1) < 1e-6 && ten[2].se < 1e-6);
	assert_true(fabs(two[2].cosine - 1) < 1e-6);
	assert_true(fabs(ten[0].cosine - 0.5) < 0.02);  /* to the middle of four */
	assert_true(ten[0].cosine == usual[0].cosine && ten[0].se == usual[0].se);
	assert_true(ten[0].se != two[0].se);
	rows_release(&r);
}

static void test_cross_validation_of_almost_nothing(void **state)
{
	static const uint32_t grid[] = { 1, 2, 50 };

	(void)state;
	for (uint32_t n = 0; n < 4; n++) {
		struct choose_point p[3];
		struct rows r;

		make_rows(&r, false, n, 2, true);
		choose_k(&r, grid, 3, 10, &(struct bisect_options){ .seed = 3 }, p);
		for (int i = 0; i < 3; i++)
			assert_true(isfinite(p[i].cosine) && isfinite(p[i].se));
		rows_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cosines_and_assignment),
		cmocka_unit_test(test_order_by_hand),
		cmocka_unit_test(test_members_and_rank_features),
		cmocka_unit_test(test_fewer_clusters_than_labels),
		cmocka_unit_test(test_knees_of_known_curves),
		cmocka_unit_test(test_cross_validation_finds_the_planted_number),
		cmocka_unit_test(test_cross_validation_of_four_points),
		cmocka_unit_test(test_cross_validation_of_almost_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
