/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page that ends the program: the next start knows what was under way, and finishes the
 * cycle without it.  The origin kills the process that asks for that page.  And what is said
 * of a cycle that is gone on with, or ended instead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/cause.h"
#include "base/mem.h"
#include "demo/origin.h"
#include "../../../lib/bed.h"

#define PAGES 12
#define FAR 100                 /* hosts where redirects lead: 127.0.1.100 and on */
#define ANY UINT32_MAX          /* every page ends the program */
#define STARTS_MAX 6            /* of a cycle; the old program needed one after the other */

struct stage {
	struct origin *origin;
	struct bed bed;
	pid_t child;                    /* who asks; 0: nobody */
	uint32_t poison;
	size_t n_read;                  /* of the origin's log: earlier cycles */
};

static void answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	struct stage *s = arg;
	unsigned n;
	int end = 0;

	if (!strcmp(q->path, "/robots.txt")) {
		r->status = 404;
		return;
	}
	if (sscanf(q->path, "/hop/%u", &n) == 1) {
		r->status = 302;
		buf_printf(&r->headers, "Location: /p/%u\n", n);
		return;
	}
	if (sscanf(q->path, "/far/%u", &n) == 1) {
		r->status = 302;
		buf_printf(&r->headers, "Location: http://127.0.1.%u:%u/p/%u\n", FAR + n,
		           origin_port(s->origin), n);
		return;
	}
	if (sscanf(q->path, "/p/%u%n", &n, &end) != 1 || q->path[end] || n >= PAGES) {
		r->status = 404;        /* siblings */
		return;
	}
	if ((n == s->poison || s->poison == ANY) && s->child > 0)
		kill(s->child, SIGKILL);
	buf_printf(&r->headers, "Content-Type: text/html\n");
	buf_printf(&r->body, "<p>page %s", q->path);
}

static void setup(struct stage *s, const char *path, unsigned hosts)
{
	*s = (struct stage){ .poison = 5 };
	s->origin = origin_start(answer, s);
	bed_open(&s->bed, "127.0.1.0/24");
	for (unsigned i = 0; i < PAGES; i++)
		bed_add(&s->bed, "http://127.0.1.%u:%u/%s/%u", i % hosts + 1,
		        origin_port(s->origin), path, i);
	s->bed.opts.policy = "oldest";
	s->bed.opts.budget = (struct share){ 100, false };
	s->bed.opts.now = 1700000000;
}

static void teardown(struct stage *s)
{
	bed_close(&s->bed);
	origin_stop(s->origin);
}

/* One start in a process of its own; was it killed? */
static bool start(struct stage *s)
{
	struct crawl_report r;
	struct err err;
	int status;
	pid_t pid;

	store_close(s->bed.store);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		raise(SIGSTOP);         /* until the origin knows whom to kill */
		if (store_open(&s->bed.store, s->bed.db, STORE_EXISTING, &err) < 0)
			_exit(9);
		_exit(crawl_cycle(s->bed.store, &s->bed.opts, &r, &err) < 0 ? 8 : 0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	__atomic_store_n(&s->child, pid, __ATOMIC_SEQ_CST);
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	__atomic_store_n(&s->child, 0, __ATOMIC_SEQ_CST);
	assert_int_equal(store_open(&s->bed.store, s->bed.db, STORE_EXISTING, &err), 0);
	if (WIFEXITED(status))
		assert_int_equal(WEXITSTATUS(status), 0);
	return WIFSIGNALED(status);
}

struct looking {
	uint32_t visits[PAGES], n, lapsed;
	uint8_t outcome[PAGES];
	struct store_cycle last;
};

static int look_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct looking *l = arg;

	(void)err;
	l->visits[v->page]++;
	l->n++;
	l->outcome[v->page] = v->outcome;
	l->lapsed += v->cause == CAUSE_LAPSED;
	return 0;
}

static int look_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	(void)err;
	((struct looking *)arg)->last = *c;
	return 0;
}

static struct looking look(struct stage *s)
{
	struct looking l = { 0 };
	struct err err;

	assert_int_equal(store_cycles(s->bed.store, 0, look_cycle, &l, &err), 0);
	assert_int_equal(store_visits(s->bed.store, l.last.number, l.last.number + 1,
	                              look_visit, &l, &err), 0);
	return l;
}

/* Requests for pages at the origin since the last look; none came twice. */
static uint32_t requests(struct stage *s)
{
	size_t n;
	struct origin_log *log = origin_read_log(s->origin, &n);
	uint32_t counted = 0;

	for (size_t i = s->n_read; i < n; i++) {
		if (!strcmp(log[i].path, "/robots.txt"))
			continue;
		counted++;
		for (size_t k = s->n_read; k < i; k++)
			if (!strcmp(log[i].path, log[k].path))
				fail_msg("%s was asked for twice in a cycle", log[i].path);
	}
	s->n_read = n;
	free(log);
	return counted;
}

