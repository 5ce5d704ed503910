/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engine does with pages that fail, beside what policies see of it
 * (policy/catalogue/failing_test): the guarantee of age, hosts, the share, and a new start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "demo/origin.h"
#include "../../../lib/bed.h"
#include "../../../lib/stage.h"

#define DAY 86400
#define START 1700000000

static enum outcome every_other_fails(void *arg, uint32_t page, uint32_t cycle)
{
	(void)arg;
	(void)cycle;
	return page % 2 ? OUTCOME_FAILED : OUTCOME_SAME;
}

static void open_pages(struct stage *s, int n, int n_hosts)
{
	char url[64];

	stage_open(s);
	for (int i = 0; i < n; i++) {
		snprintf(url, sizeof url, "http://h%d.example/p%d", i % n_hosts, i);
		trace_add(&s->h, url, 0, "a", NULL);
	}
	s->failure = FAILURE_FORBIDDEN;
}

/* 41 pages, 20 of which fail; 10 visits a cycle keep the others younger than 4 cycles. */
static void the_guarantee_is_for_pages_that_can_be_had(void **state)
{
	struct stage s;

	(void)state;
	open_pages(&s, 40, 40);
	s.fate = every_other_fails;
	stage_play(&s, "random");
	s.e.rules.max_age = 4;
	stage_cycle(&s, 41);            /* each of them fails */
	assert_false(s.e.cycle.guarantee_broken);
	for (int c = 0; c < 40; c++) {
		stage_cycle(&s, 10);
		assert_false(s.e.cycle.guarantee_broken);
		for (uint32_t i = 0; i < s.r.pages.n; i += 2)
			assert_true(s.e.view.cycle - s.e.visits.last_cycle[i] <= 4);
	}
	stage_close(&s);
}

/* Rounds that are planned before the answers to earlier ones came: what is under way counts. */
static void the_share_is_of_all_rounds(void **state)
{
	struct asking a = { .want = 1, .impatient = true };
	uint32_t lease, retried = 0, rounds, asked = 0;
	struct stage s;
	size_t n;

	(void)state;
	open_pages(&s, 400, 8);
	s.fate = every_other_fails;
	stage_play(&s, "tide");
	stage_cycle(&s, 401);
	for (int c = 0; c < 3; c++)
		stage_cycle(&s, 40);
	engine_begin(&s.e, s.e.view.now + 100 * DAY, 200);
	for (; engine_ask(&s.e, &a, &lease, &n) == ASK_OFFERS; asked++)
		retried += engine_lease(&s.e, lease)->offer.page % 2;
	rounds = s.e.view.round;
	assert_true(rounds > 3);
	assert_true(asked > 150);
	assert_in_range(retried, 1, 10);        /* 5 % of 200 */
	engine_end(&s.e);
	stage_close(&s);
}

static enum outcome first_host_fails(void *arg, uint32_t page, uint32_t cycle)
{
	const struct stage *s = arg;

	return s->r.pages.site[page] == s->r.pages.site[trace_page(&s->h, "http://h0.example/p0")] &&
	       cycle <= 3 ? OUTCOME_FAILED : OUTCOME_SAME;
}

/* 100 pages of 10 hosts, one of which is down for three days.  Five visits are enough to
 * know it; one answer on the fifth day, and all of its pages are back. */
static void a_host_rests_and_comes_back(void **state)
{
	uint32_t failed = 0, back = 0;
	struct stage s;

	(void)state;
	open_pages(&s, 100, 10);
	s.fate = first_host_fails;
	s.arg = &s;
	s.failure = FAILURE_CONNECT;
	stage_play(&s, "random");
	for (int c = 1; c <= 30; c++) {
		stage_cycle(&s, 101);
		for (size_t i = 0; i < s.e.cycle.n_seen; i++) {
			failed += s.e.cycle.seen[i].outcome == OUTCOME_FAILED;
			back += c == 30 && s.r.pages.site[s.e.cycle.seen[i].page] ==
				s.r.pages.site[trace_page(&s.h, "http://h0.example/p0")];
		}
	}
	assert_true(failed >= 10 && failed <= 10 + 2 * 5);      /* the first day all were asked */
	assert_int_equal(back, 10);
	stage_close(&s);
}

/* ---- through the store ---- */

struct server { int64_t now; bool fails; };

static void answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	const struct server *s = arg;

	buf_printf(&r->body, "<p>%s", q->path);
	if (s->fails && !strcmp(q->path, "/a"))
		r->status = 500;
}

/* A first copy ends a row of failures, also for a process that begins later and knows it
 * from the store alone: the next failure is the first one, and its rest at most 1.25 days
 * long, not 1.5 or more. */
static void a_first_copy_ends_the_row(void **state)
{
	struct server server = { .fails = true };
	struct crawl_report r;
	struct origin *o = origin_start(answer, &server);
	struct bed bed;

	(void)state;
	bed_open(&bed, "127.0.9.0/24");
	bed_add(&bed, "http://127.0.9.1:%u/a", origin_port(o));
	bed_add(&bed, "http://127.0.9.1:%u/b", origin_port(o));
	for (int i = 0; i < 3; i++) {
		server.fails = i != 1;
		bed.opts.now = START + i * 10 * DAY;
		r = bed_cycle(&bed);
		assert_int_equal(r.cycle.failed, server.fails);
		assert_int_equal(r.resting, 0);
	}
	bed.opts.now = START + 20 * DAY + DAY / 2;
	assert_int_equal(bed_cycle(&bed).resting, 1);
	bed.opts.now = START + 21 * DAY + DAY / 3;
	r = bed_cycle(&bed);
	assert_int_equal(r.resting, 0);
	assert_int_equal(r.retried, 1);
	assert_int_equal(r.cycle.failed, 1);
	bed.opts.now += DAY + DAY / 3;          /* the second: 1.5 to 2.5 days */
	assert_int_equal(bed_cycle(&bed).resting, 1);
	bed_close(&bed);
	origin_stop(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_guarantee_is_for_pages_that_can_be_had),
		cmocka_unit_test(the_share_is_of_all_rounds),
		cmocka_unit_test(a_host_rests_and_comes_back),
		cmocka_unit_test(a_first_copy_ends_the_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
