/* SPDX-License-Identifier: Apache-2.0 */
/* Text made small and whole again; damage and bombs are errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/io/squeeze.h"
#include "base/math/rng.h"

static void test_round(void **state)
{
	struct buf text, small, again;
	struct rng rng;

	(void)state;
	rng_init(&rng, 3);
	buf_init(&text, BUF_NO_LIMIT);
	buf_init(&small, BUF_NO_LIMIT);
	buf_init(&again, 1 << 20);
	for (int round = 0; round < 200; round++) {
		size_t n = rng_below(&rng, 5000);

		buf_clear(&text);
		buf_clear(&small);
		buf_clear(&again);
		buf_str(&again, "before");        /* it is appended */
		while (text.size < n)
			buf_byte(&text, (char)(round % 2 ? 'a' : rng_below(&rng, 256)));
		squeeze(&small, buf_text(&text), text.size);
		assert_int_equal(squeeze_undo(&again, small.data, small.size, NULL), 0);
		assert_int_equal(again.size, text.size + 6);
		assert_memory_equal(again.data, "before", 6);
		assert_memory_equal(again.data + 6, buf_text(&text), text.size);
		assert_int_equal(again.data[again.size], 0);
		if (round % 2 && n > 1000)
			assert_true(small.size < 60);
	}
	buf_release(&text);
	buf_release(&small);
	buf_release(&again);
}

static void test_damage(void **state)
{
	struct buf small, again;
	char text[20000];

	(void)state;
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)('a' + i * i % 7);
	buf_init(&small, BUF_NO_LIMIT);
	buf_init(&again, sizeof text - 1);
	squeeze(&small, text, sizeof text);
	/* more than there may be, whether squeezed or not */
	assert_int_equal(squeeze_undo(&again, small.data, small.size, NULL), E_LIMIT);
	assert_int_equal(squeeze_undo(&again, text, sizeof text, NULL), E_LIMIT);
	assert_int_equal(again.size, 0);
	/* what never was squeezed */
	assert_int_equal(squeeze_undo(&again, "User-agent: *", 13, NULL), 0);
	assert_string_equal(again.data, "User-agent: *");
	buf_release(&again);
	buf_init(&again, sizeof text);
	for (size_t n = 4; n < small.size; n++) {
		assert_int_equal(squeeze_undo(&again, small.data, n, NULL), E_PARSE);
		assert_int_equal(again.size, 0);
	}
	for (size_t i = 4; i < small.size; i++) {
		small.data[i] ^= 0x55;
		(void)!squeeze_undo(&again, small.data, small.size, NULL);
		assert_true(again.size <= sizeof text);
		buf_clear(&again);
		small.data[i] ^= 0x55;
	}
	assert_int_equal(squeeze_undo(&again, small.data, small.size, NULL), 0);
	assert_memory_equal(again.data, text, sizeof text);
	buf_release(&small);
	buf_release(&again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
