/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts that the store keeps are those of its rows: after every step of a history out of a
 * seed, SQLite itself is asked.  So are visits that found something.  What somebody else
 * did to the rows is found by the check, and mended.
 */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "repo/store.h"
#include "../../lib/scratch.h"

#define PAGES 12
#define STEPS 400
#define TIMES 60

static char path[SCRATCH_PATH];

static int64_t ask(const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *q;
	int64_t ret;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	ret = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	sqlite3_close(db);
	return ret;
}

static int count_one(void *arg, const struct store_visit *v, struct err *err)
{
	(void)err;
	assert_true(v->outcome == OUTCOME_CHANGED || v->outcome == OUTCOME_GONE);
	++*(int64_t *)arg;
	return 0;
}

static void compare(struct store *s)
{
	struct store_counts c;
	struct err err;
	int64_t found = 0;

	assert_int_equal(store_count(s, &c, &err), 0);
	assert_int_equal(c.pages, ask("SELECT count(*) FROM pages"));
	assert_int_equal(c.captures, ask("SELECT count(*) FROM captures"));
	assert_int_equal(c.visits, ask("SELECT count(*) FROM visits"));
	assert_int_equal(c.first_capture, ask("SELECT coalesce(min(time), 0) FROM captures"));
	assert_int_equal(c.last_capture, ask("SELECT coalesce(max(time), 0) FROM captures"));
	assert_int_equal(c.gone, ask("SELECT count(*) FROM pages WHERE state <> 0 AND care & 1 = 0"));
	assert_int_equal(c.removed, ask("SELECT count(*) FROM pages WHERE care & 1"));
	assert_int_equal(c.paused, ask("SELECT count(*) FROM pages WHERE care & 9 = 0 AND care > 0"));
	assert_int_equal(store_visits_found(s, 1, 3, count_one, &found, &err), 0);
	assert_int_equal(found, ask("SELECT count(*) FROM visits WHERE cycle IN (1, 2) AND outcome "
	                            "IN (1, 2)"));
}

static void put_capture(struct store *s, struct rng *g)
{
	struct store_capture c = { .page = (uint32_t)rng_below(g, PAGES), .revisit = false,
		.time = 1000 + (int64_t)rng_below(g, TIMES), .status = rng_below(g, 2) ? 200 : 404,
		.length = -1, .bytes_text = -1, .words = -1, .images = -1, .tables = -1, .emails = -1,
		.outlinks = -1, .offset = -1, .size = -1 };
	static const enum store_second how[] = { STORE_FIRST, STORE_NEXT, STORE_BEST };
	struct err err;

	assert_true(store_capture_put(s, &c, how[rng_below(g, 3)], &err) >= 0);
}

static void step(struct store *s, struct rng *g)
{
	uint64_t id = 1 + rng_below(g, 200);
	uint32_t page = (uint32_t)rng_below(g, PAGES);
	struct store_visit v = { .cycle = (uint32_t)rng_below(g, 4), .page = page, .time = 1000,
	                         .outcome = (uint8_t)rng_below(g, N_OUTCOMES) };
	struct store_page_change to = { .number = page, .set = STORE_SET_STATE,
	                                .to.state = (uint8_t)rng_below(g, 2) };
	struct store_care care = { .page = page, .care = (uint8_t)rng_below(g, 3) };
	struct err err;

	switch (rng_below(g, 8)) {
	case 0: assert_int_equal(store_captures_drop(s, &id, 1, &err), 0); break;
	case 1: assert_int_equal(store_visits_forget(s, &page, 1, &err), 0); break;
	case 2: assert_int_equal(store_pages_change(s, &to, 1, &err), 0); break;
	case 3: assert_int_equal(store_care_put(s, &care, 1, 1000, &err), 0); break;
	case 4: case 5: put_capture(s, g); break;
	default: assert_int_equal(store_visits_add(s, &v, 1, &err), 0);
	}
}

static struct store *open_new(void)
{
	struct store *s;
	struct err err;

	scratch_path(path, "db");
	assert_int_equal(store_open(&s, path, STORE_CREATE, &err), 0);
	compare(s);
	assert_int_equal(store_begin(s, &err), 0);
	for (unsigned i = 0; i < PAGES; i++) {
		char url[40];
		uint32_t number;
		int n = snprintf(url, sizeof url, "http://a.example/%u", i);

		assert_int_equal(store_page_add(s, (struct text){ url, (size_t)n }, 7, &number, &err), 1);
	}
	assert_int_equal(store_commit(s, &err), 0);
	return s;
}

static void test_counts_are_those_of_the_rows(void **state)
{
	struct store *s = open_new();
	struct rng g;
	struct err err;

	(void)state;
	rng_init(&g, 29);
	for (unsigned i = 0; i < STEPS; i++) {
		bool whole = rng_below(&g, 5) > 0;

		assert_int_equal(store_begin(s, &err), 0);
		for (uint64_t n = rng_below(&g, 6); n; n--)
			step(s, &g);
		if (whole)
			assert_int_equal(store_commit(s, &err), 0);
		else
			store_rollback(s);
		if (rng_below(&g, 20) == 0)
			assert_int_equal(store_tidy(s, false, &err), 0);
		compare(s);
	}
	store_close(s);
}

static int mend(void *arg, const struct store_problem *p, struct err *err)
{
	(void)err;
	assert_string_equal(p->table, "counts");
	assert_non_null(p->was);
	++*(int *)arg;
	return 1;
}

static void test_what_others_did_is_mended(void **state)
{
	static const char *const done[] = {
		"DELETE FROM visits WHERE id = (SELECT min(id) FROM visits)", "DELETE FROM counts",
		"UPDATE counts SET captures = 'x'", "UPDATE counts SET visits = -5",
		"UPDATE counts SET first = 1",
	};
	struct store *s = open_new();
	struct rng g;
	struct err err;

	(void)state;
	rng_init(&g, 30);
	assert_int_equal(store_begin(s, &err), 0);
	for (unsigned i = 0; i < 60; i++)
		step(s, &g);
	put_capture(s, &g);
	assert_int_equal(store_commit(s, &err), 0);
	assert_int_equal(store_tidy(s, false, &err), 0);
	for (size_t i = 0; i < sizeof done / sizeof *done; i++) {
		sqlite3 *db;
		int n = 0;

		assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, done[i], NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		assert_int_equal(store_check(s, mend, &n, &err), 0);
		assert_int_equal(n, 1);
		compare(s);
		assert_int_equal(store_check(s, mend, &n, &err), 0);
		assert_int_equal(n, 1);
	}
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_are_those_of_the_rows),
		cmocka_unit_test(test_what_others_did_is_mended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
