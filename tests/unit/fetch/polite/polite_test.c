/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Politeness without a network: hand-worked schedules, and random worlds whose
 * log is checked against the rules by code that knows no heap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <math.h>
#include <time.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "fetch/polite/polite.h"

static const struct polite_options defaults = POLITE_DEFAULTS;

static uint32_t host_n(struct polite *p, unsigned n)
{
	char name[32];

	return polite_host(p, name, (size_t)snprintf(name, sizeof name, "h%u.example", n));
}

/* next() has nothing until exactly t, and then has job of host. */
static void expect_at(struct polite *p, double from, double t, uint32_t host, uint32_t job)
{
	uint32_t h, j;

	if (t > from) {
		assert_false(polite_next(p, from, &h, &j));
		assert_true(fabs(polite_wait(p, from) - (t - from)) < 1e-6);
		assert_false(polite_next(p, t - 1e-3, &h, &j));
	}
	assert_true(polite_next(p, t + 1e-9, &h, &j));
	assert_int_equal(h, host);
	assert_int_equal(j, job);
}

static void test_one_at_a_time_with_delay(void **state)
{
	struct polite *p = polite_new(&defaults);
	uint32_t a = host_n(p, 1), h, j;

	(void)state;
	assert_true(polite_wait(p, 0) < 0);
	for (uint32_t i = 0; i < 3; i++)
		polite_add(p, a, i, 0);
	polite_add_first(p, a, 9, 0);
	expect_at(p, 0, 0, a, 9);
	polite_cancel(p, a);                    /* no request: nothing owed */
	expect_at(p, 0, 0, a, 0);
	polite_start(p, a, 0);
	assert_false(polite_next(p, 100, &h, &j));      /* one connection */
	assert_true(polite_wait(p, 100) < 0);
	assert_true(polite_done(p, a, 100, POLITE_ANSWERED, -1, 0) == 0);
	expect_at(p, 100, 101, a, 1);           /* from the end of the answer */
	polite_start(p, a, 101);
	polite_set_crawl_delay(p, a, 7.5);
	polite_done(p, a, 102, POLITE_ANSWERED, -1, 0);
	expect_at(p, 102, 109.5, a, 2);
	polite_start(p, a, 109.5);
	polite_done(p, a, 110, POLITE_ANSWERED, -1, 0);
	assert_int_equal(polite_waiting(p), 0);
	polite_free(p);
}

