/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Off-policy estimates: against hand-worked sums, against the truth of made-up
 * logs over many seeds (bias and coverage), against a store whose other policy's
 * plan is known, and where they must refuse.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "engine/recall/off_policy.h"
#include "policy/policy.h"
#include "../../../lib/scratch.h"

static struct off_policy_estimate judge(const struct off_policy_sums *s)
{
	struct off_policy_estimate e;

	off_policy_judge(s, 0.95, &e);
	return e;
}

/* 60 visits with p = 1/2 of a plan of 120 pages, 15 hits: 1/4; the weights 2 are
 * worth 120^2 / (60 * 4 / 2) = 120 visits for the interval. */
static void by_hand(void **state)
{
	struct off_policy_sums s = { .planned = 120 };
	struct off_policy_estimate e;
	double z = 1.959964, n = 120, p = 0.25, middle, half;

	(void)state;
	for (int i = 0; i < 60; i++)
		off_policy_add(&s, 1, 0.5, true, i < 15);
	for (int i = 0; i < 40; i++)
		off_policy_add(&s, 0, 0.5, true, true);         /* not in the plan */
	e = judge(&s);
	assert_false(e.refused);
	assert_float_equal(e.ratio, 0.25, 1e-12);
	assert_float_equal(e.support, 1, 1e-12);
	assert_float_equal(e.effective, 60, 1e-9);
	assert_float_equal(e.logged_ratio, 0.55, 1e-12);
	middle = (p + z * z / (2 * n)) / (1 + z * z / n);
	half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
	assert_true(fabs(e.low - middle + half) < 1e-5);
	assert_true(fabs(e.high - middle - half) < 1e-5);
}

/* What was certain to be visited is known, not estimated. */
static void certain_is_exact(void **state)
{
	struct off_policy_sums s = { .planned = 50 };
	struct off_policy_estimate e;

	(void)state;
	for (int i = 0; i < 50; i++)
		off_policy_add(&s, 1, 1, true, i < 10);
	e = judge(&s);
	assert_false(e.refused);
	assert_float_equal(e.ratio, 0.2, 1e-12);
	assert_float_equal(e.low, 0.2, 1e-12);
	assert_float_equal(e.high, 0.2, 1e-12);
}

/* Never a hit: the interval still has a width, about 3 / n for the share. */
static void no_hits(void **state)
{
	struct off_policy_sums s = { .planned = 1000 };
	struct off_policy_estimate e;

	(void)state;
	for (int i = 0; i < 100; i++)
		off_policy_add(&s, 1, 0.1, true, false);
	e = judge(&s);
	assert_false(e.refused);
	assert_float_equal(e.ratio, 0, 1e-12);
	assert_true(e.high > 0.02 && e.high < 0.05);
}

/* Pages logged with unequal probabilities that go with the outcome: the log's own
 * ratio is far off, the estimate is not, and its interval holds the truth as often
 * as it says.  400 logs: 0.95 +- 3 sd = 0.917 .. 0.983. */
static void unbiased_and_covered(void **state)
{
	enum { PAGES = 1000, LOGS = 400 };
	double mean = 0, own = 0, truth = 0;
	int covered = 0, refused = 0;

	(void)state;
	for (uint32_t i = 0; i < PAGES / 2; i++)
		truth += (i % 5 == 0 ? 0.8 : 0.1) * 2 / PAGES;
	for (uint32_t k = 0; k < LOGS; k++) {
		struct off_policy_sums s = { .planned = PAGES / 2 };
		struct off_policy_estimate e;
		double hits = 0;

		for (uint32_t i = 0; i < PAGES; i++) {
			bool often = i % 5 == 0;
			double p = often ? 0.6 : 0.15;
			bool hit = rng_unit(rng_draw(7, k, i, RNG_USER)) < (often ? 0.8 : 0.1);

			hits += i < PAGES / 2 && hit;
			if (rng_unit(rng_draw(8, k, i, RNG_USER)) < p)
				off_policy_add(&s, i < PAGES / 2, p, true, hit);
		}
		e = judge(&s);
		refused += e.refused;
		if (e.refused)
			continue;
		mean += e.ratio / LOGS;
		own += e.logged_ratio / LOGS;
		covered += e.low <= hits * 2 / PAGES && hits * 2 / PAGES <= e.high;
	}
	if (getenv("SHOW"))
		fprintf(stderr, "mean %.4f, truth %.4f, the log's own %.4f, covered %d of %d\n", mean,
		        truth, own, covered, LOGS);
	assert_int_equal(refused, 0);
	assert_float_equal(mean, truth, 0.006);
	assert_true(own > truth + 0.1);
	if (covered < 0.917 * LOGS || covered > 0.983 * LOGS)
		fail_msg("covered %d of %d", covered, LOGS);
}

