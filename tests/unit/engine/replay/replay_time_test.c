/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Freshness and age over time, at moments that do not depend on the cycles: by hand,
 * and against a slow count that looks every page up on every day; and the oracles of
 * the aims, which know the next change.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/replay/replay.h"
#include "../../../lib/trace.h"

#define T "http://t.example/"
#define DAY (int64_t)DAY_SECONDS

struct play {
	struct history h;
	struct replay r;
	struct replay_opts o;
	struct replay_run run;
};

static void play_open(struct play *p)
{
	*p = (struct play){ .o = { .cycle_seconds = 10 * DAY, .budget = { 1, false } } };
	history_init(&p->h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS);
}

static void play_run(struct play *p, const char *spec)
{
	struct err err;

	if (!p->h.first)
		assert_int_equal(history_finish(&p->h, &err), 0);
	if (replay_open(&p->r, &p->h, &p->o, NEED_TRUTH, &err) < 0)
		fail_msg("%s", err.text);
	replay_run(&p->r, spec, 1, &p->run);
	assert_int_equal(p->run.code, 0);
}

static void play_end_run(struct play *p)
{
	replay_run_release(&p->run);
	replay_close(&p->r);
}

static void near_to(double a, double b)
{
	if (!(fabs(a - b) <= 1e-6 * fmax(1, fabs(b))))
		fail_msg("%.9f instead of %.9f", a, b);
}

/*
 * Two pages that change on days 5 and 25, one download on days 10, 20 and 30.  Of days
 * 0 to 29 the first copy is true on 0-4 and 10-24, the second on 0-4 and 20-24.  Ages:
 * 0+...+4 twice for the first, 0+...+14 and 0+...+4 for the second.
 */
static void by_hand(void **state)
{
	struct play p;

	(void)state;
	play_open(&p);
	for (int i = 0; i < 2; i++) {
		trace_add(&p.h, i ? T "y" : T "x", 0, "v0", NULL);
		trace_add(&p.h, i ? T "y" : T "x", 5, "v1", NULL);
		trace_add(&p.h, i ? T "y" : T "x", 25, "v2", NULL);
	}
	p.o.end = TRACE_START + 30 * DAY;
	play_run(&p, "oldest");
	near_to(p.run.time.freshness, (20 + 10) / 60.0);
	near_to(p.run.time.age_days, (20 + 115) / 60.0);
	near_to(p.run.time.weighted_freshness, (20 + 10) / 60.0);
	near_to(p.run.time.weighted_age_days, (20 + 115) / 60.0);
	play_end_run(&p);
	history_release(&p.h);
}

/* What a run did, to count it again. */
struct again {
	const struct play *p;
	uint32_t *copy;                 /* capture; UINT32_MAX: not in the repository */
	int64_t next;                   /* moment that has not been counted */
	double copies, fresh, age, weight, weight_fresh;
};

static void count_until(struct again *a, int64_t to)
{
	const struct history *h = &a->p->h;

	for (; a->next < to; a->next += DAY) {
		for (uint32_t i = 0; i < h->n_pages; i++) {
			int64_t live = history_at(h, i, a->next, a->p->o.nearest), k;
			double w = (double)a->p->r.weight[i];

			if (a->copy[i] == UINT32_MAX)
				continue;
			a->copies++;
			a->weight += w;
			if (live >= 0 && history_same(h, a->copy[i], (uint64_t)live)) {
				a->fresh++;
				a->weight_fresh += w;
				continue;
			}
			if (live < 0)
				continue;
			for (k = a->copy[i] + 1; k < live; k++)
				if (!history_same(h, a->copy[i], (uint64_t)k))
					break;
			a->age += fmax(0, (double)(a->next - h->captures.v[k].time)) / DAY;
		}
	}
}

static void follow(void *arg, const struct replay_cycle *c)
{
	struct again *a = arg;

	count_until(a, c->time);
	for (size_t i = 0; i < c->n_seen; i++) {
		int64_t live = history_at(&a->p->h, c->seen[i].page, c->time, a->p->o.nearest);

		a->copy[c->seen[i].page] = c->seen[i].outcome == OUTCOME_GONE ? UINT32_MAX :
		                           (uint32_t)live;
	}
}

