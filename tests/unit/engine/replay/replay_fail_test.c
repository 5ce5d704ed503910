/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures in replay: recorded ones on histories worked out by hand, made-up ones against
 * what is promised of them, over seeds.  Cycles are 10 days long.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "engine/replay/replay.h"
#include "engine/replay/replay_fail.h"
#include "../../../lib/trace.h"

#define T "http://t.example/"

struct play {
	struct history h;
	struct replay r;
	struct replay_opts o;
};

static void play_open(struct play *p)
{
	*p = (struct play){ .o = { .cycle_seconds = 10 * DAY_SECONDS, .budget = { 100, true } } };
	history_init(&p->h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS);
}

static void play_ready(struct play *p)
{
	struct err err;

	if (!p->h.first)
		assert_int_equal(history_finish(&p->h, &err), 0);
	replay_close(&p->r);
	if (replay_open(&p->r, &p->h, &p->o, NEED_TRUTH, &err) < 0)
		fail_msg("%s", err.text);
}

static void play_close(struct play *p)
{
	replay_close(&p->r);
	history_release(&p->h);
}

/* What a visit of a page would meet on a day. */
static enum failure on_day(const struct play *p, const char *url, double day)
{
	int64_t t = TRACE_START + (int64_t)(day * DAY_SECONDS);
	uint32_t page = trace_page(&p->h, url);
	int64_t live = history_at(&p->h, page, t, false);

	return replay_failing(&p->r, page, live < 0 ? PAGE_NONE : (uint32_t)live, t);
}

/* a: fails from day 12 until its next capture on day 15; again from day 30, for one cycle.
 * b: is gone, which is no failure; c: one second has a failure and a page; d: a failure is
 * forgotten when a newer one comes. */
static void recorded_history(struct play *p)
{
	play_open(p);
	trace_add(&p->h, T "a", 0, "a0", NULL);
	trace_add_status(&p->h, T "a", 12, 403, "no", NULL);
	trace_add(&p->h, T "a", 15, "a1", NULL);
	trace_add_status(&p->h, T "a", 30, 500, "oh", NULL);
	trace_add(&p->h, T "b", 0, "b0", NULL);
	trace_add_status(&p->h, T "b", 5, 404, NULL, NULL);
	trace_add(&p->h, T "c", 0, "c0", NULL);
	trace_add_status(&p->h, T "c", 5, 503, "oh", NULL);
	trace_add(&p->h, T "c", 5, "c1", NULL);
	trace_add(&p->h, T "d", 0, "d0", NULL);
	trace_add_status(&p->h, T "d", 5, 403, "no", NULL);
	trace_add_status(&p->h, T "d", 8, 500, "oh", NULL);
	trace_add(&p->h, T "d", 60, "d1", NULL);
	/* never a page: it has no state */
	trace_add_status(&p->h, T "e", 3, 500, "oh", NULL);
	play_ready(p);
}

static void recorded_failures_hold_for_a_cycle(void **state)
{
	struct play p;

	(void)state;
	recorded_history(&p);
	assert_int_equal(p.r.pages.n, 4);
	assert_int_equal(p.h.failures.n, 4);    /* that of c gives way to the page */
	assert_int_equal(on_day(&p, T "a", 10), FAILURE_NO);
	assert_int_equal(on_day(&p, T "a", 12), FAILURE_FORBIDDEN);
	assert_int_equal(on_day(&p, T "a", 14.9), FAILURE_FORBIDDEN);
	assert_int_equal(on_day(&p, T "a", 15), FAILURE_NO);
	assert_int_equal(on_day(&p, T "a", 30), FAILURE_ANSWER);
	assert_int_equal(on_day(&p, T "a", 39.9), FAILURE_ANSWER);
	assert_int_equal(on_day(&p, T "a", 40), FAILURE_NO);
	assert_int_equal(on_day(&p, T "b", 6), FAILURE_NO);
	assert_int_equal(on_day(&p, T "c", 5), FAILURE_NO);
	assert_int_equal(on_day(&p, T "d", 7), FAILURE_FORBIDDEN);
	assert_int_equal(on_day(&p, T "d", 10), FAILURE_ANSWER);
	assert_int_equal(on_day(&p, T "d", 18), FAILURE_NO);
	play_close(&p);
}

/* Day 10: d fails, b is gone, c changed.  Day 40, when the last rest is over: a had its new
 * copy on day 20; nothing is left to find but d's change of day 60. */
