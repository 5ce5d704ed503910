/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Visits that failed or were blocked are kept with their cause: pages that fail in every
 * way a server can be made to fail, fetched, tested for life, or told of by others.
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
#include <unistd.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <sys/socket.h>

#include "base/cause.h"
#include "demo/origin.h"
#include "engine/book/visit.h"
#include "engine/book/tell.h"
#include "../../../lib/bed.h"
#include "../../../lib/origin_raw.h"

#define PAGES_MAX 32

struct stage {
	struct origin *origin;
	struct origin_raw *raw;
	struct bed bed;
	int deaf;                       /* a socket that has a port and does not listen */
	unsigned closed;                /* that port */
};

static void answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	bool robots = !strcmp(q->path, "/robots.txt");

	(void)arg;
	if (robots && !strcmp(q->host, "127.0.7.3")) {
		buf_str(&r->body, "User-agent: *\nDisallow: /\n");
	} else if (!robots && !strcmp(q->host, "127.0.7.1")) {
		r->status = 429;
		buf_str(&r->headers, "Retry-After: 3600\n");
	} else if (robots || !strcmp(q->path, "/404")) {
		r->status = 404;
	} else if (!strcmp(q->path, "/403")) {
		r->status = 403;
	} else if (!strcmp(q->path, "/moved")) {
		r->status = 302;
		buf_str(&r->headers, "Location: /fine\n");
	} else {
		buf_str(&r->body, q->path);
	}
}

/* Connections to it are refused, and no other program can take the port. */
static void take_port(struct stage *s)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t size = sizeof a;

	s->deaf = socket(AF_INET, SOCK_STREAM, 0);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(s->deaf, (struct sockaddr *)&a, size), 0);
	assert_int_equal(getsockname(s->deaf, (struct sockaddr *)&a, &size), 0);
	s->closed = ntohs(a.sin_port);
}

/* All names are here, but for nobody's. */
static int resolve(void *arg, const char *host, struct sockaddr_storage *ret)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	(void)arg;
	if (!strcmp(host, "nobody.example"))
		return -1;
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memcpy(ret, &a, sizeof a);
	return 1;
}

static void setup(struct stage *s)
{
	*s = (struct stage){ 0 };
	s->origin = origin_start(answer, s);
	s->raw = origin_raw_start();
	take_port(s);
	bed_open(&s->bed, "127.0.0.0/8");
	s->bed.opts.policy = "random";
	s->bed.opts.budget.value = 100;
	s->bed.opts.confirmations = 3;
	s->bed.opts.fetch.head_timeout = 1;
	s->bed.opts.fetch.resolve = resolve;
}

static void teardown(struct stage *s)
{
	bed_close(&s->bed);
	origin_raw_stop(s->raw);
	origin_stop(s->origin);
	close(s->deaf);
}

static int take_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct store_visit *to = arg;

	(void)err;
	assert_true(v->page < PAGES_MAX);
	to[v->page] = *v;
	return 0;
}

/* The last visit of every page, by its number. */
static void read_visits(struct stage *s, struct store_visit *ret)
{
	struct err err;

	for (unsigned i = 0; i < PAGES_MAX; i++)
		ret[i] = (struct store_visit){ .page = UINT32_MAX };
	assert_int_equal(store_visits(s->bed.store, 1, UINT32_MAX, take_visit, ret,
	                              &err), 0);
}

enum server { DEMO, RAW, CLOSED };

/* What the server does is the oracle.  A page is blocked, and not failed, if it was
 * robots.txt that could not be had: the page itself was not asked for.  A host where
 * much fails is left alone, so each has one page. */
static const struct want {
	enum server server;
	const char *before, *after;     /* of the port in the URL */
	enum outcome outcome;
	int status;
	enum cause cause;
} wants[] = {
	{ DEMO, "http://127.0.7.2:", "/fine", OUTCOME_CHANGED, 200, CAUSE_NONE },
	{ DEMO, "http://127.0.7.2:", "/403", OUTCOME_FAILED, 403, CAUSE_STATUS },
	{ DEMO, "http://127.0.7.2:", "/404", OUTCOME_FAILED, 404, CAUSE_STATUS },
	{ DEMO, "http://127.0.7.1:", "/a", OUTCOME_FAILED, 429, CAUSE_BACKOFF },
	{ DEMO, "http://127.0.7.3:", "/a", OUTCOME_BLOCKED, 0, CAUSE_ROBOTS },
	{ DEMO, "http://10.0.0.1:", "/a", OUTCOME_BLOCKED, 0, CAUSE_GATE },
	{ DEMO, "http://nobody.example:", "/a", OUTCOME_FAILED, 0, CAUSE_DNS },
	{ DEMO, "https://127.0.7.2:", "/a", OUTCOME_BLOCKED, 0, CAUSE_TLS },
	{ CLOSED, "http://127.0.0.1:", "/a", OUTCOME_BLOCKED, 0, CAUSE_CONNECT },
	{ RAW, "http://raw1.example:", "/silent", OUTCOME_FAILED, 0, CAUSE_TIMEOUT },
	{ RAW, "http://raw2.example:", "/hang-up", OUTCOME_FAILED, 0, CAUSE_RESET },
	{ RAW, "http://raw3.example:", "/garbage", OUTCOME_FAILED, 0, CAUSE_PROTOCOL },
	{ RAW, "http://raw4.example:", "/endless-headers", OUTCOME_FAILED, 0, CAUSE_TOO_LARGE },
	{ RAW, "http://raw5.example:", "/loop-self", OUTCOME_FAILED, 302, CAUSE_REDIRECT },
};

