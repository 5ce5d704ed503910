/* SPDX-License-Identifier: Apache-2.0 */
/* line_test.c - the line gives back everything once, worked on once, in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <time.h>

#include "base/thread/line.h"

#define PLACES 5

struct owner {
	uint32_t in[PLACES], out[PLACES];
	atomic_uint worked[PLACES];
	atomic_uint busy[9];            /* threads at work: never one number twice */
	atomic_uint overlaps;
};

static void work(void *arg, unsigned thread, uint32_t place)
{
	struct owner *o = arg;

	if (atomic_fetch_add(&o->busy[thread], 1))
		atomic_fetch_add(&o->overlaps, 1);
	/* the odd ones take longer, so that later ones are done first */
	if (o->in[place] % 2)
		nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
	o->out[place] = o->in[place] * 3 + 1;
	atomic_fetch_add(&o->worked[place], 1);
	atomic_fetch_sub(&o->busy[thread], 1);
}

static void take(struct owner *o, struct line *l, bool wait, uint32_t *next)
{
	uint32_t place;

	if (!line_take(l, wait, &place)) {
		assert_true(!wait || !line_count(l));
		return;
	}
	assert_int_equal(o->in[place], *next);
	assert_int_equal(o->out[place], *next * 3 + 1);
	assert_int_equal(atomic_exchange(&o->worked[place], 0), 1);
	++*next;
}

static void test_order(void **state)
{
	(void)state;
	for (unsigned threads = 0; threads <= 8; threads += threads ? threads : 1) {
		struct owner o = { 0 };
		struct line *l = line_new(threads, PLACES, work, &o);
		uint32_t next = 0;

		for (uint32_t i = 0; i < 2000; i++) {
			if (i % 3 == 0)
				take(&o, l, false, &next);
			while (line_full(l))
				take(&o, l, true, &next);
			assert_int_equal(line_count(l), i - next);
			o.in[line_place(l)] = i;
			line_put(l);
		}
		while (line_count(l))
			take(&o, l, true, &next);
		assert_int_equal(next, 2000);
		assert_int_equal(atomic_load(&o.overlaps), 0);
		take(&o, l, true, &next);       /* empty: does not wait for ever */
		line_free(l);
	}
}

/* Without threads nothing is done until the owner waits for it. */
static void test_alone(void **state)
{
	struct owner o = { .in = { 7 } };
	struct line *l = line_new(0, PLACES, work, &o);
	uint32_t place;

	(void)state;
	line_put(l);
	assert_false(line_take(l, false, &place));
	assert_true(line_take(l, true, &place));
	assert_int_equal(o.out[place], 22);
	line_free(l);
}

/* What is in the line when it is freed is worked on wholly or not at all. */
static void test_left_over(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		struct owner o = { .in = { 0, 1, 2, 3, 4 } };
		struct line *l = line_new(2, PLACES, work, &o);

		for (int i = 0; i < PLACES; i++)
			line_put(l);
		line_free(l);
		for (int i = 0; i < PLACES; i++)
			assert_int_equal(o.out[i], atomic_load(&o.worked[i]) ? 3 * i + 1 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_left_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