static void a_failed_download_costs_and_the_copy_stays(void **state)
{
	struct replay_run run;
	struct play p;
	uint32_t changed = 0, failed = 0, downloads = 0;

	(void)state;
	recorded_history(&p);
	replay_run(&p.r, "oldest", 1, &run);
	assert_int_equal(run.code, 0);
	assert_int_equal(run.n_cycles, 6);
	assert_int_equal(run.cycles[0].downloads, 4);
	assert_int_equal(run.cycles[0].failed, 1);
	assert_int_equal(run.cycles[0].gone, 1);
	assert_int_equal(run.cycles[0].changed, 2);             /* b and c */
	assert_true(fabs(run.cycles[0].freshness - 1) < 1e-9);  /* d's last page is our copy */
	assert_int_equal(run.cycles[1].changed, 1);             /* a */
	assert_int_equal(run.cycles[2].failed, 1);              /* a, on day 30 */
	for (uint32_t c = 0; c < run.n_cycles; c++) {
		changed += run.cycles[c].changed;
		failed += run.cycles[c].failed;
		downloads += run.cycles[c].downloads;
	}
	assert_int_equal(changed, 4);
	assert_int_equal(failed, 2);
	assert_true(run.cycles[1].resting + run.cycles[3].resting <= 2);
	assert_true(downloads <= 4 + 5 * 3);
	replay_run_release(&run);
	/* who knows the truth does not ask for what fails */
	p.o.budget = (struct share){ 2, false };
	play_ready(&p);
	replay_run(&p.r, "oracle", 1, &run);
	assert_int_equal(run.cycles[0].changed, 2);
	assert_int_equal(run.cycles[0].failed, 0);
	assert_true(fabs(run.cycles[0].ndcg - 1) < 1e-9);
	replay_run_release(&run);
	play_close(&p);
}

/* Under goal alive what fails is dead. */
static void what_fails_is_not_alive(void **state)
{
	struct replay_run run;
	struct play p;

	(void)state;
	recorded_history(&p);
	p.o.goal = GOAL_ALIVE;
	play_ready(&p);
	replay_run(&p.r, "random", 1, &run);
	assert_int_equal(run.cycles[0].downloads, 4);
	assert_int_equal(run.cycles[0].changed, 2);             /* a and c live on day 10 */
	replay_run_release(&run);
	play_close(&p);
}

/* 40 hosts of 10 directories of 5 pages. */
static void made_up_history(struct play *p)
{
	char url[64];

	play_open(p);
	for (int i = 0; i < 2000; i++) {
		snprintf(url, sizeof url, "http://h%d.example/d%d/p%d", i % 40, i / 40 % 10, i);
		trace_add(&p->h, url, 0, "a", NULL);
	}
	trace_add(&p->h, "http://end.example/", 0, "a", NULL);
	trace_add(&p->h, "http://end.example/", 400, "b", NULL);
}

static void made_up_failures_are_as_promised(void **state)
{
	double ever = 0, at_end = 0, n[N_FAILURES] = { 0 };
	struct play p;

	(void)state;
	made_up_history(&p);
	p.o.fail = 0.3;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		p.o.fail_seed = seed;
		play_ready(&p);
		for (uint32_t i = 0; i < p.r.pages.n; i++) {
			enum failure kinds = FAILURE_NO;

			for (int day = 0; day <= 400; day += 2) {
				int64_t t = p.r.start + day * (int64_t)DAY_SECONDS;
				enum failure f = replay_failing(&p.r, i, 0, t);

				assert_int_equal(f, replay_failing(&p.r, i, 0, t));
				kinds = f != FAILURE_NO ? f : kinds;
				if (day == 0)
					n[FAILURE_UNKNOWN] += f != FAILURE_NO;
				at_end += day == 400 && f != FAILURE_NO;
			}
			ever += kinds != FAILURE_NO;
			n[kinds]++;
		}
	}
	/* 20 x 2001 pages; hosts come in fifties, so 800 draws decide a third of them */
	assert_true(fabs(ever / (20 * 2001.0) - 0.3) < 0.04);
	assert_true(fabs(at_end / ever - 0.5) < 0.12);          /* for ever */
	assert_int_equal(n[FAILURE_UNKNOWN], 0);                /* none from the first moment on */
	assert_true(n[FAILURE_CONNECT] > 0.2 * ever && n[FAILURE_ANSWER] > 0.2 * ever &&
	            n[FAILURE_FORBIDDEN] > 0.2 * ever);
	play_close(&p);
}

/* Whole directories and hosts fail together. */
static void directories_and_hosts_fail_as_one(void **state)
{
	struct play p;
	int checked = 0;

	(void)state;
	made_up_history(&p);
	p.o.fail = 0.5;
	p.o.fail_seed = 3;
	play_ready(&p);
	for (int day = 0; day <= 400; day += 40) {
		int64_t t = p.r.start + day * (int64_t)DAY_SECONDS;

		for (uint32_t i = 0; i < p.r.pages.n; i++) {
			enum failure f = replay_failing(&p.r, i, 0, t);

			for (uint32_t k = 0; k < p.r.pages.n && f == FAILURE_CONNECT; k++)
				if (p.r.pages.site[k] == p.r.pages.site[i])
					assert_int_equal(replay_failing(&p.r, k, 0, t), f);
			for (uint32_t k = 0; k < p.r.pages.n && f == FAILURE_ANSWER; k++)
				if (p.r.pages.dir[k] == p.r.pages.dir[i])
					assert_int_equal(replay_failing(&p.r, k, 0, t), f);
			checked += f == FAILURE_CONNECT || f == FAILURE_ANSWER;
		}
	}
	assert_true(checked > 500);
	play_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_failures_hold_for_a_cycle),
		cmocka_unit_test(a_failed_download_costs_and_the_copy_stays),
		cmocka_unit_test(what_fails_is_not_alive),
		cmocka_unit_test(made_up_failures_are_as_promised),
		cmocka_unit_test(directories_and_hosts_fail_as_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
