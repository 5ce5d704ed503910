/* SPDX-License-Identifier: Apache-2.0 */
/* LiveRank's orders through the engine: which pages come when, by goal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "graph/graph.h"
#include "../../../lib/stage.h"
#include "policy/catalogue/catalogue.h"

/* Site a lives, site b is dead; each has 20 pages that link to a few of their own. */
static void two_sites(struct stage *s)
{
	stage_open(s);
	for (int i = 0; i < 40; i++) {
		char url[60], links[80];

		snprintf(url, sizeof url, "http://%c.example/p%02d", i < 20 ? 'a' : 'b', i % 20);
		snprintf(links, sizeof links, "/p%02d /p%02d /p%02d", (i * i) % 20, (i + 1) % 20,
		         (i + 7) % 20);
		trace_add(&s->h, url, 0, "x", links);
	}
}

static enum outcome by_site(void *arg, uint32_t page, uint32_t cycle)
{
	const struct stage *s = arg;

	(void)cycle;
	return view_url(&s->e.view, page)[7] == 'a' ? OUTCOME_SAME : OUTCOME_GONE;
}

static void play(struct stage *s, const char *spec, enum goal goal, uint32_t budget)
{
	stage_play(s, spec);
	s->e.view.goal = goal;
	s->e.visits.state[trace_page(&s->h, "http://end.example/")] = 0;
	s->fate = by_site;
	s->arg = s;
	stage_cycle(s, budget);
	assert_int_equal(s->e.cycle.n_seen, budget);
}

static void test_static_orders(void **state)
{
	struct stage s;
	uint32_t *degree;

	(void)state;
	two_sites(&s);
	play(&s, "liverank:order=indegree", GOAL_ALIVE, 40);
	degree = mem_zalloc(s.e.view.n_pages, sizeof *degree);
	graph_in_degrees(s.e.view.links, degree);
	for (size_t i = 1; i < 40; i++)
		assert_true(degree[s.e.cycle.seen[i - 1].page] >= degree[s.e.cycle.seen[i].page]);
	free(degree);
	play(&s, "liverank:order=pagerank", GOAL_ALIVE, 40);
	for (size_t i = 1; i < 40; i++)
		assert_true(s.e.view.pagerank[s.e.cycle.seen[i - 1].page] >=
		            s.e.view.pagerank[s.e.cycle.seen[i].page]);
	stage_close(&s);
}

static void expect_living_first(const char *spec, uint32_t sample)
{
	struct stage s;
	uint32_t dead = 0, drawn = 0;

	two_sites(&s);
	play(&s, spec, GOAL_ALIVE, 40);
	for (uint32_t i = 0; i < 40; i++) {
		bool lives = s.e.cycle.seen[i].hit;

		drawn += s.e.cycle.seen[i].reason == REASON_SAMPLE;
		if (s.e.cycle.seen[i].reason == REASON_SAMPLE) {
			assert_int_equal(drawn, i + 1);         /* the sample comes first */
			continue;
		}
		assert_int_equal(s.e.cycle.seen[i].reason, REASON_RANK);
		if (lives && dead)
			fail_msg("%s: a living page behind %u dead ones", spec, dead);
		dead += !lives;
	}
	/* the closed page of the stage may have been drawn, too */
	assert_in_range(drawn, sample - 1, sample);
	stage_close(&s);
}

static void test_sample_based_orders(void **state)
{
	(void)state;
	expect_living_first("liverank:order=site,sample=10", 10);
	expect_living_first("liverank:order=alive,sample=12", 12);
	expect_living_first("liverank:order=alive-dead,sample=12", 12);
}

/* What an earlier cycle found takes the place of the sample, and is not asked again. */
static void test_later_cycles_go_on(void **state)
{
	struct stage s;

	(void)state;
	two_sites(&s);
	play(&s, "liverank:order=alive-dead,sample=12", GOAL_ALIVE, 16);
	stage_cycle(&s, 24);
	assert_int_equal(s.e.cycle.n_seen, 24);
	for (uint32_t i = 0; i < 24; i++)
		assert_int_equal(s.e.cycle.seen[i].reason, REASON_RANK);
	stage_close(&s);
}

