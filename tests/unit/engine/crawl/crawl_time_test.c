/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that never ends an answer holds neither its own part of a cycle nor the cycle for
 * longer than it may.  Nothing is timed: without the limits the cycles here never end, and
 * the alarm ends the test.
 *
 * Sanitized only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/cause.h"
#include "demo/origin.h"
#include "../../../lib/bed.h"

#define SLOW 9                  /* pages of the host that hangs, pages 0 to 8 */
#define QUICK_HOSTS 6
#define QUICK (3 * QUICK_HOSTS)
#define DAY 86400

struct stage {
	struct origin *origin;
	struct bed bed;
	const char *hangs;              /* what paths of the slow host begin with, while it does */
	unsigned long_answer;           /* milliseconds that answers of /long/ take */
};

static void answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	struct stage *s = arg;

	while (!strcmp(q->host, "127.0.1.1")) {
		const char *hangs = __atomic_load_n(&s->hangs, __ATOMIC_SEQ_CST);

		if (!hangs || strncmp(q->path, hangs, strlen(hangs)))
			break;
		usleep(10000);
	}
	if (!strncmp(q->path, "/long/", 6))
		usleep(s->long_answer * 1000);
	if (!strcmp(q->path, "/robots.txt"))
		r->status = 404;
	buf_printf(&r->headers, "Content-Type: text/html\n");
	buf_printf(&r->body, "<p>page %s", q->path);
}

static void setup(struct stage *s, const char *hangs)
{
	*s = (struct stage){ .hangs = hangs };
	s->origin = origin_start(answer, s);
	bed_open(&s->bed, "127.0.1.0/24");
	for (int i = 0; i < SLOW; i++)
		bed_add(&s->bed, "http://127.0.1.1:%u/p/%d", origin_port(s->origin), i);
	for (int i = 0; i < QUICK; i++)
		bed_add(&s->bed, "http://127.0.1.%u:%u/q/%d", 2 + i % QUICK_HOSTS,
		        origin_port(s->origin), i);
	s->bed.opts.policy = "oldest";
	s->bed.opts.site_share = (struct share){ 100, true };
	s->bed.opts.budget = (struct share){ 100, false };
	s->bed.opts.now = 1700000000;
	s->bed.opts.fetch.connect_timeout = s->bed.opts.fetch.head_timeout =
		s->bed.opts.fetch.whole_timeout = 1e6;
	alarm(300);
}

static void get_well(struct stage *s)
{
	__atomic_store_n(&s->hangs, NULL, __ATOMIC_SEQ_CST);
}

static void teardown(struct stage *s)
{
	alarm(0);
	get_well(s);
	bed_close(&s->bed);
	origin_stop(s->origin);
}

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct store_visit *of = arg;

	(void)err;
	of[v->page] = *v;
	return 0;
}

static void visits_of(struct stage *s, uint32_t cycle, struct store_visit of[SLOW + QUICK])
{
	struct err err;

	memset(of, 0, (SLOW + QUICK) * sizeof *of);
	assert_int_equal(store_visits(s->bed.store, cycle, cycle + 1, see_visit, of,
	                              &err), 0);
}

static uint32_t fails_of(struct stage *s, uint32_t page)
{
	struct store_page p;
	struct err err;

	assert_int_equal(store_page_get(s->bed.store, page, &p, &err), 1);
	return p.fails;
}

/* One page of the slow host was cut, which is returned; the others were not asked, and
 * nothing is held against them.  All others were had, and the cycle is over. */
static uint32_t check_cut(struct stage *s, const struct crawl_report *r)
{
	struct store_visit of[SLOW + QUICK];
	uint32_t first = 0;

	visits_of(s, r->cycle.number, of);
	while (first < SLOW - 1 && !of[first].cycle)
		first++;
	assert_false(r->cycle.open);
	assert_false(r->stopped);
	for (uint32_t i = 0; i < SLOW; i++) {
		assert_int_equal(of[i].cycle, i == first ? r->cycle.number : 0);
		assert_int_equal(fails_of(s, i), i == first);
	}
	assert_int_equal(of[first].outcome, OUTCOME_FAILED);
	assert_int_equal(of[first].cause, CAUSE_TIMEOUT);
	assert_int_equal(r->late, SLOW - 1);
	assert_int_equal(r->cycle.fresh, QUICK);
	assert_int_equal(r->cycle.downloads, QUICK + 1);
	assert_int_equal(r->reasons[FETCH_TIMEOUT], 1);
	return first;
}

static void test_a_host_has_its_time(void **state)
{
	struct stage s;
	struct crawl_report r;

	(void)state;
	setup(&s, "/p/");
	s.bed.opts.fetch.host_seconds = 5;
	r = bed_cycle(&s.bed);
	check_cut(&s, &r);
	teardown(&s);
}

