/* SPDX-License-Identifier: Apache-2.0 */
/* The library: who tells is alone, what makes no sense does not come in,
 * and plans are those of the program.
 *
 * Sanitized only.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include <sqlite3.h>

#include "../../../lib/scratch.h"
#include "freshet.h"

static int count(void *arg, const struct freshet_page *page)
{
	(void)page;
	++*(int *)arg;
	return 0;
}

static int tell(struct freshet *f, const char *url, enum freshet_outcome o, int64_t t)
{
	struct freshet_told told = { .size = sizeof told, .url = url, .outcome = o, .time = t,
	                             .add = 1 };

	return freshet_tell(f, &told);
}

static void test_tell(void **state)
{
	struct freshet_plan_options later = { .size = sizeof later };
	char folder[SCRATCH_PATH], archive[SCRATCH_LONG];
	struct freshet *f;
	int crawler, n = 0;

	(void)state;
	scratch_folder(folder, "api");
	snprintf(archive, sizeof archive, "%s/freshet.db-lock", folder);
	assert_int_equal(freshet_create(&f, folder), 0);
	assert_int_equal(freshet_add(f, "http://a.example/1"), 1);
	crawler = open(archive, O_RDONLY | O_CREAT, 0666);
	assert_int_equal(flock(crawler, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(tell(f, "http://a.example/1", FRESHET_CHANGED, 1000), FRESHET_E_BUSY);
	assert_non_null(strstr(freshet_error(f), "another freshet"));
	assert_int_equal(flock(crawler, LOCK_UN), 0);
	assert_int_equal(tell(f, "http://a.example/1", (enum freshet_outcome)77, 1000),
	                 FRESHET_E_USAGE);
	assert_int_equal(tell(f, "http://a.example/1", FRESHET_BY_STATUS, 1000), FRESHET_E_USAGE);
	assert_int_equal(tell(f, "http://bad host/", FRESHET_SAME, 1000), FRESHET_E_USAGE);
	assert_int_equal(tell(f, "http://a.example/1", FRESHET_GONE, 1000), 1);
	/* nobody is kept out between two calls */
	close(crawler);
	crawler = open(archive, O_RDONLY | O_CREAT, 0666);
	assert_int_equal(flock(crawler, LOCK_EX | LOCK_NB), 0);
	/* once is no confirmation */
	later.now = (int64_t)time(NULL) + 30 * 86400;   /* it has failed, and rests */
	assert_int_equal(freshet_plan(f, &later, count, &n), 0);
	assert_int_equal(n, 1);
	close(crawler);
	freshet_close(f);
}

static int count_large(void *arg, const struct freshet_page *page)
{
	*(int *)arg += !strncmp(page->url, "http://large.example/", 21);
	return 0;
}

/* As `freshet plan` has it: no site gets more than its part of the pages and half of the
 * rest, here 30 of 49: 79 of 98, of 20 requests 16.1. */
static void test_plan_has_a_ceiling(void **state)
{
	struct freshet_plan_options o = { .size = sizeof o, .policy = "oldest", .budget = 20 };
	char folder[SCRATCH_PATH], url[64];
	struct freshet *f;
	int n = 0;

	(void)state;
	scratch_folder(folder, "ceiling");
	assert_int_equal(freshet_create(&f, folder), 0);
	for (int i = 0; i < 30; i++) {
		snprintf(url, sizeof url, "http://large.example/%d", i);
		assert_int_equal(freshet_add(f, url), 1);
	}
	for (int i = 0; i < 19; i++) {
		snprintf(url, sizeof url, "http://s%d.example/", i);
		assert_int_equal(tell(f, url, FRESHET_SAME, 1000), 1);
	}
	assert_int_equal(freshet_plan(f, &o, count_large, &n), 0);
	assert_int_equal(n, 17);
	freshet_close(f);
}

/* Counted by somebody else: the store, through its own program. */
static void expect_rows(const char *folder, const char *table, const char *value)
{
	char path[SCRATCH_LONG], sql[200];
	sqlite3_stmt *q;
	sqlite3 *db;

	snprintf(path, sizeof path, "%s/freshet.db", folder);
	snprintf(sql, sizeof sql, "SELECT %s", table);
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(q, 0), value);
	sqlite3_finalize(q);
	sqlite3_close(db);
}

/* Neither another call, nor one that fails, nor the end of the program takes back what was
 * told. */
static void test_told_is_kept(void **state)
{
	char folder[SCRATCH_PATH];
	struct freshet *f;

	(void)state;
	scratch_folder(folder, "kept");
	assert_int_equal(freshet_create(&f, folder), 0);
	assert_int_equal(tell(f, "http://a.example/1", FRESHET_CHANGED, 1000), 1);
	expect_rows(folder, "count(*) FROM visits", "1");
	assert_int_equal(freshet_add(f, "http://a.example/2"), 1);
	assert_true(freshet_add(f, "http://bad host/") < 0);
	assert_int_equal(freshet_weigh(f, "http://a.example/2", -1), FRESHET_E_USAGE);
	assert_int_equal(freshet_import(f, "/nonexistent/file"), FRESHET_E_IO);
	assert_int_equal(freshet_set(f, "budget", "much"), FRESHET_E_USAGE);
	assert_int_equal(tell(f, "http://a.example/2", FRESHET_SAME, 1001), 1);
	freshet_close(f);
	expect_rows(folder, "group_concat(cycle || ' ' || page || ' ' || time) FROM visits",
	            "1 0 1000,2 1 1001");
	expect_rows(folder, "group_concat(number || ' ' || open || ' ' || downloads) FROM cycles",
	            "1 0 1,2 0 1");
}

