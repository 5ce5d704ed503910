/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_cell_test.c - all of input_test.c with cells, and members that break the cell.
 *
 * What unpacks crashes, leaves or never ends when a member's text says so.  Every other member
 * must come out whole, at its own offset.
 */
#include <sys/wait.h>

#define main input_test_main
#include "input_test.c"
#undef main

#include "base/sandbox/cell.h"

/* As in input_cell.c: data, these, a message, bytes of data, how many of these. */
struct told { int64_t rc; uint64_t size, pos, member; uint32_t between, wrong_sum; };

/* Lies of a decoder that was taken over.  Believed, they would be read for ever, from a place
 * that is not there, or end the command. */
static void lie(struct buf *answer)
{
	size_t behind = sizeof(struct told) + sizeof ((struct err *)0)->text + 16;
	struct told t;
	char *at = answer->data + answer->size - behind;

	if (answer->size < behind)
		return;
	memcpy(&t, at, sizeof t);
	if (memmem(answer->data, answer->size, "BREAK back", 10))
		t.pos = 0;
	if (memmem(answer->data, answer->size, "BREAK member", 12))
		t.member = 0;
	if (memmem(answer->data, answer->size, "BREAK behind", 12))
		t.member += (uint64_t)1 << 40;
	if (memmem(answer->data, answer->size, "BREAK stop", 10))
		t.rc = E_STOP;
	memcpy(at, &t, sizeof t);
}

static int breaking(const struct text *parts, size_t n, struct buf *answer, struct err *err)
{
	int rc = input_cell(parts, n, answer, err);

	if (answer->size && memmem(answer->data, answer->size, "BREAK segv", 10))
		__builtin_trap();
	if (answer->size && memmem(answer->data, answer->size, "BREAK leave", 11))
		_exit(0);
	if (answer->size && memmem(answer->data, answer->size, "BREAK loop", 10))
		for (volatile int i = 1; i; i |= 1)
			;
	if (answer->size > 8 && memmem(answer->data, answer->size, "BREAK lie", 9))
		answer->data[answer->size - 8] ^= 3;    /* how many segments */
	lie(answer);
	return rc;
}

/* Stands still from a member on that says so. */
static int standing(const struct text *parts, size_t n, struct buf *answer, struct err *err)
{
	static bool stands;
	int rc = breaking(parts, n, answer, err);

	stands |= answer->size && memmem(answer->data, answer->size, "BREAK still", 11);
	if (stands) {
		const uint64_t *asked = (const uint64_t *)(const void *)parts[0].s;
		struct told t = { .rc = 1, .pos = asked[2], .member = asked[5],
		                  .between = asked[4] != 0 };

		buf_clear(answer);
		buf_add(answer, &t, sizeof t);
		buf_add(answer, (char [sizeof err->text]){ 0 }, sizeof err->text);
		buf_add(answer, (uint64_t [2]){ 0, 1 }, 16);
	}
	return rc;
}

/* Members "one line\n" of 3 to 300 bytes, some 600,000; each seventh breaks the cell. */
static void check_breaking(packer *pack, size_t n_members, bool memory, bool loops)
{
	static const char *const ways[] = { "segv", "leave", "still", "lie", "back", "member",
	                                    "behind", "stop", "loop" };
	struct { uint64_t offset; bool breaks; char text[64]; size_t size; } *m;
	struct buf file, text;
	struct rng r;
	struct input *in;
	struct err err = { 0 };
	size_t next = 0, damaged = 0, breaks = 0;
	uint64_t lost;
	char name[SCRATCH_PATH];
	int rc;

	m = mem_zalloc(n_members, sizeof *m);
	buf_init(&file, BUF_NO_LIMIT);
	buf_init(&text, BUF_NO_LIMIT);
	rng_init(&r, n_members);
	for (size_t i = 0; i < n_members; i++) {
		buf_clear(&text);
		m[i].breaks = i % 7 == 3 && i < n_members / 2 + 30;
		if (m[i].breaks)
			snprintf(m[i].text, sizeof m[i].text, "%zu BREAK %s ", i,
			         ways[loops && breaks == 8 ? 8 : breaks % 8]);
		else
			snprintf(m[i].text, sizeof m[i].text, "%zu fine ", i);
		breaks += m[i].breaks;
		buf_str(&text, m[i].text);
		m[i].size = i % 50 == 49 ? 600000 : 30 + rng_below(&r, 300);
		while (text.size < m[i].size)
			buf_printf(&text, "%llx", (unsigned long long)rng_below(&r, 1u << 30));
		buf_byte(&text, '\n');
		m[i].size = text.size - 1;
		m[i].offset = file.size;
		pack(&file, text.data, text.size);
	}
	if (!memory) {
		assert_int_equal(input_open(&in, scratch_file(name, "members", file.data, file.size),
		                            &err), 0);
	} else {
		assert_int_equal(input_open_memory(&in, file.data, file.size, "memory", &err), 0);
	}
	for (;;) {
		uint64_t offset;
		const char *peeked;
		size_t size, had;
		char *line;

		rc = input_peek(in, 1, &peeked, &had, &err);
		offset = input_file_offset(in);
		if (rc == 0)
			rc = input_line(in, 1 << 20, &line, &size, &err);
		if (rc == 0)
			break;
		if (rc == E_PARSE) {
			damaged++;
			rc = input_resync(in, &lost, &err);
			if (rc <= 0)
				break;
			continue;
		}
		assert_int_equal(rc, 1);
		while (next < n_members && m[next].breaks)
			next++;
		assert_true(next < n_members);
		assert_int_equal(offset, m[next].offset);
		assert_int_equal(size, m[next].size);
		assert_memory_equal(line, m[next].text, strlen(m[next].text));
		next++;
	}
	while (next < n_members && m[next].breaks)
		next++;
	assert_int_equal(rc, 0);
	assert_int_equal(next, n_members);
	assert_int_equal(damaged, breaks);
	input_close(in);
	buf_release(&file);
	buf_release(&text);
	free(m);
}

static void test_breaking(void **state)
{
	uint64_t made, died;

	(void)state;
	check_breaking(pack_gzip, 120, false, true);
	check_breaking(pack_zstd, 120, false, false);
	check_breaking(pack_gzip, 60, true, false);
	cells_count(&made, &died);
	assert_true(died >= 3 * 9);
}

/* A deflated stream that breaks its cell is damaged, and the next is read. */
static void test_deflated_breaking(void **state)
{
	static const char *const ways[] = { "segv", "leave", "lie", "behind", "stop" };
	struct buf packed, got;

	(void)state;
	buf_init(&packed, BUF_NO_LIMIT);
	buf_init(&got, BUF_NO_LIMIT);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		char text[40];

		snprintf(text, sizeof text, "BREAK %s", ways[i]);
		buf_clear(&packed);
		pack_deflate(&packed, text, strlen(text));
		if (read_stream(packed.data, packed.size, 100, &got) != E_PARSE)
			fail_msg("%s: it was read", ways[i]);
		buf_clear(&packed);
		pack_deflate(&packed, "fine", 4);
		assert_int_equal(read_stream(packed.data, packed.size, 100, &got), 0);
		assert_string_equal(buf_text(&got), "fine");
	}
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
		cmocka_unit_test(test_deflated_breaking),
		cmocka_unit_test(test_breaking),
	};
	struct cell_table t = { .works = { [CELL_INFLATE] = standing }, .seconds = 2 };
	int failed;

	if (cells_begin(&t))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	cells_end();
	return failed || waitpid(-1, NULL, WNOHANG) != -1;
}
