/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shard's part of a cycle in the hands of a service: once it is to be given back, no page of it is
 * leased any more.  Whoever had such a page could tell nobody what became of it.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <cmocka.h>

#include "../../../lib/client_desk.h"
#include "base/stop.h"
#include "serve/fleet/parts.h"

#define SHARD 3

struct shop {
	struct client_desk desk;
	struct parts *parts;
	struct fleet_cycle cycle;
	struct crawl_fleet fleet;
	struct work_part work;
	volatile sig_atomic_t stop;
	pthread_t thread;
	struct store_cycle row;         /* as the ledger heard of it last */
	int rc;
};

static int grant_all(void *arg, struct engine *e, enum crawl_idle idle, uint32_t *granted,
                     struct err *err)
{
	struct shop *s = arg;

	(void)e, (void)idle, (void)err;
	*granted = s->cycle.budget;
	return CRAWL_MORE_LATER;
}

static int note(void *arg, const struct store_cycle *row, struct err *err)
{
	(void)err;
	((struct shop *)arg)->row = *row;
	return 0;
}

static void *run(void *arg)
{
	struct shop *s = arg;
	struct crawl_report r = { 0 };
	struct err err;

	s->rc = parts_run(s->parts, &s->work, &r, &err);
	return NULL;
}

static void open_shop(struct shop *s)
{
	*s = (struct shop){ 0 };
	desk_open(&s->desk, "oldest");
	s->cycle = (struct fleet_cycle){ .number = 1, .every = 3600, .budget = DESK_BUDGET,
	                                 .policy = "oldest", .aim = "freshness" };
	s->fleet = (struct crawl_fleet){ .budget = DESK_BUDGET, .pages = DESK_PAGES,
	                                 .more = grant_all, .committed = note, .arg = s };
	s->work = (struct work_part){ .store = s->desk.store[0], .shard = SHARD, .fleet = &s->fleet,
	                              .cycle = &s->cycle, .n_shards = 8, .expected = DESK_BUDGET,
	                              .stop = &s->stop, .anew = true, .seconds = 3600 };
	s->parts = parts_new(&s->desk.opts);
	assert_int_equal(pthread_create(&s->thread, NULL, run, s), 0);
	while (!parts_count(s->parts))
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

static void close_shop(struct shop *s)
{
	stop_set(&s->stop);
	pthread_join(s->thread, NULL);
	assert_int_equal(s->rc, E_STOP);
	assert_int_equal(parts_count(s->parts), 0);
	parts_free(s->parts);
	desk_close(&s->desk);
}

static size_t ask(struct shop *s, uint32_t want)
{
	struct client_asking a = { .name = "a", .want = want };
	struct parts_asked r = { 0 };
	struct arena keep = { 0 };
	struct err err;
	size_t n;

	assert_int_equal(parts_ask(s->parts, &a, &keep, &r, &err), 0);
	n = r.offers.n;
	vec_release(&r.offers);
	arena_release(&keep);
	return n;
}

static void test_leases_until_it_is_to_stop(void **state)
{
	struct shop s;

	(void)state;
	open_shop(&s);
	assert_int_equal(ask(&s, 3), 3);
	assert_int_equal(ask(&s, 5), 5);        /* three that it had, two more */
	stop_set(&s.stop);                      /* the thread of the part sees it later */
	assert_int_equal(ask(&s, 8), 0);
	close_shop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_leases_until_it_is_to_stop) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
