/* SPDX-License-Identifier: Apache-2.0 */
/* URLs as users write them, beside the canonical ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include <sqlite3.h>

#include "../../lib/scratch.h"
#include "../../lib/whole.h"
#include "repo/store.h"

static struct text text(const char *s)
{
	return (struct text){ s, strlen(s) };
}

static void execute(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void test_the_first_that_differs_stays(void **state)
{
	struct text url = text("http://a.example/"), none = { 0 };
	char path[SCRATCH_PATH], huge[9000];
	struct store_page p;
	struct store *s;
	struct err err;
	uint32_t number;

	(void)state;
	memset(huge, 'x', sizeof huge - 1);
	huge[sizeof huge - 1] = '\0';
	scratch_path(path, "given");
	assert_int_equal(store_open(&s, path, STORE_CREATE, &err), 0);
	assert_int_equal(store_page_add(s, url, 1, &number, &err), 1);
	assert_int_equal(store_page_given(s, 0, url, url, &err), 0);
	assert_int_equal(store_page_given(s, 0, url, none, &err), 0);
	assert_int_equal(store_page_given(s, 0, url, text(huge), &err), 0);
	assert_int_equal(store_page_get(s, 0, &p, &err), 1);
	assert_null(p.given.s);
	assert_int_equal(store_page_given(s, 0, url, text("A.example"), &err), 0);
	assert_int_equal(store_page_given(s, 0, url, text("HTTP://a.example"), &err), 0);
	assert_int_equal(store_page_update(s, &(struct store_page){ 0 },
	                                   &(struct store_page){ .visits = 3 }, &err), 0);
	assert_int_equal(store_page_get(s, 0, &p, &err), 1);
	assert_string_equal(p.given.s, "A.example");
	assert_int_equal(p.visits, 3);
	store_close(s);
	execute(path, "UPDATE pages SET given = x'41'");
	assert_int_equal(store_open(&s, path, STORE_EXISTING, &err), 0);
	assert_int_equal(whole_check(s, &err), E_STORE);
	assert_non_null(strstr(err.text, "given"));
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_that_differs_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
