/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitemap_cell_test.c - all of sitemap_test.c in a cell, and sitemaps that break it.
 *
 * The reader crashes, leaves or lies when a sitemap says so.  Nothing of such a sitemap is
 * believed, and the next is read as if nothing had been.
 */
#include <sys/wait.h>
#include <unistd.h>

#define main sitemap_test_main
#include "sitemap_test.c"
#undef main

#include "base/sandbox/cell.h"
#include "base/sandbox/parcel.h"

static void put(struct buf *b, const char *url, uint64_t flags)
{
	parcel_put(b, 1);
	parcel_put_text(b, (struct text){ url, strlen(url) });
	parcel_put(b, flags);
	parcel_put(b, 0);
}

/* Answers that a reader never gives. */
static void lie(const char *how, struct buf *answer)
{
	static const char *const urls[] = { "", "http", "http://h", "http://[h/", "HTTP://h/", "http://h/ ",
		"ftp://h/", "http://h/\n", "http://elsewhere/" };
	char why[sizeof err.text];
	uint64_t rc = *how == 'S' ? (uint64_t)E_STOP : *how == 'P' ? 1 : 0;

	memset(why, 'x', sizeof why);
	buf_clear(answer);
	if (*how >= '0' && *how <= '8')
		put(answer, urls[*how - '0'], 0);
	for (int i = 0; *how == 'm' && i <= SITEMAP_URLS_MAX; i++)
		put(answer, "http://h/", 0);
	if (*how == 'i')
		put(answer, "http://h/", 1);            /* a sitemap in what is no index */
	if (*how == 'b') {
		parcel_put(answer, 1);
		parcel_put(answer, (uint64_t)1 << 40);
	}
	parcel_put(answer, 0);
	parcel_put(answer, *how == 'r' ? UINT64_MAX : 0);
	for (int i = 0; i < 5; i++)
		parcel_put(answer, 0);
	parcel_put(answer, rc);
	buf_add(answer, why, sizeof why - (*how == 'w'));
}

static int breaking(const struct text *parts, size_t n, struct buf *answer, struct err *e)
{
	int rc = sitemap_cell(parts, n, answer, e);
	const char *at = parts[1].size ? memmem(parts[1].s, parts[1].size, "BREAK ", 6) : NULL;

	if (!at)
		return rc;
	if (!strncmp(at + 6, "segv", 4))
		__builtin_trap();
	if (!strncmp(at + 6, "leave", 5))
		_exit(0);
	if (!strncmp(at + 6, "lie ", 4))
		lie(at + 10, answer);
	return rc;
}

static void test_breaking(void **state)
{
	static const char *const ways[] = { "segv", "leave", "lie 0", "lie 1", "lie 2", "lie 3", "lie 4",
		"lie 5", "lie 6", "lie 7", "lie 8", "lie i", "lie b", "lie r", "lie w", "lie S",
		"lie P" };
	struct sitemap_source s = { "http://h/map", 12, SITEMAP_SITE, 0 };
	uint64_t made, before, died;

	(void)state;
	cells_count(&made, &before);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		char text[100];
		int n = snprintf(text, sizeof text, "http://h/a\nBREAK %s\n", ways[i]);

		if (read_source(text, (size_t)n, s) != E_READER)
			fail_msg("%s: it was read", ways[i]);
		assert_int_equal(seen.size, 0);
		assert_int_equal(report.entries + report.refused, 0);
		check("http://a/x\n", "http://a/x\n");
	}
	cells_count(&made, &died);
	assert_int_equal(died - before, sizeof ways / sizeof *ways);
	/* more entries than the sitemap has bytes for */
	assert_int_equal(read_source("http://h/a\nBREAK lie m", 22, s), E_LIMIT);
	assert_int_equal(seen.size + report.entries, 0);
}

static size_t gzip_of(const void *data, size_t size, char *out, size_t room)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)data, .avail_in = (unsigned)size,
	               .next_out = (unsigned char *)out, .avail_out = (unsigned)room };

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return z.total_out;
}

/* What the stream holds before its own damage is read, and the damage reported; a sitemap that is
 * compressed twice is none, as without cells. */
static void test_damaged(void **state)
{
	char packed[1000], twice[1000];
	size_t n, m;

	(void)state;
	n = gzip_of("http://a/1\nhttp://a/2\n", 22, packed, sizeof packed);
	packed[n - 8] ^= 1;             /* the sum */
	assert_int_equal(read_n(packed, n), E_PARSE);
	assert_string_equal(buf_text(&seen), "http://a/1\nhttp://a/2\n");
	assert_non_null(strstr(err.text, "damaged"));
	packed[n - 8] ^= 1;
	assert_int_equal(read_n(packed, n), 0);
	m = gzip_of(packed, n, twice, sizeof twice);
	assert_int_equal(read_n(twice, m), E_PARSE);
	assert_int_equal(seen.size, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SITEMAP_TESTS,
		cmocka_unit_test(test_breaking),
		cmocka_unit_test(test_damaged),
	};
	struct cell_table t = { .works = { [CELL_SITEMAP] = breaking } };
	int failed;

	if (cells_begin(&t))
		return 1;
	buf_init(&seen, BUF_NO_LIMIT);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	buf_release(&seen);
	cells_end();
	return failed || waitpid(-1, NULL, WNOHANG) != -1;
}
