/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The baselines by their definitions: GSB's choice and its variants, the rate
 * estimators against closed forms and a search for the likelihood's maximum, the
 * periods of round-robin and oldest, the ceiling of the oracle.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "../../../lib/stage.h"
#include "policy/catalogue/catalogue.h"

/* Three sites of 20 pages, and the stage's own with one. */
static void three_sites(struct stage *s)
{
	stage_open(s);
	for (int i = 0; i < 60; i++) {
		char url[60];

		snprintf(url, sizeof url, "http://%c.example/p%d", 'a' + i / 20, i);
		trace_add(&s->h, url, 0, "a", NULL);
	}
}

static char site_letter(const struct stage *s, uint32_t page)
{
	return s->r.pages.pool[s->r.pages.offset[page] + strlen("http://")];
}

/* b changes wholly, a by half, others not. */
static enum outcome by_site(void *arg, uint32_t page, uint32_t cycle)
{
	char letter = site_letter(arg, page);
	bool half = rng_unit(rng_draw(1, cycle, page, RNG_USER)) < 0.5;

	return letter == 'b' || (letter == 'a' && half) ? OUTCOME_CHANGED : OUTCOME_SAME;
}

struct tally { uint32_t samples, hits, others, pages; };

/* Samples and other downloads of each site (a, b, c, e) in the last cycle. */
static void count_sites(const struct stage *s, struct tally t[5])
{
	memset(t, 0, 5 * sizeof *t);
	for (uint32_t i = 0; i < s->r.pages.n; i++)
		t[site_letter(s, i) - 'a'].pages++;
	for (size_t i = 0; i < s->e.cycle.n_seen; i++) {
		const struct seen *v = &s->e.cycle.seen[i];
		struct tally *site = &t[site_letter(s, v->page) - 'a'];

		site->samples += v->reason == REASON_SAMPLE;
		site->hits += v->reason == REASON_SAMPLE && v->hit;
		site->others += v->reason == REASON_GROUP;
	}
}

static double ratio(const struct tally *t)
{
	return t->samples ? (double)t->hits / t->samples : 0;
}

static void gsb_takes_whole_sites_in_order(void **state)
{
	struct stage s;
	struct tally t[5];

	(void)state;
	three_sites(&s);
	s.fate = by_site;
	s.arg = &s;
	for (uint64_t seed = 0; seed < 200; seed++) {
		double last = 2;
		int previous = -1;

		stage_play(&s, "site");
		s.e.view.seed = seed;
		stage_cycle(&s, 36);            /* 4 sites: k = sqrt(36/4) = 3 */
		count_sites(&s, t);
		assert_int_equal(s.e.cycle.n_seen, 36);
		assert_int_equal(t[0].samples, 3);
		assert_int_equal(t[1].samples, 3);
		assert_int_equal(t[2].samples, 3);
		assert_int_equal(t[4].samples, 1);      /* it has one page */
		for (size_t i = 10; i < s.e.cycle.n_seen; i++) {
			int site = site_letter(&s, s.e.cycle.seen[i].page) - 'a';

			if (site == previous)
				continue;
			assert_true(ratio(&t[site]) <= last);
			last = ratio(&t[site]);
			if (previous >= 0)      /* left only when nothing was left */
				assert_int_equal(t[previous].samples + t[previous].others,
				                 t[previous].pages);
			previous = site;
		}
	}
	stage_close(&s);
}

/* Rounded to the nearest: sqrt(8/4) = 1.41 is one sample of a site, sqrt(10/4) = 1.58 two. */
static void gsb_rounds_its_sample(void **state)
{
	struct stage s;
	struct tally t[5];

	(void)state;
	three_sites(&s);
	for (uint32_t k = 1; k <= 2; k++) {
		stage_play(&s, "site");
		stage_cycle(&s, k == 1 ? 8 : 10);
		count_sites(&s, t);
		for (int i = 0; i < 3; i++)
			assert_int_equal(t[i].samples, k);
	}
	stage_close(&s);
}