static void refuses(void **state)
{
	struct off_policy_sums none = { .planned = 100 }, few = { .planned = 100 },
	                       apart = { .planned = 1000 }, empty = { 0 };
	struct off_policy_estimate e;

	(void)state;
	e = judge(&empty);
	assert_true(e.refused);
	for (int i = 0; i < 100; i++)
		off_policy_add(&none, 1, i % 2 ? NAN : i % 4 ? 0 : 1.5, true, true);
	e = judge(&none);
	assert_true(e.refused && strstr(e.why, "without probabilities"));
	assert_true(isnan(e.ratio) && isnan(e.low) && isnan(e.high));
	for (int i = 0; i < 29; i++)
		off_policy_add(&few, 1, 0.29, true, true);
	e = judge(&few);
	assert_true(e.refused && strstr(e.why, "worth 29.0 visits"));
	/* 40 visits for sure of a plan of 1000: the other 960 could not be seen */
	for (int i = 0; i < 40; i++)
		off_policy_add(&apart, 1, 1, true, true);
	e = judge(&apart);
	assert_true(e.refused && strstr(e.why, "4 %"));
}

/* One visit that speaks for nearly all is worth one. */
static void one_heavy_weight(void **state)
{
	struct off_policy_sums s = { .planned = 1100 };
	struct off_policy_estimate e;

	(void)state;
	for (int i = 0; i < 100; i++)
		off_policy_add(&s, 1, i ? 0.99 : 0.001, true, i == 0);
	e = judge(&s);
	assert_true(e.refused);
	assert_true(e.effective < 2);
}

/* A store with N pages, of which history visited the first half; the one cycle
 * draws R of all.  `oldest` would visit pages of the second half only, of which a
 * fifth changed, and all of the first. */
enum { N = 400, R = 120 };

static void put_visit(struct store *s, uint32_t cycle, uint32_t page, double p, bool hit)
{
	struct err err;
	struct store_visit v = { .cycle = cycle, .page = page, .time = 1000 * cycle + 1,
		.outcome = hit ? OUTCOME_CHANGED : OUTCOME_SAME, .status = 200, .hit = hit,
		.score = 0, .probability = (float)p, .reason = REASON_RANDOM };

	assert_int_equal(store_visit_add(s, &v, &err), 0);
}

/* pages: how many there were when it began; 0: the row does not say */
static void put_cycle(struct store *s, uint32_t number, uint32_t budget, uint32_t pages)
{
	struct err err;
	struct store_cycle c = { .number = number, .time = 1000 * number, .policy = { "random", 6 },
	                         .budget = budget, .downloads = budget, .pages = pages };

	assert_int_equal(store_cycle_put(s, &c, &err), 0);
}

/* A store with N pages, in a batch. */
static struct store *store_with_pages(const char *path, int64_t added)
{
	struct store *s;
	struct err err;

	assert_int_equal(store_open(&s, path, STORE_CREATE, &err), 0);
	assert_int_equal(store_begin(s, &err), 0);
	for (uint32_t i = 0; i < N; i++) {
		char url[40];
		uint32_t number;
		int n = snprintf(url, sizeof url, "http://a.example/p%03u", i);
		struct text t = { url, (size_t)n };

		assert_int_equal(store_page_add(s, t, added, &number, &err), 1);
	}
	return s;
}

static struct store *made_store(const char *path, uint64_t seed, bool with)
{
	struct store *s = store_with_pages(path, 1);
	struct err err;
	struct rng r;
	uint32_t order[N];