/* Starts until the cycle is over. */
static unsigned starts_of_a_cycle(struct stage *s)
{
	unsigned n = 1;

	while (start(s))
		if (++n > STARTS_MAX)
			fail_msg("the page crashes the program for ever");
	return n;
}

static struct store_page page_of(struct stage *s, uint32_t number)
{
	struct store_page p;
	struct err err;

	assert_int_equal(store_page_get(s->bed.store, number, &p, &err), 1);
	return p;
}

static void test_the_next_start_finishes_the_cycle(void **state)
{
	(void)state;
	for (unsigned hosts = 1; hosts <= 4; hosts++) {
		struct stage s;

		setup(&s, "p", hosts);
		/* with more hosts others are under way, too: they fail, and rest, with it */
		for (unsigned cycle = 1; cycle <= (hosts == 1 ? 3 : 2); cycle++) {
			struct looking l;
			uint32_t n;

			assert_int_equal(starts_of_a_cycle(&s), 2);
			l = look(&s);
			assert_int_equal(l.last.number, cycle);
			assert_false(l.last.open);
			assert_int_equal(l.n, PAGES);
			for (int i = 0; i < PAGES; i++)
				assert_int_equal(l.visits[i], 1);
			/* what the origin saw is what the budget counts, but for requests that were
			 * about to leave when the process ended */
			n = requests(&s);
			assert_true(hosts == 1 ? n == PAGES : n <= PAGES && n > PAGES - hosts);
			assert_int_equal(l.last.downloads, PAGES);
			/* no failure the first time, one more each time after it */
			assert_int_equal(l.outcome[s.poison],
			                 cycle == 1 ? OUTCOME_BLOCKED : OUTCOME_FAILED);
			assert_int_equal(page_of(&s, s.poison).fails, cycle - 1);
			assert_true(l.lapsed >= 1);
			assert_int_equal(l.last.failed + l.last.blocked, l.lapsed);
			assert_int_equal(l.last.same + l.last.fresh + l.lapsed, PAGES);
			s.bed.opts.now += 200 * 86400;  /* what failed has rested */
		}
		teardown(&s);
	}
}

/* The page is well again: its failures are forgotten. */
static void test_a_lapse_between_good_visits(void **state)
{
	struct stage s;
	struct looking l;

	(void)state;
	setup(&s, "p", 1);
	assert_int_equal(starts_of_a_cycle(&s), 2);
	s.poison = PAGES;
	s.bed.opts.now += 86400;
	assert_int_equal(starts_of_a_cycle(&s), 1);
	assert_int_equal(look(&s).lapsed, 0);
	s.poison = 5;
	s.bed.opts.now += 86400;
	assert_int_equal(starts_of_a_cycle(&s), 2);
	l = look(&s);
	assert_int_equal(l.outcome[5], OUTCOME_BLOCKED);        /* not the second in a row */
	assert_int_equal(page_of(&s, 5).fails, 0);
	teardown(&s);
}

/* Redirects that led to the crash are spent, too: never more than the budget. */
static void test_the_budget_holds(void **state)
{
	struct stage s;
	struct looking l;

	(void)state;
	setup(&s, "hop", 1);
	s.bed.opts.budget = (struct share){ 16, false };
	assert_int_equal(starts_of_a_cycle(&s), 2);
	l = look(&s);
	assert_true(requests(&s) <= 16);
	assert_true(l.last.downloads <= 16);
	assert_int_equal(l.outcome[5], OUTCOME_BLOCKED);
	assert_int_equal(l.visits[5], 1);
	teardown(&s);
}

/* So is robots.txt of the sites that redirects led to: each page costs 3 requests. */
static void test_the_budget_holds_with_robots(void **state)
{
	struct stage s;
	struct origin_log *log;
	uint32_t budgeted = 0;
	size_t n;

	(void)state;
	setup(&s, "far", 1);
	s.poison = ANY;
	s.bed.opts.budget = (struct share){ 9, false };
	assert_true(starts_of_a_cycle(&s) > 1);
	log = origin_read_log(s.origin, &n);
	for (size_t i = 0; i < n; i++)  /* all but robots.txt of the pages' own host */
		budgeted += strcmp(log[i].path, "/robots.txt") || strcmp(log[i].host, "127.0.1.1");
	free(log);
	assert_in_range(budgeted, 3, 9);        /* less: about to leave when the process ended */
	assert_int_equal(look(&s).last.downloads, 9);
	teardown(&s);
}

