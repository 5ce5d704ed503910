/* SPDX-License-Identifier: Apache-2.0 */
/* The library: who tells is alone, what makes no sense does not come in,
 * and plans are those of the program. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "../../../lib/scratch.h"
#include "freshet.h"

static int count(void *arg, const struct freshet_page *page)
{
	(void)page;
	++*(int *)arg;
	return 0;
}

static void test_tell(void **state)
{
	char folder[SCRATCH_PATH], archive[SCRATCH_LONG];
	struct freshet_told told = { "http://a.example/1", FRESHET_CHANGED, 1000, 0, 0 };
	struct freshet *f;
	int crawler, n = 0;

	(void)state;
	scratch_folder(folder, "api");
	snprintf(archive, sizeof archive, "%s/warc", folder);
	assert_int_equal(mkdir(archive, 0777), 0);
	assert_int_equal(freshet_create(&f, folder), 0);
	assert_int_equal(freshet_add(f, "http://a.example/1"), 1);
	crawler = open(archive, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(crawler, LOCK_EX | LOCK_NB), 0);
	assert_true(freshet_tell(f, &told) < 0);
	assert_non_null(strstr(freshet_error(f), "another freshet"));
	assert_int_equal(flock(crawler, LOCK_UN), 0);
	told.outcome = (enum freshet_outcome)77;
	assert_true(freshet_tell(f, &told) < 0);
	told.outcome = FRESHET_SAME;
	told.url = "http://bad host/";
	assert_true(freshet_tell(f, &told) < 0);
	/* nothing has begun: who crawls may */
	assert_int_equal(flock(crawler, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(flock(crawler, LOCK_UN), 0);
	told.url = "http://a.example/1";
	told.outcome = FRESHET_FAILED;
	assert_int_equal(freshet_tell(f, &told), 0);
	told.outcome = FRESHET_GONE;            /* tried again; but once is no confirmation */
	assert_int_equal(freshet_tell(f, &told), 0);
	assert_true(freshet_tell(f, &told) < 0);
	assert_non_null(strstr(freshet_error(f), "told of before in this cycle"));
	assert_int_not_equal(flock(crawler, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(freshet_end_cycle(f), 0);
	assert_int_equal(flock(crawler, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(freshet_plan(f, &(struct freshet_plan_options){ .budget = 1 }, count, &n),
	                 0);
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
	struct freshet_plan_options o = { .policy = "oldest", .budget = 20 };
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
		struct freshet_told told = { url, FRESHET_SAME, 1000, 0, 0 };

		snprintf(url, sizeof url, "http://s%d.example/", i);
		assert_int_equal(freshet_tell(f, &told), 0);
	}
	assert_int_equal(freshet_end_cycle(f), 0);
	assert_int_equal(freshet_plan(f, &o, count_large, &n), 0);
	assert_int_equal(n, 17);
	freshet_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tell),
		cmocka_unit_test(test_plan_has_a_ceiling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