static void as_a_slow_count_says(void **state)
{
	static const int64_t cycles[] = { 10 * DAY, DAY, 13 * 3600, 5 * DAY / 2, 45 * DAY };

	(void)state;
	for (unsigned k = 0; k < 10; k++) {
		struct play p;
		struct again a = { .p = &p };
		struct world_opts w;

		play_open(&p);
		trace_world_defaults(&w);
		w.sites = 3;
		w.dirs = 2;
		w.pages = 6;
		w.steps = 12;
		w.step_seconds = 8 * DAY + 5000;
		w.rate = 0.3;
		w.death = 0.02;
		w.seed = k;
		trace_world(&p.h, &w);
		p.o.cycle_seconds = cycles[k % 5];
		p.o.nearest = k % 5 == 3 && k > 5;
		p.o.budget = (struct share){ 20, true };
		p.o.start = TRACE_START + DAY / 2 * k;
		p.o.each_cycle = follow;
		p.o.each_arg = &a;
		assert_int_equal(history_finish(&p.h, &(struct err){ 0 }), 0);
		a.copy = mem_array(p.h.n_pages, sizeof *a.copy);
		a.next = p.o.start;
		for (uint32_t i = 0; i < p.h.n_pages; i++) {
			int64_t at = history_at(&p.h, i, p.o.start, false);

			while (at >= (int64_t)p.h.first[i] && p.h.captures.v[at].gone)
				at--;
			a.copy[i] = at >= (int64_t)p.h.first[i] ? (uint32_t)at : UINT32_MAX;
		}
		play_run(&p, "random");
		count_until(&a, p.r.end);
		assert_true(a.copies > 100);
		near_to(p.run.time.freshness, a.fresh / a.copies);
		near_to(p.run.time.weighted_freshness, a.weight_fresh / a.weight);
		if (!p.o.nearest)       /* there an age ahead of the clock is 0, day by day */
			near_to(p.run.time.age_days, a.age / a.copies);
		free(a.copy);
		play_end_run(&p);
		history_release(&p.h);
	}
}

struct asked { uint32_t page[4]; };

static void note_first(void *arg, const struct replay_cycle *c)
{
	((struct asked *)arg)->page[c->cycle - 1] = c->seen[0].page;
}

/*
 * Day 10, one download.  All four copies are stale: a since day 9, it changes again on
 * day 28; b since day 2, again on day 24; c since day 1, again on day 11; d since day 8,
 * gone for good on day 30, when the history ends.  d buys 20 days of truth, a 18,
 * b 14.  The age counts from the next change instead of the last: b 22 days, d 22 less
 * a fraction (it changed a little later), a 19, c 10.
 */
static void oracles_know_the_next_change(void **state)
{
	struct asked asked;
	struct play p;

	(void)state;
	play_open(&p);
	trace_add(&p.h, T "a", 0, "a0", NULL);
	trace_add(&p.h, T "a", 9, "a1", NULL);
	trace_add(&p.h, T "a", 28, "a2", NULL);
	trace_add(&p.h, T "b", 0, "b0", NULL);
	trace_add(&p.h, T "b", 2, "b1", NULL);
	trace_add(&p.h, T "b", 24, "b2", NULL);
	trace_add(&p.h, T "c", 0, "c0", NULL);
	trace_add(&p.h, T "c", 1, "c1", NULL);
	trace_add(&p.h, T "c", 11, "c2", NULL);
	trace_add(&p.h, T "d", 0, "d0", NULL);
	trace_add(&p.h, T "d", 8.1, "d1", NULL);
	trace_add(&p.h, T "d", 20, "d1", NULL);
	p.o.end = TRACE_START + 30 * DAY;
	p.o.each_cycle = note_first;
	p.o.each_arg = &asked;
	play_run(&p, "oracle:aim=freshness");
	assert_int_equal(asked.page[0], trace_page(&p.h, T "d"));
	play_end_run(&p);
	play_run(&p, "oracle:aim=age");
	assert_int_equal(asked.page[0], trace_page(&p.h, T "b"));
	/* on day 20 nothing but a changes any more: c, false since day 1, goes first */
	assert_int_equal(asked.page[1], trace_page(&p.h, T "c"));
	play_end_run(&p);
	history_release(&p.h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(as_a_slow_count_says),
		cmocka_unit_test(oracles_know_the_next_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