/* Nothing but what lapsed: the cycle is over, and the network is not blamed. */
static void test_all_that_was_asked_lapsed(void **state)
{
	struct stage s;
	struct looking l;

	(void)state;
	setup(&s, "p", 1);
	s.poison = ANY;
	s.bed.opts.budget = (struct share){ 1, false };
	assert_int_equal(starts_of_a_cycle(&s), 2);
	l = look(&s);
	assert_false(l.last.open);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.lapsed, 1);
	assert_int_equal(l.last.downloads, 1);
	teardown(&s);
}

/* Tests of life: the page is asked once, and nothing is said of its life. */
static void test_a_test_of_life_that_crashes(void **state)
{
	struct stage s;
	struct looking l;
	struct crawl_report r;

	(void)state;
	setup(&s, "p", 2);
	s.bed.opts.goal = GOAL_ALIVE;
	s.bed.opts.policy = "random";
	s.bed.opts.budget = (struct share){ 0 };
	assert_true(start(&s));
	assert_false(start(&s));
	l = look(&s);
	assert_int_equal(l.n, PAGES);
	assert_int_equal(l.outcome[s.poison], OUTCOME_BLOCKED);
	assert_int_equal(page_of(&s, s.poison).fails, 0);
	s.poison = PAGES;
	r = bed_cycle(&s.bed);          /* it is over: nothing is asked any more */
	assert_int_equal(r.life.hits, PAGES - l.lapsed);
	assert_int_equal(look(&s).n, PAGES);
	teardown(&s);
}

/* ---- going on, or not ---- */

struct said { struct stage *s; struct crawl_report r; size_t asked_before; unsigned n; };

static void note_going_on(void *arg, const struct crawl_report *r)
{
	struct said *said = arg;

	said->r = *r;
	free(origin_read_log(said->s->origin, &said->asked_before));
	said->n++;
}

/* It is said before the first request, with the cycle's own budget and what it has spent. */
static void test_going_on_is_said_first(void **state)
{
	struct stage s;
	struct said said = { .s = &s };
	struct crawl_report r;
	size_t asked;

	(void)state;
	setup(&s, "p", 1);
	assert_true(start(&s));
	free(origin_read_log(s.origin, &asked));
	s.bed.opts.budget = (struct share){ 7, false };
	s.bed.opts.policy = "random";
	s.bed.opts.goes_on = note_going_on;
	s.bed.opts.arg = &said;
	r = bed_cycle(&s.bed);
	assert_int_equal(said.n, 1);
	assert_int_equal(said.asked_before, asked);
	assert_int_equal(said.r.cycle.number, 1);
	assert_int_equal(said.r.cycle.budget, 100);
	assert_string_equal(said.r.policy, "oldest");
	assert_true(said.r.lapsed > 0);
	assert_true(said.r.cycle.downloads >= said.r.lapsed);
	assert_true(r.resumed);
	r = bed_cycle(&s.bed);          /* nothing is open: nothing is said */
	assert_int_equal(said.n, 1);
	assert_int_equal(r.cycle.budget, 7);
	teardown(&s);
}

static int see_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	(void)err;
	((struct store_cycle *)arg)[c->number - 1] = *c;
	return 0;
}

static void test_another_cycle_instead(void **state)
{
	struct stage s;
	struct said said = { .s = &s };
	struct store_cycle rows[2] = { { 0 } };
	struct crawl_report r;
	struct err err;
	uint32_t lapsed;

	(void)state;
	setup(&s, "p", 1);
	assert_true(start(&s));
	s.bed.opts.budget = (struct share){ 7, false };
	s.bed.opts.anew = true;
	s.bed.opts.goes_on = note_going_on;
	s.bed.opts.arg = &said;
	s.bed.opts.now += 86400;
	r = bed_cycle(&s.bed);
	assert_int_equal(said.n, 0);
	assert_false(r.resumed);
	assert_int_equal(r.cycle.number, 2);
	assert_int_equal(r.cycle.downloads, 7);
	assert_int_equal(store_cycles(s.bed.store, 0, see_cycle, rows, &err), 0);
	assert_false(rows[0].open || rows[1].open);
	lapsed = rows[0].blocked;       /* is known of the one that ended, too */
	assert_true(lapsed > 0 && rows[0].downloads >= lapsed);
	teardown(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_next_start_finishes_the_cycle),
		cmocka_unit_test(test_a_lapse_between_good_visits),
		cmocka_unit_test(test_the_budget_holds),
		cmocka_unit_test(test_the_budget_holds_with_robots),
		cmocka_unit_test(test_all_that_was_asked_lapsed),
		cmocka_unit_test(test_a_test_of_life_that_crashes),
		cmocka_unit_test(test_going_on_is_said_first),
		cmocka_unit_test(test_another_cycle_instead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