#define N_WANTS (sizeof wants / sizeof *wants)

static void add_wants(struct stage *s)
{
	const unsigned ports[] = { origin_port(s->origin), origin_raw_port(s->raw), s->closed };

	for (size_t i = 0; i < N_WANTS; i++)
		bed_add(&s->bed, "%s%u%s", wants[i].before, ports[wants[i].server], wants[i].after);
}

static void test_of_pages_that_are_fetched(void **state)
{
	struct store_visit got[PAGES_MAX];
	struct stage s;

	(void)state;
	setup(&s);
	add_wants(&s);
	bed_cycle(&s.bed);
	read_visits(&s, got);
	for (size_t i = 0; i < N_WANTS; i++) {
		const struct want *w = &wants[i];

		if (got[i].outcome != w->outcome || got[i].cause != w->cause ||
		    got[i].status != w->status)
			fail_msg("%s...%s: outcome %u, status %d, cause %s", w->before, w->after,
			         got[i].outcome, got[i].status, cause_name(got[i].cause));
	}
	teardown(&s);
}

/* The one request that there is goes to the page, and none is left for where it leads. */
static void test_of_a_page_whose_redirect_is_not_granted(void **state)
{
	struct store_visit got[PAGES_MAX];
	struct stage s;

	(void)state;
	setup(&s);
	s.bed.opts.budget.value = 1;
	bed_add(&s.bed, "http://127.0.7.2:%u/moved", origin_port(s.origin));
	bed_cycle(&s.bed);
	read_visits(&s, got);
	assert_int_equal(got[0].outcome, OUTCOME_FAILED);
	assert_int_equal(got[0].cause, CAUSE_BUDGET);
	teardown(&s);
}

/* The causes are the same.  A page is blocked only if it may not be asked for: where
 * nobody answers there is no life.  404 is a verdict, and no failure. */
static void test_of_pages_that_are_tested_for_life(void **state)
{
	struct store_visit got[PAGES_MAX];
	struct stage s;

	(void)state;
	setup(&s);
	s.bed.opts.goal = GOAL_ALIVE;
	add_wants(&s);
	bed_cycle(&s.bed);
	read_visits(&s, got);
	for (size_t i = 0; i < N_WANTS; i++) {
		const struct want *w = &wants[i];
		enum outcome o = w->status == 200 ? OUTCOME_SAME :
			w->status == 404 ? OUTCOME_GONE :
			w->cause == CAUSE_ROBOTS || w->cause == CAUSE_GATE ? OUTCOME_BLOCKED :
			OUTCOME_FAILED;

		if (got[i].outcome != o ||
		    got[i].cause != (o >= OUTCOME_FAILED ? w->cause : CAUSE_NONE))
			fail_msg("%s...%s: outcome %u, status %d, cause %s", w->before, w->after,
			         got[i].outcome, got[i].status, cause_name(got[i].cause));
	}
	teardown(&s);
}

static void test_of_pages_that_are_told_of(void **state)
{
	static const char lines[] =
		"{\"url\":\"http://a.example/0\",\"outcome\":\"failed\",\"cause\":\"dns\"}\n"
		"{\"url\":\"http://a.example/1\",\"outcome\":\"failed\",\"cause\":\"gremlins\"}\n"
		"{\"url\":\"http://a.example/2\",\"outcome\":\"blocked\",\"cause\":\"robots\"}\n"
		"{\"url\":\"http://a.example/3\",\"outcome\":\"failed\",\"cause\":7}\n"
		"{\"url\":\"http://a.example/4\",\"status\":503}\n"
		"{\"url\":\"http://a.example/5\",\"outcome\":\"failed\"}\n"
		"{\"url\":\"http://a.example/6\",\"status\":200,\"cause\":\"dns\"}\n"
		"{\"url\":\"http://a.example/7\",\"status\":429,\"cause\":\"back\\u006fff\"}\n"
		"{\"url\":\"http://a.example/8\",\"status\":500,\"cause\":null}\n";
	static const enum cause causes[] = { CAUSE_DNS, CAUSE_OTHER, CAUSE_ROBOTS, CAUSE_NONE,
		CAUSE_STATUS, CAUSE_NONE, CAUSE_NONE, CAUSE_BACKOFF, CAUSE_STATUS };
	struct store_visit got[PAGES_MAX];
	char path[SCRATCH_LONG];
	struct stage s;
	struct err err;
	FILE *out;

	(void)state;
	setup(&s);
	for (int i = 0; i < 9; i++)
		bed_add(&s.bed, "http://a.example/%d", i);
	snprintf(path, sizeof path, "%s/told.jsonl", s.bed.dir);
	assert_non_null(out = fopen(path, "w"));
	fputs(lines, out);
	fclose(out);
	struct tell t = { .store = s.bed.store, .now = 1000, .confirmations = 3 };

	assert_int_equal(tell_file(&t, path, &err), 0);
	assert_int_equal(t.stats.n_lines, 8);
	assert_int_equal(t.stats.n_bad, 1);     /* a cause that is no text */
	read_visits(&s, got);
	for (unsigned i = 0; i < 9; i++) {
		assert_int_equal(got[i].page, i == 3 ? UINT32_MAX : i);
		assert_int_equal(got[i].cause, causes[i]);
	}
	unlink(path);
	teardown(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_pages_that_are_fetched),
		cmocka_unit_test(test_of_a_page_whose_redirect_is_not_granted),
		cmocka_unit_test(test_of_pages_that_are_tested_for_life),
		cmocka_unit_test(test_of_pages_that_are_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