static void test_crawl_delay_floor_and_cap(void **state)
{
	static const double cases[][2] = {
		{ -1, 1 }, { 0, 1 }, { 0.5, 1 }, { 2, 2 }, { 30, 30 }, { 31, 30 }, { 1e9, 30 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct polite *p = polite_new(&defaults);
		uint32_t a = host_n(p, 1);

		polite_add(p, a, 0, 0);
		polite_add(p, a, 1, 0);
		expect_at(p, 0, 0, a, 0);
		polite_start(p, a, 0);
		polite_done(p, a, 0, POLITE_ANSWERED, -1, 0);
		polite_set_crawl_delay(p, a, cases[i][0]);      /* robots.txt says so */
		expect_at(p, 0, cases[i][1], a, 1);
		polite_free(p);
	}
}

static void test_retry_after_and_backoff(void **state)
{
	struct polite_options o = defaults;
	struct polite *p;
	uint32_t a, h, j;
	double t = 0;

	(void)state;
	o.max_wait = 1e9;
	p = polite_new(&o);
	a = host_n(p, 1);
	for (uint32_t i = 0; i < 20; i++)
		polite_add(p, a, i, 0);
	/* 429 with Retry-After 17, draw 0.5 of jitter 0.1: 17.85 s. */
	expect_at(p, t, t, a, 0);
	polite_start(p, a, t);
	assert_true(fabs(polite_done(p, a, t, POLITE_THROTTLED, 17, 0.5) - 17.85) < 1e-9);
	expect_at(p, t, t + 17.85, a, 1);
	t += 17.85;
	/* Again, without: the second incident waits 120 s; the third 240. */
	polite_start(p, a, t);
	assert_true(fabs(polite_done(p, a, t, POLITE_THROTTLED, -1, 0) - 120) < 1e-9);
	expect_at(p, t, t + 120, a, 2);
	t += 120;
	polite_start(p, a, t);
	assert_true(fabs(polite_done(p, a, t, POLITE_THROTTLED, -1, 0) - 240) < 1e-9);
	t += 240;
	/* A server that always says "1" is not believed for ever. */
	expect_at(p, t, t, a, 3);
	polite_start(p, a, t);
	assert_true(fabs(polite_done(p, a, t, POLITE_THROTTLED, 1, 0) - 240) < 1e-9);
	/* Forgiven after a quiet while; a cap on Retry-After, and on doubling. */
	t += 240 + 1801;
	expect_at(p, t, t, a, 4);
	polite_start(p, a, t);
	assert_true(fabs(polite_done(p, a, t, POLITE_THROTTLED, 1e12, 0) - 86400) < 1e-6);
	for (uint32_t i = 5; i < 20; i++) {
		t += polite_blocked(p, a, t);
		assert_true(polite_next(p, t, &h, &j));
		polite_start(p, a, t);
		polite_done(p, a, t, POLITE_THROTTLED, -1, 0);
	}
	assert_true(fabs(polite_blocked(p, a, t) - 86400) < 1e-6);
	polite_free(p);
}

/* Five failures in a row are an incident; an answer between starts the count anew. */
static void test_failures_and_same_incident(void **state)
{
	struct polite_options o = defaults;
	struct polite *p;
	uint32_t a, h, j;
	double t = 0;

	(void)state;
	o.host_connections = 3;
	o.max_wait = 1e9;
	p = polite_new(&o);
	a = host_n(p, 1);
	for (uint32_t i = 0; i < 30; i++)
		polite_add(p, a, i, 0);
	for (int i = 0; i < 9; i++) {
		t += 1;
		assert_true(polite_next(p, t, &h, &j));
		polite_start(p, a, t);
		assert_true(polite_done(p, a, t, i == 4 ? POLITE_ANSWERED : POLITE_FAILED,
		                        -1, 0) == 0);
	}
	t += 1;
	assert_true(polite_next(p, t, &h, &j));
	polite_start(p, a, t);
	assert_true(fabs(polite_done(p, a, t, POLITE_FAILED, -1, 0) - 60) < 1e-9);
	/* Three under way, all answered 429: one incident, 120 s, longest Retry-After. */
	t += 60;
	for (int i = 0; i < 3; i++, t += 1) {
		assert_true(polite_next(p, t + 1e-9, &h, &j));
		polite_start(p, a, t);
	}
	assert_true(fabs(polite_done(p, a, t, POLITE_THROTTLED, -1, 0) - 120) < 1e-9);
	assert_true(fabs(polite_done(p, a, t, POLITE_THROTTLED, -1, 0) - 120) < 1e-9);
	assert_true(fabs(polite_done(p, a, t, POLITE_THROTTLED, 150, 0) - 150) < 1e-9);
	polite_free(p);
}

static void test_blocked_jobs_come_back(void **state)
{
	struct polite *p = polite_new(&defaults);
	uint32_t a = host_n(p, 1), b = host_n(p, 2), h, j;

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		polite_add(p, a, i, 0);
	polite_add(p, b, 100, 0);
	assert_true(polite_next(p, 0, &h, &j));
	assert_int_equal(h, a);
	polite_start(p, a, 0);
	assert_false(polite_take_blocked(p, 0, &h, &j));
	polite_done(p, a, 0, POLITE_THROTTLED, 3600, 0);
	for (uint32_t i = 1; i < 5; i++) {
		assert_true(polite_take_blocked(p, 0, &h, &j));
		assert_int_equal(h, a);
		assert_int_equal(j, i);
	}
	assert_false(polite_take_blocked(p, 0, &h, &j));
	polite_add(p, a, 7, 10);                /* still blocked: comes straight back */
	assert_true(polite_take_blocked(p, 10, &h, &j));
	assert_int_equal(j, 7);
	assert_true(polite_next(p, 10, &h, &j));
	assert_int_equal(h, b);                 /* the others go on */
	polite_cancel(p, b);
	polite_add(p, a, 8, 3541);              /* less than max_wait left: it waits */
	assert_false(polite_take_blocked(p, 3541, &h, &j));
	expect_at(p, 3541, 3600, a, 8);
	polite_cancel(p, a);
	polite_add(p, a, 1, 3600);
	polite_add(p, b, 2, 3600);
	assert_true(polite_take_any(p, &h, &j) && j == 1);
	assert_true(polite_take_any(p, &h, &j) && j == 2);
	assert_false(polite_take_any(p, &h, &j));
	polite_free(p);
}

/*
 * A random world: hosts over few addresses, answers after random times, some
 * throttled; hosts move to other addresses, while they wait and while they are asked.
 * The checker keeps its own plain arrays and knows only the rules.
 */
#define N_HOSTS 60
#define N_ADDRESSES 7

struct seen {                   /* the checker's memory */
	double last_end[N_HOSTS], last_start[N_HOSTS], blocked[N_HOSTS], delay[N_HOSTS];
	double addr_start[N_ADDRESSES];
	int open[N_HOSTS], addr_open[N_ADDRESSES];
};

struct flight { double end; uint32_t host, addr; };

static void check_start(const struct seen *s, const struct polite_options *o,
                        uint32_t h, uint32_t a, double t)
{
	assert_true(s->open[h] < (int)o->host_connections);
	assert_true(t >= s->blocked[h] - 1e-9);
	assert_true(t >= s->last_start[h] + s->delay[h] - 1e-9);
	if (o->host_connections == 1)
		assert_true(t >= s->last_end[h] + s->delay[h] - 1e-9);
	if (a < N_ADDRESSES) {
		assert_true(s->addr_open[a] < (int)o->address_connections);
		assert_true(t >= s->addr_start[a] + o->address_delay - 1e-9);
	}
}

static void run_world(uint64_t seed, unsigned host_connections)
{
	struct polite_options o = { .delay = 1, .max_crawl_delay = 5, .address_delay = 0.3,
		.host_connections = host_connections, .address_connections = 3,
		.max_wait = 50, .backoff = 20, .backoff_cap = 200, .retry_after_cap = 100,
		.forgive_after = 60, .jitter = 0.1, .failure_limit = 3 };
	struct polite *p = polite_new(&o);
	struct flight flights[256];
	uint32_t host[N_HOSTS], addr_of[N_HOSTS], moves_to[N_HOSTS], h, j, n_flights = 0;
	struct seen s;
	struct rng r;
	double t = 0;
	int given = 0, back = 0, n_jobs = 1200;

	rng_init(&r, seed);
	for (uint32_t i = 0; i < N_HOSTS; i++) {
		double crawl_delay = rng_next_unit(&r) * 8 - 2;

		host[i] = host_n(p, i);
		assert_int_equal(host[i], i);
		addr_of[i] = (uint32_t)rng_below(&r, N_ADDRESSES + 1);
		if (addr_of[i] < N_ADDRESSES)
			polite_set_address(p, i, polite_address(p, &addr_of[i], 4));
		polite_set_crawl_delay(p, i, crawl_delay);
		s.delay[i] = fmax(1, fmin(5, crawl_delay));
		s.last_end[i] = s.last_start[i] = s.blocked[i] = -1e9;
		s.open[i] = 0;
		moves_to[i] = addr_of[i];
	}
	for (int i = 0; i < N_ADDRESSES; i++)
		s.addr_start[i] = -1e9, s.addr_open[i] = 0;
	for (int i = 0; i < n_jobs; i++)
		polite_add(p, host[rng_below(&r, N_HOSTS)], (uint32_t)i, t);
	for (int step = 0; given + back < n_jobs || n_flights; step++) {
		double wake, wait;

		assert_true(step < 100000);
		while (polite_take_blocked(p, t, &h, &j)) {
			assert_true(s.blocked[h] - t > o.max_wait);
			back++;
		}
		while (polite_next(p, t, &h, &j)) {
			uint32_t a = addr_of[h];

			assert_int_equal(moves_to[h], a);
			check_start(&s, &o, h, a, t);
			if (rng_below(&r, 10) == 0) {           /* as robots.txt would */
				polite_cancel(p, h);
				given++;
				continue;
			}
			polite_start(p, h, t);
			s.last_start[h] = t;
			s.open[h]++;
			if (a < N_ADDRESSES)
				s.addr_open[a]++, s.addr_start[a] = t;
			flights[n_flights++] = (struct flight){
				t + rng_next_unit(&r) * 3, h, a };
			given++;
		}
		h = (uint32_t)rng_below(&r, N_HOSTS);
		moves_to[h] = (uint32_t)rng_below(&r, N_ADDRESSES);
		polite_set_address(p, h, polite_address(p, &moves_to[h], 4));
		if (!s.open[h])
			addr_of[h] = moves_to[h];
		wait = polite_wait(p, t);
		wake = wait < 0 ? 1e9 : t + wait;
		for (uint32_t i = 0; i < n_flights; i++)
			wake = fmin(wake, flights[i].end);
		assert_true(wake < 1e8 || (!n_flights && given + back == n_jobs));
		t = fmax(t, wake);
		for (uint32_t i = 0; i < n_flights; i++) {
			struct flight f = flights[i];
			uint64_t kind = rng_below(&r, 20);
			double retry = kind == 1 ? (double)rng_below(&r, 90) : -1, blocked;

			if (f.end > t)
				continue;
			flights[i--] = flights[--n_flights];
			blocked = polite_done(p, f.host, t, kind < 2 ? POLITE_THROTTLED
				: kind < 4 ? POLITE_FAILED : POLITE_ANSWERED, retry, 0.5);
			assert_true(kind != 0 || blocked >= 20 || s.blocked[f.host] > t);
			assert_true(blocked >= retry);
			s.blocked[f.host] = fmax(s.blocked[f.host], t + blocked);
			s.last_end[f.host] = t;
			if (!--s.open[f.host])
				addr_of[f.host] = moves_to[f.host];
			if (f.addr < N_ADDRESSES)
				s.addr_open[f.addr]--;
		}
	}
	assert_int_equal(polite_waiting(p), 0);
	assert_true(given > n_jobs / 2);
	polite_free(p);
}

static void test_random_worlds(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		run_world(seed, seed % 4 == 0 ? 2 : 1);
}

/* Work must not depend on how many hosts stand behind one address. */
static void test_hundred_thousand_hosts(void **state)
{
	struct polite_options o = defaults;
	struct timespec begin, end;
	struct polite *p;
	uint32_t h, j, n = 100000, done = 0;
	double t = 0, seconds;

	(void)state;
	o.address_delay = 0.001;
	p = polite_new(&o);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t a = i % 10 ? i % 50 : 50 + i;

		h = host_n(p, i);
		polite_set_address(p, h, polite_address(p, &a, sizeof a));
		polite_add(p, h, i, 0);
		polite_add(p, h, i, 0);
	}
	while (done < 2 * n) {
		while (polite_next(p, t, &h, &j)) {
			polite_start(p, h, t);
			polite_done(p, h, t, POLITE_ANSWERED, -1, 0);
			done++;
		}
		t += fmax(polite_wait(p, t), 0);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
	print_message("100,000 hosts, 200,000 jobs: %.2f s\n", seconds);
	assert_true(t >= 1.8 - 1e-6 && t < 4);  /* 1800 hosts an address, 1 ms apart, twice */
	polite_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_at_a_time_with_delay),
		cmocka_unit_test(test_crawl_delay_floor_and_cap),
		cmocka_unit_test(test_retry_after_and_backoff),
		cmocka_unit_test(test_failures_and_same_incident),
		cmocka_unit_test(test_blocked_jobs_come_back),
		cmocka_unit_test(test_random_worlds),
		cmocka_unit_test(test_hundred_thousand_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