/* Sites whose pages are gone are not counted: 16 requests for 4 sites make 2 samples each,
 * for the last of them sqrt(16/1) = 4. */
static void gsb_counts_sites_that_are_there(void **state)
{
	struct stage s;
	struct tally t[5];

	(void)state;
	three_sites(&s);
	stage_play(&s, "site");
	for (uint32_t i = 0; i < s.r.pages.n; i++)
		if (site_letter(&s, i) != 'c')
			s.e.visits.state[i] = 0;
	stage_cycle(&s, 16);
	count_sites(&s, t);
	assert_int_equal(t[2].samples, 4);
	assert_int_equal(s.e.cycle.n_seen, 16);
	stage_close(&s);
}

/* The paper's own numbers: 25,000 requests over 212 sites make 11 samples of a site. */
static void gsb_samples_as_the_paper_says(void **state)
{
	uint32_t samples[212] = { 0 };
	struct stage s;

	(void)state;
	stage_open(&s);
	for (int i = 0; i < 211 * 13; i++) {            /* and the stage's own site */
		char url[60];

		snprintf(url, sizeof url, "http://s%03d.example/p%d", i / 13, i);
		trace_add(&s.h, url, 0, "a", NULL);
	}
	stage_play(&s, "site");
	assert_int_equal(s.r.pages.tree.n_sites, 212);
	stage_cycle(&s, 25000);
	for (size_t i = 0; i < s.e.cycle.n_seen; i++)
		samples[s.e.view.site[s.e.cycle.seen[i].page]] += s.e.cycle.seen[i].reason == REASON_SAMPLE;
	for (uint32_t i = 0; i < 212; i++)
		assert_true(samples[i] == 11 || (samples[i] == 1 && i == s.e.view.site[
			trace_page(&s.h, "http://end.example/")]));
	stage_close(&s);
}

static void gsb_samples_some_sites_if_not_all_fit(void **state)
{
	struct stage s;
	struct tally t[5];
	uint32_t times[5] = { 0 };

	(void)state;
	three_sites(&s);
	for (uint64_t seed = 0; seed < 400; seed++) {
		stage_play(&s, "site");
		s.e.view.seed = seed;
		stage_cycle(&s, 2);             /* k = 1 */
		count_sites(&s, t);
		for (int i = 0; i < 5; i++)
			times[i] += t[i].samples;
	}
	/* each of the 4 sites in half the runs: 200 of 400, sd 10 */
	for (int i = 0; i < 5; i++)
		assert_true(i == 3 || (times[i] > 155 && times[i] < 245));
	stage_close(&s);
}

static void proportional_splits_the_rest(void **state)
{
	struct stage s;
	struct tally t[5];

	(void)state;
	three_sites(&s);
	s.fate = by_site;
	s.arg = &s;
	for (uint64_t seed = 0; seed < 100; seed++) {
		double hits, rest;

		stage_play(&s, "site:variant=proportional,sample=4");
		s.e.view.seed = seed;
		stage_cycle(&s, 25);            /* 13 samples, 12 to split */
		count_sites(&s, t);
		hits = t[0].hits + t[1].hits + t[2].hits;
		rest = 25 - 13;
		assert_int_equal(t[1].hits, 4);
		assert_true(fabs(t[1].others - rest * t[1].hits / hits) <= 1);
		assert_true(fabs(t[0].others - rest * t[0].hits / hits) <= 1);
		assert_int_equal(t[2].others, 0);
	}
	stage_close(&s);
}

