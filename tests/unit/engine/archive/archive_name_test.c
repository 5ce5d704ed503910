/* SPDX-License-Identifier: Apache-2.0 */
/* Names of archive files: from the repository's folder, absolute, or as they came. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "engine/archive/archive_name.h"
#include "../../../lib/scratch.h"

static void expect(const char *folder, const char *source, const char *told, const char *want)
{
	struct buf b;

	buf_init(&b, ARCHIVE_NAME_MAX);
	archive_name_make(folder, source, told, &b);
	assert_string_equal(buf_text(&b), want);
	buf_release(&b);
}

static void names(void **state)
{
	char folder[SCRATCH_PATH], inside[SCRATCH_LONG], index[SCRATCH_LONG], apart[SCRATCH_PATH];
	char warc[SCRATCH_LONG], *real;
	FILE *f;

	(void)state;
	scratch_folder(folder, "repository");
	scratch_file(apart, "b.warc", "b", 1);
	snprintf(warc, sizeof warc, "%s/warc", folder);
	assert_int_equal(mkdir(warc, 0777), 0);
	snprintf(inside, sizeof inside, "%s/warc/a.warc", folder);
	snprintf(index, sizeof index, "%s/warc/index.cdxj", folder);
	f = fopen(inside, "w");
	assert_non_null(f);
	fclose(f);
	expect(folder, inside, inside, "warc/a.warc");
	expect(folder, index, "a.warc", "warc/a.warc");         /* beside the index */
	real = realpath(apart, NULL);
	expect(folder, apart, apart, real);
	expect(NULL, apart, apart, real);
	free(real);
	real = realpath(inside, NULL);
	expect(warc, apart, inside, "a.warc");
	snprintf(warc, sizeof warc, "%s/war", folder);          /* the beginning of a name */
	assert_int_equal(mkdir(warc, 0777), 0);
	expect(warc, inside, inside, real);
	free(real);
	expect(folder, index, "nowhere.warc", "nowhere.warc");
}

static void expect_path(const char *folder, const char *name, const char *want)
{
	char path[SCRATCH_LONG + 64];
	struct buf b;

	buf_init(&b, ARCHIVE_NAME_MAX);
	archive_name_path(folder, name, &b);
	snprintf(path, sizeof path, "%s/%s", folder, want);
	assert_string_equal(buf_text(&b), path);
	buf_release(&b);
}

static void touch(const char *folder, const char *name)
{
	char path[SCRATCH_LONG + 64];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
}

/* A file that a cycle is still writing, or that a crash left, has its name to come. */
static void paths(void **state)
{
	char folder[SCRATCH_PATH], warc[SCRATCH_LONG];

	(void)state;
	scratch_folder(folder, "paths");
	snprintf(warc, sizeof warc, "%s/warc", folder);
	assert_int_equal(mkdir(warc, 0777), 0);
	touch(folder, "warc/growing.warc.gz.open");
	touch(folder, "warc/whole.warc.gz");
	touch(folder, "own.warc.gz");
	expect_path(folder, "growing.warc.gz", "warc/growing.warc.gz.open");
	expect_path(folder, "whole.warc.gz", "warc/whole.warc.gz");
	expect_path(folder, "own.warc.gz", "own.warc.gz");
	expect_path(folder, "nowhere.warc.gz", "warc/nowhere.warc.gz");
	touch(folder, "warc/growing.warc.gz");
	expect_path(folder, "growing.warc.gz", "warc/growing.warc.gz");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
