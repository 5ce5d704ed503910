/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What others run: the interval rules by hand-worked numbers, LambdaCrawl's rate
 * against a direct search of the likelihood and its allocation against the
 * optimality condition, Thompson sampling's long-run preference.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "../../../lib/stage.h"
#include "policy/catalogue/catalogue.h"

#define ASSERT_NEAR(x, y, tolerance) do { \
	double x_ = (x), y_ = (y); \
	if (!(fabs(x_ - y_) <= (tolerance))) \
		fail_msg("%s = %.9g, not %.9g", #x, x_, y_); \
} while (0)

/* The first float of a page's memory is its wait in seconds (interval.h). */
static double wait_of(struct policy *p, uint32_t page)
{
	return (double)*(const float *)policy_page(p, page);
}

struct visit { int day; bool hit, failed; double wait; };

/* Tell a policy a list of visits to page 0 and check the wait after each. */
static void check_waits(const char *spec, const struct visit *list, size_t n)
{
	uint32_t last_cycle[1] = { 0 };
	int64_t last_visit[1] = { 0 };
	struct view v = { .n_pages = 1, .last_cycle = last_cycle, .last_visit = last_visit,
	                  .cycle_seconds = DAY_SECONDS };
	struct policy *p;
	struct err err;

	assert_int_equal(policy_new(&p, spec, &err), 0);
	policy_size(p, 1);
	for (size_t i = 0; i < n; i++) {
		struct seen s = { .hit = list[i].hit, .known = !list[i].failed };

		v.now = (int64_t)list[i].day * DAY_SECONDS;
		policy_tell(p, &v, &s);
		ASSERT_NEAR(wait_of(p, 0) / DAY_SECONDS, list[i].wait, 1e-3);
		if (s.known)
			last_visit[0] = v.now;
	}
	policy_free(p);
}

static void nutch_by_hand(void **state)
{
	/* day 30 unchanged: 30 * 1.4 = 42.  day 72 changed: 42 * .8 = 33.6, delta 0.
	 * day 106 unchanged: 47.04, delta 34 days < it: 47.04 - .3 * 34 = 36.84.
	 * day 143 unchanged: 65.856, delta 71 > it: 71 - .3 * 71 = 49.7.
	 * day 193 fails: a day more than since the visit before (50 + 1).
	 * day 194 unchanged: 71 * 1.4 = 99.4, delta 122: 122 - 36.6 = 85.4. */
	const struct visit list[] = {
		{ 30, false, false, 42 }, { 72, true, false, 33.6 },
		{ 106, false, false, 36.84 }, { 143, false, false, 49.7 },
		{ 193, false, true, 51 }, { 194, false, false, 85.4 },
	};

	(void)state;
	check_waits("nutch", list, sizeof list / sizeof *list);
}

/* With max=20d.  day 10 changed: 30 * .8 = 24, held at 20.  day 30 unchanged: 28, delta
 * 20: 20 - .3 * 20 = 14.  day 100 unchanged: delta 90 counts as 20, so the wait is 14 again,
 * neither 90 - 27 (beyond max) nor 20 - 27 (at once: NUTCH-1564). */
static void nutch_keeps_its_longest_interval(void **state)
{
	const struct visit list[] = {
		{ 10, true, false, 20 }, { 30, false, false, 14 }, { 100, false, false, 14 },
	};

	(void)state;
	check_waits("nutch:max=20d", list, sizeof list / sizeof *list);
}

static void nutch_waits_90_days_at_most(void **state)
{
	const struct visit list[] = {
		{ 30, false, false, 42 }, { 72, false, false, 58.8 }, { 131, false, false, 82.32 },
		{ 214, false, false, 90 }, { 304, false, false, 90 },
	};

	(void)state;
	check_waits("nutch", list, sizeof list / sizeof *list);
}

