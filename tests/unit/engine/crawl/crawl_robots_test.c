/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots.txt from one start to the next: each origin is asked once a day by the engine's
 * clock, and what could not be had again is treated as RFC 9309 says.
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
#include <cmocka.h>

#include "base/math/rng.h"
#include "demo/origin.h"
#include "web/rules/robots.h"
#include "../../../lib/bed.h"
#include "../../../lib/pack.h"

#define HOUR 3600
#define DAY 86400
#define START 1700000000

/* Hosts by the last number of their address. */
enum { RULES = 1, ABSENT, BROKEN, LONG, PACKED, MOVED, N_HOSTS };
/* And those that cannot be squeezed; pages of the last one lead to FAR. */
enum { NOISE = 20, NOISE_END = 26, FAR = 30, SLOW = 31 };

struct stage {
	struct origin *origin;
	struct bed bed;
	struct fetch *kept;
	bool broken, other;             /* what RULES answers: 503; other rules */
	size_t noise;                   /* bytes of NOISE's and FAR's rules */
};

static void add_noise(struct buf *out, uint64_t seed, size_t size)
{
	struct rng rng;

	rng_init(&rng, seed);
	while (out->size < size) {
		buf_str(out, "# ");
		for (int i = 0; i < 70; i++)
			buf_byte(out, (char)(' ' + rng_below(&rng, 90)));
		buf_byte(out, '\n');
	}
}

static void answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	struct stage *s = arg;
	int host = atoi(strrchr(q->host, '.') + 1);
	static const char rules[] = "User-agent: *\nDisallow: /no\n";

	if (strcmp(q->path, "/robots.txt")) {
		buf_printf(&r->body, "page %s", q->path);
		if (!strcmp(q->path, "/away")) {
			r->status = 302;
			buf_printf(&r->headers, "Location: http://127.0.9.%d:%u/yes\n", FAR,
			           origin_port(s->origin));
		} else if (!strcmp(q->path, "/out")) {
			r->status = 302;
			buf_str(&r->headers, "Location: /no\n");
		}
		return;
	}
	if (host == ABSENT)
		r->status = 404;
	else if (host == BROKEN || (host == RULES && s->broken))
		r->status = 500;
	else if (host == MOVED)
		r->status = 302;
	else if (host == PACKED)
		pack_gzip(&r->body, rules, sizeof rules - 1);
	else
		buf_str(&r->body, s->other ? "User-agent: *\nDisallow: /yes\n" : rules);
	if (host == MOVED)
		buf_printf(&r->headers, "Location: http://127.0.9.%d:%u/robots.txt\n", RULES,
		           origin_port(s->origin));
	if (host == PACKED)
		buf_str(&r->headers, "Content-Encoding: gzip\n");
	if (host == SLOW)
		buf_str(&r->body, "Crawl-delay: 100\n");
	else if (host >= NOISE)
		add_noise(&r->body, (uint64_t)host, s->noise);
	if (host == LONG) {             /* the last rule is beyond what is read */
		while (r->body.size < ROBOTS_SIZE_MAX)
			buf_str(&r->body, "# a comment that nobody needs, again and again and again\n");
		buf_str(&r->body, "Disallow: /yes\n");
	}
}

static void setup(struct stage *s)
{
	*s = (struct stage){ 0 };
	s->origin = origin_start(answer, s);
	bed_open(&s->bed, "127.0.9.0/24");
	s->bed.opts.budget = (struct share){ 100, true };
	s->bed.opts.cycle_seconds = HOUR;
	for (int host = RULES; host < N_HOSTS; host++)
		for (int no = 0; no < 2; no++)
			bed_add(&s->bed, "http://127.0.9.%d:%u/%s", host, origin_port(s->origin),
			        no ? "no" : "yes");
}

static void teardown(struct stage *s)
{
	fetch_free(s->kept);
	bed_close(&s->bed);
	origin_stop(s->origin);
}

static unsigned asked(struct stage *s, int host, const char *path)
{
	size_t n;
	unsigned found = 0;
	struct origin_log *l = origin_read_log(s->origin, &n);
	char name[32];

	snprintf(name, sizeof name, "127.0.9.%d", host);
	for (size_t i = 0; i < n; i++)
		found += !strcmp(l[i].host, name) && !strcmp(l[i].path, path);
	free(l);
	return found;
}

