/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cycle whose budget is granted in parts: it spends what was granted and no more, keeps its
 * other rules, can be continued after a crash; and everything granted at once is a plain cycle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "policy/catalogue/catalogue.h"
#include "../../../lib/stage.h"

#define PAGES 130
#define BUDGET 40
#define CYCLES 4

static struct stage stage;

static enum outcome fate(void *arg, uint32_t page, uint32_t cycle)
{
	(void)arg;
	if (page % 23 == 4)
		return OUTCOME_FAILED;
	return (page / 10 + cycle) % 3 == 0 ? OUTCOME_CHANGED : OUTCOME_SAME;
}

static int64_t moment(uint32_t cycle)
{
	return stage.r.start + (int64_t)cycle * DAY_SECONDS;
}

static bool can_play(const struct policy_ops *ops)
{
	return !ops->only_replay && strcmp(ops->name, "cluster") != 0;
}

static void play(const char *spec, bool metered)
{
	stage_play(&stage, spec);
	stage.e.rules.metered = metered;
	stage.e.rules.max_age = 7;
}

struct visits_made { uint32_t page[PAGES + 2]; size_t n; };

static void keep(struct visits_made *v)
{
	v->n = stage.e.cycle.n_seen;
	for (size_t i = 0; i < v->n; i++)
		v->page[i] = stage.e.cycle.seen[i].page;
}

/* One grant of everything: the visits of a plain cycle. */
static void test_at_once(void **state)
{
	const struct policy_ops *ops;

	(void)state;
	for (size_t k = 0; (ops = policy_at(k)); k++) {
		struct visits_made plain[CYCLES], granted;
		struct err err;

		if (!can_play(ops))
			continue;
		play(ops->name, false);
		for (uint32_t c = 1; c <= CYCLES; c++) {
			stage_cycle(&stage, BUDGET);
			keep(&plain[c - 1]);
		}
		play(ops->name, true);
		for (uint32_t c = 1; c <= CYCLES; c++) {
			engine_begin(&stage.e, moment(c), BUDGET);
			engine_grant(&stage.e, BUDGET);
			assert_int_equal(engine_finish(&stage.e, &err), 0);
			keep(&granted);
			assert_int_equal(granted.n, plain[c - 1].n);
			assert_memory_equal(granted.page, plain[c - 1].page, granted.n * sizeof(uint32_t));
		}
	}
}

/* Small grants: never more visits than granted, no page twice, the guarantee of age as with
 * everything at once, and ASK_GRANT until the end. */
static void test_in_parts(void **state)
{
	const struct policy_ops *ops;
	struct rng r;

	(void)state;
	rng_init(&r, 3);
	for (size_t k = 0; (ops = policy_at(k)); k++) {
		struct err err;
		uint32_t guaranteed[CYCLES];

		if (!can_play(ops))
			continue;
		play("oldest", false);          /* needs that do not depend on the policy's choice */
		for (uint32_t c = 1; c <= CYCLES; c++) {
			stage_cycle(&stage, BUDGET);
			guaranteed[c - 1] = stage.e.cycle.n_guaranteed;
		}
		play(ops->name, true);
		for (uint32_t c = 1; c <= CYCLES; c++) {
			uint32_t sum = 0;
			uint8_t seen[PAGES + 2] = { 0 };

			engine_begin(&stage.e, moment(c), BUDGET);
			while (sum < BUDGET) {
				uint32_t n = 1 + (uint32_t)(rng_next_unit(&r) * 6);
				enum ask why;

				n = n < BUDGET - sum ? n : BUDGET - sum;
				sum += n;
				engine_grant(&stage.e, n);
				assert_int_equal(engine_work(&stage.e, &why, &err), 0);
				assert_int_equal(why, ASK_GRANT);
				assert_int_equal(stage.e.cycle.n_spent, sum);
				assert_int_equal(engine_left(&stage.e), 0);
			}
			assert_int_equal(stage.e.cycle.n_seen, BUDGET);
			assert_false(stage.e.cycle.guarantee_broken);
			if (c == 1)             /* later cycles differ by what was visited */
				assert_int_equal(stage.e.cycle.n_guaranteed, guaranteed[0]);
			for (size_t i = 0; i < stage.e.cycle.n_seen; i++)
				assert_int_equal(seen[stage.e.cycle.seen[i].page]++, 0);
			assert_int_equal(engine_ungrant(&stage.e), 0);
			engine_end(&stage.e);
		}
	}
}

/* What cannot be used is given back. */
static void test_given_back(void **state)
{
	enum ask why;
	struct err err;

	(void)state;
	play("oldest", true);
	engine_begin(&stage.e, moment(1), BUDGET);
	engine_grant(&stage.e, 10 * PAGES);
	assert_int_equal(engine_work(&stage.e, &why, &err), 0);
	assert_int_equal(why, ASK_DONE);
	assert_int_equal(engine_ungrant(&stage.e) + stage.e.cycle.n_spent, 10 * PAGES);
	assert_int_equal(stage.e.cycle.granted, stage.e.cycle.n_spent);
	assert_int_equal(engine_left(&stage.e), 0);
	engine_end(&stage.e);
}

