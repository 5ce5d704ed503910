/* SPDX-License-Identifier: Apache-2.0 */
/* What stands out in a cluster, against means and deviations worked out naively. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "engine/view/describe.h"

#define N 60
#define DIM 4

/* A third of the pages lean to column 0, the others to 1; 2 and 3 are noise. */
static void make_rows(struct rows *r)
{
	rows_init_dense(r, N, DIM);
	for (uint32_t i = 0; i < N; i++) {
		rows_dense(r, i)[i % 3 ? 1 : 0] = 1;
		for (uint32_t j = 2; j < DIM; j++)
			rows_dense(r, i)[j] = (float)(0.3 * rng_unit(rng_draw(1, j, i, RNG_USER)));
	}
	rows_unit(r);
}

static void make_pages(struct pages *p)
{
	uint64_t *offset = mem_array(N + 1, sizeof *offset);
	char *pool = mem_alloc(N * 40);
	size_t at = 0;

	for (uint32_t i = 0; i < N; i++) {
		offset[i] = at;         /* sites of 30, 20 and 10 pages */
		at += (size_t)sprintf(pool + at, "http://%c.example/p%u",
		                      i < 30 ? 'a' : i < 50 ? 'b' : 'c', i) + 1;
	}
	offset[N] = at;
	pages_init(p, pool, offset, N, &(struct pages_opts){ 0 });
}

/* Mean of a column over the pages that lean to `side`, or all (2), and its sd. */
static double mean_of(const struct rows *r, uint32_t column, uint32_t side, double *ret_sd)
{
	double n = 0, sum = 0, square = 0;

	for (uint32_t i = 0; i < N; i++) {
		double x = (double)rows_dense((struct rows *)r, i)[column];

		if (side < 2 && (i % 3 ? 1u : 0u) != side)
			continue;
		n++;
		sum += x;
		square += x * x;
	}
	*ret_sd = sqrt(square / n - sum * sum / n / n);
	return sum / n;
}

static void what_stands_out(void **state)
{
	struct bisect_options o = { .k = 2, .seed = 1 };
	float days[N];
	uint32_t changes[N];
	struct copies copies = { 0 };
	struct clusters c;
	struct described *list;
	struct pages pages;
	struct rows r;

	(void)state;
	make_rows(&r);
	make_pages(&pages);
	for (uint32_t i = 0; i < N; i++) {
		changes[i] = i % 3 ? 0 : 2;
		days[i] = 60;
	}
	copies.changes = changes;
	copies.days = days;
	bisect_run(&r, NULL, N, &o, &c);
	assert_int_equal(c.k, 2);
	list = describe(&c, &r, &copies, &pages);
	for (uint32_t k = 0; k < 2; k++) {
		const struct described *d = &list[k];
		uint32_t side = d->size == 20 ? 0 : 1;
		double before = INFINITY, sd;

		assert_int_equal(d->size, side ? 40 : 20);
		assert_int_equal(d->n_sites, 3);
		assert_int_equal(d->site_size[0], d->size / 2);         /* site a */
		assert_true(fabs(d->changes - (side ? 0 : 2 / 60.0 * 30)) < 1e-6);
		assert_in_range(d->n_traits, 2, DIM);
		assert_true(d->trait[0] < 2);
		for (uint32_t t = 0; t < d->n_traits; t++) {
			double here = mean_of(&r, d->trait[t], side, &sd);
			double all = mean_of(&r, d->trait[t], 2, &sd), strength = fabs(here - all) / sd;

			assert_true(fabs((double)d->here[t] - here) < 1e-5);
			assert_true(fabs((double)d->everywhere[t] - all) < 1e-5);
			assert_true(strength <= before + 1e-9);
			before = strength;
		}
		assert_true(d->cohesion > 0.9 && d->cohesion <= 1);
	}
	free(list);
	clusters_release(&c);
	pages_release(&pages);
	rows_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stands_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