/* One cycle, in a process of its own as far as can be told, or with the fetcher kept. */
static void cycle(struct stage *s, int64_t now)
{
	s->bed.opts.now = now;
	bed_cycle(&s->bed);
}

/* Requests of a host in a cycle: robots.txt, the page it allows and the other. */
static void expect(struct stage *s, int64_t now, int host, unsigned robots, unsigned yes,
                   unsigned no)
{
	unsigned before[3] = { asked(s, host, "/robots.txt"), asked(s, host, "/yes"),
	                       asked(s, host, "/no") };

	cycle(s, now);
	if (asked(s, host, "/robots.txt") - before[0] != robots ||
	    asked(s, host, "/yes") - before[1] != yes || asked(s, host, "/no") - before[2] != no)
		fail_msg("host %d, %lld s from the start: %u %u %u, wanted %u %u %u", host,
		         (long long)(now - START), asked(s, host, "/robots.txt") - before[0],
		         asked(s, host, "/yes") - before[1], asked(s, host, "/no") - before[2],
		         robots, yes, no);
}

static void once_a_day(bool keep)
{
	struct stage s;

	setup(&s);
	s.bed.opts.fetcher = keep ? &s.kept : NULL;
	cycle(&s, START);
	assert_int_equal(asked(&s, RULES, "/robots.txt"), 2);   /* and for MOVED */
	for (int host = RULES; host < N_HOSTS; host++) {
		bool all = host == ABSENT, none = host == BROKEN;

		if (host != RULES)
			assert_int_equal(asked(&s, host, "/robots.txt"), 1);
		assert_int_equal(asked(&s, host, "/yes"), !none);
		assert_int_equal(asked(&s, host, "/no"), all);
	}
	/* another start of the same day asks none of them; what they said binds */
	expect(&s, START + HOUR, RULES, 0, 1, 0);
	expect(&s, START + 2 * HOUR, ABSENT, 0, 1, 1);
	expect(&s, START + 3 * HOUR, LONG, 0, 1, 0);
	expect(&s, START + 4 * HOUR, PACKED, 0, 1, 0);
	expect(&s, START + 5 * HOUR, MOVED, 0, 1, 0);
	/* other rules, seen when the day is over */
	s.other = true;
	expect(&s, START + DAY - 1, RULES, 0, 1, 0);
	expect(&s, START + DAY, RULES, 2, 0, 1);
	assert_int_equal(asked(&s, ABSENT, "/robots.txt"), 2);
	assert_int_equal(asked(&s, PACKED, "/robots.txt"), 2);
	teardown(&s);
}

static void test_once_a_day(void **state)
{
	(void)state;
	once_a_day(false);
	once_a_day(true);
}

/* A server that fails: what was known binds, it is asked again every ten minutes; one that
 * never had any is closed, and open after 30 days. */
static void test_failing(void **state)
{
	struct stage s;
	int64_t t = START + DAY;

	(void)state;
	setup(&s);
	cycle(&s, START);
	s.broken = true;
	expect(&s, t, RULES, 2, 1, 0);
	expect(&s, t + 599, RULES, 0, 1, 0);
	expect(&s, t + 601, RULES, 2, 1, 0);    /* for itself, and for MOVED */
	expect(&s, t + 40 * DAY, RULES, 2, 1, 0);
	s.broken = false;
	s.other = true;
	expect(&s, t + 40 * DAY + 700, RULES, 2, 0, 1);
	teardown(&s);

	setup(&s);
	expect(&s, START, BROKEN, 1, 0, 0);
	expect(&s, START + 300, BROKEN, 0, 0, 0);
	expect(&s, START + 900, BROKEN, 1, 0, 0);
	expect(&s, START + 20 * DAY, BROKEN, 1, 0, 0);
	expect(&s, START + 30 * DAY + 1, BROKEN, 1, 1, 1);
	expect(&s, START + 30 * DAY + 301, BROKEN, 0, 1, 1);
	teardown(&s);
}

/* A copy of a time to come is none. */
static void test_clock_set_back(void **state)
{
	struct stage s;

	(void)state;
	setup(&s);
	cycle(&s, START);
	expect(&s, START - DAY, PACKED, 1, 1, 0);
	expect(&s, START - DAY + 60, PACKED, 0, 1, 0);
	teardown(&s);
}

