/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Back-off against a naive oracle that keeps every visit ever made and works out who rests
 * from the whole list, over seeds; and its lengths against a table worked by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "engine/cycle/backoff.h"

#define DAY 86400
#define N_PAGES 60
#define N_HOSTS 12
#define CYCLES 40
#define VISITS 30

static void test_lengths(void **state)
{
	static const struct { enum failure kind; uint32_t f; int cycle_days; double draw, days; }
	table[] = {
		{ FAILURE_ANSWER, 1, 1, 0.5, 1 },
		{ FAILURE_ANSWER, 1, 0, 0.5, 1 },       /* never less than a day */
		{ FAILURE_ANSWER, 1, 14, 0.5, 14 },
		{ FAILURE_ANSWER, 2, 1, 0.5, 2 },
		{ FAILURE_ANSWER, 5, 1, 0.5, 16 },
		{ FAILURE_ANSWER, 1, 1, 0, 0.75 },
		{ FAILURE_TIMEOUT, 3, 2, 0.25, 7 },     /* 2 x 4 x 0.875 */
		{ FAILURE_FORBIDDEN, 1, 1, 0.5, 4 }, { FAILURE_UNWANTED, 1, 1, 0.5, 4 },
		{ FAILURE_DNS, 2, 1, 0.5, 8 },
		{ FAILURE_CONNECT, 2, 1, 0.5, 2 },
		{ FAILURE_RESET, 1, 1, 0.5, 0.5 },
		{ FAILURE_ANSWER, 8, 1, 0.5, 90 },      /* 128 */
		{ FAILURE_ANSWER, 7, 1, 0.999, 79.968 },
		{ FAILURE_FORBIDDEN, 4000000000u, 1, 0, 90 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		assert_int_equal(backoff_length(table[i].cycle_days * DAY, table[i].kind, table[i].f,
		                                table[i].draw), (int64_t)(table[i].days * DAY + 0.5));
}

/* ---- the oracle ---- */

struct visit { uint32_t cycle, page, host; enum failure f; bool counts; };

struct oracle {
	struct visit v[CYCLES * VISITS];
	size_t n;
	int64_t now[CYCLES + 1];
	uint64_t seed;
	int64_t cycle_seconds;
};

static bool is_answer(enum failure f)
{
	return f == FAILURE_NO || f == FAILURE_ANSWER || f == FAILURE_FORBIDDEN ||
	       f == FAILURE_UNWANTED;
}

static bool answer_in(const struct oracle *o, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (is_answer(o->v[i].f))
			return true;
	return false;
}

/* In which cycle the host of visit k was put off last, without a good answer since; 0: none. */
static uint32_t put_off_before(const struct oracle *o, size_t first, uint32_t host)
{
	for (size_t i = first; i-- > 0;) {
		if (o->v[i].host != host)
			continue;
		if (o->v[i].f == FAILURE_NO)
			return 0;
		if (o->v[i].f >= FAILURE_RESET && !o->v[i].counts)
			return o->v[i].cycle;
	}
	return 0;
}

/* Which visits of the last cycle, from `first` on, count. */
static void decide(struct oracle *o, size_t first)
{
	size_t tail = o->n, n_hosts = 0;

	while (tail > first && !is_answer(o->v[tail - 1].f))
		tail--;
	for (size_t i = tail; i < o->n; i++) {
		bool before = o->v[i].f == FAILURE_UNKNOWN;

		for (size_t k = tail; k < i; k++)
			before |= o->v[k].f != FAILURE_UNKNOWN && o->v[k].host == o->v[i].host;
		n_hosts += !before;
	}
	for (size_t i = first; i < o->n; i++) {
		struct visit *v = &o->v[i];
		uint32_t put_off = put_off_before(o, first, v->host);
		size_t since = 0;
		bool good = false;

		for (size_t k = first; k < i; k++)      /* it answered meanwhile */
			good |= o->v[k].host == v->host && o->v[k].f == FAILURE_NO;
		while (since < o->n && o->v[since].cycle <= put_off)
			since++;
		v->counts = v->f > FAILURE_NO && (is_answer(v->f) || i < tail ||
			(answer_in(o, first, o->n) && n_hosts < BACKOFF_OUTAGE) ||
			(put_off && !good && answer_in(o, since, o->n)));
	}
}

static int64_t length(const struct oracle *o, uint32_t cycle, enum failure f, uint32_t fails,
                      uint32_t number, unsigned purpose)
{
	double u = rng_unit(rng_draw(o->seed, (uint64_t)o->now[cycle], number, RNG_USER + purpose));
	double s = o->cycle_seconds > DAY ? (double)o->cycle_seconds : DAY;

	for (uint32_t i = 1; i < fails && s < 1e9; i++)
		s *= 2;
	s *= f == FAILURE_FORBIDDEN || f == FAILURE_UNWANTED || f == FAILURE_DNS ? 4 : f == FAILURE_RESET ? 0.5 : 1;
	s *= 0.75 + u / 2;
	return s > 90.0 * DAY ? 90 * DAY : (int64_t)s;
}

static enum rest page_rest(const struct oracle *o, uint32_t page, int64_t now)
{
	uint32_t fails = 0;
	int64_t until = 0;

	for (size_t i = 0; i < o->n; i++) {
		const struct visit *v = &o->v[i];

		if (v->page != page || v->f == FAILURE_UNKNOWN)
			continue;
		if (v->f == FAILURE_NO)
			fails = 0;
		else if (v->counts && v->f < FAILURE_CONNECT)
			until = o->now[v->cycle] + length(o, v->cycle, v->f, ++fails, page, 0);
	}
	return !fails ? REST_NO : until > now ? REST_RESTS : REST_BACK;
}

static enum rest host_rest(const struct oracle *o, uint32_t host, int64_t now)
{
	uint32_t fails = 0, streak = 0, counted = 0, pages[CYCLES * VISITS], n_pages = 0;
	int64_t until = 0;

	for (size_t i = 0; i < o->n; i++) {
		const struct visit *v = &o->v[i];
		int64_t t = o->now[v->cycle];
		bool known = false;

		if (v->host != host || v->f == FAILURE_UNKNOWN)
			continue;
		if (v->f == FAILURE_NO) {
			fails = streak = counted = n_pages = 0;
			until = 0;
			continue;
		}
		if (!v->counts) {
			if (until < t + o->cycle_seconds * 3 / 2)
				until = t + o->cycle_seconds * 3 / 2;
			continue;
		}
		if (v->f == FAILURE_UNWANTED)   /* the host is well */
			continue;
		streak++;
		for (uint32_t k = 0; k < n_pages; k++)
			known |= pages[k] == v->page;
		if (!known)
			pages[n_pages++] = v->page;
		if (v->f >= FAILURE_CONNECT ? counted != v->cycle :
		    streak >= 5 && n_pages >= 3 && until <= t)
			until = t + length(o, v->cycle, v->f >= FAILURE_CONNECT ? v->f : FAILURE_ANSWER,
			                   ++fails, host, 1);
		if (v->f >= FAILURE_CONNECT)
			counted = v->cycle;
	}
	return until > now ? REST_RESTS : fails ? REST_BACK : REST_NO;
}

static void compare(const struct oracle *o, const struct backoff *b, int64_t now, size_t seen[3])
{
	for (uint32_t page = 0; page < N_PAGES; page++) {
		enum rest p = page_rest(o, page, now), h = host_rest(o, page % N_HOSTS, now);
		enum rest want = p == REST_RESTS || h == REST_RESTS ? REST_RESTS :
		                 p == REST_BACK || h == REST_BACK ? REST_BACK : REST_NO;

		assert_int_equal(backoff_look(b, page, page % N_HOSTS), want);
		seen[want]++;
	}
}

/* Worlds from kind to dead: hosts with moods, cycles in which the network is down. */
static enum failure draw_failure(struct rng *r, double bad, bool down)
{
	double u = rng_next_unit(r);

	if (down)
		return u < 0.7 ? FAILURE_DNS : FAILURE_CONNECT;
	if (u >= bad)
		return u < bad + 0.02 ? FAILURE_UNKNOWN : FAILURE_NO;
	return (enum failure)(FAILURE_ANSWER + rng_below(r, N_FAILURES - FAILURE_ANSWER));
}

static void test_oracle(void **state)
{
	size_t seen[3] = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 120; seed++) {
		static struct oracle o;
		struct backoff b = { 0 };
		struct rng r;
		double bad = (double)(seed % 6) / 5;

		rng_init(&r, seed);
		o = (struct oracle){ .seed = seed, .cycle_seconds = seed % 3 ? DAY : 9 * DAY };
		for (uint32_t c = 1; c <= CYCLES; c++) {
			size_t first = o.n, n = rng_below(&r, VISITS) + 1, from = rng_below(&r, 2 * n);
			bool down = rng_below(&r, 4) == 0;

			o.now[c] = o.now[c - 1] + (int64_t)(1 + rng_below(&r, 3)) * o.cycle_seconds;
			backoff_begin(&b, seed, o.cycle_seconds, o.now[c]);
			compare(&o, &b, o.now[c], seen);
			for (size_t i = 0; i < n; i++) {
				uint32_t page = (uint32_t)rng_below(&r, N_PAGES), host = page % N_HOSTS;
				double mood = host < 3 ? 1 : host < 6 ? 0 : bad;
				struct visit v = { c, page, host, draw_failure(&r, mood, down && i >= from),
				                   false };

				o.v[o.n++] = v;
				backoff_tell(&b, page, host, v.f);
			}
			backoff_end(&b);
			decide(&o, first);
		}
		backoff_release(&b);
	}
	for (int k = 0; k < 3; k++)
		assert_true(seen[k] > 1000);
}

/* A host whose name has no address is one failure, not one of each of its pages. */
static void test_once_a_host(void **state)
{
	struct backoff b = { 0 };
	int64_t until;
	uint32_t fails;

	(void)state;
	backoff_begin(&b, 1, DAY, DAY);
	for (uint32_t page = 0; page < 1000; page++)
		backoff_tell(&b, page, 7, FAILURE_DNS);
	backoff_tell(&b, 5000, 8, FAILURE_NO);
	assert_true(backoff_why(&b, 3, 7, &until, &fails));
	assert_int_equal(fails, 1);
	assert_true(until >= 4 * DAY && until <= 6 * DAY);
	assert_int_equal(backoff_look(&b, 999999, 7), REST_RESTS);      /* never asked for */
	assert_int_equal(b.pages.n, 0);
	backoff_end(&b);
	backoff_begin(&b, 1, DAY, 90 * DAY);
	assert_int_equal(backoff_look(&b, 3, 7), REST_BACK);
	backoff_tell(&b, 3, 7, FAILURE_NO);                     /* one answer frees all of it */
	assert_int_equal(backoff_look(&b, 4, 7), REST_NO);
	backoff_release(&b);
}

/* The network is down for a week: nobody is punished for it. */
static void test_our_own_fault(void **state)
{
	struct backoff b = { 0 };

	(void)state;
	for (int day = 1; day <= 7; day++) {
		backoff_begin(&b, 1, DAY, day * DAY);
		for (uint32_t page = 0; page < 50; page++)
			backoff_tell(&b, page, page, page & 1 ? FAILURE_DNS : FAILURE_CONNECT);
		backoff_end(&b);
	}
	backoff_begin(&b, 1, DAY, 9 * DAY);
	for (uint32_t page = 0; page < 50; page++)
		assert_int_equal(backoff_look(&b, page, page), REST_NO);
	backoff_release(&b);
}

/* One request a cycle, and the first in line is dead: others get their turn, and it counts. */
static void test_a_dead_page_alone(void **state)
{
	struct backoff b = { 0 };
	int asked = 0;

	(void)state;
	for (int day = 1; day <= 30; day++) {
		backoff_begin(&b, 1, DAY, day * DAY);
		if (backoff_look(&b, 0, 0) == REST_NO) {
			asked++;
			backoff_tell(&b, 0, 0, FAILURE_CONNECT);
		} else {
			backoff_tell(&b, 1, 1, FAILURE_NO);
		}
		backoff_end(&b);
	}
	assert_int_equal(asked, 2);
	backoff_release(&b);
}

/* What is over takes no memory for ever. */
static void test_memory(void **state)
{
	struct backoff b = { 0 };

	(void)state;
	for (int day = 1; day <= 20; day++) {
		uint32_t from = (uint32_t)day * 10000;

		backoff_begin(&b, 1, DAY, day * DAY);
		for (uint32_t i = 0; i < 10000; i++) {
			backoff_tell(&b, from + i, i / 2, FAILURE_ANSWER);
			backoff_tell(&b, from + i - 10000, i / 2, FAILURE_NO);
		}
		backoff_end(&b);
		assert_true(b.pages.n <= 30000);
	}
	assert_int_equal(backoff_look(&b, 200001, 0), REST_RESTS);
	backoff_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_oracle),
		cmocka_unit_test(test_once_a_host),
		cmocka_unit_test(test_our_own_fault),
		cmocka_unit_test(test_a_dead_page_alone),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