/* The demand at any price is the guarantee of age, and shrinks as it is planned. */
static void test_first(void **state)
{
	struct demand d;
	uint32_t need;
	enum ask why;
	struct err err;

	(void)state;
	play("tide", true);
	stage.e.rules.max_age = 10;
	engine_begin(&stage.e, moment(1), BUDGET);
	engine_demand(&stage.e, &d);
	need = d.first;
	assert_int_equal(need, (PAGES + 1 + 9) / 10);           /* a tenth of all, in each cycle */
	engine_grant(&stage.e, 5);
	assert_int_equal(engine_work(&stage.e, &why, &err), 0);
	engine_demand(&stage.e, &d);
	assert_int_equal(d.first, need - 5);
	engine_grant(&stage.e, 100);
	assert_int_equal(engine_work(&stage.e, &why, &err), 0);
	engine_demand(&stage.e, &d);
	assert_int_equal(d.first, 0);
	assert_int_equal(stage.e.cycle.n_guaranteed, need);
	engine_end(&stage.e);
}

/* Crash after some events: the same rounds are planned with the same grants, and what follows
 * is the same. */
static void test_continue(void **state)
{
	static const uint32_t grants[] = { 3, 7, 1, 12, 6, 11 };
	const struct policy_ops *ops;

	(void)state;
	for (size_t k = 0; (ops = policy_at(k)); k++) {
		for (size_t stop = 1; can_play(ops) && stop < 6; stop++) {
			struct visits_made whole, again;
			struct event events[PAGES];
			uint32_t with[PAGES], after[PAGES], n = 0, granted = 0;
			size_t n_plans = 0;
			enum ask why;
			struct err err;

			play(ops->name, true);
			engine_begin(&stage.e, moment(1), BUDGET);
			for (size_t g = 0; g < 6; g++) {
				engine_grant(&stage.e, grants[g]);
				assert_int_equal(engine_work(&stage.e, &why, &err), 0);
				if (g + 1 != stop)
					continue;
				n = (uint32_t)stage.e.cycle.n_seen;
				granted = stage.e.cycle.granted;
				n_plans = stage.e.cycle.planned_after.n;
				assert_int_equal(stage.e.cycle.planned_with.n, n_plans);
				memcpy(after, stage.e.cycle.planned_after.v, n_plans * sizeof *after);
				memcpy(with, stage.e.cycle.planned_with.v, n_plans * sizeof *with);
				for (uint32_t i = 0; i < n; i++) {
					const struct seen *s = &stage.e.cycle.seen[i];

					events[i] = (struct event){
						{ s->page, s->score, s->probability, s->reason },
						{ .outcome = s->outcome, .hit = s->hit, .failure =
						  (enum failure)s->failure }, EVENT_TOLD };
				}
			}
			keep(&whole);
			engine_end(&stage.e);
			play(ops->name, true);
			stage.e.rules.planned_with = with;
			engine_continue(&stage.e, moment(1), BUDGET, events, n, after, n_plans, true);
			engine_grant(&stage.e, granted - stage.e.cycle.granted);
			for (size_t g = stop; g < 6; g++) {
				engine_grant(&stage.e, grants[g]);
				assert_int_equal(engine_work(&stage.e, &why, &err), 0);
			}
			keep(&again);
			engine_end(&stage.e);
			assert_int_equal(again.n, whole.n);
			assert_memory_equal(again.page, whole.page, whole.n * sizeof(uint32_t));
		}
	}
}

/* Play the first grants of a cycle under a ceiling of 15 %. */
static void play_under_ceiling(const char *policy, const uint32_t *grants, size_t n)
{
	enum ask why;
	struct err err;

	play(policy, true);
	stage.e.rules.max_age = 0;
	stage.e.ceiling.share = (struct share){ 15, true };
	engine_begin(&stage.e, moment(1), BUDGET);
	for (size_t g = 0; g < n; g++) {
		engine_grant(&stage.e, grants[g]);
		assert_int_equal(engine_work(&stage.e, &why, &err), 0);
	}
}

/* A shard bids for as many pages as it could ask for if all were granted, whatever the ceilings of
 * its sites. */
static void test_ceilings_are_no_demand(void **state)
{
	static const uint32_t grants[] = { 3, 7, 1, 12, 6, 11 };
	const struct policy_ops *ops;

	(void)state;
	for (size_t k = 0; (ops = policy_at(k)); k++) {
		for (size_t stop = 0; ops->comparable && can_play(ops) && stop <= 6; stop++) {
			struct demand d;
			uint32_t before;
			enum ask why;
			struct err err;
			bool can;

			play_under_ceiling(ops->name, grants, stop);
			before = stage.e.cycle.n_spent;
			can = engine_demand(&stage.e, &d);
			engine_grant(&stage.e, 10 * PAGES);
			assert_int_equal(engine_work(&stage.e, &why, &err), 0);
			assert_int_equal(why, ASK_DONE);
			/* 6 of each site, and the one page of stage_open() */
			assert_int_equal(stage.e.cycle.n_spent, 9 * (BUDGET * 15 / 100) + 1);
			if (can)
				assert_int_equal(d.first + demand_total(&d), stage.e.cycle.n_spent - before);
			engine_end(&stage.e);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_in_parts),
		cmocka_unit_test(test_given_back),
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_continue),
		cmocka_unit_test(test_ceilings_are_no_demand),
	};
	char url[64];
	int rc;

	stage_open(&stage);
	for (int i = 0; i < PAGES; i++) {
		snprintf(url, sizeof url, "http://h%d.example/d%d/p%d", i % 9, i / 10 % 4, i);
		trace_add(&stage.h, url, 0, "x", NULL);
	}
	stage.needs = NEED_FAMILIES | NEED_SIZES;
	stage.fate = fate;
	stage.failure = FAILURE_ANSWER;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	stage_close(&stage);
	return rc;
}
