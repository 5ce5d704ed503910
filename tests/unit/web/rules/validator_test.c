/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer says of a site's validators, and how doubt comes and goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "web/rules/validator.h"

static enum validator_verdict judge(const char *etag, const char *old_etag, const char *date,
                                    const char *old_date, bool changed)
{
	return validator_judge(etag, strlen(etag), old_etag, strlen(old_etag), date,
	                       strlen(date), old_date, strlen(old_date), changed);
}

static void test_verdicts(void **state)
{
	static const struct {
		const char *etag, *old_etag, *date, *old_date;
		enum validator_verdict same, changed;
	} cases[] = {
		{ "", "", "", "", VALIDATOR_NOTHING, VALIDATOR_NOTHING },
		{ "a", "a", "", "", VALIDATOR_AGREES, VALIDATOR_LIES },
		{ "a", "b", "", "", VALIDATOR_NOTHING, VALIDATOR_AGREES },
		{ "a", "", "", "", VALIDATOR_NOTHING, VALIDATOR_NOTHING },
		{ "", "", "t", "t", VALIDATOR_AGREES, VALIDATOR_LIES },
		{ "", "", "t", "u", VALIDATOR_NOTHING, VALIDATOR_AGREES },
		{ "", "", "t", "tt", VALIDATOR_NOTHING, VALIDATOR_AGREES },
		/* the date is not looked at where there is a tag */
		{ "a", "b", "t", "t", VALIDATOR_NOTHING, VALIDATOR_AGREES },
		{ "a", "a", "t", "u", VALIDATOR_AGREES, VALIDATOR_LIES },
		{ "a", "", "t", "t", VALIDATOR_NOTHING, VALIDATOR_NOTHING },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(judge(cases[i].etag, cases[i].old_etag, cases[i].date,
		                       cases[i].old_date, false), cases[i].same);
		assert_int_equal(judge(cases[i].etag, cases[i].old_etag, cases[i].date,
		                       cases[i].old_date, true), cases[i].changed);
	}
}

static void test_doubt(void **state)
{
	uint32_t doubt = 0;

	(void)state;
	validator_note(&doubt, VALIDATOR_AGREES);
	assert_int_equal(doubt, 0);
	validator_note(&doubt, VALIDATOR_LIES);
	for (int i = 0; i < VALIDATOR_DOUBT - 1; i++) {
		validator_note(&doubt, VALIDATOR_AGREES);
		validator_note(&doubt, VALIDATOR_NOTHING);
		assert_int_not_equal(doubt, 0);
	}
	validator_note(&doubt, VALIDATOR_LIES);         /* from the beginning */
	assert_int_equal(doubt, VALIDATOR_DOUBT);
	for (int i = 0; i < VALIDATOR_DOUBT; i++)
		validator_note(&doubt, VALIDATOR_AGREES);
	assert_int_equal(doubt, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_doubt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
