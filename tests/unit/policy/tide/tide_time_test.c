/* SPDX-License-Identifier: Apache-2.0 */
/* tide's model in time: slots that coarsen, and many short cycles that teach what few
 * long ones do. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "policy/tide/tide_model.h"

#define ASSERT_NEAR(x, y, tolerance) do { \
	double x_ = (x), y_ = (y); \
	if (!(fabs(x_ - y_) <= (tolerance))) \
		fail_msg("%s = %.9g, not %.9g", #x, x_, y_); \
} while (0)

static const struct tide_params usual = {
	.voice = 3, .voice_base = 12, .discount = 0.9, .k_base = 15, .k_site = 8, .k_dir = 2,
};

/* A root with two directories below it. */
static const uint32_t parent[] = { DIR_NONE, 0, 0 };
static const struct tree small = { .n_dirs = 3, .n_sites = 1, .dir_parent = parent };

/* Slots follow each other without a gap, are never more than there is room for, grow
 * with age, and hold all time; a burst long ago is still known for what it was. */
static void slots_coarsen_with_age(void **state)
{
	struct tide_model m;
	double width = 0;
	int node;

	(void)state;
	tide_model_init(&m, &small, &usual);
	for (uint32_t c = 1; c <= 2500; c++) {
		tide_model_begin(&m, c, 0.25);
		for (int i = 0; i < 4; i++) {
			uint32_t last = c > 40u * (uint32_t)i + 1 ? c - 40 * (uint32_t)i - 1 : 0;

			tide_model_learn(&m, 1, last, last < 2000 && c >= 2000);
		}
		assert_in_range(m.n_slots, 1, TIDE_SLOTS);
		for (uint32_t k = 1; k < m.n_slots; k++) {
			assert_int_equal(m.slot[k].first, m.slot[k - 1].last + 1);
			assert_true(m.slot[k].size <= m.slot[k - 1].size);
			for (uint32_t i = 0; i < k; i++)
				assert_int_not_equal(m.slot[i].column, m.slot[k].column);
		}
		assert_int_equal(m.slot[0].first, 1);
		assert_int_equal(m.slot[m.n_slots - 1].last, c);
	}
	for (uint32_t k = 0; k < m.n_slots; k++)
		width += (double)m.slot[k].width;
	ASSERT_NEAR(width, 0.25 * 2500, 1e-3);
	node = tide_model_refresh(&m, 1);
	for (uint32_t j = 0; j < 2500; j++)
		assert_true(tide_model_survival(&m, node, j) <= tide_model_survival(&m, node, j + 1));
	ASSERT_NEAR(tide_model_survival(&m, node, 2500), 0, 0);
	assert_true(tide_model_survival(&m, node, 1900) < log(0.3));
	assert_true(tide_model_survival(&m, node, 2100) > log(0.7));
	tide_model_release(&m);
}

/* The same pages, changes and visits, cut into cycles of two weeks or of a day: the same
 * is known in the end. */
static void time_counts_and_not_cycles(void **state)
{
	double base[2], ever[2], survival[2];

	(void)state;
	for (int k = 0; k < 2; k++) {
		uint32_t parts = k ? 14 : 1, last[300] = { 0 };
		struct tide_model m;
		int node;

		tide_model_init(&m, &small, &usual);
		for (uint32_t c = 1; c <= 40 * parts; c++) {
			tide_model_begin(&m, c, 1.0 / parts);
			for (uint32_t p = 0; p < 300 && c % parts == 0; p++) {
				uint32_t t = c / parts;
				bool hit = false;

				if (rng_draw(1, t, p, RNG_USER) % 5)
					continue;
				for (uint32_t j = last[p] / parts + 1; j <= t; j++)
					hit |= rng_unit(rng_draw(2, j, p, RNG_USER)) < 0.1;
				tide_model_learn(&m, 1, last[p], hit);
				last[p] = c;
			}
		}
		node = tide_model_refresh(&m, 1);
		base[k] = (double)m.level[node].base;
		ever[k] = (double)m.level[node].ever;
		survival[k] = (double)tide_model_survival(&m, node, 20 * parts);
		tide_model_release(&m);
	}
	ASSERT_NEAR(base[1] / base[0], 1, 0.1);
	ASSERT_NEAR(ever[1] / ever[0], 1, 0.1);
	ASSERT_NEAR(survival[1] / survival[0], 1, 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_coarsen_with_age),
		cmocka_unit_test(time_counts_and_not_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
