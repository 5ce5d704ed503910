/* SPDX-License-Identifier: Apache-2.0 */
/* Reading plain, gzip and zstd, whole, cut at every byte, and damaged. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include <zdict.h>
#include <zstd.h>

#include "../../../lib/pack.h"
#include "../../../lib/scratch.h"
#include "base/io/input.h"
#include "base/math/rng.h"
#include "base/mem.h"

typedef void packer(struct buf *to, const void *data, size_t size);

/* Text with some repetition, so that every kind of deflate symbol is used. */
static void make_text(struct buf *b, size_t size, uint64_t seed)
{
	struct rng r;

	rng_init(&r, seed);
	while (b->size < size) {
		if (rng_below(&r, 4) == 0)
			buf_printf(b, "%llx", (unsigned long long)rng_below(&r, 1u << 30));
		else
			buf_str(b, "the river runs\n");
	}
	b->size = size;
}

/* Everything input_read() gives before its end or error. */
static int read_all(struct input *in, struct buf *got, size_t piece)
{
	struct err err = { 0 };
	char *block = mem_alloc(piece);
	long n;

	while ((n = input_read(in, block, piece, &err)) > 0)
		buf_add(got, block, (size_t)n);
	free(block);
	return (int)n;
}

static void check_whole(packer *pack, size_t n_members, size_t member_size)
{
	struct buf text, file, got;
	static const size_t pieces[] = { 1, 7, 4096, 1 << 20 };

	buf_init(&text, BUF_NO_LIMIT);
	buf_init(&file, BUF_NO_LIMIT);
	buf_init(&got, BUF_NO_LIMIT);
	for (size_t i = 0; i < n_members; i++) {
		size_t from = text.size;

		make_text(&text, from + member_size, i);
		if (pack)
			pack(&file, text.data + from, member_size);
		else
			buf_add(&file, text.data + from, member_size);
	}
	char path[SCRATCH_PATH];
	scratch_file(path, "file", file.data, file.size);
	for (size_t i = 0; i < 2 * sizeof pieces / sizeof *pieces; i++) {
		struct input *in;
		int rc = i & 1 ? input_open(&in, path, NULL) :
		         input_open_memory(&in, file.data, file.size, "m", NULL);

		assert_int_equal(rc, 0);
		assert_int_equal(input_raw_size(in), file.size);
		buf_clear(&got);
		assert_int_equal(read_all(in, &got, pieces[i / 2]), 0);
		assert_int_equal(got.size, text.size);
		assert_memory_equal(got.data, text.data, text.size);
		assert_int_equal(input_position(in), text.size);
		assert_int_equal(input_raw_position(in), file.size);
		assert_int_equal(input_file_offset(in), file.size);
		input_close(in);
	}
	buf_release(&text);
	buf_release(&file);
	buf_release(&got);
}

static void test_whole(void **state)
{
	packer *packers[] = { NULL, pack_gzip, pack_zstd, pack_gzip_stored };

	(void)state;
	for (int i = 0; i < 4; i++) {
		check_whole(packers[i], 1, 900000);
		check_whole(packers[i], 3, 300000);
		check_whole(packers[i], 2000, 311);
	}
}

static void test_empty(void **state)
{
	struct input *in;
	char *line, byte;
	size_t size;

	(void)state;
	assert_int_equal(input_open_memory(&in, NULL, 0, "m", NULL), 0);
	assert_int_equal(input_read(in, &byte, 1, NULL), 0);
	assert_int_equal(input_line(in, 10, &line, &size, NULL), 0);
	input_close(in);
	struct err err;
	assert_int_equal(input_open(&in, "/nonexistent/file", &err), E_IO);
	assert_non_null(strstr(err.text, "/nonexistent/file"));
	/* a folder opens but does not read */
	assert_int_equal(input_open(&in, "/", &err), E_IO);
}

