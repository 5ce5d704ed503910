/* SPDX-License-Identifier: Apache-2.0 */
/* The library in several threads, a handle each: clients of one cycle, and plans beside. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "../../../lib/scratch.h"
#include "freshet.h"

#define CLIENTS 4
#define PAGES 200
#define BUDGET 120

static char folder[SCRATCH_PATH];
static atomic_int visited[PAGES];
static atomic_int wrong;                /* cmocka's asserts are for its own thread */

/* Busy is an answer, too: try later. */
static int patient(int rc)
{
	if (rc == FRESHET_E_BUSY)
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	else if (rc < 0)
		atomic_fetch_add(&wrong, 1);
	return rc;
}

static void *take_part(void *arg)
{
	struct freshet_cycle_options cycle = { .size = sizeof cycle, .client = arg,
	                                       .policy = "random", .budget = BUDGET,
	                                       .delay = -1 };
	struct freshet_ask_options want = { .size = sizeof want, .want = 5 };
	struct freshet_asked a = { .size = sizeof a };
	struct freshet *f;

	if (freshet_open(&f, folder) < 0 || freshet_cycle_begin(f, &cycle) < 0)
		atomic_fetch_add(&wrong, 1);
	for (int tries = 0; tries < 20000 && !a.done && !atomic_load(&wrong); tries++) {
		if (patient(freshet_ask(f, &want, &a)) < 0)
			continue;
		if (!a.n)
			nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
		for (uint32_t i = 0; i < a.n; i++) {
			struct freshet_told t = { .size = sizeof t, .lease = a.offers[i]->lease,
			                          .status = 200, .digest = "x" };

			atomic_fetch_add(&visited[atoi(strrchr(a.offers[i]->url, '/') + 1)], 1);
			while (patient(freshet_tell(f, &t)) < 0 && !atomic_load(&wrong))
				;
		}
	}
	if (!a.done)
		atomic_fetch_add(&wrong, 1);
	freshet_close(f);
	return NULL;
}

static int count(void *arg, const struct freshet_page *page)
{
	(void)page;
	++*(int *)arg;
	return 0;
}

/* Reads while the others write. */
static void *plan(void *arg)
{
	struct freshet_plan_options o = { .size = sizeof o, .budget = PAGES, .policy = "oldest" };
	struct freshet *f;

	(void)arg;
	if (freshet_open(&f, folder) < 0)
		atomic_fetch_add(&wrong, 1);
	for (int i = 0; i < 10; i++) {
		int n = 0;

		if (patient(freshet_plan(f, &o, count, &n)) == 0 && n != PAGES)
			atomic_fetch_add(&wrong, 1);
	}
	freshet_close(f);
	return NULL;
}

static void test_threads(void **state)
{
	char names[CLIENTS][16], url[64];
	pthread_t threads[CLIENTS + 1];
	struct freshet *f;
	int n = 0;

	(void)state;
	scratch_folder(folder, "threads");
	assert_int_equal(freshet_create(&f, folder), 0);
	for (int i = 0; i < PAGES; i++) {
		snprintf(url, sizeof url, "http://s%d.example/%d", i, i);
		assert_int_equal(freshet_add(f, url), 1);
	}
	for (int i = 0; i < CLIENTS; i++) {
		snprintf(names[i], sizeof names[i], "c%d", i);
		assert_int_equal(pthread_create(&threads[i], NULL, take_part, names[i]), 0);
	}
	assert_int_equal(pthread_create(&threads[CLIENTS], NULL, plan, NULL), 0);
	for (int i = 0; i <= CLIENTS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(atomic_load(&wrong), 0);
	for (int i = 0; i < PAGES; i++) {
		assert_true(atomic_load(&visited[i]) <= 1);
		n += atomic_load(&visited[i]);
	}
	assert_int_equal(n, BUDGET);
	assert_int_equal(freshet_cycle_end(f), 1);
	freshet_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_threads) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