/* The engine's opening sample is the training set: no other is drawn, and the
 * order behind it is by what it found. */
static void test_the_opening_sample_trains(void **state)
{
	static const char *const specs[] = { "liverank:order=alive-dead,sample=12",
		"liverank:order=alive,sample=12", "liverank:order=alive-dead,sample=16" };

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct stage s;
		uint32_t own = 0, dead = 0;

		two_sites(&s);
		stage_play(&s, specs[k]);
		s.e.view.goal = GOAL_ALIVE;
		s.e.visits.state[trace_page(&s.h, "http://end.example/")] = 0;
		s.e.sample.rule.most = 12;
		s.e.sample.rule.hits = 100;
		s.fate = by_site;
		s.arg = &s;
		stage_cycle(&s, 40);
		for (uint32_t i = 0; i < 40; i++) {
			assert_int_equal(s.e.cycle.seen[i].reason == REASON_RANDOM, i < 12);
			own += s.e.cycle.seen[i].reason == REASON_SAMPLE;
			dead += s.e.cycle.seen[i].reason == REASON_RANK && !s.e.cycle.seen[i].hit;
			if (s.e.cycle.seen[i].reason == REASON_RANK && s.e.cycle.seen[i].hit)
				assert_int_equal(dead, 0);      /* the living come first */
		}
		assert_true(k < 2 ? own == 0 : own > 0 && own <= 4);
		assert_true(dead > 0);
		stage_close(&s);
	}
}

static void parts_need_an_order_that_is_known(void **state)
{
	struct policy *p;
	struct err err;

	(void)state;
	assert_int_equal(policy_new(&p, "liverank:order=bfs,parts=2", &err), E_USAGE);
	assert_int_equal(policy_new(&p, "liverank:order=alive,part=2,parts=2", &err), E_USAGE);
	assert_int_equal(policy_new(&p, "liverank:order=alive,part=1,parts=2", &err), 0);
	policy_free(p);
}

static void test_dynamic_orders_follow_the_living(void **state)
{
	struct stage s;
	uint32_t living = 0;

	(void)state;
	two_sites(&s);
	play(&s, "liverank:order=alive-indegree,sample=6", GOAL_ALIVE, 24);
	for (uint32_t i = 0; i < 24; i++)
		living += s.e.cycle.seen[i].hit;
	assert_true(living >= 16);              /* by chance 12 */
	play(&s, "liverank:order=bfs,sample=6", GOAL_CHANGED, 30);
	stage_close(&s);
}

/* By default 1 % of the pages, at least 100, at most all. */
static void test_size_of_the_training_set(void **state)
{
	static const struct { uint32_t pages, sample; } cases[] = {
		{ 60, 60 }, { 500, 100 }, { 12000, 120 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint32_t samples = 0;
		struct stage s;

		stage_open(&s);
		for (uint32_t k = 1; k < cases[i].pages; k++) {         /* and the stage's own */
			char url[60];

			snprintf(url, sizeof url, "http://a.example/p%05u", k);
			trace_add(&s.h, url, 0, "x", NULL);
		}
		stage_play(&s, "liverank");
		s.e.view.goal = GOAL_ALIVE;
		stage_cycle(&s, cases[i].pages < 400 ? cases[i].pages : 400);
		for (size_t k = 0; k < s.e.cycle.n_seen; k++)
			samples += s.e.cycle.seen[k].reason == REASON_SAMPLE;
		assert_int_equal(samples, cases[i].sample);
		stage_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_static_orders),
		cmocka_unit_test(test_size_of_the_training_set),
		cmocka_unit_test(test_sample_based_orders),
		cmocka_unit_test(test_later_cycles_go_on),
		cmocka_unit_test(test_the_opening_sample_trains),
		cmocka_unit_test(parts_need_an_order_that_is_known),
		cmocka_unit_test(test_dynamic_orders_follow_the_living),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
