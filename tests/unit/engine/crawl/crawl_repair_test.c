/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a crash left of the archive is repaired at the start of a cycle; what somebody
 * else put into the settings or the folder is not obeyed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "../../../lib/bed.h"
#include "engine/crawl/crawl_inner.h"

#define NAME "freshet-20260101000000-00000-box.warc.gz"

static void set_state(struct bed *b, const char *value)
{
	struct err err;

	assert_int_equal(store_begin(b->store, &err), 0);
	assert_int_equal(store_state_put(b->store, STORE_OF_WORKER, "warc", value, &err), 0);
	assert_int_equal(store_commit(b->store, &err), 0);
}

/* A capture that lies in the file. */
static void know(struct bed *b, const char *file, const char *worker)
{
	struct store_capture c = { .time = 1, .status = 200, .length = -1, .bytes_text = -1, .words = -1,
	                           .images = -1, .tables = -1, .emails = -1, .outlinks = -1,
	                           .offset = 0, .size = 5, .file = { file, strlen(file) } };
	struct err err;

	if (worker)
		c.worker = (struct text){ worker, strlen(worker) };
	assert_int_equal(store_begin(b->store, &err), 0);
	assert_true(store_page_add(b->store, (struct text){ "http://127.0.0.1:1/", 19 }, 1, &c.page, &err) >= 0);
	assert_true(store_capture_add(b->store, &c, &err) > 0);
	assert_int_equal(store_commit(b->store, &err), 0);
}

static char *in_folder(const struct bed *b, char ret[SCRATCH_LONG], const char *name)
{
	snprintf(ret, SCRATCH_LONG, "%s/%s", b->warc, name);
	return ret;
}

static void put(const struct bed *b, const char *name, const char *bytes)
{
	char path[SCRATCH_LONG];
	FILE *f = fopen(in_folder(b, path, name), "w");

	assert_non_null(f);
	fputs(bytes, f);
	fclose(f);
}

/* The bytes of a file; NULL: it is not there. */
static const char *bytes_at(const char *path)
{
	static char bytes[100];
	FILE *f = fopen(path, "r");
	size_t n;

	if (!f)
		return NULL;
	n = fread(bytes, 1, sizeof bytes - 1, f);
	bytes[n] = '\0';
	fclose(f);
	return bytes;
}

static const char *bytes_of(const struct bed *b, const char *name)
{
	char path[SCRATCH_LONG];

	return bytes_at(in_folder(b, path, name));
}

/* A cycle of a repository without pages: it repairs, and has nothing to ask for. */
static int cycle(struct bed *b, struct crawl_report *ret, struct err *err)
{
	*err = (struct err){ 0 };
	return crawl_cycle(b->store, &b->opts, ret, err);
}

static void test_cut_and_named(void **state)
{
	struct crawl_report r;
	struct err err;
	struct bed b;

	(void)state;
	bed_open(&b, "127.0.0.1");
	know(&b, NAME, NULL);
	set_state(&b, NAME " 5");
	put(&b, NAME ".open", "known, and more");
	(void)cycle(&b, &r, &err);
	assert_string_equal(bytes_of(&b, NAME), "known");
	assert_null(bytes_of(&b, NAME ".open"));
	assert_int_equal(r.n_aside, 0);
	put(&b, NAME, "known and its end");      /* it has its name already */
	(void)cycle(&b, &r, &err);
	assert_string_equal(bytes_of(&b, NAME), "known");
	bed_close(&b);
}

/* The state names the file, but no row of the table `files`: captures were left out of the batch. */
static void test_without_captures(void **state)
{
	static const char *const known[] = { NULL, "x" NAME, NAME "x", "north/shard-0/" NAME };
	struct crawl_report r = { 0 };
	struct err err;
	struct bed b;

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		bool is = known[i] && known[i][0] == 'n';

		bed_open(&b, "127.0.0.1");
		if (known[i])
			know(&b, known[i], is ? "north" : NULL);
		set_state(&b, NAME " 5");
		put(&b, NAME ".open", "known, and more");
		r = (struct crawl_report){ 0 };
		assert_int_equal(crawl_repair(b.store, b.warc, &r, &err), 0);
		assert_null(bytes_of(&b, NAME ".open"));
		assert_int_equal(r.n_aside, !is);
		assert_string_equal(bytes_of(&b, is ? NAME : NAME ".aside"), is ? "known" : "known, and more");
		bed_close(&b);
	}
}

