/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of many rows: on PostgreSQL they go by COPY, not as arrays.  What all stores of
 * stores.def give back is equal, field by field; a batch that is rolled back or fails leaves
 * nothing, and the store goes on.
 */
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
#include "base/mem.h"
#include "repo/store.h"
#include "../../lib/pg.h"
#include "../../lib/rows.h"
#include "../../lib/scratch.h"
#include "../../lib/whole.h"

#define MANY 1100               /* more than COPY_ROWS of repo/pg/batch.c */

enum {
#define STORE(x) STORE_##x,
#include "repo/stores.def"
#undef STORE
	N_STORES
};

#define DO(call) do { \
		if ((call) < 0) \
			fail_msg("%s: %s", #call, err.text); \
	} while (0)

static struct store_page pages[MANY];
static struct store_capture captures[MANY];
static struct store_visit visits[MANY];
static char urls[MANY][40];

static struct text some_text(uint64_t n)
{
	static const struct text list[] = {
		{ NULL, 0 }, { "", 0 }, { "plain", 5 }, { "a\0b", 3 }, { "\xff\xef\x9c\x80", 4 },
		{ "gr\xc3\xbc\xc3\x9f", 6 },
	};

	return list[n % (sizeof list / sizeof *list)];
}

/* Every field has its least and its largest value somewhere. */
static void make_rows(uint32_t first)
{
	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t r = rng_mix(first + i);
		int size = snprintf(urls[i], sizeof urls[i], "http://h%u.example/%u", i % 7, first + i);

		pages[i] = (struct store_page){ .url = { urls[i], (size_t)size },
			.added = i ? (int64_t)(r >> 30) : 0, .last_visit = (int64_t)(r >> 33),
			.last_change = (int64_t)(r >> 34), .visits = (uint32_t)(r >> 40),
			.changes = (uint32_t)(r >> 41), .fails = (uint32_t)(r >> 50),
			.fails_gone = (uint32_t)(r >> 51), .state = (uint8_t)(i % 3), .found = i % 5,
			.hint = (int64_t)(r >> 35), .hint_seen = i, .weight = (double)i / 7,
			.given = some_text(r),
			.touched = i % 2 ? (int64_t)(r >> 36) : 0, .notifier = i % 4 };
		captures[i] = (struct store_capture){ .page = first + i % (MANY / 2),
			/* 1970 to 2033: many partitions */
			.time = (int64_t)i * 1800000, .status = (int)(r % 600), .revisit = r >> 20 & 1,
			.mime = some_text(r >> 1), .digest = some_text(r >> 2), .prose = some_text(r >> 3),
			.tags = some_text(r >> 4), .title = some_text(r >> 5), .etag = some_text(r >> 6),
			.modified = some_text(r >> 7), .has_simhash = i % 2, .simhash = r,
			.length = i % 3 ? (int64_t)(r >> 24) : -1, .bytes_text = i % 4 ? (int64_t)i : -1,
			.words = (int64_t)i - 1, .images = -1, .tables = i % 9, .emails = i % 2,
			.outlinks = i, .links = some_text(r >> 8), .terms = some_text(r >> 9),
			.file = i % 3 ? (struct text){ "warc/1.gz", 9 } : (struct text){ 0 },
			.worker = i % 3 == 1 ? (struct text){ "north", 5 } : (struct text){ 0 },
			.offset = i % 3 ? (int64_t)(r >> 20) : -1, .size = i % 3 ? (int64_t)i : -1,
			.robots = some_text(r >> 11) };
		visits[i] = (struct store_visit){ .cycle = 1, .page = first + i,
			.time = (int64_t)i * 1800000, .outcome = (uint8_t)(i % N_OUTCOMES),
			.reason = (uint8_t)(i % 9), .cause = (uint8_t)(i % 9), .extra = (uint32_t)(r % 9),
			.status = (int)(r % 600), .hit = i % 2, .place = i,
			.score = i % 3 ? (float)i / 7 : NAN, .probability = i % 4 ? (float)i / MANY : NAN };
	}
}

static void write_many(struct store *s)
{
	static bool fresh[MANY];
	static uint8_t how[MANY];
	struct err err;

	DO(store_pages_add(s, pages, MANY, fresh, &err));
	DO(store_captures_put(s, captures, MANY, STORE_FIRST, how, &err));
	for (uint32_t i = 0; i < MANY; i++)
		assert_true(fresh[i] && how[i] == STORE_ADDED);
	DO(store_visits_add(s, visits, MANY, &err));
}

