/* SPDX-License-Identifier: Apache-2.0 */
/* The library: who tells is alone, and what makes no sense does not come in. */
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

#include "../../lib/scratch.h"
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
	assert_int_equal(freshet_tell(f, &told), 0);
	assert_int_not_equal(flock(crawler, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(freshet_end_cycle(f), 0);
	assert_int_equal(flock(crawler, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(freshet_plan(f, &(struct freshet_plan_options){ .budget = 1 }, count, &n),
	                 0);
	assert_int_equal(n, 1);
	close(crawler);
	freshet_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_tell) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
