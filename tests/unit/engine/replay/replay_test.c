/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay on histories small enough to be worked out on paper: every measure of
 * every cycle, pages that go, join or come back, the nearest capture, the
 * guarantee of age, weights.
 *
 * Cycles are 10 days long; days count from the start.
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

struct play {
	struct history h;
	struct replay r;
	struct replay_opts o;
	struct replay_run run;
};

static void play_open(struct play *p)
{
	*p = (struct play){ .o = { .cycle_seconds = 10 * DAY_SECONDS, .budget = { 100, true } } };
	history_init(&p->h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS);
}

static void play_run(struct play *p, const char *spec)
{
	struct err err;

	if (!p->h.first)
		assert_int_equal(history_finish(&p->h, &err), 0);
	replay_run_release(&p->run);
	replay_close(&p->r);
	if (replay_open(&p->r, &p->h, &p->o, NEED_TRUTH, &err) < 0)
		fail_msg("%s", err.text);
	replay_run(&p->r, spec, 1, &p->run);
	assert_int_equal(p->run.code, 0);
}

static void play_close(struct play *p)
{
	replay_run_release(&p->run);
	replay_close(&p->r);
	history_release(&p->h);
}

static void near_to(double a, double b)
{
	if (!(fabs(a - b) <= 1e-6))
		fail_msg("%.9f instead of %.9f", a, b);
}

#define MEAN(p, field) replay_mean(&(p)->run, offsetof(struct cycle_measure, field))

/* a changes twice, b late, c goes on day 12, d goes back to what it was. */
static void five_pages(struct play *p)
{
	play_open(p);
	trace_add(&p->h, T "a", 0, "a0", NULL);
	trace_add(&p->h, T "a", 5, "a1", NULL);
	trace_add(&p->h, T "a", 25, "a2", NULL);
	trace_add(&p->h, T "b", 0, "b0", NULL);
	trace_add(&p->h, T "b", 30, "b1", NULL);
	trace_add(&p->h, T "c", 0, "c0", NULL);
	trace_add(&p->h, T "c", 12, NULL, NULL);
	trace_add(&p->h, T "c", 26, "c1", NULL);
	trace_add(&p->h, T "d", 0, "d0", NULL);
	trace_add(&p->h, T "d", 3, "d1", NULL);
	trace_add(&p->h, T "d", 8, "d0", NULL);
	trace_add(&p->h, T "d", 22, "d2", NULL);
	trace_add(&p->h, T "j", 13, "j0", NULL);
	trace_add(&p->h, T "j", 27, "j1", NULL);
}

static void everything_downloaded(void **state)
{
	struct play p;
	const struct cycle_measure *c;

	(void)state;
	five_pages(&p);
	play_run(&p, "random");
	assert_int_equal(p.r.n_repository, 4);
	assert_int_equal(p.r.budget, 4);
	assert_int_equal(p.run.n_cycles, 3);
	c = p.run.cycles;
	assert_int_equal(c[0].time, TRACE_START + 10 * DAY_SECONDS);
	assert_int_equal(c[0].downloads, 4);
	assert_int_equal(c[0].changed, 1);
	assert_int_equal(c[0].changed_cycle, 1);
	assert_int_equal(c[0].gone, 0);
	assert_int_equal(c[0].pages, 4);
	near_to(c[0].freshness, 1);
	near_to(c[0].max_unvisited_days, 0);
	assert_int_equal(c[1].changed, 1);              /* c is gone */
	assert_int_equal(c[1].changed_cycle, 1);
	assert_int_equal(c[1].gone, 1);
	assert_int_equal(c[1].pages, 3);
	assert_int_equal(c[2].downloads, 3);            /* no more are left */
	assert_int_equal(c[2].changed, 3);
	near_to(c[2].change_ratio, 1);
	near_to(MEAN(&p, change_ratio), (0.25 + 0.25 + 1) / 3);
	play_close(&p);
}

/* The place of the first hit of each cycle, from 1; 0: none. */
static void note_place(void *arg, const struct replay_cycle *c)
{
	unsigned *place = arg;

	for (size_t i = c->n_seen; i-- > 0;)
		if (c->seen[i].hit)
			place[c->cycle - 1] = (unsigned)i + 1;
}