static void test_lines(void **state)
{
	static const char text[] = "\xef\xbb\xbf" "one\ntwo\r\n\nlonger than ten\n"
		"0123456789\n01234567890\r\n\xef\xbb\xbf" "end";
	static const char *const want[] = { "one", "two", "", NULL, "0123456789", NULL,
	                                    "\xef\xbb\xbf" "end" };

	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		struct buf file;
		struct input *in;
		char *line;
		size_t size;

		buf_init(&file, 1000);
		if (kind)
			pack_gzip(&file, text, sizeof text - 1);
		else
			buf_str(&file, text);
		assert_int_equal(input_open_memory(&in, file.data, file.size, "m", NULL), 0);
		for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
			struct err err;
			int rc = input_line(in, 10, &line, &size, &err);

			assert_int_equal(rc, want[i] ? 1 : E_LIMIT);
			if (want[i]) {
				assert_string_equal(line, want[i]);
				assert_int_equal(size, strlen(want[i]));
			}
		}
		assert_int_equal(input_line(in, 10, &line, &size, NULL), 0);
		input_close(in);
		buf_release(&file);
	}
}

/* Lines longer than any buffer, within and over the limit. */
static void test_long_lines(void **state)
{
	struct buf text;
	struct input *in;
	struct err err;
	char *line;
	size_t size;

	(void)state;
	buf_init(&text, BUF_NO_LIMIT);
	for (int i = 0; i < 2000000; i++)
		buf_byte(&text, 'a' + i % 26);
	buf_str(&text, "\nshort\n");
	char path[SCRATCH_PATH];
	scratch_file(path, "text", text.data, text.size);
	assert_int_equal(input_open(&in, path, NULL), 0);
	assert_int_equal(input_line(in, 2000000, &line, &size, NULL), 1);
	assert_int_equal(size, 2000000);
	assert_memory_equal(line, text.data, size);
	assert_int_equal(input_line(in, 2000000, &line, &size, NULL), 1);
	assert_string_equal(line, "short");
	input_close(in);
	assert_int_equal(input_open(&in, path, NULL), 0);
	assert_int_equal(input_line(in, 1999, &line, &size, &err), E_LIMIT);
	assert_int_equal(input_line(in, 1999, &line, &size, NULL), 1);
	assert_string_equal(line, "short");
	input_close(in);
	buf_release(&text);
}

/* Offsets at and inside members, and a peek that spans several of them. */
static void check_offsets(packer *pack)
{
	uint64_t begin[20];
	struct buf file;
	struct input *in;
	const char *data;
	size_t size;

	buf_init(&file, BUF_NO_LIMIT);
	for (int i = 0; i < 20; i++) {
		char text[64];

		begin[i] = file.size;
		snprintf(text, sizeof text, "member %3d is here", i);
		pack(&file, text, 18);
		if (i % 5 == 1)
			pack(&file, "", 0);             /* holds no byte */
	}
	assert_int_equal(input_open_memory(&in, file.data, file.size, "m", NULL), 0);
	assert_int_equal(input_peek(in, 180, &data, &size, NULL), 0);
	assert_in_range(size, 180, 360);
	assert_int_equal(input_position(in), 0);
	for (size_t i = 0; i < 18 * 20; i++) {
		assert_int_equal(input_position(in), i);
		assert_int_equal(input_peek(in, 1, &data, &size, NULL), 0);
		assert_int_equal(input_file_offset(in), begin[i / 18]);
		if (i % 18 == 0)
			assert_memory_equal(data, "member ", 7 < size ? 7 : size);
		input_skip(in, 1);
	}
	assert_int_equal(input_peek(in, 1, &data, &size, NULL), 0);
	assert_int_equal(size, 0);
	assert_int_equal(input_file_offset(in), file.size);
	input_close(in);
	buf_release(&file);
}

static void test_offsets(void **state)
{
	(void)state;
	check_offsets(pack_gzip);
	check_offsets(pack_zstd);
	check_offsets(pack_gzip_stored);
}

