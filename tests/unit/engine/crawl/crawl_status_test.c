/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which answers become copies: for every status from 200 to 399 a page that was had before
 * and one that was not.  Only 200 and 203 bring a page; all others fail with their status,
 * and the copy stays as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/cause.h"
#include "../../../lib/bed.h"
#include "../../../lib/origin_tape.h"

#define START 1700000000
#define DAY 86400
#define FIRST 200
#define LAST 399

struct world { struct origin_tape *origin; struct bed bed; int round; };

/* /old/S is there at first and then says S; /new/S says S from the beginning. */
static void answer(void *arg, const char *path, const char *request, struct buf *head,
                   struct buf *body)
{
	const struct world *w = arg;
	int status;

	(void)request;
	if (sscanf(path, "/old/%d", &status) == 1 && w->round == 0)
		status = 200;
	else if (sscanf(path, "/%*[a-z]/%d", &status) != 1)
		status = 404;
	buf_printf(head, "HTTP/1.1 %d X\r\nContent-Type: text/html\r\n", status);
	if (status == 206)
		buf_str(head, "Content-Range: bytes 0-9/1000\r\n");
	if (status != 204 && status != 304)
		buf_printf(body, "<title>%s in round %d</title>", path, w->round);
}

struct found { unsigned copies, visits; int status; enum cause cause; enum outcome outcome; };

static int see_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct found *s = arg;

	(void)err;
	(void)c;
	s->copies++;
	return 0;
}

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct found *s = arg;

	(void)err;
	s->visits++;
	s->status = v->status;
	s->cause = (enum cause)v->cause;
	s->outcome = (enum outcome)v->outcome;
	return 0;
}

static struct found look(struct world *w, const char *kind, int status)
{
	struct found s = { 0 };
	struct err err;
	struct store_page page;
	char url[96];

	snprintf(url, sizeof url, "http://127.0.0.1:%u/%s/%d", origin_tape_port(w->origin), kind,
	         status);
	assert_int_equal(store_page_find(w->bed.store, (struct text){ url, strlen(url) }, &page,
	                                 &err), 1);
	assert_int_equal(store_captures(w->bed.store, &page.number, 1, see_capture, &s, &err), 0);
	assert_int_equal(store_visits_of(w->bed.store, &page.number, 1, 0, UINT32_MAX, see_visit,
	                                 &s, &err), 0);
	return s;
}

static void test_statuses(void **state)
{
	struct world w = { 0 };

	(void)state;
	w.origin = origin_tape_start(answer, &w);
	bed_open(&w.bed, "127.0.0.1");
	for (int status = FIRST; status <= LAST; status++) {
		bed_add(&w.bed, "http://127.0.0.1:%u/old/%d", origin_tape_port(w.origin), status);
		bed_add(&w.bed, "http://127.0.0.1:%u/new/%d", origin_tape_port(w.origin), status);
	}
	w.bed.opts.fetch.ignore_robots = true;
	w.bed.opts.fetch.polite.failure_limit = 1 << 20;
	w.bed.opts.budget = (struct share){ 10000, false };
	for (w.round = 0; w.round < 2; w.round++) {
		w.bed.opts.now = START + w.round * 10 * DAY;
		(void)bed_cycle(&w.bed);
	}
	for (int status = FIRST; status <= LAST; status++) {
		bool is_page = status == 200 || status == 203;
		struct found old = look(&w, "old", status), new = look(&w, "new", status);

		if (old.copies != (is_page ? 2 : 1) || new.copies != (is_page ? 2 : 0))
			fail_msg("%d: %u copies of a page that was there, %u of one that was not",
			         status, old.copies, new.copies);
		if (is_page)
			continue;
		if (old.outcome != OUTCOME_FAILED || new.outcome != OUTCOME_FAILED ||
		    old.status != status || new.status != status ||
		    old.cause == CAUSE_NONE || new.cause == CAUSE_NONE)
			fail_msg("%d: outcomes %d, %d, status %d, %d, cause %d, %d", status,
			         old.outcome, new.outcome, old.status, new.status, old.cause,
			         new.cause);
	}
	bed_close(&w.bed);
	origin_tape_stop(w.origin);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_statuses) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
