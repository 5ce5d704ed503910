/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a policy is told of the past: a policy that only writes down what it hears, against
 * a naive reading of random visits; whatever number of imported visits may be held at a
 * time.  And rests, which an engine without a policy must know as well as one with.
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
#include "engine/recall/resume.h"
#include "../../../lib/bed.h"

#define PAGES 60
#define CYCLES 6
#define SEEDS 40
#define VISITS_MAX 2000

/* ---- the policy ---- */

struct heard { uint32_t cycle, page; int64_t now; enum outcome outcome; bool hit; };
struct ear { struct heard v[VISITS_MAX]; size_t n; };

static struct ear ear;

static void ear_tell(struct policy *p, const struct view *v, const struct seen *s)
{
	(void)p;
	assert_true(ear.n < VISITS_MAX);
	ear.v[ear.n++] = (struct heard){ v->cycle, s->page, v->now, s->outcome, s->hit };
}

static const struct policy_ops ear_ops = { .name = "ear", .tell = ear_tell };

/* ---- the past ---- */

struct past { struct store_visit v[VISITS_MAX]; size_t n; uint8_t goal[CYCLES + 1]; };

static int64_t moment(uint32_t cycle)
{
	return INT64_C(1700000000) + (int64_t)cycle * DAY_SECONDS;
}

static void add_visit(struct bed *b, struct past *past, struct rng *g, uint32_t cycle,
                      uint32_t page, int64_t time)
{
	struct store_visit v = { .cycle = cycle, .page = page, .time = time, .score = NAN,
		.probability = NAN, .outcome = (uint8_t)rng_below(g, 5), .capture = rng_below(g, 2) };
	struct err err;

	v.cause = v.outcome >= OUTCOME_FAILED ? CAUSE_STATUS : CAUSE_NONE;
	v.status = v.outcome >= OUTCOME_FAILED ? 403 : 200;
	v.hit = v.outcome == OUTCOME_CHANGED || v.outcome == OUTCOME_GONE;
	assert_int_equal(store_visit_add(b->store, &v, &err), 0);
	past->v[past->n++] = v;
}

static void make_past(struct bed *b, struct past *past, uint64_t seed)
{
	struct rng g;
	struct err err;

	*past = (struct past){ 0 };
	rng_init(&g, seed);
	for (int i = 0; i < PAGES; i++)
		bed_add(b, "http://site%d.example/%d", i % 4, i);
	assert_int_equal(store_begin(b->store, &err), 0);
	/* page by page, so that times are not in order; some seeds reach far back */
	for (uint32_t i = 0; i < PAGES; i++)
		for (uint64_t k = rng_below(&g, 6); k; k--)
			add_visit(b, past, &g, 0, i, moment(0) - 1 -
			          (int64_t)rng_below(&g, (seed % 3 ? 20 : 900) * DAY_SECONDS));
	for (uint32_t c = 1; c <= CYCLES; c++) {
		struct store_cycle row = { .number = c, .time = moment(c), .budget = 50,
			.goal = (uint8_t)(rng_below(&g, 4) == 0), .policy = { "x", 1 } };

		assert_int_equal(store_cycle_put(b->store, &row, &err), 0);
		past->goal[c] = row.goal;
		for (uint32_t i = 0; i < PAGES; i++)
			if (rng_below(&g, 3) == 0)
				add_visit(b, past, &g, c, i, moment(c));
	}
	assert_int_equal(store_commit(b->store, &err), 0);
}

/* ---- a naive reading ---- */

static int by_time(const void *pa, const void *pb)
{
	const struct store_visit *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->page < b->page ? -1 : 1;
}

static bool is_copy(const struct store_visit *v, bool had[PAGES])
{
	if (had[v->page] || v->outcome >= OUTCOME_FAILED || !v->capture)
		return false;
	had[v->page] = true;
	return true;
}

static void hear(struct ear *e, const struct store_visit *v, uint32_t cycle, int64_t now)
{
	e->v[e->n++] = (struct heard){ cycle, v->page, now, (enum outcome)v->outcome, v->hit };
}

/* What is to be told of goal changed: the imported visits by time, in windows that begin
 * with the first; those before the first window with something to tell do not count. */