/* Days 10 and 20: one of four copies is stale, so a hit at place i is worth 1/log2(i + 1) of
 * the best; day 30: all three are, in any order.  A single download is worth 1 or 0. */
static void the_order_of_downloads_counts(void **state)
{
	unsigned place[3] = { 0 };
	struct play p;

	(void)state;
	five_pages(&p);
	p.o.each_cycle = note_place;
	p.o.each_arg = place;
	play_run(&p, "random");
	for (int c = 0; c < 2; c++) {
		assert_in_range(place[c], 1, 4);
		near_to(p.run.cycles[c].ndcg, log(2) / log(place[c] + 1.0));
		near_to(p.run.cycles[c].freshness_before, 0.75);
	}
	near_to(p.run.cycles[2].ndcg, 1);
	near_to(p.run.cycles[2].freshness_before, 0);
	play_run(&p, "oracle");
	near_to(MEAN(&p, ndcg), 1);
	p.o.budget = (struct share){ 1, false };
	memset(place, 0, sizeof place);
	play_run(&p, "random");
	near_to(p.run.cycles[0].ndcg, place[0] ? 1 : 0);
	near_to(p.run.cycles[2].ndcg, 1);               /* no better place than the first */
	/* goal alive: all four live on day 10 */
	p.o.budget = (struct share){ 100, true };
	p.o.goal = GOAL_ALIVE;
	play_run(&p, "oracle");
	near_to(p.run.cycles[0].ndcg, 1);
	play_close(&p);
}

static void pages_join_and_come_back(void **state)
{
	struct play p;
	const struct cycle_measure *c;

	(void)state;
	five_pages(&p);
	p.o.join = true;
	play_run(&p, "random");
	c = p.run.cycles;
	assert_int_equal(c[0].pages, 4);
	assert_int_equal(c[1].downloads, 4);
	assert_int_equal(c[1].pages, 4);                /* c left, j came */
	assert_int_equal(c[2].downloads, 4);
	assert_int_equal(c[2].changed, 4);              /* j changed on day 27 */
	assert_int_equal(c[2].pages, 5);                /* c is back */
	near_to(c[2].freshness, 1);
	/* with a guarantee: a page that has just joined is not due at once */
	p.o.max_age_cycles = 1;
	play_run(&p, "random");
	assert_int_equal(p.run.cycles[2].pages, 5);
	assert_int_equal(p.run.cycles[2].guaranteed, 4);
	assert_false(p.run.cycles[2].guarantee_broken);
	play_close(&p);
}

/* Two pages that live alike, one download a cycle: whichever comes first. */
static void twins(struct play *p, const char *last)
{
	static const char *const urls[] = { T "x", T "y" };

	play_open(p);
	p->o.budget = (struct share){ 1, false };
	for (int i = 0; i < 2; i++) {
		trace_add(&p->h, urls[i], 0, "v0", i ? "/x" : "/y");
		trace_add(&p->h, urls[i], 5, "v1", NULL);
		trace_add(&p->h, urls[i], 25, last, NULL);
	}
	p->o.end = TRACE_START + 30 * DAY_SECONDS;
}

static void stale_copies_are_measured(void **state)
{
	struct play p;
	const struct cycle_measure *c;

	(void)state;
	twins(&p, "v2");
	play_run(&p, "oldest");
	c = p.run.cycles;
	assert_int_equal(p.run.n_cycles, 3);
	/* day 10: one is fetched, the other is stale since day 5 */
	assert_int_equal(c[0].changed, 1);
	assert_int_equal(c[0].changed_cycle, 1);
	assert_int_equal(c[0].late, 0);
	near_to(c[0].freshness, 0.5);
	near_to(c[0].weighted_freshness, 0.5);
	near_to(c[0].age_days, 5);
	near_to(c[0].max_unvisited_days, 10);
	/* day 20: the other; changed against our copy, not since day 10 */
	assert_int_equal(c[1].changed, 1);
	assert_int_equal(c[1].changed_cycle, 0);
	assert_int_equal(c[1].late, 1);
	near_to(c[1].weighted_change_ratio, 1);
	near_to(c[1].freshness, 1);
	near_to(c[1].age_days, 0);
	near_to(c[1].max_unvisited_days, 10);
	/* day 30: both changed on day 25 */
	assert_int_equal(c[2].changed, 1);
	assert_int_equal(c[2].changed_cycle, 1);
	assert_int_equal(c[2].late, 0);
	near_to(c[2].freshness, 0.5);
	near_to(c[2].age_days, 5);
	near_to(MEAN(&p, change_ratio), 1);
	near_to(MEAN(&p, change_ratio_cycle), 2 / 3.0);
	near_to(MEAN(&p, freshness), 2 / 3.0);
	near_to(replay_max(&p.run, offsetof(struct cycle_measure, max_unvisited_days)), 10);
	play_close(&p);
}