/* Files that the store knows nothing of are kept, each under a name of its own. */
static void test_unknown_is_kept(void **state)
{
	struct crawl_report r;
	struct err err;
	struct bed b;

	(void)state;
	bed_open(&b, "127.0.0.1");
	for (int i = 0; i < 3; i++) {
		put(&b, "other.warc.gz.open", i == 0 ? "zero" : i == 1 ? "one" : "two");
		(void)cycle(&b, &r, &err);
		assert_null(bytes_of(&b, "other.warc.gz.open"));
		assert_int_equal(r.n_aside, 1);
	}
	assert_string_equal(r.aside, "other.warc.gz.aside-2");
	assert_string_equal(bytes_of(&b, "other.warc.gz.aside"), "zero");
	assert_string_equal(bytes_of(&b, "other.warc.gz.aside-1"), "one");
	assert_string_equal(bytes_of(&b, "other.warc.gz.aside-2"), "two");
	/* both names of the known file are taken: neither is lost */
	set_state(&b, NAME " 5");
	put(&b, NAME, "whole");
	put(&b, NAME ".open", "stray");
	(void)cycle(&b, &r, &err);
	assert_string_equal(bytes_of(&b, NAME), "whole");
	assert_string_equal(bytes_of(&b, NAME ".aside"), "stray");
	bed_close(&b);
}

static void test_names_that_are_none(void **state)
{
	static const char *const bad[] = {
		"../precious.txt 1", "../precious.txt 0", "/%s 1", "..", ".. 1", ". 1", "", " ",
		NAME, NAME " 0", NAME " -1", NAME " 5 6", NAME " 5x", "warc/" NAME " 5",
		NAME " 99999999999999999999999", ".hidden 1", "a\nb 1", "\xff 1",
	};
	char victim[SCRATCH_LONG];
	struct crawl_report r;
	struct err err;
	struct bed b;

	(void)state;
	bed_open(&b, "127.0.0.1");
	in_folder(&b, victim, "../precious.txt");
	put(&b, "../precious.txt", "precious");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char value[SCRATCH_LONG + 10];

		snprintf(value, sizeof value, "%s", bad[i]);
		if (bad[i][0] == '/')
			snprintf(value, sizeof value, "%s 1", victim);
		set_state(&b, value);
		if (cycle(&b, &r, &err) != E_STORE)
			fail_msg("'%s' was taken", value);
		assert_non_null(strstr(err.text, "settings"));
		assert_non_null(strstr(err.text, "state of this worker"));
		assert_string_equal(bytes_at(victim), "precious");
	}
	bed_close(&b);
}

static void test_links_are_not_followed(void **state)
{
	char victim[SCRATCH_LONG], path[SCRATCH_LONG];
	struct crawl_report r;
	struct stat st;
	struct err err;
	struct bed b;

	(void)state;
	bed_open(&b, "127.0.0.1");
	in_folder(&b, victim, "../precious.txt");
	put(&b, "../precious.txt", "precious");
	set_state(&b, NAME " 3");
	/* in the place of the file: a link, a second name, a pipe, a folder */
	for (int i = 0; i < 4; i++) {
		in_folder(&b, path, NAME);
		assert_int_equal(i == 0 ? symlink(victim, path) : i == 1 ? link(victim, path) :
		                 i == 2 ? mkfifo(path, 0666) : mkdir(path, 0777), 0);
		assert_int_equal(cycle(&b, &r, &err), E_IO);
		assert_non_null(strstr(err.text, NAME));
		assert_string_equal(bytes_at(victim), "precious");
		assert_int_equal(remove(path), 0);
	}
	/* under the name of an open one: not ours, and left as it is */
	for (int i = 0; i < 2; i++) {
		in_folder(&b, path, i ? "x.warc.gz.open" : NAME ".open");
		assert_int_equal(symlink(victim, path), 0);
	}
	(void)cycle(&b, &r, &err);
	assert_string_equal(bytes_at(victim), "precious");
	assert_int_equal(r.n_aside, 0);
	for (int i = 0; i < 2; i++) {
		in_folder(&b, path, i ? "x.warc.gz.open" : NAME ".open");
		assert_int_equal(lstat(path, &st), 0);
		assert_true(S_ISLNK(st.st_mode));
	}
	/* a second name of a file that need not be cut does no harm: a backup by links */
	assert_int_equal(unlink(path), 0);
	set_state(&b, NAME " 8");
	assert_int_equal(link(victim, in_folder(&b, path, NAME)), 0);
	if (cycle(&b, &r, &err) == E_IO)
		fail_msg("%s", err.text);
	assert_string_equal(bytes_at(victim), "precious");
	bed_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_and_named), cmocka_unit_test(test_without_captures),
		cmocka_unit_test(test_unknown_is_kept),
		cmocka_unit_test(test_names_that_are_none),
		cmocka_unit_test(test_links_are_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
