/* SPDX-License-Identifier: Apache-2.0 */
/* Sites that date truly, never, always, mostly; and one that changes its ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "web/rules/lastmod.h"

static void checks(struct lastmod_trust *t, int n, bool moved, bool changed)
{
	while (n-- > 0)
		lastmod_check(t, moved, changed);
}

static void test_rule(void **state)
{
	struct lastmod_trust t = { 0 };

	(void)state;
	assert_false(lastmod_trusted(&t));
	checks(&t, 4, true, true);
	checks(&t, 15, false, false);
	assert_false(lastmod_trusted(&t));              /* 19 of 19: too few */
	checks(&t, 1, false, false);
	assert_true(lastmod_trusted(&t));               /* 20 of 20 */
	checks(&t, 2, true, false);
	assert_true(lastmod_trusted(&t));               /* 20 of 22 = 0.909 */
	checks(&t, 1, false, true);
	assert_false(lastmod_trusted(&t));              /* 20 of 23 */
	t = (struct lastmod_trust){ 20, 18, 5 };
	assert_false(lastmod_trusted(&t));              /* exactly 0.9 is not above */
	t = (struct lastmod_trust){ 0 };
	checks(&t, 500, false, false);
	assert_false(lastmod_trusted(&t));              /* never told anything */
	checks(&t, 1, true, true);
	assert_true(lastmod_trusted(&t));
	t = (struct lastmod_trust){ 0 };
	checks(&t, 500, true, false);
	checks(&t, 20, true, true);
	assert_false(lastmod_trusted(&t));              /* stamps every night */
}

static void test_fades(void **state)
{
	struct lastmod_trust t = { 0 };
	int n = 0;

	(void)state;
	checks(&t, 1, true, true);
	checks(&t, 100000, false, false);
	assert_true(lastmod_trusted(&t));               /* one telling is not forgotten */
	assert_true(t.checks <= LASTMOD_MEMORY && t.hits == t.checks);
	while (lastmod_trusted(&t)) {
		lastmod_check(&t, true, false);
		n++;
	}
	assert_true(n <= LASTMOD_MEMORY / 9 + 1);
	while (!lastmod_trusted(&t)) {
		lastmod_check(&t, true, true);
		assert_true(++n < 5 * LASTMOD_MEMORY);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_fades),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
