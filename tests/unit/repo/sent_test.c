/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of requests (store_sent()): it is there without a commit, and a strange one is
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "repo/store.h"
#include "../../lib/scratch.h"

static char path[SCRATCH_PATH];

static int setup(void **state)
{
	struct err err;

	scratch_path(path, "db");
	assert_int_equal(store_open((struct store **)state, path, STORE_CREATE, &err), 0);
	return 0;
}

static int teardown(void **state)
{
	store_close(*state);
	return 0;
}

struct sent_list { struct store_sent v[8]; size_t n; };

static int note_sent(void *arg, const struct store_sent *s, struct err *err)
{
	struct sent_list *l = arg;

	(void)err;
	assert_true(l->n < 8);
	l->v[l->n++] = *s;
	return 0;
}

static void append_sent(const char *text)
{
	char name[sizeof path + 8];
	FILE *f;

	snprintf(name, sizeof name, "%s-sent", path);
	f = fopen(name, "a");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Known at once, though a batch is open that is then lost. */
static void test_what_was_sent_is_known_without_a_commit(void **state)
{
	const struct store_sent in[] = { { 3, 7, 1, 2, false }, { UINT32_MAX, UINT32_MAX - 1,
		UINT32_MAX, UINT8_MAX, false }, { 3, 7, 1, 2, true } };
	struct sent_list l = { 0 };
	struct store *s = *state, *other;
	struct err err;

	assert_int_equal(store_sent(s, note_sent, &l, &err), 0);
	assert_int_equal(l.n, 0);
	assert_int_equal(store_begin(s, &err), 0);
	assert_int_equal(store_sent_add(s, in, 2, &err), 0);
	assert_int_equal(store_sent_add(s, in + 2, 1, &err), 0);
	assert_int_equal(store_open(&other, path, STORE_EXISTING, &err), 0);
	assert_int_equal(store_sent(other, note_sent, &l, &err), 0);
	assert_int_equal(l.n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(l.v[i].cycle, in[i].cycle);
		assert_int_equal(l.v[i].page, in[i].page);
		assert_int_equal(l.v[i].place, in[i].place);
		assert_int_equal(l.v[i].reason, in[i].reason);
		assert_int_equal(l.v[i].read, in[i].read);
	}
	store_close(other);
	store_rollback(s);
	l.n = 0;
	append_sent("3 8 2");           /* the machine failed in the middle of a line */
	assert_int_equal(store_sent(s, note_sent, &l, &err), 0);
	assert_int_equal(l.n, 3);
	assert_int_equal(store_sent_clear(s, &err), 0);
	l.n = 0;
	assert_int_equal(store_sent(s, note_sent, &l, &err), 0);
	assert_int_equal(l.n, 0);
	assert_int_equal(store_sent_clear(s, &err), 0);
}

/* What a loss of power leaves: writes that never came read as zeros, also half of them. */
static void test_a_hole_in_what_was_sent(void **state)
{
	static const char hole[] = "1 2 3 4 0\n1 2 3\0\0\0\0\0\0\0\0\0\0001 5 6 4 1\n\0\0\0\0\0\0";
	char name[sizeof path + 8];
	struct sent_list l = { 0 };
	struct err err;
	FILE *f;

	snprintf(name, sizeof name, "%s-sent", path);
	f = fopen(name, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(hole, 1, sizeof hole - 1, f), sizeof hole - 1);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(store_sent(*state, note_sent, &l, &err), 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(store_sent_clear(*state, &err), 0);
}

/* A file that is not ours: an error, nothing read as if it were. */
static void test_a_strange_file_of_what_was_sent(void **state)
{
	static const char *const bad[] = { "\n", "hello\n", "1 2 3 4\n", "1 2 3 4 2\n",
		"1 2 3 256 0\n", "1 2 3 4 0 \n", "1 2 3 4 0 5\n",
		"1111111111111111111111111111111111111111111111111111111111111111111111 2 3 4 0\n" };
	struct store *s = *state;
	char name[sizeof path + 8], other[sizeof path + 16];
	struct sent_list l = { 0 };
	struct err err;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		append_sent("1 2 3 4 0\n");
		append_sent(bad[i]);
		l.n = 0;
		if (store_sent(s, note_sent, &l, &err) != E_STORE)
			fail_msg("taken: %s", bad[i]);
		assert_int_equal(l.n, 1);
		assert_non_null(strstr(err.text, "-sent: damaged"));
		assert_int_equal(store_sent_clear(s, &err), 0);
	}
	snprintf(name, sizeof name, "%s-sent", path);
	snprintf(other, sizeof other, "%s-precious", path);
	assert_int_equal(symlink(other, name), 0);
	assert_true(store_sent(s, note_sent, &l, &err) < 0);
	assert_true(store_sent_add(s, &(struct store_sent){ 0 }, 1, &err) < 0);
	assert_int_not_equal(access(other, F_OK), 0);   /* nothing was made behind the link */
	assert_int_equal(store_sent_clear(s, &err), 0);
	assert_int_not_equal(access(name, F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_was_sent_is_known_without_a_commit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_hole_in_what_was_sent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_strange_file_of_what_was_sent, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
