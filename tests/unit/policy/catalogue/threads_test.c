/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equal seeds give equal plans, whatever the number of threads: every visit, in order, by
 * 1, 2 and 3 threads.  One host has half of the pages, so that it is divided among threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "policy/sweep.h"
#include "../../../lib/stage.h"

#define PAGES 20000
#define DIR 25                  /* pages of a directory */
#define HOST 500                /* pages of a small host */

_Static_assert(PAGES > SWEEP_FEW, "there is work for threads");

struct watch { uint64_t hash, visits; bool alive; };

static enum outcome fate(void *arg, uint32_t page, uint32_t cycle)
{
	struct watch *w = arg;
	bool hit = rng_unit(rng_draw(5, w->alive ? 0 : cycle, page / DIR, RNG_USER)) < 0.15;

	w->hash = rng_mix(w->hash ^ rng_draw(9, cycle, page, RNG_USER));
	w->visits++;
	if (w->alive)
		return hit ? OUTCOME_SAME : OUTCOME_GONE;
	return hit ? OUTCOME_CHANGED : OUTCOME_SAME;
}

static void open_world(struct stage *s, struct watch *w)
{
	stage_open(s);
	s->needs = NEED_FAMILIES;
	for (int i = 0; i < PAGES; i++) {
		char url[80];
		bool large = i < PAGES / 2;

		snprintf(url, sizeof url, "http://h%d.example/a%d/d%d/p%d.html", large ? 0 : i / HOST,
		         i / 1000, i / DIR, i % 40);
		trace_add(&s->h, url, 0, "a", NULL);
	}
	s->fate = fate;
	s->arg = w;
}

static void same_plans(const char *spec, enum aim aim, enum goal goal, int cycles,
                       uint32_t budget)
{
	struct watch one = { 0 };
	struct watch w = { .alive = goal == GOAL_ALIVE };
	struct stage s;

	open_world(&s, &w);
	for (unsigned threads = 1; threads <= 3; threads++) {
		stage_play(&s, spec);
		s.e.view.threads = threads;
		s.e.view.aim = aim;
		s.e.view.goal = goal;
		w.hash = w.visits = 0;
		for (int i = 0; i < cycles; i++)
			stage_cycle(&s, budget);
		if (threads == 1)
			one = w;
		assert_int_equal(w.visits, (uint64_t)cycles * budget);
		assert_true(w.hash == one.hash);
	}
	stage_close(&s);
}

static void tide(void **state)
{
	(void)state;
	same_plans("tide", AIM_FRESHNESS, GOAL_CHANGED, 3, 600);
	same_plans("tide", AIM_CHANGES, GOAL_CHANGED, 3, 600);
	same_plans("tide", AIM_AGE, GOAL_CHANGED, 2, 600);
}

static void evidence(void **state)
{
	(void)state;
	same_plans("evidence", AIM_CHANGES, GOAL_ALIVE, 1, 4000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tide), cmocka_unit_test(evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
