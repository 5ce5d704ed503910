/* SPDX-License-Identifier: Apache-2.0 */
/* Changes from a cursor: random visits against a plain list of them, from every place in it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "engine/changes/change_feed.h"
#include "policy/policy.h"
#include "../../../lib/bed.h"

#define PAGES 12
#define CYCLES 9
#define SEEDS 20

struct list { uint32_t cycle[CYCLES * PAGES], page[CYCLES * PAGES]; size_t n; };

static void add_visits(struct bed *b, uint64_t seed, struct list *ret)
{
	struct rng g;
	struct err err;

	rng_init(&g, seed);
	for (int i = 0; i < PAGES; i++)
		bed_add(b, "http://a.example/%d", i);
	assert_int_equal(store_begin(b->store, &err), 0);
	for (uint32_t c = 1; c <= CYCLES; c++) {
		struct store_cycle cycle = { .number = c, .time = 1000 * c, .policy = { "random", 6 } };
		uint32_t quiet = (uint32_t)rng_below(&g, 3);    /* some cycles find nothing */

		assert_int_equal(store_cycle_put(b->store, &cycle, &err), 0);
		for (uint32_t i = 0; i < PAGES; i++) {
			struct store_visit v = { .cycle = c, .page = i, .time = 1000 * c + i,
				.score = NAN, .probability = NAN };

			v.outcome = (uint8_t)(quiet ? rng_below(&g, 5) : OUTCOME_SAME);
			assert_int_equal(store_visit_add(b->store, &v, &err), 0);
			if (v.outcome == OUTCOME_CHANGED || v.outcome == OUTCOME_GONE) {
				ret->cycle[ret->n] = c;
				ret->page[ret->n++] = i;
			}
		}
	}
	assert_int_equal(store_commit(b->store, &err), 0);
}

struct reading { const struct list *list; size_t at, most; };

static int see(void *arg, const struct store_visit *v, struct err *err)
{
	struct reading *r = arg;

	(void)err;
	if (!r->most)
		return 1;
	assert_true(r->at < r->list->n);
	assert_int_equal(v->cycle, r->list->cycle[r->at]);
	assert_int_equal(v->page, r->list->page[r->at]);
	r->at++;
	r->most--;
	return 0;
}

static void test_cursors(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct list all = { .n = 0 };
		struct change_cursor c;
		struct bed b;
		struct err err;

		bed_open(&b, "127.0.0.0/8");
		add_visits(&b, seed, &all);
		for (size_t piece = 1; piece <= all.n + 1; piece += 1 + all.n / 5) {
			struct reading r = { &all, 0, 0 };
			char text[CHANGE_CURSOR_SIZE];

			assert_int_equal(change_cursor_read(&c, b.store, NULL, &err), 0);
			while (r.at < all.n) {
				r.most = piece;
				assert_int_equal(change_feed(b.store, &c, see, &r, &err), 0);
				change_cursor_write(&c, text);
				assert_int_equal(change_cursor_read(&c, b.store, text, &err), 0);
			}
			r.most = 1;             /* nothing is left */
			assert_int_equal(change_feed(b.store, &c, see, &r, &err), 0);
			assert_int_equal(r.most, 1);
		}
		for (uint32_t n = 1; n <= all.n + 3; n++) {
			struct reading r = { &all, n < all.n ? all.n - n : 0, SIZE_MAX };

			assert_int_equal(change_cursor_last(&c, b.store, n, &err), 0);
			assert_int_equal(change_feed(b.store, &c, see, &r, &err), 0);
			assert_int_equal(r.at, all.n);
		}
		assert_int_equal(change_cursor_end(&c, b.store, &err), 0);
		assert_int_equal(change_feed(b.store, &c, see, &(struct reading){ &all, all.n, 1 }, &err), 0);
		bed_close(&b);
	}
}

static void test_refused(void **state)
{
	static const char *const bad[] = { "", "1", "1.2", "1.2.3.4", "2.1.1", "1.-1.1", "1.1.1x", "1.01.1" };
	struct change_cursor c = { 7, 7 };
	struct bed b;
	struct err err;

	(void)state;
	bed_open(&b, "127.0.0.0/8");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(change_cursor_read(&c, b.store, bad[i], &err), E_USAGE);
	assert_int_equal(change_cursor_read(&c, b.store, "1.9.1", &err), E_GONE);       /* ahead */
	assert_int_equal(c.cycle, 7);
	assert_int_equal(change_cursor_last(&c, b.store, 5, &err), 0);  /* no cycle yet */
	assert_int_equal(c.cycle, 0);
	bed_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cursors), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