/* A cut file gives a prefix and says so, unless it was cut between members. */
static void check_cuts(packer *pack)
{
	struct buf text, file, got;
	size_t end[8] = { 0 };

	buf_init(&text, BUF_NO_LIMIT);
	buf_init(&file, BUF_NO_LIMIT);
	buf_init(&got, BUF_NO_LIMIT);
	make_text(&text, 7 * 300, 3);
	for (size_t i = 0; i < 7; i++) {
		pack(&file, text.data + 300 * i, 300);
		end[i + 1] = file.size;
	}
	for (size_t cut = 4; cut <= file.size; cut++) {
		char *exact = mem_alloc(cut), *line;
		struct input *in;
		size_t size, member = 0;
		uint64_t lost;
		int rc;

		while (member < 7 && end[member + 1] <= cut)
			member++;
		memcpy(exact, file.data, cut);
		assert_int_equal(input_open_memory(&in, exact, cut, "m", NULL), 0);
		buf_clear(&got);
		rc = read_all(in, &got, 100);
		assert_int_equal(rc, cut == end[member] ? 0 : E_PARSE);
		assert_in_range(got.size, 300 * member, 300 * member + 300);
		assert_memory_equal(got.data, text.data, got.size);
		if (rc < 0)
			assert_int_equal(input_resync(in, &lost, NULL), 0);
		input_close(in);

		/* by lines: never half a line, except the last of a whole file */
		assert_int_equal(input_open_memory(&in, exact, cut, "m", NULL), 0);
		uint64_t at = 0;
		while ((rc = input_line(in, 1000, &line, &size, NULL)) > 0) {
			assert_memory_equal(line, text.data + at, size);
			at += size;
			if (cut != end[member])
				assert_int_equal(text.data[at], '\n');
			at++;
		}
		assert_int_equal(rc, cut == end[member] ? 0 : E_PARSE);
		input_close(in);
		free(exact);
	}
	buf_release(&text);
	buf_release(&file);
	buf_release(&got);
}

static void test_cut_at_every_byte(void **state)
{
	(void)state;
	check_cuts(pack_gzip);
	check_cuts(pack_zstd);
	check_cuts(pack_gzip_stored);
}

/* Damage one byte of the second of three members: the others always come. */
static void check_damage(packer *pack, bool from_file)
{
	struct buf text, file, got;
	size_t begin, end;
	struct rng r;

	rng_init(&r, 5);
	buf_init(&text, BUF_NO_LIMIT);
	buf_init(&file, BUF_NO_LIMIT);
	buf_init(&got, BUF_NO_LIMIT);
	make_text(&text, 3000, 4);
	pack(&file, text.data, 1000);
	begin = file.size;
	pack(&file, text.data + 1000, 1000);
	end = file.size;
	pack(&file, text.data + 2000, 1000);
	for (size_t at = begin; at < end; at++) {
		char old = file.data[at];
		struct input *in;
		uint64_t lost;
		int rc, rounds = 0;

		file.data[at] = (char)(old ^ (1 << rng_below(&r, 8)));
		char path[SCRATCH_PATH];

		if (from_file)
			scratch_file(path, "damaged", file.data, file.size);
		rc = from_file ? input_open(&in, path, NULL) :
		     input_open_memory(&in, file.data, file.size, "m", NULL);
		assert_int_equal(rc, 0);
		buf_clear(&got);
		while ((rc = read_all(in, &got, 100)) < 0) {
			assert_int_equal(rc, E_PARSE);
			rounds++;
			rc = input_resync(in, &lost, NULL);
			assert_in_range(rc, 0, 1);
			if (rc == 0)
				break;
			assert_int_equal(input_file_offset(in), end);
			assert_int_equal(lost, end - begin);
		}
		assert_in_range(rounds, 0, 1);
		assert_true(got.size >= 2000);
		assert_memory_equal(got.data, text.data, 1000);
		assert_memory_equal(got.data + got.size - 1000, text.data + 2000, 1000);
		input_close(in);
		if (from_file)
			scratch_remove(path);
		file.data[at] = old;
	}
	buf_release(&text);
	buf_release(&file);
	buf_release(&got);
}