/* Bytes that the store holds of a host's robots.txt; -1: it knows nothing of it. */
static long kept(struct stage *s, int host)
{
	struct store_robots r;
	struct err err;
	char origin[64];
	int n = snprintf(origin, sizeof origin, "http://127.0.9.%d:%u", host,
	                 origin_port(s->origin));
	int rc = store_robots_get(s->bed.store, (struct text){ origin, (size_t)n }, &r, &err);

	assert_true(rc >= 0);
	return rc ? (long)r.body.size : -1;
}

/* What is 500 KiB of the same line is small in the store, and there is an end to what all
 * of them take; those that are not kept are asked again, and bind as others do. */
static void test_room(void **state)
{
	unsigned n_kept = 0;
	long sum = 0;
	struct stage s;

	(void)state;
	setup(&s);
	s.bed.opts.budget = (struct share){ 100, false };       /* enough for all redirects */
	s.noise = 20000;
	s.bed.opts.robots_kept = 70000;
	for (int host = NOISE; host < NOISE_END; host++)
		bed_add(&s.bed, "http://127.0.9.%d:%u/no", host, origin_port(s.origin));
	bed_add(&s.bed, "http://127.0.9.%d:%u/away", RULES, origin_port(s.origin));
	cycle(&s, START);
	assert_in_range(kept(&s, LONG), 30, 2000);
	assert_in_range(kept(&s, RULES), 20, 100);
	assert_int_equal(asked(&s, FAR, "/yes"), 1);
	assert_int_equal(kept(&s, FAR), -1);    /* a quarter is too little for it */
	for (int host = NOISE; host < NOISE_END; host++) {
		sum += kept(&s, host) > 0 ? kept(&s, host) : 0;
		n_kept += kept(&s, host) > 0;
		assert_int_equal(asked(&s, host, "/no"), 0);
	}
	assert_in_range(sum, 15000, 70000);
	assert_in_range(n_kept, 1, NOISE_END - NOISE - 1);
	cycle(&s, START + HOUR);
	for (int host = NOISE; host < NOISE_END; host++) {
		assert_int_equal(asked(&s, host, "/robots.txt"), kept(&s, host) > 0 ? 1 : 2);
		assert_int_equal(asked(&s, host, "/no"), 0);
	}
	teardown(&s);
}

/* A site that wants longer pauses than we make is blocked, with its own reason. */
static void test_too_slow(void **state)
{
	struct crawl_report r;
	struct stage s;

	(void)state;
	setup(&s);
	bed_add(&s.bed, "http://127.0.9.%d:%u/yes", SLOW, origin_port(s.origin));
	for (int i = 0; i < 2; i++) {   /* learnt, and remembered */
		s.bed.opts.now = START + i * HOUR;
		r = bed_cycle(&s.bed);
		assert_int_equal(r.reasons[FETCH_CRAWL_DELAY], 1);
	}
	assert_int_equal(asked(&s, SLOW, "/robots.txt"), 1);
	assert_int_equal(asked(&s, SLOW, "/yes"), 0);
	teardown(&s);
}

/* The report has as many requests as the servers saw, also if redirects end at a rule. */
static void test_counted_as_made(void **state)
{
	struct crawl_report r;
	struct origin_log *l;
	size_t n, robots = 0;
	struct stage s;

	(void)state;
	setup(&s);
	s.bed.opts.budget = (struct share){ 100, false };       /* enough for all redirects */
	bed_add(&s.bed, "http://127.0.9.%d:%u/away", RULES, origin_port(s.origin));
	for (int i = 0; i < 2; i++)
		bed_add(&s.bed, "http://127.0.9.%d:%u/out", i ? PACKED : RULES,
		        origin_port(s.origin));
	s.bed.opts.now = START;
	r = bed_cycle(&s.bed);
	l = origin_read_log(s.origin, &n);
	for (size_t i = 0; i < n; i++)
		robots += !strcmp(l[i].path, "/robots.txt");
	free(l);
	assert_int_equal(r.fetch.robots_budgeted, 2);   /* of FAR, and of where MOVED's is */
	assert_int_equal(r.fetch.robots_requests + r.fetch.robots_budgeted, robots);
	assert_int_equal(r.cycle.downloads, n - robots + r.fetch.robots_budgeted);
	teardown(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once_a_day),
		cmocka_unit_test(test_failing),
		cmocka_unit_test(test_clock_set_back),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_too_slow),
		cmocka_unit_test(test_counted_as_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
