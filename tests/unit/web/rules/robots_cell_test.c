/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots_cell_test.c - all of robots_test.c in a cell, and files that break it.
 *
 * The reader crashes, leaves, loops or lies when a file says so.  Nothing is known of such a file,
 * and the next is read as if nothing had been.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "web/rules/robots.h"

static void read_by_cell(struct robots *r, const char *data, size_t size, bool cut,
                         const char *token);
#define main robots_test_main
#define robots_parse read_by_cell
#include "robots_test.c"
#undef robots_parse
#undef main

#include "base/sandbox/cell.h"
#include "base/sandbox/parcel.h"

static void read_by_cell(struct robots *r, const char *data, size_t size, bool cut,
                         const char *token)
{
	struct err err = { 0 };

	if (robots_read(r, data, size, cut, token, &err))
		fail_msg("%s", err.text);
}

/* Answers that a reader never gives: flags, delay, how many rules, rules, sitemaps. */
static void lie(const char *how, struct buf *answer)
{
	static const double nan = __builtin_nan(""), forever = 1e300;
	static const char *const patterns[] = { "", "x", "/a b", "/%", "/%2", "/%2f", "/\x80", "/\n" };
	uint64_t delay = 0;

	buf_clear(answer);
	parcel_put(answer, 0);
	parcel_put(answer, 0);
	memcpy(&delay, *how == 'n' ? &nan : *how == 'f' ? &forever : &(double){ 0 }, sizeof delay);
	parcel_put(answer, delay);
	parcel_put(answer, *how == 'm' ? UINT64_MAX : *how == 't' ? 5 : *how == 's' ? 0 : 1);
	if (*how >= '0' && *how <= '7') {
		const char *p = patterns[*how - '0'];

		parcel_put(answer, 1);
		parcel_put_text(answer, (struct text){ p, strlen(p) });
	}
	if (*how == 's')
		parcel_put_text(answer, (struct text){ "http://H/", 9 });
	if (*how == 'b') {
		parcel_put(answer, 1);
		parcel_put(answer, (uint64_t)1 << 40);
	}
}

static int breaking(const struct text *parts, size_t n, struct buf *answer, struct err *err)
{
	int rc = robots_cell(parts, n, answer, err);
	const char *at = memmem(parts[1].s, parts[1].size, "BREAK ", 6);

	if (!at)
		return rc;
	if (!strncmp(at + 6, "segv", 4))
		__builtin_trap();
	if (!strncmp(at + 6, "leave", 5))
		_exit(0);
	if (!strncmp(at + 6, "loop", 4))
		for (volatile int i = 1; i; i |= 1)
			;
	if (!strncmp(at + 6, "lie ", 4))
		lie(at + 10, answer);
	return rc;
}

static void test_breaking(void **state)
{
	static const char *const ways[] = { "segv", "leave", "lie n", "lie f", "lie m", "lie t", "lie s",
		"lie b", "lie 0", "lie 1", "lie 2", "lie 3", "lie 4", "lie 5", "lie 6", "lie 7", "loop" };
	uint64_t made, before, died;

	(void)state;
	cells_count(&made, &before);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		char text[100];
		struct robots r = { .crawl_delay = 7 };
		int n = snprintf(text, sizeof text, "User-agent: *\nDisallow: /x # BREAK %s\n", ways[i]);

		if (robots_read(&r, text, (size_t)n, false, "freshet", NULL) != E_READER)
			fail_msg("%s: it was read", ways[i]);
		assert_true(r.crawl_delay == 7 && !r.rules.n);
		read_by_cell(&r, "User-agent: *\nDisallow: /y", 26, false, "freshet");
		assert_false(robots_allows(&r, "http://h/y", 10, NULL));
		assert_true(robots_allows(&r, "http://h/x", 10, NULL));
		robots_release(&r);
	}
	cells_count(&made, &died);
	assert_int_equal(died - before, sizeof ways / sizeof *ways);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROBOTS_TESTS,
		cmocka_unit_test(test_breaking),
	};
	struct cell_table t = { .works = { [CELL_ROBOTS] = breaking }, .seconds = 2 };
	int failed;

	if (cells_begin(&t))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	cells_end();
	return failed || waitpid(-1, NULL, WNOHANG) != -1;
}
