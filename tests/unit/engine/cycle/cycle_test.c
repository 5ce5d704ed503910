/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop keeps its rules with any policy: the guarantee of age against a count
 * of every page's gaps, fill-up, blocked pages that cost nothing, a source that
 * fails half-way.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "engine/crawl/life_inner.h"
#include "policy/catalogue/catalogue.h"
#include "../../../lib/stage.h"

static void open_pages(struct stage *s, int n)
{
	stage_open(s);
	for (int i = 1; i < n; i++) {
		char url[60];

		snprintf(url, sizeof url, "http://s%d.example/d%d/p%d", i % 4, i % 9, i);
		trace_add(&s->h, url, 0, "a", NULL);
	}
}

/* Pages of low numbers change always: policies that follow changes stay there. */
static enum outcome low_change(void *arg, uint32_t page, uint32_t cycle)
{
	(void)arg;
	(void)cycle;
	return page < 10 ? OUTCOME_CHANGED : OUTCOME_SAME;
}

/* Runs 60 cycles; the largest number of cycles between visits of any page (from
 * the start on), and whether any cycle said that it cannot be kept. */
static uint32_t largest_gap(struct stage *s, const char *spec, uint32_t budget,
                            uint32_t max_age, bool *ret_broken)
{
	uint32_t last[200] = { 0 }, largest = 0;

	stage_play(s, spec);
	s->fate = low_change;
	s->e.rules.max_age = max_age;
	*ret_broken = false;
	for (uint32_t c = 1; c <= 60; c++) {
		stage_cycle(s, budget);
		assert_int_equal(s->e.cycle.n_seen, budget < s->r.pages.n ? budget : s->r.pages.n);
		*ret_broken |= s->e.cycle.guarantee_broken;
		for (size_t i = 0; i < s->e.cycle.n_seen; i++) {
			uint32_t gap = c - last[s->e.cycle.seen[i].page];

			largest = gap > largest ? gap : largest;
			last[s->e.cycle.seen[i].page] = c;
		}
		for (uint32_t p = 0; p < s->r.pages.n; p++)
			largest = c - last[p] > largest ? c - last[p] : largest;
	}
	return largest;
}

/* Kept with the least budget that can do it, and with more; with less it must say so. */
static void keeps_the_age(struct stage *s, const char *spec, uint32_t age)
{
	uint32_t least = (120 + age - 1) / age, gap;
	bool broken;

	for (uint32_t more = 0; more <= 7; more += 7) {
		gap = largest_gap(s, spec, least + more, age, &broken);
		if (gap > age || broken)
			fail_msg("%s: %u cycles unvisited, %u allowed%s", spec, gap, age,
			         broken ? ", broken" : "");
	}
	largest_gap(s, spec, least - 1, age, &broken);
	assert_true(broken);
}

static void no_page_grows_older_than_allowed(void **state)
{
	static const char *const more[] = { "neighbour:d=2", "neighbour:phi=always,d=8" };
	static const uint32_t ages[] = { 2, 5, 10, 30 };
	struct stage s;
	bool broken;

	(void)state;
	open_pages(&s, 120);
	for (size_t k = 0; k < sizeof ages / sizeof *ages; k++) {
		for (size_t i = 0; policy_at(i); i++)
			if (!policy_at(i)->only_replay)
				keeps_the_age(&s, policy_at(i)->name, ages[k]);
		for (size_t i = 0; i < sizeof more / sizeof *more; i++)
			keeps_the_age(&s, more[i], ages[k]);
	}
	/* without it such policies do leave pages alone: the test can fail */
	assert_true(largest_gap(&s, "random", 10, 0, &broken) > 30);
	assert_true(largest_gap(&s, "tide", 10, 0, &broken) > 30);
	stage_close(&s);
}

/* The need is the least number n such that an even pace of n meets every
 * deadline: found here by trying. */