/* While it is unclear whether a site is above the threshold, its sample grows. */
static void adaptive_samples_longer_where_it_is_unclear(void **state)
{
	struct stage s;
	struct tally t[5];
	uint32_t samples = 0;

	(void)state;
	three_sites(&s);
	s.fate = by_site;
	s.arg = &s;
	for (uint64_t seed = 0; seed < 50; seed++) {
		stage_play(&s, "site:variant=adaptive,sample=2");
		s.e.view.seed = seed;
		stage_cycle(&s, 40);
		count_sites(&s, t);
		samples += t[0].samples + t[1].samples + t[2].samples;
		assert_int_equal(s.e.cycle.n_seen, 40);
	}
	assert_true(samples > 50 * 3 * 2);
	stage_close(&s);
}

/* a never changes, b always does, of c every second visit. */
struct three { struct stage *s; uint32_t visits_of_c; };

static enum outcome by_turns(void *arg, uint32_t page, uint32_t cycle)
{
	struct three *t = arg;
	char letter = site_letter(t->s, page);

	(void)cycle;
	return letter == 'b' || (letter == 'c' && t->visits_of_c++ % 2) ? OUTCOME_CHANGED :
	                                                                  OUTCOME_SAME;
}

/* The threshold is c's ratio, 1/2.  Wilson's upper bound of 0 of n at 95 % is
 * 3.84/(n + 3.84): 0.66 of 2, which is unclear, 0.49 of 4, which is not; so a gets
 * 4 samples whether it begins with 2 or with 4, and c, in the middle,
 * as many as leave enough for b. */
static void adaptive_stops_where_wilson_says(void **state)
{
	static const char *const specs[] = { "site:variant=adaptive,sample=2",
	                                     "site:variant=adaptive,sample=4" };
	struct stage s;
	struct tally t[5];

	(void)state;
	three_sites(&s);
	for (int k = 0; k < 2; k++) {
		for (uint64_t seed = 0; seed < 20; seed++) {
			struct three three = { .s = &s };

			stage_play(&s, specs[k]);
			s.fate = by_turns;
			s.arg = &three;
			s.e.view.seed = seed;
			stage_cycle(&s, 43);
			count_sites(&s, t);
			assert_int_equal(t[0].samples, 4);
			assert_in_range(t[2].samples, 18, 20);
		}
	}
	stage_close(&s);
}

/* 12 of b's 20 pages are gone.  After 4 samples of each, 10 of 23 requests are left: 4
 * for b, so the budget runs out in c, whose ratio, 1/2, is looked at closer twice: then
 * 2 are left, and b, all of which changed, is the one to be settled. */
static void adaptive_counts_pages_that_are_left(void **state)
{
	struct stage s;
	struct tally t[5];

	(void)state;
	three_sites(&s);
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct three three = { .s = &s };
		int gone = 0;

		stage_play(&s, "site:variant=adaptive,sample=4");
		for (uint32_t i = 0; i < s.r.pages.n && gone < 12; i++)
			if (site_letter(&s, i) == 'b') {
				s.e.visits.state[i] = 0;
				gone++;
			}
		s.fate = by_turns;
		s.arg = &three;
		s.e.view.seed = seed;
		stage_cycle(&s, 23);
		count_sites(&s, t);
		assert_int_equal(t[2].samples, 12);
	}
	stage_close(&s);
}

static void site_refuses_bad_samples(void **state)
{
	static const char *const bad[] = { "site:sample=0", "site:sample=-3", "site:sample=3x",
	                                   "site:sample=99999999999", "site:sample=half" };
	struct policy *p;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(policy_new(&p, bad[i], &err), E_USAGE);
}

/* Tell the policy of visits with these gaps ('+' after one: it had changed), then
 * ask for the score of page 0 at age 1. */