static void test_damage(void **state)
{
	(void)state;
	check_damage(pack_gzip, false);
	check_damage(pack_gzip, true);
	check_damage(pack_zstd, false);
}

/* Junk between members is an error with a way on; zeros are padding. */
static void test_junk_between(void **state)
{
	struct buf file, got;
	struct input *in;
	struct err err;
	uint64_t lost;

	(void)state;
	buf_init(&file, 10000);
	buf_init(&got, 10000);
	pack_gzip(&file, "first ", 6);
	buf_add(&file, "\0\0\0\0\0\0", 6);
	pack_gzip(&file, "second ", 7);
	buf_add(&file, "junk\x1f\x8b\x08junk", 11);
	pack_gzip(&file, "third", 5);
	assert_int_equal(input_open_memory(&in, file.data, file.size, "m", NULL), 0);
	assert_int_equal(read_all(in, &got, 100), E_PARSE);
	assert_string_equal(buf_text(&got), "first second ");
	assert_int_equal(input_resync(in, &lost, &err), 1);
	assert_int_equal(lost, 11);
	assert_int_equal(read_all(in, &got, 100), 0);
	assert_string_equal(buf_text(&got), "first second third");
	input_close(in);
	buf_release(&file);
	buf_release(&got);
}

/* Skippable frames are no data; a dictionary in the first one is used. */
static void test_zstd_extras(void **state)
{
	struct buf samples, file, got;
	size_t sizes[500], n_dict, n;
	char dict[4000], out[4000], text[200];
	struct input *in;

	(void)state;
	buf_init(&samples, BUF_NO_LIMIT);
	buf_init(&file, BUF_NO_LIMIT);
	buf_init(&got, BUF_NO_LIMIT);
	for (unsigned i = 0; i < 500; i++) {
		size_t from = samples.size;

		buf_printf(&samples, "WARC/1.1 sample %u of a river %u\r\nDate: %u\r\n", i * 7919,
		           i, i * i);
		sizes[i] = samples.size - from;
	}
	n_dict = ZDICT_trainFromBuffer(dict, sizeof dict, samples.data, sizes, 500);
	assert_false(ZDICT_isError(n_dict));
	for (int packed = 0; packed < 2; packed++) {
		struct buf body;
		unsigned char head[8] = { 0x5d, 0x2a, 0x4d, 0x18 };
		ZSTD_CCtx *c = ZSTD_createCCtx();

		buf_init(&body, BUF_NO_LIMIT);
		if (packed)
			pack_zstd(&body, dict, n_dict);
		else
			buf_add(&body, dict, n_dict);
		head[4] = (unsigned char)body.size;
		head[5] = (unsigned char)(body.size >> 8);
		buf_clear(&file);
		buf_clear(&got);
		buf_add(&file, head, 8);
		buf_add(&file, body.data, body.size);
		snprintf(text, sizeof text, "WARC/1.1 sample 5 of a river\r\nDate: 77\r\n");
		n = ZSTD_compress_usingDict(c, out, sizeof out, text, strlen(text), dict, n_dict, 3);
		assert_false(ZSTD_isError(n));
		for (int i = 0; i < 2; i++) {
			buf_add(&file, out, n);
			buf_add(&file, "\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
		}
		assert_int_equal(input_open_memory(&in, file.data, file.size, "m", NULL), 0);
		assert_int_equal(read_all(in, &got, 100), 0);
		assert_int_equal(got.size, 2 * strlen(text));
		assert_memory_equal(got.data, text, strlen(text));
		input_close(in);
		ZSTD_freeCCtx(c);
		buf_release(&body);
	}
	buf_release(&samples);
	buf_release(&file);
	buf_release(&got);
}

/* A pipe cannot seek; it gives the same data. */
static void test_pipe(void **state)
{
	struct buf text, file, got;
	struct input *in;
	char path[64];
	int fd[2];

	(void)state;
	buf_init(&text, BUF_NO_LIMIT);
	buf_init(&file, BUF_NO_LIMIT);
	buf_init(&got, BUF_NO_LIMIT);
	make_text(&text, 100000, 9);
	pack_gzip(&file, text.data, text.size);
	assert_int_equal(pipe(fd), 0);
	assert_true(fcntl(fd[1], F_SETPIPE_SZ, (int)file.size) >= (int)file.size);
	assert_int_equal(write(fd[1], file.data, file.size), file.size);
	close(fd[1]);
	snprintf(path, sizeof path, "/dev/fd/%d", fd[0]);
	assert_int_equal(input_open(&in, path, NULL), 0);
	assert_int_equal(input_raw_size(in), 0);
	assert_int_equal(read_all(in, &got, 3000), 0);
	assert_int_equal(got.size, text.size);
	assert_memory_equal(got.data, text.data, text.size);
	input_close(in);
	close(fd[0]);
	buf_release(&text);
	buf_release(&file);
	buf_release(&got);
}

/* One deflated stream, which a source delivers in pieces; what follows it is ignored. */
struct deflated { const char *data; size_t size, at, piece; };

static long read_deflated(void *arg, void *data, size_t size, struct err *err)
{
	struct deflated *d = arg;
	size_t n = d->size - d->at < d->piece ? d->size - d->at : d->piece;

	(void)err;
	n = n < size ? n : size;
	memcpy(data, d->data + d->at, n);
	d->at += n;
	return (long)n;
}

static int read_stream(const char *data, size_t size, size_t piece, struct buf *got)
{
	struct deflated d = { data, size, 0, piece };
	struct input_source source = { INPUT_DEFLATED, read_deflated, NULL, &d };
	struct input *in;
	int rc;

	buf_clear(got);
	assert_int_equal(input_open_source(&in, &source, "d", NULL), 0);
	rc = read_all(in, got, 5000);
	input_close(in);
	return rc;
}

static void test_deflated(void **state)
{
	static const size_t pieces[] = { 1, 7, 4096, 1 << 20 }, sizes[] = { 0, 1, 50, 70000, 3000000 };
	struct buf text, packed, got;

	(void)state;
	buf_init(&text, BUF_NO_LIMIT);
	buf_init(&packed, BUF_NO_LIMIT);
	buf_init(&got, BUF_NO_LIMIT);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (int stored = 0; stored < 2; stored++) {
			buf_clear(&text);
			buf_clear(&packed);
			make_text(&text, sizes[i], i);
			(stored ? pack_deflate_stored : pack_deflate)(&packed, text.data, text.size);
			for (size_t k = 0; k < 4; k++) {
				if (sizes[i] > 100000 && pieces[k] < 4096)
					continue;
				assert_int_equal(read_stream(packed.data, packed.size, pieces[k], &got), 0);
				assert_int_equal(got.size, text.size);
				if (text.size)
					assert_memory_equal(got.data, text.data, text.size);
			}
			/* cut anywhere, it gives what is before and an error */
			for (size_t cut = 0; cut < packed.size; cut += 1 + packed.size / 20) {
				assert_int_equal(read_stream(packed.data, cut, 1000, &got), E_PARSE);
				assert_true(got.size <= text.size);
				if (got.size)
					assert_memory_equal(got.data, text.data, got.size);
			}
			buf_str(&packed, "and more");
			assert_int_equal(read_stream(packed.data, packed.size, 10000, &got), 0);
			assert_int_equal(got.size, text.size);
		}
	buf_release(&text);
	buf_release(&packed);
	buf_release(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_junk_between),
		cmocka_unit_test(test_zstd_extras),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_deflated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
