/* SPDX-License-Identifier: Apache-2.0 */
/* A folder names its store, without passwords, and only its owner is believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "repo/place.h"
#include "../../lib/scratch.h"

static void test_passwords_are_left_out(void **state)
{
	static const struct { const char *with, *without; } cases[] = {
		{ "postgresql://u:s3cret@h/db", "postgresql://u@h/db" },
		{ "postgres://u:a:b@c@h1:1,h2:2/db?x=1", "postgres://u@h1:1,h2:2/db?x=1" },
		{ "postgresql://h/db?password=x&sslmode=require", "postgresql://h/db?sslmode=require" },
		{ "postgresql://u:p@h/db?a=1&PASSWORD=x", "postgresql://u@h/db?a=1&" },
		{ "host=h password=x dbname=d", "host=h dbname=d" },
		{ "password = 'it\\'s a b' host=h", "host=h" },
		{ "host=h password='open", "host=h " },
		/* none there */
		{ "postgresql://h:5432/a@b?passwordless=1", NULL },
		{ "sqlite:/tmp/a:b@c/password=x", NULL },
		{ "passfile=f sslpassword=k host=h", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *want = cases[i].without ? cases[i].without : cases[i].with;
		struct buf got;

		buf_init(&got, BUF_NO_LIMIT);
		assert_int_equal(place_without_password(cases[i].with, &got), cases[i].without != NULL);
		assert_string_equal(buf_text(&got), want);
		buf_release(&got);
	}
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_a_folder_names_its_store(void **state)
{
	char folder[SCRATCH_PATH], name[SCRATCH_LONG], got[PLACE_SIZE], want[SCRATCH_LONG];
	struct err err;

	(void)state;
	scratch_folder(folder, "place");
	snprintf(name, sizeof name, "%s/store", folder);
	snprintf(want, sizeof want, "%s/freshet.db", folder);
	assert_false(place_is_repository(folder));
	assert_int_equal(place_find(folder, got, &err), 0);
	assert_string_equal(got, want);
	assert_int_equal(place_remember(folder, "postgresql://u:p@h/db", &err), 1);
	assert_true(place_is_repository(folder));
	assert_int_equal(place_find(folder, got, &err), 0);
	assert_string_equal(got, "postgresql://u@h/db");
	/* again; another; without a password */
	assert_int_equal(place_remember(folder, "postgresql://u:p@h/db", &err), 1);
	assert_int_equal(place_remember(folder, "postgresql://u@h/db", &err), 0);
	assert_int_equal(place_remember(folder, "postgresql://u@h/other", &err), E_USAGE);
	assert_non_null(strstr(err.text, "another store"));
	/* a file that makes no sense */
	for (int i = 0; i < 3; i++) {
		static const char *const bad[] = { "", "\n", "one\ntwo\n" };

		write_file(name, bad[i]);
		assert_int_equal(place_find(folder, got, &err), E_STORE);
	}
	/* tables in the folder go before it */
	write_file(want, "");
	assert_int_equal(place_find(folder, got, &err), 0);
	assert_string_equal(got, want);
	unlink(want);
	/* a link, which may lead anywhere; a file of somebody else */
	unlink(name);
	assert_int_equal(symlink("/etc/hostname", name), 0);
	assert_int_equal(place_find(folder, got, &err), E_STORE);
	unlink(name);
	write_file(name, "postgresql://h/db\n");
	if (geteuid() == 0) {
		assert_int_equal(chown(name, 12345, (gid_t)-1), 0);
		assert_int_equal(place_find(folder, got, &err), E_STORE);
		assert_non_null(strstr(err.text, "not your file"));
	}
	unlink(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passwords_are_left_out),
		cmocka_unit_test(test_a_folder_names_its_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
