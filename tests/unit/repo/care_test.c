/* SPDX-License-Identifier: Apache-2.0 */
/* Which pages are under care, the log of it, and tags; against a plain array of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "repo/store.h"
#include "../../lib/scratch.h"
#include "../../lib/whole.h"

#define N_PAGES 8
#define N_CHANGES 60

static struct text text(const char *s) { return (struct text){ s, strlen(s) }; }

static struct store *open_with_pages(void)
{
	char path[SCRATCH_PATH];
	struct store *s;

	scratch_path(path, "db");
	assert_int_equal(store_open(&s, path, STORE_CREATE, NULL), 0);
	assert_int_equal(store_begin(s, NULL), 0);
	for (uint32_t i = 0, n; i < N_PAGES; i++) {
		char url[40];

		snprintf(url, sizeof url, "http://a.example/%u", i);
		assert_int_equal(store_page_add(s, text(url), 1, &n, NULL), 1);
	}
	assert_int_equal(store_commit(s, NULL), 0);
	return s;
}

struct expected { const struct store_care *rows; size_t n, at; uint32_t page, from, to; };

static int compare(void *arg, const struct store_care *got, struct err *err)
{
	struct expected *x = arg;
	const struct store_care *want;

	(void)err;
	for (;; x->at++) {
		assert_true(x->at < x->n);
		want = &x->rows[x->at];
		if (want->cycle >= x->from && want->cycle < x->to &&
		    (x->page == STORE_NONE || x->page == want->page))
			break;
	}
	x->at++;
	assert_int_equal(got->cycle, want->cycle);
	assert_int_equal(got->page, want->page);
	assert_int_equal(got->care, want->care);
	assert_int_equal(got->time, want->time);
	return 0;
}

static void check_log(struct store *s, const struct store_care *rows, size_t n, uint32_t page,
                      uint32_t from, uint32_t to)
{
	struct expected x = { rows, n, 0, page, from, to };

	assert_int_equal(store_care_log(s, page, from, to, compare, &x, NULL), 0);
	for (; x.at < n; x.at++)
		assert_true(rows[x.at].cycle < from || rows[x.at].cycle >= to ||
		            (page != STORE_NONE && rows[x.at].page != page));
}

/* Random changes over cycles: the column has the last, the log has every real change. */
static void test_log(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct store *s = open_with_pages();
		struct store_care log[N_CHANGES];
		struct store_counts counts;
		uint8_t care[N_PAGES] = { 0 };
		uint32_t cycle = 0, want[3] = { 0 };
		size_t n = 0;

		for (uint32_t k = 0; k < N_CHANGES; k++) {
			uint64_t draw = rng_draw(seed, 1, k, RNG_FILL);
			struct store_care c = { .page = (uint32_t)(draw % N_PAGES),
			                        .care = (draw >> 8) % (CARE_ALL + 1) };
			struct store_cycle row = { .number = cycle + 1, .time = k, .policy = text("x") };

			assert_int_equal(store_begin(s, NULL), 0);
			if (draw >> 20 & 1) {
				assert_int_equal(store_cycle_put(s, &row, NULL), 0);
				cycle++;
			}
			assert_int_equal(store_care_put(s, &c, 1, 1000 + k, NULL), 0);
			assert_int_equal(store_commit(s, NULL), 0);
			if (care[c.page] != c.care)
				log[n++] = (struct store_care){ cycle, c.page, c.care, 1000 + k };
			care[c.page] = c.care;
		}
		check_log(s, log, n, STORE_NONE, 0, UINT32_MAX);
		check_log(s, log, n, 3, 0, UINT32_MAX);
		check_log(s, log, n, STORE_NONE, 5, 9);
		check_log(s, log, n, 2, 4, 20);
		for (uint32_t i = 0; i < N_PAGES; i++) {
			struct store_page p;

			assert_int_equal(store_page_get(s, i, &p, NULL), 1);
			assert_int_equal(p.care, care[i]);
			want[0] += (care[i] & CARE_REMOVED) != 0;
			want[1] += !(care[i] & CARE_REMOVED) && (care[i] & CARE_SCOPE);
			want[2] += care[i] && !(care[i] & (CARE_REMOVED | CARE_SCOPE));
		}
		assert_int_equal(store_count(s, &counts, NULL), 0);
		assert_int_equal(counts.removed, want[0]);
		assert_int_equal(counts.outside, want[1]);
		assert_int_equal(counts.paused, want[2]);
		assert_int_equal(whole_check(s, NULL), 0);
		store_close(s);
	}
}

struct found { char text[200]; };

static int see_tag(void *arg, struct text tag, uint64_t n, struct err *err)
{
	struct found *f = arg;
	size_t at = strlen(f->text);

	(void)err;
	snprintf(f->text + at, sizeof f->text - at, "%.*s %u,", (int)tag.size, tag.s, (unsigned)n);
	return 0;
}

static int see_page(void *arg, uint32_t page, struct err *err)
{
	return see_tag(arg, text("p"), page, err);
}

static void test_tags(void **state)
{
	static const uint32_t some[] = { 5, 1, 5, 7 }, other[] = { 1 };
	static const char *const bad[] = { "", "two words", "a,b", "tab\t", "\x7f" };
	struct store *s = open_with_pages();
	struct found f = { "" };
	char longest[STORE_TAG_MAX + 2] = { 0 };

	(void)state;
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_tag_put(s, text("news"), some, 4, true, NULL), 0);
	assert_int_equal(store_tag_put(s, text("b\xc3\xa4r"), other, 1, true, NULL), 0);
	assert_int_equal(store_tag_put(s, text("none"), some, 4, false, NULL), 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_true(store_tag_put(s, text(bad[i]), other, 1, true, NULL) < 0);
	memset(longest, 'x', STORE_TAG_MAX + 1);
	assert_true(store_tag_put(s, text(longest), other, 1, true, NULL) < 0);
	assert_int_equal(store_commit(s, NULL), 0);
	assert_int_equal(store_tags(s, STORE_NONE, see_tag, &f, NULL), 0);
	assert_string_equal(f.text, "b\xc3\xa4r 1,news 3,");
	*f.text = 0;
	assert_int_equal(store_tags(s, 1, see_tag, &f, NULL), 0);
	assert_string_equal(f.text, "b\xc3\xa4r 1,news 1,");
	*f.text = 0;
	assert_int_equal(store_tagged(s, text("news"), see_page, &f, NULL), 0);
	assert_string_equal(f.text, "p 1,p 5,p 7,");
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_tag_put(s, text("news"), some, 2, false, NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	*f.text = 0;
	assert_int_equal(store_tagged(s, text("news"), see_page, &f, NULL), 0);
	assert_string_equal(f.text, "p 7,");
	*f.text = 0;
	assert_int_equal(store_tagged(s, text("unknown"), see_page, &f, NULL), 0);
	assert_string_equal(f.text, "");
	assert_int_equal(whole_check(s, NULL), 0);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_log), cmocka_unit_test(test_tags) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
