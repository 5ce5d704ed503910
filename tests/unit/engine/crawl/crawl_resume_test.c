/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cycle that is gone on with asks for what the whole cycle would have asked for, also of
 * pages whose history is unusual.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "demo/origin.h"
#include "engine/book/visit.h"
#include "../../../lib/bed.h"

#define DAY 86400
#define BUDGET 80

struct stage {
	struct origin_world world;
	struct origin *origin;
	struct bed bed;
};

static void setup(struct stage *s, uint64_t seed)
{
	const struct living *l = &s->world.living;
	char path[64];

	*s = (struct stage){ .world = { .living = LIVING_DEFAULTS } };
	s->world.living.seed = seed;
	s->world.now = l->start;
	s->origin = origin_start(origin_world_answer, &s->world);
	bed_open(&s->bed, "127.0.1.0/24");
	for (uint32_t i = 0; i < living_count(l); i++) {
		living_path(l, i, path);
		bed_add(&s->bed, "http://127.0.1.%u:%u%s", living_site(l, i) + 1,
		        origin_port(s->origin), path);
	}
	s->bed.opts.cycle_seconds = 14 * DAY;
	s->bed.opts.budget = (struct share){ BUDGET, false };
	s->bed.opts.fetch.connections = 1;
	s->bed.opts.batch = 3;
}

static void teardown(struct stage *s)
{
	bed_close(&s->bed);
	origin_stop(s->origin);
}

/* Another crawler tells that it visited every other page, and has no copy to give. */
static void tell_of_visits(struct stage *s)
{
	struct new_visit v = { .outcome = OUTCOME_SAME, .status = 200, .score = NAN,
		.probability = NAN, .time = s->world.now - DAY };
	struct verdict verdict;
	struct err err;

	assert_int_equal(store_begin(s->bed.store, &err), 0);
	for (v.page = 0; v.page < living_count(&s->world.living); v.page += 2)
		assert_int_equal(visit_write(s->bed.store, &v, 1, &verdict, &err), 0);
	assert_int_equal(store_commit(s->bed.store, &err), 0);
}

/* A copy is a first one though the page was visited before: nothing is learnt from it, by
 * the cycle that made it and by who goes on with it. */
static void test_first_copies(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		uint64_t hash[2];

		for (int kill = 0; kill < 2; kill++) {
			struct stage s;

			setup(&s, seed);
			tell_of_visits(&s);
			s.bed.opts.policy = "tide";
			for (int i = 0; i < 2; i++) {
				s.bed.opts.now = s.world.now += 14 * DAY;
				if (kill)
					assert_true(bed_killed_cycle(&s.bed, BUDGET / 2));
				assert_false(bed_killed_cycle(&s.bed, UINT32_MAX));
			}
			hash[kill] = bed_hash_visits(&s.bed, true);
			teardown(&s);
		}
		assert_true(hash[0] == hash[1]);
	}
}

/* ---- pages that are refused ---- */

/* Pages of one host lead through three redirects each. */
static void answer_hops(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	(void)arg;
	if (!strcmp(q->path, "/robots.txt")) {
		r->status = 404;
	} else if (!strcmp(q->host, "127.0.1.1") && strlen(q->path) < 6) {
		r->status = 302;
		buf_printf(&r->headers, "Location: %s+\n", q->path);
	} else {
		buf_str(&r->body, q->path);
	}
}

struct refused { struct bed *bed; uint32_t n; uint8_t had[99]; };

static int see_refused(void *arg, const struct store_lease *l, struct err *err)
{
	struct refused *r = arg;
	struct store_page p;

	assert_int_equal(l->state, STORE_LEASE_DROPPED);
	assert_int_equal(r->had[l->page]++, 0);         /* refused once, */
	assert_int_equal(store_page_get(r->bed->store, l->page, &p, err), 1);
	assert_int_equal(p.visits + p.fails, 0);        /* and not asked for later */
	r->n++;
	return 0;
}

static uint32_t count_refused(struct bed *b)
{
	struct refused r = { .bed = b };
	struct err err;

	assert_int_equal(store_leases(b->store, 1, see_refused, &r, &err), 0);
	return r.n;
}

/* Its part of the budget is used up by the redirects of a few pages, and the others that
 * were planned with them are refused.  A start that goes on knows that: it makes the cycle
 * that one start would have made. */
static void test_refused_pages(void **state)
{
	static const char *const policies[] = { "oldest", "random" };

	(void)state;
	for (size_t p = 0; p < 2; p++) {
		uint64_t hash[2];
		uint32_t refused[2];

		for (int kill = 0; kill < 2; kill++) {
			struct origin *o = origin_start(answer_hops, NULL);
			struct bed bed;

			bed_open(&bed, "127.0.1.0/24");
			for (int i = 0; i < 99; i++)
				bed_add(&bed, "http://127.0.1.%d:%u/%02d", i % 3 ? 2 : 1, origin_port(o), i % 100);
			bed.opts.policy = policies[p];
			bed.opts.budget = (struct share){ 60, false };
			bed.opts.site_share = (struct share){ 20, true };
			bed.opts.fetch.connections = 1;
			bed.opts.batch = 2;
			for (uint32_t at = 12; kill && at < 60; at += 16)
				assert_true(bed_killed_cycle(&bed, at));
			assert_int_equal(bed_cycle(&bed).cycle.downloads, 60);
			refused[kill] = count_refused(&bed);
			hash[kill] = bed_hash_visits(&bed, true);
			bed_close(&bed);
			origin_stop(o);
		}
		assert_true(refused[0] > 5);
		assert_int_equal(refused[0], refused[1]);
		assert_true(hash[0] == hash[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_copies),
		cmocka_unit_test(test_refused_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
