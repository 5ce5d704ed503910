/* SPDX-License-Identifier: Apache-2.0 */
/* Digests of texts without their gaps and numbers, against one made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "web/text/digest.h"

#define SIZE 20000

/* The text that counts, written out: no gaps, a run of digits as one 0. */
static size_t write_out(const char *text, size_t size, const struct digest_gap *gaps,
                        size_t n_gaps, char *ret)
{
	size_t n = 0;
	bool digits = false;

	for (size_t i = 0; i < size; i++) {
		bool gap = false, digit = text[i] >= '0' && text[i] <= '9';

		for (size_t g = 0; g < n_gaps; g++)
			gap |= i >= gaps[g].from && i < gaps[g].to;
		if (gap)
			continue;
		if (!digit || !digits)
			ret[n++] = digit ? '0' : text[i];
		digits = digit;
	}
	return n;
}

static void folded_is_what_is_written_out(void **state)
{
	static const struct digest_gap gaps[] = { { 10, 40 }, { 4000, 9000 }, { 19000, 20000 } };
	static char text[SIZE], out[SIZE];
	struct rng r;

	(void)state;
	rng_init(&r, 3);
	for (size_t i = 0; i < SIZE; i++)
		text[i] = "abc 0123456789"[rng_below(&r, 14)];
	for (size_t size = 0; size <= SIZE; size += size < 5000 ? 37 : 1500) {
		size_t n = write_out(text, size, NULL, 0, out);

		assert_true(digest_text(text, size, NULL, 0, true) == digest_64(out, n));
		assert_true(digest_text(text, size, NULL, 0, false) == digest_64(text, size));
	}
	for (size_t k = 1; k <= 3; k++) {
		size_t n = write_out(text, SIZE, gaps, k, out);

		assert_true(digest_text(text, SIZE, gaps, k, true) == digest_64(out, n));
	}
	/* a gap, nothing folded */
	memcpy(out, text, 10);
	memcpy(out + 10, text + 40, SIZE - 40);
	assert_true(digest_text(text, SIZE, gaps, 1, false) == digest_64(out, SIZE - 30));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_is_what_is_written_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