static double rate_after(struct stage *s, const char *spec, const char *visits)
{
	struct plan plan = { 0 };
	double score = -1;

	stage_play(s, spec);
	s->e.view.cycle = 1;
	s->e.view.room = s->r.pages.n;
	policy_begin(s->policy, &s->e.view);
	while (*visits) {
		char *end;
		struct seen seen = { .page = 0, .known = true,
		                     .gap = (uint32_t)strtoul(visits, &end, 10) };

		seen.hit = *end == '+';
		visits = end + (*end == '+');
		visits += strspn(visits, " ");
		policy_tell(s->policy, &s->e.view, &seen);
	}
	plan_begin(&plan, &s->e.view, s->e.visits.state);
	policy_ask(s->policy, &s->e.view, &plan);
	for (size_t i = 0; i < plan.n_taken; i++)
		if (plan.taken[i].page == 0)
			score = plan.taken[i].score;
	plan_release(&plan);
	assert_true(score >= 0);
	return score;
}

static void assert_near(double a, double b, double relative)
{
	if (!(fabs(a - b) <= relative * fabs(b) + 1e-7))
		fail_msg("%.9g instead of %.9g", a, b);
}

static void rates_by_their_formulas(void **state)
{
	struct stage s;
	double best = 0, best_at = 0;

	(void)state;
	three_sites(&s);
	/* n = 4 visits, X = 1, mean interval 2 */
	assert_near(rate_after(&s, "frequency", "1 3 2+ 2"), -log(3.5 / 4.5) / 2, 1e-5);
	assert_near(rate_after(&s, "frequency:estimator=naive", "1 3 2+ 2"), 1 / 8.0, 1e-5);
	assert_near(rate_after(&s, "frequency", "1 1 1"), 0, 1e-5);
	/* one changed and one unchanged interval of length t: ln 2 / t */
	assert_near(rate_after(&s, "frequency:estimator=mle", "3 3+"), log(2) / 3, 1e-5);
	/* never changed, never unchanged: the ends of [0.0005, 7] a day, a cycle being one */
	assert_near(rate_after(&s, "frequency:estimator=mle", "3 3"), 0.0005, 1e-5);
	assert_near(rate_after(&s, "frequency:estimator=mle", "3+ 1+"), 7, 1e-5);
	/* em: of an interval of 4 with a change, at the rate (1 + .5/.5)/(4/2 + 1) = 2/3, a first
	 * change is to be expected after 1.5 - 4 e^(-8/3)/(1 - e^(-8/3)); then 6 quiet cycles */
	assert_near(rate_after(&s, "frequency:estimator=em", "4+ 6"),
	            1 / (1.5 - 4 * exp(-8 / 3.0) / (1 - exp(-8 / 3.0)) + 6), 1e-5);
	/* uneven intervals: search the likelihood (1-e^-2r)(1-e^-5r)(1-e^-r) e^-13r */
	for (double r = 1e-4; r < 2; r += 1e-4) {
		double l = log(-expm1(-2 * r)) + log(-expm1(-5 * r)) + log(-expm1(-r)) - 13 * r;

		if (best_at == 0 || l > best) {
			best = l;
			best_at = r;
		}
	}
	assert_near(rate_after(&s, "frequency:estimator=mle", "2+ 4 5+ 1 1+ 8"), best_at, 1e-3);
	stage_close(&s);
}

/* A page whose visits are far apart, at random, of known rate 0.2 a cycle. */
static void mle_finds_a_known_rate(void **state)
{
	char visits[8000];
	size_t at = 0;
	struct stage s;
	struct rng r;

	(void)state;
	three_sites(&s);
	rng_init(&r, 12);
	for (int i = 0; i < 1500; i++) {
		uint32_t gap = 1 + (uint32_t)rng_below(&r, 9);
		bool changed = rng_next_unit(&r) < -expm1(-0.2 * gap);

		at += (size_t)snprintf(visits + at, sizeof visits - at, "%u%s ", gap,
		                       changed ? "+" : "");
	}
	assert_near(rate_after(&s, "frequency:estimator=mle", visits), 0.2, 0.08);
	assert_near(rate_after(&s, "frequency:estimator=em", visits), 0.2, 0.12);
	stage_close(&s);
}