static void stormcrawler_by_hand(void **state)
{
	/* 1 day; unchanged 1.5; unchanged 2.25; changed (2.25 + 1/24) / 2 */
	double a = (2.25 + 1 / 24.0) / 2;
	const struct visit list[] = {
		{ 1, false, false, 1.5 }, { 3, false, false, 2.25 }, { 6, true, false, a },
		{ 8, false, false, 1.5 * a }, { 20, false, false, 2.25 * a },
		{ 30, false, false, 3.375 * a }, { 40, false, false, 5.0625 * a },
		{ 50, false, false, 7.59375 * a }, { 60, false, false, 11.390625 * a },
		{ 70, false, false, 14 }, { 90, false, false, 14 },
	};

	(void)state;
	check_waits("stormcrawler", list, sizeof list / sizeof *list);
}

/* An error wipes what was learnt: tried again 2 hours after it, then from 1 day on. */
static void stormcrawler_forgets_after_an_error(void **state)
{
	const struct visit list[] = {
		{ 1, false, false, 1.5 }, { 3, false, false, 2.25 }, { 10, false, true, 7 + 2 / 24.0 },
		{ 11, false, false, 1.5 }, { 13, true, false, (1.5 + 1 / 24.0) / 2 },
	};

	(void)state;
	check_waits("stormcrawler", list, sizeof list / sizeof *list);
}

/* The log-likelihood of LambdaCrawl's smoothed history at a rate a day. */
static double likelihood(double r, const double *changed, int n, double unchanged)
{
	double l = log(-expm1(-r * 0.5)) - r * 0.5 - r * unchanged;

	for (int i = 0; i < n; i++)
		l += log(-expm1(-r * changed[i]));
	return l;
}

/* Changed after 2, 2 and 9.5 days, unchanged after 10 in all. */
static void lambda_rate_is_most_likely(void **state)
{
	const double changed[] = { 2, 9.5, 2 };
	uint32_t last_cycle[1] = { 0 };
	int64_t last_visit[1] = { 0 };
	struct view v = { .n_pages = 1, .last_cycle = last_cycle, .last_visit = last_visit,
	                  .cycle_seconds = DAY_SECONDS };
	struct policy *p;
	struct err err;
	double best = 0, most = -INFINITY;

	(void)state;
	assert_int_equal(policy_new(&p, "lambda", &err), 0);
	policy_size(p, 1);
	for (int i = 0; i < 8; i++) {
		struct seen s = { .hit = i < 3, .known = true, .gap = 2 };

		s.gap_seconds = (int64_t)((i < 3 ? changed[i] : 2) * DAY_SECONDS);

		policy_tell(p, &v, &s);
	}
	for (double r = 0.0005; r < 7; r *= 1.0001)
		if (likelihood(r, changed, 3, 10) > most) {
			most = likelihood(r, changed, 3, 10);
			best = r;
		}
	ASSERT_NEAR((double)*(const float *)policy_page(p, 0) / best, 1, 0.0005);
	policy_free(p);
}

/* After one cycle the credits are the rates f, which sum to the budget; the optimum
 * has equal marginal gain for all pages that are visited: r / (f (r + f)) under the
 * harmonic cost, r / (r + f)^2 under the binary, where others gain less at f = 0. */