/* And the host is not put to rest for it: the next cycle asks it. */
static void test_a_cycle_has_its_time(void **state)
{
	struct stage s;
	struct crawl_report r;
	struct store_visit of[SLOW + QUICK];
	struct fetch *keep = NULL;
	uint32_t cut;

	(void)state;
	setup(&s, "/p/");
	s.bed.opts.fetcher = &keep;
	s.bed.opts.fetch.cycle_seconds = 5;
	s.bed.opts.fetch.polite.failure_limit = 1;
	r = bed_cycle(&s.bed);
	cut = check_cut(&s, &r);
	get_well(&s);
	s.bed.opts.now += 100 * DAY;
	s.bed.opts.fetch.cycle_seconds = 0;
	r = bed_cycle(&s.bed);
	visits_of(&s, 2, of);
	for (uint32_t i = 0; i < SLOW; i++)
		assert_true(i == cut || of[i].outcome == OUTCOME_CHANGED);
	assert_int_equal(r.late, 0);
	fetch_free(keep);
	teardown(&s);
}

/* robots.txt that hangs: no page was asked, and it does not count as one that fails. */
static void test_rules_that_hang(void **state)
{
	struct stage s;
	struct crawl_report r;
	struct store_visit of[SLOW + QUICK];

	(void)state;
	setup(&s, "/robots.txt");
	s.bed.opts.fetch.host_seconds = 5;
	r = bed_cycle(&s.bed);
	visits_of(&s, 1, of);
	for (uint32_t i = 0; i < SLOW; i++) {
		assert_int_equal(of[i].cycle, 0);
		assert_int_equal(fails_of(&s, i), 0);
	}
	assert_int_equal(r.late, SLOW);
	assert_int_equal(r.cycle.downloads, QUICK);
	get_well(&s);
	s.bed.opts.now += 60;           /* sooner than a robots.txt that failed is asked again */
	r = bed_cycle(&s.bed);
	assert_int_equal(r.cycle.fresh, SLOW);
	assert_int_equal(r.cycle.blocked, 0);
	teardown(&s);
}

/* ---- the time left ---- */

#define PAUSE 0.2
#define LONG 18                 /* pages of the host with the longest queue, without robots.txt */

struct watch {
	struct stage *s;
	double each;                    /* seconds that each long page takes, at least */
	size_t from;                    /* so many were asked for before this is known */
	double at[60], left[60], least[60];
	size_t n;
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The least that the origin knows of: what each of the pages takes that were not asked for
 * so far. */
static void note_left(void *arg, const struct crawl_doing *now)
{
	struct watch *w = arg;
	size_t n, asked = 0;
	struct origin_log *log = origin_read_log(w->s->origin, &n);

	for (size_t i = 0; i < n; i++)
		asked += !strncmp(log[i].path, "/long/", 6);
	free(log);
	if (w->n == sizeof w->at / sizeof *w->at)
		return;
	w->at[w->n] = seconds();
	w->left[w->n] = now->seconds_left;
	w->least[w->n++] = asked < w->from || asked >= LONG ? 0 :
		w->each * (double)(LONG - asked - 1);
}

/* One host has most of the pages, and the budget is for more than there are: the time left
 * is neither that of the mean pace so far nor that of the budget. */
static void test_the_time_left(void **state)
{
	struct stage s;
	struct watch w = { .s = &s, .each = PAUSE };
	double end;

	(void)state;
	setup(&s, NULL);
	for (int i = 0; i < LONG; i++)
		bed_add(&s.bed, "http://127.0.1.100:%u/long/%d", origin_port(s.origin), i);
	s.bed.opts.fetch.polite.delay = PAUSE;
	s.bed.opts.doing = note_left;
	s.bed.opts.arg = &w;
	bed_cycle(&s.bed);
	end = seconds();
	assert_true(w.n >= 2);          /* 18 pauses of 0.2 s: 3.6 s, or more */
	for (size_t i = 0; i < w.n; i++) {
		assert_true(w.left[i] >= w.least[i] - 1e-6);
		/* pauses are never shorter: it is a bound from below, but for what answers take */
		assert_true(w.left[i] <= 3 * (end - w.at[i]) + 5);
	}
	teardown(&s);
}

/* One host needs long for each answer, the others do not: its own answers count. */
static void test_the_time_left_of_a_slow_host(void **state)
{
	struct stage s;
	struct watch w = { .s = &s, .each = 0.3, .from = 3 };

	(void)state;
	setup(&s, NULL);
	s.long_answer = 300;
	for (int i = 0; i < LONG; i++)
		bed_add(&s.bed, "http://127.0.1.100:%u/long/%d", origin_port(s.origin), i);
	s.bed.opts.doing = note_left;
	s.bed.opts.arg = &w;
	bed_cycle(&s.bed);
	assert_true(w.n >= 3);          /* 18 answers of 0.3 s: 5.4 s, or more */
	for (size_t i = 0; i < w.n; i++)
		assert_true(w.left[i] >= w.least[i] - 1e-6);
	teardown(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_host_has_its_time),
		cmocka_unit_test(test_a_cycle_has_its_time),
		cmocka_unit_test(test_rules_that_hang),
		cmocka_unit_test(test_the_time_left),
		cmocka_unit_test(test_the_time_left_of_a_slow_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
