/* SPDX-License-Identifier: Apache-2.0 */
/* Causes by name, and the fetcher's words for the same.  (numbers_test.c pins their numbers.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cause.h"
#include "fetch/fetch.h"

static const unsigned numbers[] = {
#define CAUSE(code, number, name, text) number,
#include "base/cause.def"
#undef CAUSE
};

#define N (sizeof numbers / sizeof *numbers)

static void test_each_is_found_by_its_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < N; i++) {
		const char *name = cause_name(numbers[i]);

		assert_int_equal(cause_find(name, strlen(name)), numbers[i]);
		assert_true(strlen(cause_text(numbers[i])) > 5);
	}
	/* what no table should hold, and what nobody wrote a cause for */
	assert_string_equal(cause_name(N), "other");
	assert_string_equal(cause_name(255), "other");
	assert_string_equal(cause_text(255), cause_text(CAUSE_OTHER));
	assert_int_equal(cause_find("time", 4), CAUSE_OTHER);
	assert_int_equal(cause_find("timeouts", 8), CAUSE_OTHER);
	assert_int_equal(cause_find("timeouts", 7), CAUSE_TIMEOUT);
	assert_int_equal(cause_find("", 0), CAUSE_OTHER);
}

static void test_every_error_of_the_fetcher_has_one(void **state)
{
	(void)state;
	for (int i = 0; i < FETCH_N_ERRORS; i++) {
		const char *name = fetch_error_name((enum fetch_error)i);

		if (cause_find(name, strlen(name)) == CAUSE_OTHER)
			fail_msg("%s: no such cause in base/cause.def", name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_is_found_by_its_name),
		cmocka_unit_test(test_every_error_of_the_fetcher_has_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