static void check_split(const char *spec, bool binary)
{
	enum { N = 50 };
	uint8_t open[N];
	uint32_t last_cycle[N] = { 0 };
	int64_t last_visit[N] = { 0 };
	struct view v = { .n_pages = N, .state = open, .last_cycle = last_cycle,
	                  .last_visit = last_visit, .cycle_seconds = DAY_SECONDS, .budget = 10 };
	struct policy *p;
	struct err err;
	double sum = 0, gain = 0;
	float before, rate;

	memset(open, PAGE_HERE, sizeof open);
	assert_int_equal(policy_new(&p, spec, &err), 0);
	policy_size(p, N);
	for (uint32_t i = 0; i < N; i++)
		for (uint32_t k = 0; k < i % 7 + 1; k++) {
			struct seen s = { .page = i, .hit = k % 3 == 0, .known = true, .gap = 3,
			                  .gap_seconds = (int64_t)(i + 1) * DAY_SECONDS };

			policy_tell(p, &v, &s);
		}
	for (uint32_t i = 0; i < N; i++)
		((float *)policy_page(p, i))[1] = 0;            /* credit */
	p->ops->begin(p, &v);
	for (uint32_t i = 0; i < N; i++) {
		const float *h = policy_page(p, i);
		double r = (double)h[0], f = (double)h[1];
		double g = binary ? r / (r + f) / (r + f) : r / (f * (r + f));

		sum += f;
		if (f <= 0)
			continue;
		gain = gain > 0 ? gain : g;
		ASSERT_NEAR(g / gain, 1, 1e-3);
	}
	ASSERT_NEAR(sum, 10, 1e-3);
	for (uint32_t i = 0; i < N; i++) {
		const float *h = policy_page(p, i);

		if (h[1] <= 0)
			assert_true(binary && 1 / (double)h[0] <= gain * 1.001);
	}
	/* a visit uses up one, and one that failed teaches nothing */
	before = ((const float *)policy_page(p, 7))[1];
	rate = ((const float *)policy_page(p, 7))[0];
	policy_tell(p, &v, &(struct seen){ .page = 7, .gap = 9, .gap_seconds = 9 * DAY_SECONDS });
	assert_true(rate == ((const float *)policy_page(p, 7))[0]);
	ASSERT_NEAR((double)(before - ((const float *)policy_page(p, 7))[1]), 1, 1e-6);
	policy_free(p);
}

static void lambda_split_is_optimal(void **state)
{
	(void)state;
	check_split("lambda", false);
	check_split("lambda:cost=binary", true);
}

static void hundred_pages(struct stage *s)
{
	stage_open(s);
	for (int i = 0; i < 100; i++) {
		char url[60];

		snprintf(url, sizeof url, "http://a.example/p%02d", i);
		trace_add(&s->h, url, 0, "a", NULL);
	}
}

/* The score that an ask of this seed gives each page; PAGE order. */
static void ask_scores(struct stage *s, uint64_t seed, double *ret)
{
	struct plan plan = { 0 };

	s->e.view.seed = seed;
	s->e.view.room = s->r.pages.n;
	memset(s->e.visits.state, PAGE_HERE, s->r.pages.n);
	plan_begin(&plan, &s->e.view, s->e.visits.state);
	policy_ask(s->policy, &s->e.view, &plan);
	assert_int_equal(plan.n_taken, s->r.pages.n);
	for (size_t i = 0; i < plan.n_taken; i++)
		ret[plan.taken[i].page] = plan.taken[i].score;
	plan_release(&plan);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Without a visit a chance is drawn from Beta(20 * .05, 20 * .95) = Beta(1, 19), so
 * that (1 - x)^19 is uniform: Kolmogorov's distance at 20,200 draws. */
static void thompson_draws_from_its_prior(void **state)
{
	enum { SEEDS = 200, N = 101 };
	static double u[SEEDS * N];
	double most = 0;
	struct stage s;

	(void)state;
	hundred_pages(&s);
	stage_play(&s, "thompson:alone=1,k=20");
	s.e.view.cycle = 1;
	policy_begin(s.policy, &s.e.view);
	for (uint64_t seed = 0; seed < SEEDS; seed++)
		ask_scores(&s, seed, u + seed * N);
	for (size_t i = 0; i < SEEDS * N; i++)
		u[i] = pow(1 - u[i], 19);
	qsort(u, SEEDS * N, sizeof *u, by_value);
	for (size_t i = 0; i < SEEDS * N; i++)
		most = fmax(most, fabs(u[i] - ((double)i + 0.5) / (SEEDS * N)));
	assert_true(most < 1.95 / sqrt(SEEDS * N));      /* one in a thousand */
	/* at an age of 3 the chance is 1 - (1 - x)^3, unless a visit speaks of one cycle */
	s.e.view.cycle = 3;
	ask_scores(&s, 1, u);
	s.e.view.observe = OBSERVE_CYCLE;
	ask_scores(&s, 1, u + N);
	for (size_t i = 0; i < N; i++)
		ASSERT_NEAR(1 - u[i], pow(1 - u[N + i], 3), 1e-5);
	stage_close(&s);
}

struct told { uint32_t cycle, gap; bool hit; };

/* The mean chance of page 0 after these visits, asked for in the cycle of the last,
 * at an age of one cycle, over many draws. */
static double thompson_mean(const char *spec, const struct told *list, size_t n)
{
	enum { SEEDS = 3000 };
	double scores[101], sum = 0;
	struct stage s;

	hundred_pages(&s);
	stage_play(&s, spec);
	s.e.view.cycle = 1;
	policy_begin(s.policy, &s.e.view);
	for (size_t i = 0; i < n; i++) {
		struct seen seen = { .page = 0, .known = true, .gap = list[i].gap,
		                     .hit = list[i].hit };

		s.e.view.cycle = list[i].cycle;
		policy_tell(s.policy, &s.e.view, &seen);
	}
	s.e.visits.last_cycle[0] = s.e.view.cycle - 1;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		ask_scores(&s, seed, scores);
		sum += scores[0];
	}
	stage_close(&s);
	return sum / SEEDS;
}

