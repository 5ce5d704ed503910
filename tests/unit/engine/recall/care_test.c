/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who a policy sees in each recalled cycle, when pages are removed, paused and put back in
 * between: against a plain array that is followed by hand.  And a snapshot of the past plans
 * as the past itself does.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "engine/recall/dry.h"
#include "engine/recall/resume.h"
#include "../../../lib/bed.h"

#define PAGES 30
#define CYCLES 8
#define SEEDS 20

static bool seen[CYCLES + 1][PAGES];
static uint32_t n_begun;

static void eye_begin(struct policy *p, const struct view *v)
{
	(void)p;
	n_begun++;
	for (uint32_t i = 0; i < PAGES; i++)
		seen[n_begun][i] = (v->state[i] & PAGE_HERE) != 0;
}

static void eye_tell(struct policy *p, const struct view *v, const struct seen *s)
{
	(void)p, (void)v, (void)s;
}

static const struct policy_ops eye_ops = { .name = "eye", .begin = eye_begin,
                                           .tell = eye_tell };

/* care[c][i] when cycle c began; the last row is now. */
static void make_past(struct bed *b, uint64_t seed, uint8_t care[CYCLES + 2][PAGES])
{
	struct rng g;

	rng_init(&g, seed);
	for (int i = 0; i < PAGES; i++)
		bed_add(b, "http://site%d.example/%d", i % 4, i);
	memset(care, 0, (CYCLES + 2) * PAGES);
	for (uint32_t c = 1; c <= CYCLES + 1; c++) {
		struct store_cycle row = { .number = c, .time = 1700000000 + c * 100, .budget = 5,
		                           .policy = { "x", 1 } };

		memcpy(care[c], care[c - 1], PAGES);
		for (uint64_t k = rng_below(&g, 8); k; k--) {
			struct store_care r = { .page = (uint32_t)rng_below(&g, PAGES),
			                        .care = (uint8_t)(rng_below(&g, 2) * rng_below(&g, 16)) };

			assert_int_equal(store_begin(b->store, NULL), 0);
			assert_int_equal(store_care_put(b->store, &r, 1, row.time - 1, NULL), 0);
			assert_int_equal(store_commit(b->store, NULL), 0);
			care[c][r.page] = r.care;
		}
		if (c > CYCLES)
			break;
		assert_int_equal(store_begin(b->store, NULL), 0);
		assert_int_equal(store_cycle_put(b->store, &row, NULL), 0);
		for (uint32_t i = 0; i < PAGES; i++) {
			struct store_visit v = { .cycle = c, .page = i, .time = row.time, .status = 200,
			                         .score = NAN, .probability = NAN };

			if (!care[c][i] && rng_below(&g, 4) == 0)
				assert_int_equal(store_visit_add(b->store, &v, NULL), 0);
		}
		assert_int_equal(store_commit(b->store, NULL), 0);
	}
}

static void check(struct bed *b, uint8_t care[CYCLES + 2][PAGES], uint32_t before)
{
	struct recall_opts o = { .before_cycle = before };
	struct pages_opts po = { 0 };
	struct policy policy = { .ops = &eye_ops };
	struct recalled r;
	struct loaded loaded;
	struct engine e;
	uint32_t last = before ? before : CYCLES + 1;

	n_begun = 0;
	assert_int_equal(load_pages(&loaded, b->store, &po, NULL), 0);
	engine_init(&e, &loaded.pages, &policy, 0);
	assert_int_equal(recall(&e, &loaded, b->store, &o, &r, NULL), 0);
	assert_int_equal(n_begun, last - 1);
	for (uint32_t c = 1; c < last; c++)
		for (uint32_t i = 0; i < PAGES; i++)
			assert_int_equal(seen[c][i], !care[c][i]);
	for (uint32_t i = 0; i < PAGES; i++) {
		bool then = !care[last][i], now = !care[CYCLES + 1][i];

		assert_int_equal(e.visits.state[i], then ? PAGE_HERE : 0);
		/* what left after an open cycle began is not offered */
		assert_int_equal(then && map_get(&e.out, i) == 1, then && !now);
	}
	engine_release(&e);
	loaded_release(&loaded);
}

static void a_policy_sees_who_was_under_care(void **state)
{
	static uint8_t care[CYCLES + 2][PAGES];

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct bed b;

		bed_open(&b, "127.0.0.1");
		make_past(&b, seed, care);
		for (uint32_t before = 0; before <= CYCLES; before += 1 + before / 2)
			check(&b, care, before);
		bed_close(&b);
	}
}

/* The plan of the next cycle, as a hash of its pages. */
static uint64_t plan_hash(struct bed *b, bool keep, uint32_t *ret_thawed)
{
	struct resume_opts o = { .policy = "tide", .seed = 3, .cycle_seconds = 100,
	                         .before_cycle = CYCLES + 1, .snapshot = keep };
	struct resumed r;
	uint64_t h = 0;

	assert_int_equal(resume(&r, b->store, &o, NULL), 0);
	*ret_thawed = r.recalled.n_thawed;
	assert_int_equal(dry_cycle(&r, 1800000000, 9, NULL, NULL), 0);
	for (size_t i = 0; i < r.engine.cycle.n_seen; i++)
		h = hash_bytes(&r.engine.cycle.seen[i].page, 4, h);
	resume_release(&r);
	return h;
}

static void a_snapshot_knows_who_was_under_care(void **state)
{
	static uint8_t care[CYCLES + 2][PAGES];
	uint32_t thawed;

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct store_care row = { .page = 1, .care = CARE_PAUSED };
		uint64_t plain, kept;
		struct bed b;

		bed_open(&b, "127.0.0.1");
		make_past(&b, seed, care);
		plain = plan_hash(&b, true, &thawed);
		assert_int_equal(thawed, 0);
		kept = plan_hash(&b, false, &thawed);
		assert_int_equal(thawed, CYCLES);
		assert_true(plain == kept);
		/* a change now is not of the past: the snapshot stays good */
		assert_int_equal(store_begin(b.store, NULL), 0);
		assert_int_equal(store_care_put(b.store, &row, 1, 1, NULL), 0);
		assert_int_equal(store_commit(b.store, NULL), 0);
		plan_hash(&b, false, &thawed);
		assert_int_equal(thawed, CYCLES);
		bed_close(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_policy_sees_who_was_under_care),
		cmocka_unit_test(a_snapshot_knows_who_was_under_care),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