static void read_all(struct rows *d)
{
	struct err err;

	DO(store_pages(d->s, 0, rows_page, d, &err));
	DO(store_captures(d->s, NULL, 0, rows_capture, d, &err));
	DO(store_visits(d->s, 0, UINT32_MAX, rows_visit, d, &err));
}

static void test_many_rows_are_the_same(void **state)
{
	struct rows sides[N_STORES] = { 0 };
	char where[N_STORES][PG_URL + SCRATCH_PATH];
	struct err err;

	(void)state;
	scratch_path(where[STORE_sqlite], "db");
	pg_url(where[STORE_pg]);
	for (struct rows *d = sides; d < sides + N_STORES; d++) {
		static const size_t none = 0;

		buf_init(&d->out, BUF_NO_LIMIT);
		d->n_ids = &none;
		DO(store_open(&d->s, where[d - sides], STORE_CREATE, &err));
		DO(store_begin(d->s, &err));
		make_rows(0);
		write_many(d->s);
		store_rollback(d->s);
		DO(store_begin(d->s, &err));
		make_rows(0);
		write_many(d->s);
		DO(store_commit(d->s, &err));
		DO(store_begin(d->s, &err));
		make_rows(MANY);
		write_many(d->s);
		read_all(d);                    /* the batch is sent before its end */
		make_rows(2 * MANY);
		write_many(d->s);
		DO(store_commit(d->s, &err));
		DO(whole_check(d->s, &err));
		store_close(d->s);
		DO(store_open(&d->s, where[d - sides], STORE_READ, &err));
		read_all(d);
		store_close(d->s);
	}
	for (int i = 1; i < N_STORES; i++) {
		assert_true(sides[0].out.size > 5 * 3 * MANY * 20);
		assert_int_equal(sides[i].out.size, sides[0].out.size);
		assert_memory_equal(sides[i].out.data, sides[0].out.data, sides[0].out.size);
	}
	for (int i = 0; i < N_STORES; i++)
		buf_release(&sides[i].out);
}

/* Another row is in the way, which only the server can know. */
static void copy_fails(bool beside)
{
	struct store_counts counts;
	char where[PG_URL];
	struct store *s;
	struct err err;

	DO(store_open(&s, pg_url(where), STORE_CREATE, &err));
	assert_int_equal(pg_sql(where, "INSERT INTO pages VALUES (0, 700, 0, 'x', 0, 0, 0, 0, 0, 0, "
	                        "0, 0, 0, 0, 0, 1, NULL, 0, 0, 0, 0, 0)"), 1);
	DO(store_begin(s, &err));
	make_rows(0);
	write_many(s);
	if (beside) {
		struct store_sent sent = { .cycle = 1, .place = 1 };

		DO(store_commit_start(s, &err));
		DO(store_sent_start(s, &sent, 1, &err));        /* the journal has its own way */
		DO(store_sent_done(s, true, &err));
		assert_int_equal(store_commit_done(s, true, &err), E_STORE);
		assert_non_null(strstr(err.text, "duplicate key"));
		assert_int_equal(store_begin(s, &err), E_STORE);
		assert_non_null(strstr(err.text, "duplicate key"));
		assert_int_equal(store_count(s, &counts, &err), E_STORE);
		assert_int_equal(store_commit_start(s, &err), E_STORE);
	} else {
		assert_int_equal(store_commit(s, &err), E_STORE);
	}
	assert_non_null(strstr(err.text, "duplicate key"));
	store_rollback(s);
	assert_int_equal(store_commit_done(s, false, &err), 1);
	assert_int_equal(pg_sql(where, "DELETE FROM pages"), 1);
	assert_int_equal(pg_number(where, "SELECT count(*) FROM visits"), 0);
	DO(store_begin(s, &err));
	make_rows(0);
	write_many(s);
	DO(store_commit(s, &err));
	DO(store_count(s, &counts, &err));
	assert_int_equal(counts.pages, MANY);
	assert_int_equal(counts.captures, MANY);
	assert_int_equal(counts.visits, MANY);
	DO(whole_check(s, &err));
	store_close(s);
}

static void test_a_copy_that_fails(void **state)
{
	(void)state;
	copy_fails(false);
}

static void test_a_copy_that_fails_beside(void **state)
{
	(void)state;
	copy_fails(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_rows_are_the_same),
		cmocka_unit_test(test_a_copy_that_fails),
		cmocka_unit_test(test_a_copy_that_fails_beside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
