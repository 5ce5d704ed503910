/* SPDX-License-Identifier: Apache-2.0 */
/* The time left against a crawl that is played through, second by second of its events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "engine/crawl/time_left.h"

#define HOSTS 12

/* When the last answer comes: whoever may be asked first is, while there is a connection;
 * an answer takes as long as any other of its host, which then has its pause. */
static double play(const struct left_host *hosts, size_t n, unsigned connections)
{
	uint32_t left[HOSTS];
	double ready[HOSTS] = { 0 }, free_at[HOSTS] = { 0 }, end = 0;

	for (size_t i = 0; i < n; i++)
		left[i] = hosts[i].requests;
	for (;;) {
		size_t host = n, slot = 0;
		double start;

		for (size_t i = 0; i < n; i++)
			if (left[i] && (host == n || ready[i] < ready[host]))
				host = i;
		if (host == n)
			return end;
		for (size_t k = 1; k < connections; k++)
			if (free_at[k] < free_at[slot])
				slot = k;
		start = fmax(ready[host], free_at[slot]);
		free_at[slot] = start + hosts[host].answer;
		ready[host] = start + hosts[host].answer + hosts[host].pause;
		left[host]--;
		end = fmax(end, start + hosts[host].answer);
	}
}

static void test_by_hand(void **state)
{
	struct left_host two[] = { { 3, 10, 2 }, { 100, 0, 2 } }, none[] = { { 0, 5, 1 } };
	struct left_host slow[] = { { 4, 0, 9 }, { 30, 1, 0 } };

	(void)state;
	assert_true(time_left(none, 1, 8) == 0);
	assert_true(time_left(two, 0, 8) == 0);
	/* answer, pause, answer, pause, answer: 3 x 2 + 2 x 10 */
	assert_true(time_left(two, 1, 8) == 26);
	/* the other host has 100 answers of 2 s, one after the other */
	assert_true(time_left(two, 2, 8) == 200);
	/* one connection for both */
	assert_true(time_left(two, 2, 1) == 206);
	/* few pages of a slow host take longer than many of a quick one: 4 x 9, not 29 x 1 */
	assert_true(time_left(slow, 2, 8) == 36);
}

static void test_as_it_is_played(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 3);
	for (int i = 0; i < 3000; i++) {
		struct left_host h[HOSTS];
		size_t n = 1 + rng_below(&r, HOSTS);
		unsigned connections = (unsigned)(1 + rng_below(&r, HOSTS));
		double all, few, work = 0;

		for (size_t k = 0; k < n; k++) {
			h[k] = (struct left_host){ (uint32_t)rng_below(&r, 60),
			                           0.25 * (double)rng_below(&r, 20),
			                           0.05 * (double)(1 + rng_below(&r, 40)) };
			work += h[k].requests * h[k].answer;
		}
		/* a connection for each host: exactly */
		all = time_left(h, n, HOSTS);
		assert_true(fabs(all - play(h, n, HOSTS)) < 1e-6);
		/* fewer: never more than it takes, and at most one bound is missing */
		few = time_left(h, n, connections);
		assert_true(few <= play(h, n, connections) + 1e-6);
		assert_true(play(h, n, connections) <= all + work / connections + 1e-6);
		assert_true(few + 1e-6 >= (all + work / connections) / 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_as_it_is_played),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
