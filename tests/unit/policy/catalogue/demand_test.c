/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demand curves of every policy of the catalogue: asking for the curve changes no plan, and the
 * curve is that of what the policy then asks for.
 *
 * The oracles: the same run without curves; and a naive count of the scores of a plan that has
 * room for every page.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "policy/catalogue/catalogue.h"
#include "../../../lib/stage.h"

#define PAGES 150
#define BUDGET 45
#define CYCLES 4
#define NEARLY 2e-5             /* tide tells equal scores apart by less */

static struct stage stage;
static uint8_t truth[PAGES + 2];
static int64_t since[PAGES + 2], next_change[PAGES + 2];

static enum outcome fate(void *arg, uint32_t page, uint32_t cycle)
{
	(void)arg;
	if (page % 31 == 5)
		return OUTCOME_FAILED;
	if (page == 17 && cycle > 2)
		return OUTCOME_GONE;
	return (page / 10 + cycle) % 3 == 0 || page % 7 == cycle % 7 ? OUTCOME_CHANGED :
	       OUTCOME_SAME;
}

static void play(const char *spec, enum goal goal, enum aim aim, enum observe observe)
{
	stage_play(&stage, spec);
	stage.e.view.goal = goal;
	stage.e.view.aim = aim;
	stage.e.view.observe = observe;
	stage.e.view.truth = truth;
	stage.e.view.stale_since = since;
	stage.e.view.next_change = next_change;
	stage.e.rules.max_age = 6;
}

static void know(uint32_t cycle)
{
	for (uint32_t i = 0; i < stage.r.pages.n; i++) {
		enum outcome o = fate(NULL, i, cycle);

		truth[i] = o == OUTCOME_CHANGED || o == OUTCOME_GONE;
		since[i] = truth[i] ? stage.r.start - i * 7 : INT64_MAX;
		next_change[i] = stage.r.start + (int64_t)(cycle + i % 13) * DAY_SECONDS;
	}
}

static int64_t moment(uint32_t cycle)
{
	return stage.r.start + (int64_t)cycle * DAY_SECONDS;
}

struct visited { uint32_t page; float score; uint8_t reason; };

/* All cycles; with_curves: the curve is asked for before every page is asked for and after
 * every answer.  Returns what was visited. */
static size_t run(struct visited *ret, bool with_curves)
{
	size_t n = 0, n_leases;
	uint32_t leases[7];
	struct asking a = { .want = 7 };
	struct engine *e = &stage.e;
	struct demand d;

	for (uint32_t c = 1; c <= CYCLES; c++) {
		know(c);
		engine_begin(e, moment(c), BUDGET);
		for (;;) {
			if (with_curves)
				engine_demand(e, &d);
			if (engine_ask(e, &a, leases, &n_leases) != ASK_OFFERS)
				break;
			for (size_t i = 0; i < n_leases; i++) {
				struct offer o = engine_lease(e, leases[i])->offer;
				enum outcome out = fate(NULL, o.page, c);
				struct delivery x = { .outcome = out, .failure = FAILURE_ANSWER,
				                      .hit = truth[o.page] };

				ret[n++] = (struct visited){ o.page, o.score, o.reason };
				if (i % 5 == 4 && o.page % 3 == 0)
					engine_give_back(e, leases[i]);
				else
					engine_tell(e, leases[i], &x);
				if (with_curves)
					engine_demand(e, &d);
			}
		}
		engine_end(e);
	}
	return n;
}

static void check_no_effect(const char *spec, enum goal goal, enum aim aim, enum observe obs)
{
	static struct visited with[100 * PAGES], without[100 * PAGES];
	size_t n, m;

	play(spec, goal, aim, obs);
	n = run(without, false);
	play(spec, goal, aim, obs);
	m = run(with, true);
	if (n != m)
		fail_msg("%s: %zu pages, with curves %zu", spec, n, m);
	for (size_t i = 0; i < n; i++)
		if (with[i].page != without[i].page || with[i].score != without[i].score ||
		    with[i].reason != without[i].reason)
			fail_msg("%s: visit %zu is page %u, with curves page %u", spec, i,
			         without[i].page, with[i].page);
}

