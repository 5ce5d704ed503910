/* SPDX-License-Identifier: Apache-2.0 */
/* Content codings: round trips through the libraries' encoders, cuts, bombs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <brotli/encode.h>
#include <zlib.h>
#include <zstd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "web/coding.h"

static size_t zip(int bits, const void *in, size_t size, void *out, size_t room)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)in, .avail_in = (uInt)size,
		.next_out = out, .avail_out = (uInt)room };

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, bits, 8, 0), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return z.total_out;
}

/* kinds: gzip, zlib deflate, raw deflate, br, zstd */
static const enum coding codings[5] = { CODING_GZIP, CODING_DEFLATE, CODING_DEFLATE,
	CODING_BR, CODING_ZSTD };

static size_t encode(int kind, const void *in, size_t size, void *out, size_t room)
{
	static const int bits[3] = { 31, 15, -15 };
	size_t made = room;

	if (kind < 3)
		return zip(bits[kind], in, size, out, room);
	if (kind == 3) {
		assert_true(BrotliEncoderCompress(5, 22, BROTLI_MODE_GENERIC, size, in,
		                                  &made, out));
		return made;
	}
	made = ZSTD_compress(out, room, in, size, 3);
	assert_false(ZSTD_isError(made));
	return made;
}

static void test_round_trip_and_every_cut(void **state)
{
	size_t sizes[] = { 1, 100, 65535, 65536, 65537, 300000 };
	char *in = mem_alloc(300000), *packed = mem_alloc(400000);
	struct rng r;

	(void)state;
	rng_init(&r, 5);
	for (size_t i = 0; i < 300000; i++)
		in[i] = (char)("abcdefgh"[rng_below(&r, 8)]);
	for (int kind = 0; kind < 5; kind++) {
		for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
			size_t n = encode(kind, in, sizes[s], packed, 400000);
			struct buf out;
			struct err err;

			buf_init(&out, sizes[s]);       /* exactly fits: no bomb */
			assert_int_equal(coding_decode(codings[kind], packed, n, &out, &err), 0);
			assert_int_equal(out.size, sizes[s]);
			assert_memory_equal(out.data, in, sizes[s]);
			buf_release(&out);
			buf_init(&out, sizes[s] - 1 + (sizes[s] == 1));
			if (sizes[s] > 1) {
				assert_int_equal(coding_decode(codings[kind], packed, n, &out, &err),
				                 E_LIMIT);
				assert_int_equal(out.size, sizes[s] - 1);
			}
			buf_release(&out);
			for (size_t cut = 1; cut < n; cut += 1 + n / 40) {
				buf_init(&out, 1 << 20);
				assert_int_equal(coding_decode(codings[kind], packed, cut, &out, &err),
				                 E_PARSE);
				assert_true(out.size <= sizes[s]);
				if (out.size)
					assert_memory_equal(out.data, in, out.size);
				buf_release(&out);
			}
		}
	}
	free(in);
	free(packed);
}

static void test_bombs_stop_at_the_ratio(void **state)
{
	size_t big = 40 << 20;
	char *zeros = mem_zalloc(big, 1), *packed = mem_alloc(1 << 20);

	(void)state;
	for (int kind = 0; kind < 5; kind++) {
		size_t n = encode(kind, zeros, big, packed, 1 << 20);
		size_t most = n * CODING_RATIO_MAX < CODING_FREE ? CODING_FREE
			: n * CODING_RATIO_MAX;
		struct buf out;
		struct err err;

		buf_init(&out, BUF_NO_LIMIT);
		assert_int_equal(coding_decode(codings[kind], packed, n, &out, &err), E_LIMIT);
		assert_true(out.size <= most && out.cap <= 2 * most + 65536);
		buf_release(&out);
	}
	free(zeros);
	free(packed);
}

static void test_random_bytes_never_pass_the_cap(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 6);
	for (int i = 0; i < 4000; i++) {
		char in[200];
		struct buf out;

		for (size_t k = 0; k < sizeof in; k++)
			in[k] = (char)rng_next(&r);
		if (i % 4 == 0)
			memcpy(in, "\x1f\x8b\x08\0\0\0\0\0\0\3", 10);
		if (i % 4 == 1)
			memcpy(in, "\x28\xb5\x2f\xfd", 4);
		buf_init(&out, 4096);
		if (coding_decode(codings[i % 5], in, rng_below(&r, 201), &out, NULL) == 0)
			assert_true(out.size <= 4096);
		buf_release(&out);
	}
}

static void test_two_members_and_names(void **state)
{
	static const struct { const char *value; enum coding coding; } names[] = {
		{ "", CODING_NONE }, { "identity", CODING_NONE }, { "gzip", CODING_GZIP },
		{ " GZIP ", CODING_GZIP }, { "x-gzip", CODING_GZIP }, { "br", CODING_BR },
		{ "zstd", CODING_ZSTD }, { "deflate", CODING_DEFLATE },
		{ "identity, gzip", CODING_GZIP }, { "gzip, gzip", CODING_OTHER },
		{ "gzip,br", CODING_OTHER }, { "gzipx", CODING_OTHER }, { ",,", CODING_NONE },
	};
	char packed[200];
	size_t n;
	struct buf out;

	(void)state;
	n = encode(0, "hello ", 6, packed, 100);
	n += encode(0, "world", 5, packed + n, 100);
	buf_init(&out, 100);
	assert_int_equal(coding_decode(CODING_GZIP, packed, n, &out, NULL), 0);
	assert_string_equal(buf_text(&out), "hello world");
	assert_int_equal(coding_decode(CODING_GZIP, "", 0, &out, NULL), 0);
	assert_int_equal(coding_decode(CODING_OTHER, "x", 1, &out, NULL), E_PARSE);
	buf_release(&out);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_int_equal(coding_find(names[i].value, strlen(names[i].value)),
		                 names[i].coding);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip_and_every_cut),
		cmocka_unit_test(test_bombs_stop_at_the_ratio),
		cmocka_unit_test(test_random_bytes_never_pass_the_cap),
		cmocka_unit_test(test_two_members_and_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
