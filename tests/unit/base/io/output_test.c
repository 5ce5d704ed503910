/* SPDX-License-Identifier: Apache-2.0 */
/* A file is written whole or not at all, and nothing but that file is. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/io/output.h"
#include "../../../lib/scratch.h"

static void expect_bytes(const char *path, const char *want)
{
	char bytes[100];
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(bytes, 1, sizeof bytes - 1, f);
	bytes[n] = '\0';
	fclose(f);
	assert_string_equal(bytes, want);
}

static int write_text(const char *path, const char *text, struct err *err)
{
	struct output *o;
	int rc = output_open(&o, path, err);

	if (rc < 0)
		return rc;
	fputs(text, output_file(o));
	return output_close(o, err);
}

static void test_whole(void **state)
{
	char path[SCRATCH_PATH], part[SCRATCH_PATH + 10];
	struct output *o;
	struct err err;

	(void)state;
	scratch_path(path, "out");
	snprintf(part, sizeof part, "%s.part", path);
	assert_int_equal(write_text(path, "first", &err), 0);
	expect_bytes(path, "first");
	assert_int_equal(output_open(&o, path, &err), 0);
	fputs("second", output_file(o));
	fflush(output_file(o));
	expect_bytes(path, "first");            /* until it is whole */
	output_abandon(o);
	expect_bytes(path, "first");
	assert_int_equal(access(part, F_OK), -1);
}

/* In the place of X.part: what a killed program left is replaced, a second name of a
 * file loses nothing, and a link, a pipe or a folder is not written through. */
static void test_in_the_way(void **state)
{
	char victim[SCRATCH_PATH], path[SCRATCH_PATH], part[SCRATCH_PATH + 10];
	struct err err;

	(void)state;
	scratch_file(victim, "victim", "precious", 8);
	scratch_path(path, "out");
	snprintf(part, sizeof part, "%s.part", path);
	assert_int_equal(link(victim, part), 0);
	assert_int_equal(write_text(path, "mine", &err), 0);
	expect_bytes(path, "mine");
	expect_bytes(victim, "precious");
	for (int i = 0; i < 3; i++) {
		struct stat st;

		assert_int_equal(i == 0 ? symlink(victim, part) : i == 1 ? mkfifo(part, 0666) :
		                 mkdir(part, 0777), 0);
		assert_int_equal(write_text(path, "again", &err), E_IO);
		assert_non_null(strstr(err.text, part));
		expect_bytes(victim, "precious");
		expect_bytes(path, "mine");
		assert_int_equal(lstat(part, &st), 0);
		assert_int_equal(remove(part), 0);
	}
}

/* The disk is full: an error, and what was there before, for every packing. */
static void test_full(void **state)
{
	static const char *const names[] = { "out", "out.gz", "out.zst" };
	struct rlimit old, small;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 1000;
	for (size_t i = 0; i < 3; i++) {
		char path[SCRATCH_PATH], part[SCRATCH_PATH + 10];
		uint32_t noise = 1;
		struct output *o;
		struct err err;

		scratch_file(path, names[i], "before", 6);
		snprintf(part, sizeof part, "%s.part", path);
		assert_int_equal(output_open(&o, path, &err), 0);
		setrlimit(RLIMIT_FSIZE, &small);
		for (int k = 0; k < 300000; k++) {
			noise = noise * 1664525 + 1013904223;
			putc((int)(noise >> 24), output_file(o));
		}
		assert_int_equal(output_close(o, &err), E_IO);
		setrlimit(RLIMIT_FSIZE, &old);
		assert_non_null(strstr(err.text, path));
		expect_bytes(path, "before");
		assert_int_equal(access(part, F_OK), -1);
	}
	assert_int_equal(write_text("/dev/full", "text", &(struct err){ 0 }), E_IO);
}

/* More in one call than any buffer holds, packed: the foreign tool reads all of it. */
static void test_packed_in_one_call(void **state)
{
	static const struct { const char *name, *unpack; } kinds[] = {
		{ "long.gz", "gzip" }, { "long.zst", "zstd" },
	};
	static char bytes[300001];
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(i * 2654435761u >> 13);
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		char path[SCRATCH_PATH], command[SCRATCH_PATH + 40], back[4096];
		struct output *o;
		size_t at = 0, n;
		FILE *f;

		scratch_path(path, kinds[k].name);
		assert_int_equal(output_open(&o, path, &err), 0);
		assert_int_equal(fwrite(bytes, 1, sizeof bytes, output_file(o)), sizeof bytes);
		assert_int_equal(output_close(o, &err), 0);
		snprintf(command, sizeof command, "%s -dc '%s'", kinds[k].unpack, path);
		f = popen(command, "r");
		assert_non_null(f);
		for (; (n = fread(back, 1, sizeof back, f)) > 0; at += n) {
			assert_true(at + n <= sizeof bytes);
			assert_memory_equal(back, bytes + at, n);
		}
		assert_int_equal(pclose(f), 0);
		assert_int_equal(at, sizeof bytes);
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole), cmocka_unit_test(test_in_the_way),
		cmocka_unit_test(test_full), cmocka_unit_test(test_packed_in_one_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