/* Worked by hand; standard errors are below .003. */
static void thompson_posterior_by_hand(void **state)
{
	/* a change in an interval of 9: one success, (9 - 1)/2 = 4 failures.  All:
	 * (1 + 20*.05)/(5 + 20) = .08; Beta(1 + .08, 4 + .92): 1.08/6 */
	const struct told once[] = { { 1, 9, true } };
	/* two cycles later evidence weighs 1/4, then 2 failures.  All: 1.25/22.25 =
	 * .0562; Beta(.25 + .0562, 2 + .9438): .3062/3.25 */
	const struct told faded[] = { { 1, 1, true }, { 3, 2, false } };

	(void)state;
	ASSERT_NEAR(thompson_mean("thompson:alone=1,k=1,keep=0.5", once, 1), 1.08 / 6, 0.012);
	ASSERT_NEAR(thompson_mean("thompson:alone=1,k=1,keep=0.5", faded, 2), 0.3062 / 3.25, 0.012);
}

/* Two kinds of pages; a bandit must come to prefer the ones that change. */
static enum outcome odd_change(void *arg, uint32_t page, uint32_t cycle)
{
	(void)arg;
	(void)cycle;
	return page % 2 ? OUTCOME_CHANGED : OUTCOME_SAME;
}

static void thompson_learns(void **state)
{
	struct stage s;
	uint32_t hits = 0;

	(void)state;
	hundred_pages(&s);
	stage_play(&s, "thompson");
	s.fate = odd_change;
	for (int c = 0; c < 40; c++) {
		stage_cycle(&s, 20);
		for (size_t i = 0; c >= 30 && i < s.e.cycle.n_seen; i++)
			hits += s.e.cycle.seen[i].hit;
	}
	assert_true(hits > 150);                /* of 200; chance gives 100 */
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nutch_by_hand),
		cmocka_unit_test(nutch_keeps_its_longest_interval),
		cmocka_unit_test(nutch_waits_90_days_at_most),
		cmocka_unit_test(stormcrawler_by_hand),
		cmocka_unit_test(stormcrawler_forgets_after_an_error),
		cmocka_unit_test(lambda_rate_is_most_likely),
		cmocka_unit_test(lambda_split_is_optimal),
		cmocka_unit_test(thompson_draws_from_its_prior),
		cmocka_unit_test(thompson_posterior_by_hand),
		cmocka_unit_test(thompson_learns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
