/* SPDX-License-Identifier: Apache-2.0 */
/* A plan keeps the best offers: compared with a full sort; draws without
 * repetition are compared with the uniform distribution. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "policy/plan.h"

#define N 5000            /* more than are sorted by comparing */

static uint8_t states[N];

static struct view small_view(uint32_t n, uint32_t room, uint64_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		states[i] = PAGE_HERE;
	return (struct view){ .n_pages = n, .state = states, .seed = seed, .cycle = 3,
	                      .budget = room, .room = room };
}

struct want { double score; uint64_t tie; uint32_t page; };

/* Best score first; equal ones by the draw that plan.h promises. */
static int by_score(const void *pa, const void *pb)
{
	const struct want *a = pa, *b = pb;

	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	return a->tie < b->tie ? -1 : a->tie > b->tie;
}

/* kind 0: random scores, 1: few values (many ties), 2: one value, 3: rising,
 * 4: falling */
static double score_of(int kind, uint32_t i, uint64_t seed)
{
	double u = rng_unit(rng_draw(seed, 0, i, RNG_USER));

	switch (kind) {
	case 0:
		return (float)u;
	case 1:
		return floor(u * 4);
	case 2:
		return -1;
	case 3:
		return i;
	default:
		return -(double)i;
	}
}

static void offers_end_as_a_sort_would(void **state)
{
	static const uint32_t rooms[] = { 1, 2, 17, 300, N - 1, N, N + 10 };
	static struct want want[N];
	struct plan plan = { 0 };

	(void)state;
	for (int k = 0; k < 5 * 7 * 3; k++) {
		int kind = k % 5;
		uint32_t room = rooms[k / 5 % 7], expected = room < N ? room : N;
		uint64_t seed = 40 + (uint64_t)k;
		struct view v = small_view(N, room, seed);

		plan_begin(&plan, &v, states);
		for (uint32_t i = 0; i < N; i++) {
			want[i] = (struct want){ score_of(kind, i, seed),
			                         rng_draw(seed, v.cycle, i, RNG_TIE), i };
			plan_offer(&plan, i, want[i].score, NAN, REASON_RATE);
		}
		plan_finish(&plan);
		qsort(want, N, sizeof *want, by_score);
		assert_int_equal(plan.n_taken, expected);
		for (uint32_t i = 0; i < expected; i++)
			assert_int_equal(plan.taken[i].page, want[i].page);
	}
	plan_release(&plan);
}

static void taken_pages_come_first_and_once(void **state)
{
	struct view v = small_view(10, 4, 1);
	struct plan plan = { 0 };

	(void)state;
	states[3] = 0;                  /* gone */
	plan_begin(&plan, &v, states);
	assert_true(plan_take(&plan, 7, 0, 1, REASON_RANDOM));
	assert_true(plan_take(&plan, 7, 0, 1, REASON_RANDOM));  /* ignored */
	assert_true(plan_take(&plan, 3, 0, 1, REASON_RANDOM));  /* ignored */
	for (uint32_t i = 0; i < 10; i++)
		plan_offer(&plan, i, i, NAN, REASON_RATE);
	plan_finish(&plan);
	assert_int_equal(plan.n_taken, 4);
	assert_int_equal(plan.taken[0].page, 7);
	assert_int_equal(plan.taken[1].page, 9);
	assert_int_equal(plan.taken[2].page, 8);
	assert_int_equal(plan.taken[3].page, 6);
	assert_false(plan_take(&plan, 5, 0, 1, REASON_RANDOM));
	plan_release(&plan);
}

static void a_limit_only_lowers(void **state)
{
	struct view v = small_view(10, 4, 1);
	struct plan plan = { 0 };

	(void)state;
	plan_begin(&plan, &v, states);
	plan_limit(&plan, 9);
	assert_int_equal(plan_room(&plan), 4);
	plan_limit(&plan, 2);
	for (uint32_t i = 0; i < 10; i++)
		plan_offer(&plan, i, i, NAN, REASON_RATE);
	plan_finish(&plan);
	assert_int_equal(plan.n_taken, 2);
	plan_release(&plan);
}

/* Each of 6 pages is drawn first, second ... sixth equally often. */
static void draws_are_uniform(void **state)
{
	enum { PAGES = 6, TIMES = 6000 };
	double count[PAGES][PAGES] = { { 0 } }, chi = 0;
	struct sampler s = { 0 };

	(void)state;
	for (uint64_t seed = 0; seed < TIMES; seed++) {
		struct view v = small_view(PAGES, PAGES, seed);
		uint32_t seen = 0;

		sampler_begin(&s, &v, RNG_SAMPLE);
		for (int place = 0; place < PAGES; place++) {
			uint32_t page = sampler_next(&s, &v);

			assert_true(page < PAGES && !(seen >> page & 1));
			seen |= 1u << page;
			count[place][page]++;
		}
		assert_int_equal(sampler_next(&s, &v), PAGE_NONE);
	}
	for (int i = 0; i < PAGES * PAGES; i++) {
		double d = count[i / PAGES][i % PAGES] - TIMES / (double)PAGES;

		chi += d * d / (TIMES / (double)PAGES);
	}
	/* 25 degrees of freedom: 1 in 100,000 above 66 */
	assert_true(chi < 66);
	sampler_release(&s);
}

static void draws_skip_what_closed(void **state)
{
	struct view v = small_view(8, 8, 3);
	struct sampler s = { 0 };
	int n = 0;
	uint32_t page;

	(void)state;
	states[2] = 0;
	sampler_begin(&s, &v, RNG_SAMPLE);
	states[5] |= PAGE_TAKEN;
	while ((page = sampler_next(&s, &v)) != PAGE_NONE) {
		assert_true(page != 2 && page != 5);
		n++;
	}
	assert_int_equal(n, 6);
	sampler_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offers_end_as_a_sort_would),
		cmocka_unit_test(taken_pages_come_first_and_once),
		cmocka_unit_test(a_limit_only_lowers),
		cmocka_unit_test(draws_are_uniform),
		cmocka_unit_test(draws_skip_what_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