static void need_is_the_least_even_pace(void **state)
{
	enum { N = 40 };
	uint8_t states[N];
	uint32_t last[N], site[N], own[3];
	const struct tree tree = { .n_sites = 3 };
	struct view v = { .n_pages = N, .state = states, .last_cycle = last, .cycle = 50,
	                  .site = site, .tree = &tree };
	struct rng r;

	(void)state;
	rng_init(&r, 2);
	for (int i = 0; i < N; i++)
		site[i] = (uint32_t)i % 3;
	for (int k = 0; k < 500; k++) {
		uint32_t max_age = 1 + (uint32_t)rng_below(&r, 12), pace;
		/* some sites have an age of their own, and sometimes there is no other */
		struct guarantee g = { k % 5 == 4 ? 0 : max_age, k % 2 ? own : NULL };

		for (int i = 0; i < 3; i++)
			own[i] = (uint32_t)(rng_below(&r, 2) * rng_below(&r, 13));

		for (int i = 0; i < N; i++) {
			states[i] = rng_below(&r, 4) ? PAGE_HERE : 0;
			last[i] = 50 - (uint32_t)rng_below(&r, 15);     /* age 0 .. 14 */
		}
		for (pace = 0; pace <= N; pace++) {
			bool fits = true;

			for (uint32_t j = 1; j <= 12; j++) {
				uint32_t due = 0;

				/* must be visited within j cycles, this one being the first */
				for (int i = 0; i < N; i++) {
					uint32_t most = g.of_site && own[i % 3] ? own[i % 3] : g.max_age;

					due += states[i] == PAGE_HERE && most &&
						(last[i] + most < 50 + j || j >= most);
				}
				fits &= due <= pace * j;
			}
			if (fits)
				break;
		}
		assert_int_equal(guarantee_need(&v, &g), pace);
	}
	assert_int_equal(guarantee_need(&v, &(struct guarantee){ 0 }), 0);
	for (int i = 0; i < N; i++)
		states[i] = PAGE_HERE;
	assert_int_equal(guarantee_need(&v, &(struct guarantee){ UINT32_MAX, NULL }), 1); /* at once, in little memory */
}

