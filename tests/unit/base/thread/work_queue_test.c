/* SPDX-License-Identifier: Apache-2.0 */
/* work_queue_test.c - the queue gives back everything once, worked on once, in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <time.h>

#include "base/thread/work_queue.h"

#define SLOTS 5

struct owner {
	uint32_t in[SLOTS], out[SLOTS];
	atomic_uint worked[SLOTS];
	atomic_uint busy[9];            /* threads at work: never one number twice */
	atomic_uint overlaps;
	uint32_t together;
	atomic_uint most;               /* slots of one call */
};

static void work_one(struct owner *o, uint32_t slot)
{
	/* the odd ones take longer, so that later ones are done first */
	if (o->in[slot] % 2)
		nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
	o->out[slot] = o->in[slot] * 3 + 1;
	atomic_fetch_add(&o->worked[slot], 1);
}

static void work(void *arg, unsigned thread, const uint32_t *slots, uint32_t n)
{
	struct owner *o = arg;

	if (atomic_fetch_add(&o->busy[thread], 1))
		atomic_fetch_add(&o->overlaps, 1);
	assert_in_range(n, 1, o->together);
	if (n > o->most)
		o->most = n;
	for (uint32_t i = 0; i < n; i++)
		work_one(o, slots[i]);
	atomic_fetch_sub(&o->busy[thread], 1);
}

static void take(struct owner *o, struct work_queue *q, bool wait, uint32_t *next)
{
	uint32_t slot;

	if (!work_queue_take(q, wait, &slot)) {
		assert_true(!wait || !work_queue_count(q));
		return;
	}
	assert_int_equal(o->in[slot], *next);
	assert_int_equal(o->out[slot], *next * 3 + 1);
	assert_int_equal(atomic_exchange(&o->worked[slot], 0), 1);
	++*next;
}

static void in_order(uint32_t together)
{
	for (unsigned threads = 0; threads <= 8; threads += threads ? threads : 1) {
		struct owner o = { .together = together };
		struct work_queue *q = work_queue_new(threads, SLOTS, together, work, &o);
		uint32_t next = 0;

		for (uint32_t i = 0; i < 2000; i++) {
			if (i % 3 == 0)
				take(&o, q, false, &next);
			while (work_queue_full(q))
				take(&o, q, true, &next);
			assert_int_equal(work_queue_count(q), i - next);
			o.in[work_queue_slot(q)] = i;
			work_queue_put(q);
		}
		while (work_queue_count(q))
			take(&o, q, true, &next);
		assert_int_equal(next, 2000);
		assert_int_equal(atomic_load(&o.overlaps), 0);
		take(&o, q, true, &next);       /* empty: does not wait for ever */
		work_queue_free(q);
	}
}

static void test_order(void **state)
{
	(void)state;
	for (uint32_t together = 1; together <= SLOTS; together++)
		in_order(together);
}

/* A call gets as many slots as it may. */
static void test_together(void **state)
{
	static const struct { uint32_t together, most; } tries[] = { { 3, 3 }, { 9, SLOTS }, { 1, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
		struct owner o = { .together = tries[i].together };
		struct work_queue *q = work_queue_new(0, SLOTS, tries[i].together, work, &o);
		uint32_t next = 0;

		for (uint32_t k = 0; k < SLOTS; k++) {
			o.in[work_queue_slot(q)] = k;
			work_queue_put(q);
		}
		while (work_queue_count(q))
			take(&o, q, true, &next);
		assert_int_equal(o.most, tries[i].most);
		work_queue_free(q);
	}
}

/* Without threads nothing is done until the owner waits for it. */
static void test_alone(void **state)
{
	struct owner o = { .in = { 7 }, .together = 1 };
	struct work_queue *q = work_queue_new(0, SLOTS, 1, work, &o);
	uint32_t slot;

	(void)state;
	work_queue_put(q);
	assert_false(work_queue_take(q, false, &slot));
	assert_true(work_queue_take(q, true, &slot));
	assert_int_equal(o.out[slot], 22);
	work_queue_free(q);
}

/* A thread begins with as much as it may take at once; with less, if the owner waits. */
static void test_begins(void **state)
{
	struct owner o = { .together = 3 };
	struct work_queue *q = work_queue_new(1, SLOTS, 3, work, &o);
	uint32_t next = 0;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		o.in[work_queue_slot(q)] = i;
		work_queue_put(q);
	}
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	assert_int_equal(o.most, 0);
	take(&o, q, true, &next);
	assert_int_equal(o.most, 2);
	take(&o, q, true, &next);
	for (uint32_t i = 2; i < 5; i++) {
		o.in[work_queue_slot(q)] = i;
		work_queue_put(q);
	}
	for (int i = 0; i < 10000 && !atomic_load(&o.worked[4]); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	assert_int_equal(o.most, 3);
	while (work_queue_count(q))
		take(&o, q, true, &next);
	work_queue_free(q);
}

/* What is in the line when it is freed is worked on wholly or not at all. */
static void test_left_over(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		struct owner o = { .in = { 0, 1, 2, 3, 4 }, .together = 2 };
		struct work_queue *q = work_queue_new(2, SLOTS, 2, work, &o);

		for (int i = 0; i < SLOTS; i++)
			work_queue_put(q);
		work_queue_free(q);
		for (int i = 0; i < SLOTS; i++)
			assert_int_equal(o.out[i], atomic_load(&o.worked[i]) ? 3 * i + 1 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_begins),
		cmocka_unit_test(test_left_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