	for (uint32_t i = 0; i < N; i++)
		order[i] = i;
	for (uint32_t i = 0; i < N / 2; i++)
		put_visit(s, 0, i, NAN, true);
	put_cycle(s, 1, R, 0);
	rng_init(&r, rng_mix(seed));
	rng_shuffle(&r, order, N);
	for (uint32_t i = 0; i < R; i++)
		put_visit(s, 1, order[i], with ? (double)R / N : NAN,
		          order[i] < N / 2 || order[i] % 5 == 0);
	assert_int_equal(store_commit(s, &err), 0);
	return s;
}

static struct off_policy_run run_on(const char *policy, uint64_t seed, bool with)
{
	char path[SCRATCH_PATH];
	struct off_policy_opts o = { .policy = policy, .n_seeds = 8, .cycle_seconds = 1000,
	                             .confidence = 0.95, .seed = seed };
	struct off_policy_run run;
	struct store *s;
	struct err err;

	s = made_store(scratch_path(path, "db"), seed, with);
	assert_int_equal(off_policy_run(&run, s, &o, &err), 0);
	store_close(s);
	return run;
}

static void from_a_store(void **state)
{
	enum { LOGS = 20 };
	int covered = 0;
	double mean = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= LOGS; seed++) {
		struct off_policy_run run = run_on("oldest", seed, true);

		assert_int_equal(run.n_cycles, 1);
		assert_float_equal(run.sums.planned, R, 1e-3);
		assert_false(run.estimate.refused);
		assert_true(run.estimate.logged_ratio > 0.45);
		mean += run.estimate.ratio / LOGS;
		covered += run.estimate.low <= 0.2 && 0.2 <= run.estimate.high;
	}
	if (getenv("SHOW"))
		fprintf(stderr, "store: mean %.4f, truth 0.2, covered %d of %d\n", mean, covered, LOGS);
	/* about 60 visits a log: sd of one .044, of the mean .01; 16 of 20 is 3.6 % rare */
	assert_float_equal(mean, 0.2, 0.03);
	if (covered < 16)
		fail_msg("covered %d of %d", covered, LOGS);
}

/* The cycle began with the first 150 pages, and visited all of them with certainty.  So every
 * plan for it is made of these pages, whatever the clock says of when pages were added. */
static void plans_are_of_pages_that_were_here(void **state)
{
	enum { HERE = 150 };

	(void)state;
	for (int64_t added = 1; added <= 5001; added += 5000) {
		struct off_policy_opts o = { .policy = "random", .n_seeds = 8, .cycle_seconds = 1000,
		                             .confidence = 0.95, .seed = 7 };
		struct off_policy_run run;
		char path[SCRATCH_PATH];
		struct store *s = store_with_pages(scratch_path(path, "db"), added);
		struct err err;

		put_cycle(s, 1, HERE, HERE);
		for (uint32_t i = 0; i < HERE; i++)
			put_visit(s, 1, i, 1, i % 2);
		assert_int_equal(store_commit(s, &err), 0);
		assert_int_equal(off_policy_run(&run, s, &o, &err), 0);
		store_close(s);
		assert_float_equal(run.sums.planned, HERE, 1e-3);
		assert_float_equal(run.sums.seen, HERE, 1e-3);
	}
}

static void store_refusals(void **state)
{
	struct off_policy_run run = run_on("oldest", 1, false);

	(void)state;
	assert_true(run.estimate.refused);
	assert_non_null(strstr(run.estimate.why, "without probabilities"));
	run = run_on("tide", 1, true);
	assert_true(run.estimate.refused);
	assert_non_null(strstr(run.estimate.why, "rounds"));
	/* the same policy that asks once can be told */
	run = run_on("tide:batch=1", 1, true);
	assert_false(run.estimate.refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(certain_is_exact),
		cmocka_unit_test(no_hits),
		cmocka_unit_test(unbiased_and_covered),
		cmocka_unit_test(refuses),
		cmocka_unit_test(one_heavy_weight),
		cmocka_unit_test(from_a_store),
		cmocka_unit_test(plans_are_of_pages_that_were_here),
		cmocka_unit_test(store_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