static void everyone_in_turn(void **state)
{
	static const char *const specs[] = { "round-robin", "oldest" };
	struct stage s;

	(void)state;
	three_sites(&s);
	for (int k = 0; k < 2; k++) {
		uint32_t last[61] = { 0 };

		stage_play(&s, specs[k]);
		assert_int_equal(s.r.pages.n, 61);
		for (uint32_t c = 1; c <= 40; c++) {
			stage_cycle(&s, 9);     /* a period of ceil(61/9) = 7 */
			for (size_t i = 0; i < s.e.cycle.n_seen; i++)
				last[s.e.cycle.seen[i].page] = c;
			for (uint32_t p = 0; p < 61 && c >= 7; p++)
				assert_true(c - last[p] < 7);
		}
	}
	stage_close(&s);
}

/* The age in which the budget runs out is drawn from: 9 of 61, then 9 of 52. */
static void oldest_knows_its_chance(void **state)
{
	struct stage s;

	(void)state;
	three_sites(&s);
	stage_play(&s, "oldest");
	for (uint32_t c = 0; c < 7; c++) {
		uint32_t left = 61 - 9 * c;

		stage_cycle(&s, 9);
		for (uint32_t i = 0; i < 9; i++) {
			double p = s.e.cycle.seen[i].probability;

			/* the last period ends with 7 left, then 2 of the 9 seen first */
			assert_near(p, left >= 9 ? 9.0 / left : i < 7 ? 1 : 2.0 / 9, 1e-5);
		}
	}
	stage_close(&s);
}

static void random_knows_its_chance(void **state)
{
	struct stage s;
	uint32_t times = 0;

	(void)state;
	three_sites(&s);
	for (uint64_t seed = 0; seed < 2000; seed++) {
		stage_play(&s, "random");
		s.e.view.seed = seed;
		stage_cycle(&s, 9);
		for (size_t i = 0; i < 9; i++) {
			assert_near(s.e.cycle.seen[i].probability, 9 / 61.0, 1e-5);
			times += s.e.cycle.seen[i].page == 17;
		}
	}
	/* 2000 * 9/61 = 295, sd 16 */
	assert_true(times > 231 && times < 359);
	stage_close(&s);
}

static void oracle_takes_hits_only(void **state)
{
	struct stage s;
	uint8_t truth[61];
	uint32_t hits = 0;

	(void)state;
	three_sites(&s);
	s.fate = by_site;
	s.arg = &s;
	stage_play(&s, "oracle");
	for (uint32_t i = 0; i < 61; i++) {
		truth[i] = by_site(&s, i, 1) == OUTCOME_CHANGED;
		hits += truth[i];
	}
	s.e.view.truth = truth;
	stage_cycle(&s, hits + 3);
	for (size_t i = 0; i < s.e.cycle.n_seen; i++)
		assert_int_equal(s.e.cycle.seen[i].hit, i < hits);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gsb_takes_whole_sites_in_order),
		cmocka_unit_test(gsb_rounds_its_sample),
		cmocka_unit_test(gsb_counts_sites_that_are_there),
		cmocka_unit_test(gsb_samples_as_the_paper_says),
		cmocka_unit_test(gsb_samples_some_sites_if_not_all_fit),
		cmocka_unit_test(proportional_splits_the_rest),
		cmocka_unit_test(adaptive_samples_longer_where_it_is_unclear),
		cmocka_unit_test(adaptive_stops_where_wilson_says),
		cmocka_unit_test(adaptive_counts_pages_that_are_left),
		cmocka_unit_test(site_refuses_bad_samples),
		cmocka_unit_test(rates_by_their_formulas),
		cmocka_unit_test(mle_finds_a_known_rate),
		cmocka_unit_test(everyone_in_turn),
		cmocka_unit_test(oldest_knows_its_chance),
		cmocka_unit_test(random_knows_its_chance),
		cmocka_unit_test(oracle_takes_hits_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
