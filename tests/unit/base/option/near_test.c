/* SPDX-License-Identifier: Apache-2.0 */
/* Names that were probably meant; distances worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/option/near.h"

static size_t distance(const char *a, const char *b)
{
	return near_distance(a, strlen(a), b, strlen(b));
}

static void test_distance(void **state)
{
	char longer[100];

	(void)state;
	assert_int_equal(distance("", ""), 0);
	assert_int_equal(distance("", "abc"), 3);
	assert_int_equal(distance("abc", ""), 3);
	assert_int_equal(distance("seed", "seeds"), 1);
	assert_int_equal(distance("kitten", "sitting"), 3);
	assert_int_equal(distance("plocy", "policy"), 2);       /* o put in, and moved */
	assert_int_equal(distance("tdie", "tide"), 1);          /* exchanged */
	memset(longer, 'a', sizeof longer);
	assert_int_equal(near_distance(longer, sizeof longer, "a", 1), NEAR_LENGTH_MAX);
}

static const char *meant(const char *wanted)
{
	static const char *const names[] = { "replay", "report", "rank", "run", "set", "get" };
	struct near n = near_begin(wanted, strlen(wanted));

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		near_try(&n, names[i]);
	return n.best;
}

static void test_meant(void **state)
{
	(void)state;
	assert_string_equal(meant("repaly"), "replay");
	assert_string_equal(meant("reprot"), "report");
	assert_string_equal(meant("rnak"), "rank");
	assert_string_equal(meant("export"), "report");  /* two letters changed */
	assert_null(meant("status"));
	assert_null(meant("x"));                /* nothing is near to one letter */
	assert_null(meant(""));
	assert_string_equal(meant("st"), "set");
	assert_string_equal(meant("repl"), "replay");   /* not finished */
	assert_string_equal(meant("rep"), "replay");    /* of two the first */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_meant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
