/* SPDX-License-Identifier: Apache-2.0 */
/* A store that others write to: what is read is of one moment, and no code of theirs
 * runs.  Cells that make no sense: tests/e2e/rows.sh. */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "repo/store.h"
#include "repo/sqlite/store_sqlite.h"
#include "../../lib/scratch.h"

static char path[SCRATCH_PATH];

static int setup(void **state)
{
	struct err err;

	scratch_path(path, "db");
	assert_int_equal(store_open((struct store **)state, path, STORE_CREATE, &err), 0);
	return 0;
}

static int teardown(void **state)
{
	store_close(*state);
	return 0;
}

static void execute(const char *sql)
{
	sqlite3 *db;
	char *why = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s", why);
	sqlite3_close(db);
}

static int count_page(void *arg, const struct store_page *p, struct err *err)
{
	(void)p;
	(void)err;
	++*(uint32_t *)arg;
	return 0;
}

static uint32_t count_pages(struct store *s)
{
	struct err err;
	uint32_t n = 0;

	if (store_pages(s, 0, count_page, &n, &err) < 0)
		fail_msg("%s", err.text);
	return n;
}

static void add_one(struct store *s, const char *url, uint32_t number)
{
	uint32_t got = 99;
	struct err err;

	assert_int_equal(store_begin(s, &err), 0);
	assert_int_equal(store_page_add(s, (struct text){ url, strlen(url) }, 7, &got, &err), 1);
	assert_int_equal(got, number);
	assert_int_equal(store_commit(s, &err), 0);
}

/* Who reads sees one moment, whatever another program writes meanwhile. */
static void test_frozen(void **state)
{
	struct store *s = *state, *other, *reader;
	struct err err;

	add_one(s, "http://a/", 0);
	assert_int_equal(store_open(&other, path, STORE_EXISTING, &err), 0);
	assert_int_equal(store_open(&reader, path, STORE_READ, &err), 0);
	assert_int_equal(store_freeze(s, &err), 0);
	assert_int_equal(count_pages(s), 1);
	assert_int_equal(count_pages(reader), 1);
	add_one(other, "http://b/", 1);
	assert_int_equal(count_pages(s), 1);
	store_thaw(s);
	assert_int_equal(count_pages(s), 2);
	assert_int_equal(count_pages(reader), 1);       /* as long as it is open */
	add_one(s, "http://c/", 2);                     /* and may write again */
	assert_int_equal(store_freeze(reader, &err), 0);
	store_thaw(reader);
	assert_int_equal(count_pages(reader), 1);
	store_close(reader);
	store_close(other);
}

/* No code of a stranger runs: triggers sleep, a view is no table. */
static void test_code_in_the_tables(void **state)
{
	struct store *s = *state;
	struct err err;
	uint32_t n = 0;

	store_close(s);
	execute("CREATE TRIGGER t AFTER INSERT ON pages BEGIN DELETE FROM pages; END");
	assert_int_equal(store_open(&s, path, STORE_EXISTING, &err), 0);
	add_one(s, "http://a/", 0);
	add_one(s, "http://b/", 1);
	assert_int_equal(count_pages(s), 2);
	store_close(s);
	execute("DROP TRIGGER t; ALTER TABLE pages RENAME TO x; CREATE VIEW pages AS SELECT * FROM x");
	assert_int_equal(store_open(&s, path, STORE_READ, &err), 0);
	*state = s;
	assert_int_equal(store_pages(s, 0, count_page, &n, &err), E_STORE);
}

/* Another program keeps the tables to itself: a code of its own, and words that help.  Then
 * all goes on. */
static void test_busy(void **state)
{
	struct store *s = *state;
	struct err err = { 0 };
	uint32_t number;
	sqlite3 *db;

	sqlite3_busy_timeout(((struct store_sqlite *)s)->db, 10);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(store_begin(s, &err), E_BUSY);
	assert_non_null(strstr(err.text, "another program is writing"));
	assert_int_equal(store_setting_put(s, "k", "v", &err), E_BUSY);
	assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(store_begin(s, &err), 0);
	assert_int_equal(store_page_add(s, (struct text){ "http://a.example/", 17 }, 1, &number,
	                                &err), 1);
	assert_int_equal(store_commit(s, &err), 0);
}

static struct store_log carry(struct store *s)
{
	struct store_log log;
	struct err err;

	if (store_carry_log(s, &log, &err) < 0)
		fail_msg("%s", err.text);
	return log;
}

/* Who is frozen in the log holds it: to begin it anew makes a writer wait for the disk. */
static void test_log_is_held(void **state)
{
	struct store *writer = *state, *holder;
	struct store_log log, before;
	struct store_page p;
	struct err err;

	store_leave_log(writer);
	assert_int_equal(store_open(&holder, path, STORE_EXISTING, &err), 0);
	add_one(writer, "http://example.org/0", 0);
	before = carry(holder);
	assert_int_equal(before.left, 0);
	add_one(writer, "http://example.org/1", 1);             /* nobody holds it: it begins anew */
	log = carry(holder);
	assert_in_range(log.bytes, 1, before.bytes - 1);

	add_one(writer, "http://example.org/2", 2);
	assert_int_equal(store_freeze(holder, &err), 0);
	assert_int_equal(store_page_get(holder, 0, &p, &err), 1);
	before = carry(writer);
	assert_int_equal(before.left, 0);
	for (uint32_t i = 3; i < 6; i++) {
		char url[] = "http://example.org/?";

		url[sizeof url - 2] = (char)('0' + i);
		add_one(writer, url, i);
		log = carry(writer);
		assert_true(log.bytes > before.bytes);
		assert_int_equal(log.left, log.bytes - before.bytes);   /* more than the holder saw */
	}
	store_thaw(holder);
	before = carry(writer);
	assert_int_equal(before.left, 0);
	add_one(writer, "http://example.org/6", 6);
	log = carry(writer);
	assert_true(log.bytes < before.bytes);
	assert_int_equal(count_pages(holder), 7);
	store_close(holder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_frozen, setup, teardown),
		cmocka_unit_test_setup_teardown(test_code_in_the_tables, setup, teardown),
		cmocka_unit_test_setup_teardown(test_busy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_log_is_held, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