/* As `freshet tell`: twice gone is gone, unless the repository says otherwise. */
static void test_confirmations(void **state)
{
	char folder[SCRATCH_PATH];
	struct freshet *f;

	(void)state;
	scratch_folder(folder, "confirm");
	assert_int_equal(freshet_create(&f, folder), 0);
	assert_int_equal(freshet_set(f, "confirmations", "3"), 0);
	for (int i = 1; i <= 3; i++) {
		assert_int_equal(tell(f, "http://a.example/", FRESHET_GONE, 1000 * i), 1);
	}
	expect_rows(folder, "group_concat(outcome) FROM visits", "3,3,2");
	freshet_close(f);
}

struct heard { int n; char last[300]; };

static void hear(void *arg, const char *text)
{
	struct heard *h = arg;

	h->n++;
	snprintf(h->last, sizeof h->last, "%s", text);
}

/* A visit in the future would hide the page from every policy. */
static void test_future(void **state)
{
	struct heard heard = { 0 };
	struct freshet_hooks hooks = { .size = sizeof hooks, .arg = &heard, .warn = hear };
	int64_t now = (int64_t)time(NULL);
	char folder[SCRATCH_PATH], sql[200];
	struct freshet *f;

	(void)state;
	scratch_folder(folder, "future");
	assert_int_equal(freshet_create(&f, folder), 0);
	assert_int_equal(freshet_listen(f, &hooks), 0);
	assert_int_equal(tell(f, "http://a.example/1", FRESHET_SAME, now + 3600), 1);
	assert_int_equal(heard.n, 0);           /* clocks differ */
	assert_int_equal(tell(f, "http://a.example/2", FRESHET_SAME, now * 1000), 1);
	assert_int_equal(heard.n, 1);
	assert_non_null(strstr(heard.last, "future"));
	snprintf(sql, sizeof sql, "max(time) - %lld FROM visits", (long long)now);
	expect_rows(folder, sql, "3600");
	freshet_close(f);
}

static void test_import_warns(void **state)
{
	const char *lines = "http://a.example/1\nhttp://bad host/\nhttp://a.example/2\n";
	struct heard heard = { 0 };
	struct freshet_hooks hooks = { .size = sizeof hooks, .arg = &heard, .warn = hear };
	char folder[SCRATCH_PATH], list[SCRATCH_PATH];
	struct freshet *f;

	(void)state;
	scratch_folder(folder, "warns");
	scratch_file(list, "list", lines, strlen(lines));
	assert_int_equal(freshet_create(&f, folder), 0);
	assert_int_equal(freshet_listen(f, &hooks), 0);
	assert_int_equal(freshet_import(f, list), 0);
	assert_int_equal(heard.n, 1);
	assert_non_null(strstr(heard.last, ":2: "));
	assert_int_equal(freshet_listen(f, NULL), 0);
	assert_int_equal(freshet_import(f, list), 0);
	assert_int_equal(heard.n, 1);
	expect_rows(folder, "count(*) FROM pages", "2");
	freshet_close(f);
}

static int note_url(void *arg, const struct freshet_page *page)
{
	snprintf(arg, 64, "%s", page->url);
	return 1;
}

/* How many pages, and which comes first, is as the repository has it set. */
static void test_plan_goes_by_settings(void **state)
{
	struct freshet_plan_options o = { .size = sizeof o, .now = 900000 };
	char folder[SCRATCH_PATH], url[64] = "";
	struct freshet *f;
	int n = 0;

	(void)state;
	scratch_folder(folder, "settings");
	assert_int_equal(freshet_create(&f, folder), 0);
	for (int i = 0; i < 10; i++) {
		snprintf(url, sizeof url, "http://s%d.example/", i);
		assert_int_equal(tell(f, url, FRESHET_SAME, 1000 + 10000 * i), 1);
	}
	assert_int_equal(freshet_set(f, "policy", "oldest"), 0);
	assert_int_equal(freshet_set(f, "budget", "30%"), 0);
	assert_int_equal(freshet_plan(f, &o, count, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(freshet_plan(f, &o, note_url, url), 0);
	assert_string_equal(url, "http://s0.example/");
	assert_int_equal(freshet_set(f, "policy", "nonsense"), FRESHET_E_USAGE);
	assert_int_equal(freshet_set(f, "contact", "me"), FRESHET_E_USAGE);
	o.policy = "nonsense";                  /* what the call says goes before them */
	assert_int_equal(freshet_plan(f, &o, count, &n), FRESHET_E_USAGE);
	o.policy = NULL;
	o.budget = UINT32_MAX;
	n = 0;
	assert_int_equal(freshet_plan(f, &o, count, &n), 0);
	assert_int_equal(n, 10);
	freshet_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tell),
		cmocka_unit_test(test_plan_has_a_ceiling),
		cmocka_unit_test(test_told_is_kept),
		cmocka_unit_test(test_confirmations),
		cmocka_unit_test(test_future),
		cmocka_unit_test(test_import_warns),
		cmocka_unit_test(test_plan_goes_by_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
