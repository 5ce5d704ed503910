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
#include <cmocka.h>

#include "demo/origin.h"
#include "engine/book/keep.h"
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
	struct kept_visit v = { .outcome = OUTCOME_SAME, .status = 200, .score = NAN,
		.probability = NAN, .time = s->world.now - DAY };
	struct verdict verdict;
	struct err err;

	assert_int_equal(store_begin(s->bed.store, &err), 0);
	for (v.page = 0; v.page < living_count(&s->world.living); v.page += 2)
		assert_int_equal(keep_visit(s->bed.store, &v, 1, &verdict, &err), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
