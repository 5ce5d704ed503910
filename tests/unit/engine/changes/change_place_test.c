/* SPDX-License-Identifier: Apache-2.0 */
/* Cursors over shards: written and read again, and refused when they are none or too old. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/changes/change_place.h"

static void test_there_and_back(void **state)
{
	struct change_place p = { 0 }, again = { 0 };
	struct buf text;
	struct err err;

	(void)state;
	change_place_begin(&p, 7, 3);
	p.at.v[0] = (struct change_cursor){ 12, 40 };
	p.at.v[2] = (struct change_cursor){ UINT32_MAX, 1 };
	buf_init(&text, 1000);
	change_place_write(&p, &text);
	assert_string_equal(buf_text(&text), "2.7.12-40..4294967295-1");
	assert_int_equal(change_place_read(&again, 7, 3, buf_text(&text), &err), 0);
	assert_int_equal(again.at.n, 3);
	assert_memory_equal(again.at.v, p.at.v, 3 * sizeof *p.at.v);
	/* the fleet has other shards now */
	assert_int_equal(change_place_read(&again, 8, 3, buf_text(&text), &err), E_GONE);
	assert_int_equal(change_place_read(&again, 7, 4, buf_text(&text), &err), E_GONE);
	assert_int_equal(change_place_read(&again, 7, 3, "1.12.40", &err), E_GONE);
	assert_int_equal(again.at.n, 3);        /* untouched */
	assert_int_equal(change_place_read(&again, 9, 5, NULL, &err), 0);
	assert_int_equal(again.at.n, 5);
	assert_int_equal(again.at.v[0].cycle, 0);
	buf_release(&text);
	change_place_release(&p);
	change_place_release(&again);
}

static void test_no_cursor(void **state)
{
	static const char *const bad[] = {
		"", "2", "2.", "2.7", "2.x.1-1", "2.7.1", "2.7.1-", "2.7.-1", "2.7.1-2x", "2.7.1-2 ",
		"3.7.1-2", "2.7.4294967296-1", "2.-7.1-2", "2.7.1-99999999999999999999",
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct change_place p = { 0 };
		struct err err;

		assert_int_equal(change_place_read(&p, 7, 1, bad[i], &err), E_USAGE);
		change_place_release(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_no_cursor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
