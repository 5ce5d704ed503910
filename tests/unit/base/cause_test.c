/* SPDX-License-Identifier: Apache-2.0 */
/* Causes: the numbers that repositories hold, and the fetcher's words for the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cause.h"
#include "fetch/fetch.h"

/* As they are on disk since schema 6.  Add to it; change nothing. */
static const char *const on_disk[] = {
	"none", "status", "connect", "timeout", "tls", "dns", "reset", "robots", "backoff",
	"gate", "port", "budget", "too-large", "protocol", "redirect", "bad-url", "lapsed",
	"stopped", "other", "crawl-delay", "type", "moved", "reader",
};

#define N (sizeof on_disk / sizeof *on_disk)

static void test_numbers_are_fixed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N; i++) {
		assert_string_equal(cause_name(i), on_disk[i]);
		assert_int_equal(cause_find(on_disk[i], strlen(on_disk[i])), i);
		assert_true(strlen(cause_text(i)) > 5);
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
		cmocka_unit_test(test_numbers_are_fixed),
		cmocka_unit_test(test_every_error_of_the_fetcher_has_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