static void an_age_in_cycles(void **state)
{
	struct err err;
	uint32_t n = 7;

	(void)state;
	assert_int_equal(guarantee_cycles(0, 86400, &n, &err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(guarantee_cycles(86400 * 3 - 1, 86400, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_int_equal(guarantee_cycles(86399, 86400, &n, &err), E_USAGE);
	assert_int_equal(guarantee_cycles(1ll << 40, 256, &n, &err), 0);
	assert_true(n > 1000);          /* 2^32 cycles are not 0 */
}

static enum outcome often_blocked(void *arg, uint32_t page, uint32_t cycle)
{
	(void)arg;
	return (page + cycle) % 3 ? OUTCOME_BLOCKED : OUTCOME_SAME;
}

static void blocked_pages_cost_nothing(void **state)
{
	struct stage s;

	(void)state;
	open_pages(&s, 120);
	stage_play(&s, "neighbour:d=1");
	s.fate = often_blocked;
	for (uint32_t c = 1; c <= 5; c++) {
		stage_cycle(&s, 20);
		assert_int_equal(s.e.cycle.n_spent, 20);
		assert_true(s.e.cycle.n_seen > 20);
	}
	stage_cycle(&s, 100);           /* only 40 can be had */
	assert_int_equal(s.e.cycle.n_spent, 40);
	assert_int_equal(s.e.cycle.n_seen, 120);
	stage_close(&s);
}

static enum outcome fails(void *arg, uint32_t page, uint32_t cycle)
{
	(void)arg;
	(void)page;
	return cycle == 1 ? OUTCOME_FAILED : OUTCOME_SAME;
}

/* A failure costs budget and teaches nothing: the page stays as old as it was. */
static void failures_are_no_visits(void **state)
{
	struct stage s;

	(void)state;
	open_pages(&s, 30);
	stage_play(&s, "oldest");
	s.fate = fails;
	stage_cycle(&s, 10);
	assert_int_equal(s.e.cycle.n_spent, 10);
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(s.e.visits.last_cycle[i], 0);
	stage_cycle(&s, 10);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(s.e.cycle.seen[i].gap, 2);
		assert_int_equal(s.e.cycle.seen[i].gap_seconds, 2 * DAY_SECONDS);
	}
	stage_close(&s);
}

/* What is told of a page that was never visited, in a repository whose pages have no first
 * copies, is of the cycles since it began, not of the years since 1970. */
static void never_visited_is_since_the_first_cycle(void **state)
{
	struct stage s;

	(void)state;
	open_pages(&s, 30);
	stage_play(&s, "oldest");
	for (uint32_t i = 0; i < s.r.pages.n; i++)
		s.e.visits.last_visit[i] = 0;
	for (int c = 1; c <= 3; c++) {
		stage_cycle(&s, 10);
		for (size_t i = 0; i < 10; i++)
			assert_int_equal(s.e.cycle.seen[i].gap_seconds, c * DAY_SECONDS);
	}
	stage_cycle(&s, 10);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(s.e.cycle.seen[i].gap_seconds, s.e.cycle.seen[i].gap * DAY_SECONDS);
	stage_close(&s);
}

static int breaks_down(void *self, const struct offer *offers, size_t n,
                       struct delivery *ret, struct err *err)
{
	int *calls = self;

	(void)offers;
	memset(ret, 0, n * sizeof *ret);
	return ++*calls < 3 ? 0 : err_set(err, E_NET, "down");
}

static void an_error_ends_the_cycle_cleanly(void **state)
{
	struct stage s;
	struct err err;
	int calls = 0;

	(void)state;
	open_pages(&s, 30);
	stage_play(&s, "neighbour");
	s.e.source = (struct source){ .self = &calls, .deliver = breaks_down };
	assert_int_equal(engine_cycle(&s.e, TRACE_START + DAY_SECONDS, 10, &err), E_NET);
	assert_int_equal(s.e.cycle.n_seen, 2);
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(s.e.visits.state[i], PAGE_HERE);
	stage_close(&s);
}

/* Goal alive: whoever was visited is done with. */
static void recovering_visits_each_page_once(void **state)
{
	struct stage s;
	uint32_t times[30] = { 0 };

	(void)state;
	open_pages(&s, 30);
	stage_play(&s, "random");
	s.e.view.goal = GOAL_ALIVE;
	for (uint32_t c = 1; c <= 5; c++) {
		stage_cycle(&s, 8);
		assert_int_equal(s.e.cycle.n_seen, c < 4 ? 8 : c == 4 ? 6 : 0);
		for (size_t i = 0; i < s.e.cycle.n_seen; i++)
			assert_int_equal(times[s.e.cycle.seen[i].page]++, 0);
	}
	stage_close(&s);
}

/* The opening sample: before the policy, no page twice, over seeds every page
 * equally often, and at an end when enough hits were found. */
static void the_sample_is_simple_and_random(void **state)
{
	uint32_t drawn[60] = { 0 };
	struct stage s;

	(void)state;
	open_pages(&s, 60);
	for (uint64_t seed = 0; seed < 600; seed++) {
		stage_play(&s, "oldest");
		s.e.view.seed = seed;
		s.e.view.goal = GOAL_ALIVE;
		s.e.sample.rule.most = 12;
		s.e.sample.rule.hits = 100;
		stage_cycle(&s, 20);
		assert_int_equal(s.e.cycle.n_seen, 20);
		for (size_t i = 0; i < 20; i++) {
			assert_int_equal(s.e.cycle.seen[i].reason == REASON_RANDOM, i < 12);
			if (i < 12)
				drawn[s.e.cycle.seen[i].page]++;
		}
	}
	for (int i = 0; i < 60; i++)    /* 120 expected, standard deviation 9.8 */
		assert_in_range(drawn[i], 120 - 45, 120 + 45);
	stage_play(&s, "oldest");
	s.e.view.goal = GOAL_ALIVE;
	s.e.sample.rule.most = 40;
	s.e.sample.rule.hits = 5;            /* all are alive: 20 suffice for the first round */
	stage_cycle(&s, 60);
	assert_int_equal(s.e.cycle.seen[19].reason, REASON_RANDOM);
	assert_int_equal(s.e.cycle.seen[20].reason, REASON_OLDEST);
	stage_close(&s);
}

static void play_sampled(struct stage *s, const char *policy)
{
	stage_play(s, policy);
	s->e.view.goal = GOAL_ALIVE;
	s->e.sample.rule.most = 12;
	s->e.sample.rule.hits = 4;
}

static struct event told(const struct seen *s)
{
	return (struct event){ .kind = EVENT_TOLD,
		.offer = { s->page, s->score, s->probability, s->reason },
		.delivery = { .outcome = s->outcome, .hit = s->hit } };
}

/* Answers came out of order, then the cycle broke off.  It asks for the same pages, in its
 * sample and behind it, and for no other; those that have answered come first. */
static void the_sample_survives_a_crash(void **state)
{
	const uint32_t plans[] = { 0 };
	struct event kept[8];
	uint32_t whole[60], seen[61] = { 0 };
	struct stage s;
	struct err err;
	size_t n = 0;

	(void)state;
	open_pages(&s, 60);
	play_sampled(&s, "oldest");
	stage_cycle(&s, 60);
	assert_int_equal(s.e.cycle.n_seen, 60);
	for (int i = 0; i < 60; i++)
		whole[i] = s.e.cycle.seen[i].page;
	for (int i = 0; i < 8; i += 2)          /* every other answer came */
		kept[n++] = told(&s.e.cycle.seen[i]);
	kept[n++] = told(&s.e.cycle.seen[11]);
	play_sampled(&s, "oldest");
	engine_continue(&s.e, TRACE_START + DAY_SECONDS, 60, kept, n, plans, 1, true);
	assert_int_equal(engine_finish(&s.e, &err), 0);
	assert_int_equal(s.e.cycle.n_seen, 60);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(s.e.cycle.seen[i].page, kept[i].offer.page);
	for (int i = 0; i < 12; i++) {          /* the sample */
		seen[whole[i]]++;
		seen[s.e.cycle.seen[i].page]++;
	}
	for (int i = 0; i < 61; i++)
		assert_int_equal(seen[i] % 2, 0);
	for (int i = 12; i < 60; i++)
		assert_int_equal(s.e.cycle.seen[i].page, whole[i]);
	stage_close(&s);
}

struct counted { struct stage *s; uint32_t asked[61]; };

static enum outcome count_asked(void *arg, uint32_t page, uint32_t cycle)
{
	(void)cycle;
	((struct counted *)arg)->asked[page]++;
	return page % 3 ? OUTCOME_SAME : OUTCOME_GONE;
}

/* Whoever made them: no page is asked for again, the policy is told of all of them, and
 * what they cost counts, redirects and all. */
static void what_was_made_is_not_asked_again(void **state)
{
	struct event kept[20];
	struct counted c = { 0 };
	struct stage s;
	struct err err;

	(void)state;
	open_pages(&s, 60);
	for (int same = 0; same < 2; same++) {
		uint8_t seen[61] = { 0 };
		uint32_t again = 0;

		memset(&c, 0, sizeof c);
		play_sampled(&s, "oldest");
		for (uint32_t i = 0; i < 20; i++) {     /* neither policy nor sample chose so */
			kept[i] = (struct event){ .offer = { .page = 3 * i, .reason = REASON_RANK },
				.delivery = { .outcome = OUTCOME_GONE, .extra = i < 5 } };
			s.e.visits.state[3 * i] = 0;    /* as the store has it now */
		}
		s.fate = count_asked;
		s.arg = &c;
		/* 20 pages had cost 25 requests: 10 of 35 are left */
		engine_continue(&s.e, TRACE_START + DAY_SECONDS, 35, kept, 20, NULL, 0, same);
		assert_int_equal(engine_finish(&s.e, &err), 0);
		assert_int_equal(s.e.cycle.n_spent, 35);
		for (size_t i = 0; i < s.e.cycle.n_seen; i++)
			assert_int_equal(seen[s.e.cycle.seen[i].page]++, 0);
		for (uint32_t i = 0; i < 20; i++) {
			assert_int_equal(seen[3 * i], 1);
			again += c.asked[3 * i];
		}
		assert_int_equal(again, 0);
		assert_int_equal(s.e.cycle.n_seen, 30);
	}
	stage_close(&s);
}

/* One site of four lives, and a few pages elsewhere. */
static enum outcome by_cluster(void *arg, uint32_t page, uint32_t cycle)
{
	(void)arg;
	(void)cycle;
	return page % 4 == 1 || page % 9 == 0 ? OUTCOME_SAME : OUTCOME_GONE;
}

/* The interval from the opening sample holds the number alive at least 95 times in
 * a hundred over seeds, though the sample ends by what it finds. */
static void the_sample_covers_the_truth(void **state)
{
	enum { RUNS = 600 };
	unsigned held = 0, alive = 0, early = 0;
	uint8_t verdict[200];
	struct stage s;

	(void)state;
	open_pages(&s, 200);
	for (uint32_t i = 0; i < 200; i++)
		alive += by_cluster(NULL, i, 0) == OUTCOME_SAME;
	for (uint64_t seed = 0; seed < RUNS; seed++) {
		struct life_bounds b;

		stage_play(&s, "oldest");
		s.fate = by_cluster;
		s.e.view.seed = seed;
		s.e.view.goal = GOAL_ALIVE;
		s.e.sample.rule.most = 60;
		s.e.sample.rule.hits = 15;
		s.e.sample.rule.least = 20;
		stage_cycle(&s, 100);
		memset(verdict, VERDICT_NONE, sizeof verdict);
		for (size_t i = 0; i < s.e.cycle.n_seen; i++)
			verdict[s.e.cycle.seen[i].page] = s.e.cycle.seen[i].hit ? VERDICT_HIT : VERDICT_DEAD;
		life_bounds(&s.e, verdict, 200, &b);
		assert_true(b.sample >= 20 && b.sample <= 60 && b.hits <= 15);
		early += b.sample < 60;
		held += b.low <= alive && alive <= b.high;
	}
	assert_true(early > RUNS / 2);
	if (held < RUNS * (0.95 - 3 * sqrt(0.95 * 0.05 / RUNS)))
		fail_msg("the truth was held in %u of %u runs", held, RUNS);
	stage_close(&s);
}

static bool enough_of_it(void *self)
{
	return ((struct stage *)self)->e.cycle.n_seen >= 7;
}

static void a_source_can_have_enough(void **state)
{
	struct stage s;

	(void)state;
	open_pages(&s, 30);
	stage_play(&s, "neighbour");
	s.e.source.enough = enough_of_it;
	stage_cycle(&s, 20);
	assert_int_equal(s.e.cycle.n_seen, 7);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_age_in_cycles),
		cmocka_unit_test(no_page_grows_older_than_allowed),
		cmocka_unit_test(need_is_the_least_even_pace),
		cmocka_unit_test(blocked_pages_cost_nothing),
		cmocka_unit_test(failures_are_no_visits),
		cmocka_unit_test(never_visited_is_since_the_first_cycle),
		cmocka_unit_test(an_error_ends_the_cycle_cleanly),
		cmocka_unit_test(recovering_visits_each_page_once),
		cmocka_unit_test(the_sample_is_simple_and_random),
		cmocka_unit_test(the_sample_survives_a_crash),
		cmocka_unit_test(what_was_made_is_not_asked_again),
		cmocka_unit_test(the_sample_covers_the_truth),
		cmocka_unit_test(a_source_can_have_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