/* What changed at the moment of a cycle could have been found in it. */
static void late_begins_at_the_cycle_before(void **state)
{
	static const char *const urls[] = { T "x", T "y" };
	struct play p;

	(void)state;
	for (int k = 0; k < 2; k++) {
		play_open(&p);
		p.o.budget = (struct share){ 1, false };
		p.o.end = TRACE_START + 20 * DAY_SECONDS;
		for (int i = 0; i < 2; i++) {
			trace_add(&p.h, urls[i], 0, "v0", NULL);
			trace_add(&p.h, urls[i], k ? 10.001 : 10, "v1", NULL);
		}
		play_run(&p, "oldest");
		assert_int_equal(p.run.cycles[1].changed, 1);
		assert_int_equal(p.run.cycles[1].late, k ? 0 : 1);
		play_close(&p);
	}
}

static void a_page_not_yet_seen_gone_is_stale(void **state)
{
	struct play p;
	const struct cycle_measure *c;

	(void)state;
	twins(&p, NULL);
	play_run(&p, "oldest");
	c = p.run.cycles;
	assert_int_equal(c[2].changed, 1);
	assert_int_equal(c[2].gone, 1);
	assert_int_equal(c[2].pages, 1);
	near_to(c[2].freshness, 0);
	near_to(c[2].age_days, 5);
	play_close(&p);
}

/* On day 20 the stale twin is no hit if hits are changes of this cycle. */
static void observation_decides_what_a_hit_is(void **state)
{
	struct play p;

	(void)state;
	twins(&p, "v2");
	trace_add(&p.h, T "z", 0, "z0", NULL);
	trace_add(&p.h, T "z", 15, "z1", NULL);
	p.o.observe = OBSERVE_CYCLE;
	play_run(&p, "oracle");
	assert_int_equal(p.run.cycles[1].changed_cycle, 1);     /* it must be z */
	assert_int_equal(p.run.cycles[1].late, 0);
	p.o.observe = OBSERVE_LOCAL;
	play_run(&p, "oracle");
	assert_int_equal(p.run.cycles[1].changed, 1);
	play_close(&p);
}

static void the_nearest_capture_may_lie_ahead(void **state)
{
	struct play p;

	(void)state;
	play_open(&p);
	trace_add(&p.h, T "a", 0, "a0", NULL);
	trace_add(&p.h, T "a", 12, "a1", NULL);
	trace_add(&p.h, T "a", 30, "a1", NULL);
	play_run(&p, "random");
	assert_int_equal(p.run.cycles[0].changed, 0);
	assert_int_equal(p.run.cycles[1].changed, 1);
	p.o.nearest = true;
	play_run(&p, "random");
	assert_int_equal(p.run.cycles[0].changed, 1);   /* day 12 is nearer to day 10 */
	assert_int_equal(p.run.cycles[0].changed_cycle, 1);
	assert_int_equal(p.run.cycles[1].changed, 0);
	assert_int_equal(p.run.cycles[1].changed_cycle, 0);
	play_close(&p);
	/* so may what was live at the start, though the copy is older */
	play_open(&p);
	trace_add(&p.h, T "a", 0.1, "a0", NULL);
	trace_add(&p.h, T "a", 1.1, "a1", NULL);
	trace_add(&p.h, T "a", 21, "a1", NULL);
	p.o.nearest = true;
	play_run(&p, "random");
	assert_int_equal(p.run.cycles[0].changed, 1);
	assert_int_equal(p.run.cycles[0].changed_cycle, 0);
	play_close(&p);
}