static void test_no_effect(void **state)
{
	const struct policy_ops *ops;

	(void)state;
	for (size_t i = 0; (ops = policy_at(i)); i++) {
		if (ops->needs && strcmp(ops->name, "cluster") == 0)
			continue;               /* has no curve, and needs rows to cluster by */
		assert_true(!ops->comparable || ops->demand);
		for (int aim = AIM_CHANGES; aim <= AIM_AGE; aim++)
			check_no_effect(ops->name, GOAL_CHANGED, (enum aim)aim, OBSERVE_LOCAL);
		check_no_effect(ops->name, GOAL_CHANGED, AIM_CHANGES, OBSERVE_CYCLE);
		check_no_effect(ops->name, GOAL_ALIVE, AIM_CHANGES, OBSERVE_LOCAL);
	}
}

/* Some cycles, then a plan with room for all pages: its scores are those of the curve. */
static void check_curve(const char *spec, enum aim aim)
{
	static struct visited past[100 * PAGES];
	struct asking a = { .want = PAGES + 2 };
	uint32_t leases[PAGES + 2], n_open = 0;
	struct engine *e = &stage.e;
	struct demand d;
	size_t n, all = 0;
	double scores[PAGES + 2];

	play(spec, GOAL_CHANGED, aim, OBSERVE_LOCAL);
	run(past, false);
	know(CYCLES + 1);
	e->rules.max_age = 0;
	engine_begin(e, moment(CYCLES + 1), 10 * PAGES);
	assert_true(engine_demand(e, &d));
	for (uint32_t i = 0; i < e->view.n_pages; i++)
		n_open += view_open(&e->view, i);
	assert_int_equal(demand_total(&d), n_open);
	assert_int_equal(engine_ask(e, &a, leases, &n), ASK_OFFERS);
	for (size_t i = 0; i < n; i++)
		scores[all++] = (double)engine_lease(e, leases[i])->offer.score;
	/* retries have a share: a few open pages may be left out */
	assert_true(all <= n_open && all + 8 >= n_open);
	for (int b = d.top; b > d.top - DEMAND_BUCKETS + 1; b--) {
		double edge = demand_score(b), at = demand_at(&d, b) - d.first;
		uint32_t least = 0, most = n_open - (uint32_t)all;

		for (size_t i = 0; i < all; i++) {
			least += scores[i] >= edge * (1 + NEARLY);
			most += scores[i] >= edge * (1 - NEARLY);
		}
		if (at < least || at > most)
			fail_msg("%s: %.0f pages from %g up, but %u to %u in the plan", spec, at, edge,
			         least, most);
	}
	engine_end(e);
}

static void test_curve(void **state)
{
	static const char *const specs[] = { "tide:noise=0,explore=0,nocap=1,nocouncil=1,batch=1",
	                                     "frequency", "frequency:estimator=em", "thompson" };

	(void)state;
	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
		for (int aim = AIM_CHANGES; aim <= AIM_AGE; aim++)
			check_curve(specs[i], (enum aim)aim);
	check_curve("oracle", AIM_CHANGES);
	check_curve("oracle:aim=freshness", AIM_FRESHNESS);
	check_curve("oracle:aim=age", AIM_AGE);
}

/* With noise a batch has the pages of the highest noisy scores, whatever their plain score: the
 * curve has as many at least as the batch takes, and auto's is that of tide. */
static void test_noise(void **state)
{
	static struct visited past[100 * PAGES];
	struct demand tide, chosen;

	(void)state;
	play("tide", GOAL_CHANGED, AIM_FRESHNESS, OBSERVE_LOCAL);
	run(past, false);
	engine_begin(&stage.e, moment(CYCLES + 1), BUDGET);
	assert_true(engine_demand(&stage.e, &tide));
	play("auto", GOAL_CHANGED, AIM_FRESHNESS, OBSERVE_LOCAL);
	run(past, false);
	engine_begin(&stage.e, moment(CYCLES + 1), BUDGET);
	assert_true(engine_demand(&stage.e, &chosen));
	assert_memory_equal(&tide, &chosen, sizeof tide);
	engine_end(&stage.e);
	/* all pages in every cycle: auto takes turns, and that is no gain */
	engine_begin(&stage.e, moment(CYCLES + 2), 10 * PAGES);
	assert_false(engine_demand(&stage.e, &chosen));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_effect),
		cmocka_unit_test(test_curve),
		cmocka_unit_test(test_noise),
	};
	char url[64];
	int rc;

	stage_open(&stage);
	for (int i = 0; i < PAGES; i++) {
		snprintf(url, sizeof url, "http://h%d.example/d%d/p%d", i % 9, i / 10 % 4, i);
		trace_add(&stage.h, url, 0, "x", NULL);
	}
	stage.needs = NEED_FAMILIES | NEED_SIZES;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	stage_close(&stage);
	return rc;
}