static void naive(struct past *p, struct ear *ret)
{
	size_t n = 0, own;
	uint32_t cycle = 0, before = 0;
	bool had[PAGES] = { 0 };
	int64_t length = DAY_SECONDS, begin, end;

	ret->n = 0;
	while (n < p->n && !p->v[n].cycle)
		n++;
	qsort(p->v, n, sizeof *p->v, by_time);
	begin = p->v[0].time;
	end = p->v[n - 1].time;
	if ((end - begin + 1) / length >= 128)
		length = (end - begin + 1) / 128 + 1;
	for (size_t i = 0; i < n; i++) {
		uint32_t window = 1;

		if (is_copy(&p->v[i], had))
			continue;
		while (begin + (int64_t)window * length <= p->v[i].time)
			window++;
		if (!ret->n)
			before = window - 1;
		cycle = window - before;
		hear(ret, &p->v[i], cycle, begin + (int64_t)window * length);
	}
	for (uint32_t c = 1, first; c <= CYCLES; c++) {
		for (own = n; own < p->n && p->v[own].cycle != c; own++)
			;
		if (p->goal[c] != GOAL_CHANGED)
			continue;
		first = (uint32_t)ret->n;
		for (; own < p->n && p->v[own].cycle == c; own++)
			if (!is_copy(&p->v[own], had))
				hear(ret, &p->v[own], cycle + 1, moment(c));
		cycle += cycle || ret->n > first;
	}
}

static void recall_with(struct bed *b, size_t held, struct recalled *ret)
{
	struct recall_opts o = { .held = held };
	struct pages_opts po = { 0 };
	struct policy policy = { .ops = &ear_ops };
	struct loaded loaded;
	struct engine e;
	struct err err;

	ear.n = 0;
	assert_int_equal(load_pages(&loaded, b->store, &po, &err), 0);
	engine_init(&e, &loaded.pages, &policy, 0);
	e.view.cycle_seconds = DAY_SECONDS;
	assert_int_equal(recall(&e, &loaded, b->store, &o, ret, &err), 0);
	engine_release(&e);
	loaded_release(&loaded);
}

static void a_policy_is_told_every_visit(void **state)
{
	static const size_t held[] = { 0, 1, 7, 30, 100 };
	static struct past past;
	static struct ear want;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct bed b;

		bed_open(&b, "127.0.0.1");
		make_past(&b, &past, seed);
		naive(&past, &want);
		for (size_t k = 0; k < sizeof held / sizeof *held; k++) {
			struct recalled r;

			recall_with(&b, held[k], &r);
			assert_int_equal(r.n_told, want.n);
			assert_int_equal(r.n_own_cycles, CYCLES);
			assert_int_equal(ear.n, want.n);
			for (size_t i = 0; i < want.n; i++) {
				assert_int_equal(ear.v[i].cycle, want.v[i].cycle);
				assert_int_equal(ear.v[i].page, want.v[i].page);
				assert_int_equal(ear.v[i].now, want.v[i].now);
				assert_int_equal(ear.v[i].outcome, want.v[i].outcome);
				assert_int_equal(ear.v[i].hit, want.v[i].hit);
			}
		}
		bed_close(&b);
	}
}

static void rests_need_no_policy(void **state)
{
	static struct past past;
	uint32_t n_resting = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct resume_opts o = { .seed = seed, .cycle_seconds = DAY_SECONDS };
		struct resumed with, without;
		struct bed b;
		struct err err;

		bed_open(&b, "127.0.0.1");
		make_past(&b, &past, seed);
		assert_int_equal(resume(&without, b.store, &o, &err), 0);
		o.policy = "oldest";
		assert_int_equal(resume(&with, b.store, &o, &err), 0);
		for (uint32_t i = 0; i < PAGES; i++) {
			int64_t until[2] = { 0 };
			uint32_t fails[2] = { 0 };
			bool rests = backoff_why(&with.engine.retry.backoff, i, i % 4, &until[0],
			                         &fails[0]);

			assert_int_equal(rests, backoff_why(&without.engine.retry.backoff, i, i % 4,
			                                    &until[1], &fails[1]));
			n_resting += rests;
			assert_int_equal(until[0], until[1]);
			assert_int_equal(fails[0], fails[1]);
		}
		resume_release(&with);
		resume_release(&without);
		bed_close(&b);
	}
	assert_true(n_resting > SEEDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_policy_is_told_every_visit),
		cmocka_unit_test(rests_need_no_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