/* b and d are gone: the oracle finds the living at once, one download for each; others
 * have asked 1 to 3 pages when the first is found, and 2 to 4 when both are. */
static void cost_of_the_living(void **state)
{
	struct play p;

	(void)state;
	play_open(&p);
	for (int i = 0; i < 4; i++) {
		char url[40];

		snprintf(url, sizeof url, T "%c", 'a' + i);
		trace_add(&p.h, url, 0, "x", NULL);
		trace_add(&p.h, url, 5, i % 2 ? NULL : "x", NULL);
	}
	trace_add(&p.h, T "a", 12, "y", NULL);
	p.o.goal = GOAL_ALIVE;
	play_run(&p, "oracle");
	for (int i = 0; i < REPLAY_ALPHAS; i++)
		near_to(p.run.cost[i], 1);
	/* any order finds the last living page by its 4th question */
	play_run(&p, "random");
	for (int i = 0; i < REPLAY_ALPHAS; i++) {
		double asked = p.run.cost[i] * (replay_alpha(i) > 0.5 + 1e-9 ? 2 : 1);

		near_to(asked, round(asked));
		assert_true(asked >= 1 && asked <= (replay_alpha(i) > 0.5 + 1e-9 ? 4 : 3));
	}
	play_close(&p);
}

/*
 * a -> h, b -> h, h -> a: with d = 0.85, PR(b) = 0.05, PR(a) = 0.05 + 0.85 PR(h)
 * and PR(h) = 0.05 + 0.85 (PR(a) + PR(b)) give PR(a) = 0.128625 / 0.2775 and
 * PR(h) = 0.0925 + 0.85 PR(a).  A link to a page that appears later counts not.
 */
static void weights_are_pageranks(void **state)
{
	double a = 0.128625 / 0.2775, h = 0.0925 + 0.85 * a;
	struct play p;

	(void)state;
	play_open(&p);
	trace_add(&p.h, T "a", 0, "a0", "/h /later");
	trace_add(&p.h, T "b", 0, "b0", "http://t.example/h");
	trace_add(&p.h, T "h", 0, "h0", "/a");
	trace_add(&p.h, T "h", 4, "h1", NULL);
	trace_add(&p.h, T "later", 8, "l0", NULL);
	trace_add(&p.h, T "a", 20, "a1", NULL);
	play_run(&p, "random");
	near_to(p.r.weight[trace_page(&p.h, T "b")], 0.15);
	near_to(p.run.cycles[0].weighted_change_ratio, h);      /* 3 h / 3 downloads */
	near_to(p.run.cycles[1].weighted_change_ratio, a);
	near_to(p.run.cycles[0].change_ratio, 1 / 3.0);
	p.o.weights = WEIGHTS_PAGERANK10;       /* b 0, h 10, a 9.8 */
	play_run(&p, "random");
	near_to(p.run.cycles[0].weighted_change_ratio, 10 / 3.0);
	near_to(p.run.cycles[1].weighted_change_ratio, 10 / 3.0);
	play_close(&p);
	/* of weights 0, 10 and 10 the first and one of the others are stale */
	play_open(&p);
	trace_add(&p.h, T "a", 0, "a0", "/h");
	trace_add(&p.h, T "b", 0, "b0", "/h");
	trace_add(&p.h, T "h", 0, "h0", "/a");
	for (int i = 0; i < 3; i++)
		trace_add(&p.h, (const char *[]){ T "a", T "b", T "h" }[i], 5, "new", NULL);
	p.o.weights = WEIGHTS_PAGERANK10;
	p.o.budget = (struct share){ 1, false };
	p.o.end = TRACE_START + 20 * DAY_SECONDS;
	play_run(&p, "liverank:order=pagerank");
	near_to(p.run.cycles[0].freshness, 1 / 3.0);
	near_to(p.run.cycles[0].weighted_freshness, 0.5);
	play_close(&p);
}

static void the_guarantee_is_counted_in_cycles(void **state)
{
	struct play p;
	struct replay r;
	struct err err;

	(void)state;
	twins(&p, "v2");
	p.o.max_age = 25 * DAY_SECONDS;         /* two whole cycles */
	play_run(&p, "random");
	assert_int_equal(p.r.max_age, 2);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(p.run.cycles[i].guaranteed, 1);
		assert_false(p.run.cycles[i].guarantee_broken);
		near_to(p.run.cycles[i].max_unvisited_days, 10);
	}
	p.o.max_age = 10 * DAY_SECONDS;         /* every page in every cycle: it cannot */
	play_run(&p, "random");
	assert_true(p.run.cycles[1].guarantee_broken);
	p.o.max_age = 5 * DAY_SECONDS;
	assert_int_equal(replay_open(&r, &p.h, &p.o, 0, &err), E_USAGE);
	replay_close(&r);
	play_close(&p);
}

/* The first midnight at or after the first capture, and the last one. */
static void days_begin_at_midnight(void **state)
{
	struct play p;

	(void)state;
	play_open(&p);
	trace_add(&p.h, T "a", 0.25, "a0", NULL);
	trace_add(&p.h, T "b", 1, "b0", NULL);          /* at the start: in */
	trace_add(&p.h, T "c", 1.1, "c0", NULL);        /* behind it: out */
	trace_add_status(&p.h, T "moved", 0.5, 301, "m", NULL); /* no page yet */
	trace_add_status(&p.h, T "down", 0.5, 503, "d", NULL);  /* says nothing */
	trace_add(&p.h, T "left", 0.5, "l0", NULL);
	trace_add(&p.h, T "left", 0.75, NULL, NULL);    /* has a copy, though gone */
	trace_add(&p.h, T "a", 20.5, "a1", NULL);
	play_run(&p, "random");
	assert_int_equal(p.r.start, TRACE_START + DAY_SECONDS);
	assert_int_equal(p.r.end, TRACE_START + 21 * DAY_SECONDS);
	assert_int_equal(p.r.n_repository, 3);
	assert_int_equal(p.run.n_cycles, 2);
	assert_int_equal(p.run.cycles[0].gone, 1);
	assert_int_equal(p.run.cycles[0].changed, 1);
	assert_int_equal(p.run.cycles[0].changed_cycle, 0);     /* gone before already */
	assert_int_equal(p.run.cycles[1].changed, 1);
	play_close(&p);
}

static void impossible_plans_are_refused(void **state)
{
	struct play p;
	struct replay r;
	struct err err;

	(void)state;
	five_pages(&p);
	assert_int_equal(history_finish(&p.h, &err), 0);
	p.o.cycle_seconds = 40 * DAY_SECONDS;   /* longer than the history */
	assert_int_equal(replay_open(&r, &p.h, &p.o, 0, &err), E_USAGE);
	replay_close(&r);
	p.o.cycle_seconds = 0;
	assert_int_equal(replay_open(&r, &p.h, &p.o, 0, &err), E_USAGE);
	replay_close(&r);
	p.o.cycle_seconds = 10 * DAY_SECONDS;
	p.o.start = TRACE_START - 100 * DAY_SECONDS;
	assert_int_equal(replay_open(&r, &p.h, &p.o, 0, &err), E_USAGE);
	replay_close(&r);
	play_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_downloaded),
		cmocka_unit_test(the_order_of_downloads_counts),
		cmocka_unit_test(pages_join_and_come_back),
		cmocka_unit_test(stale_copies_are_measured),
		cmocka_unit_test(late_begins_at_the_cycle_before),
		cmocka_unit_test(a_page_not_yet_seen_gone_is_stale),
		cmocka_unit_test(observation_decides_what_a_hit_is),
		cmocka_unit_test(the_nearest_capture_may_lie_ahead),
		cmocka_unit_test(cost_of_the_living),
		cmocka_unit_test(weights_are_pageranks),
		cmocka_unit_test(the_guarantee_is_counted_in_cycles),
		cmocka_unit_test(days_begin_at_midnight),
		cmocka_unit_test(impossible_plans_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
