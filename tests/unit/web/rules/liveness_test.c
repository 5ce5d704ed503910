/* SPDX-License-Identifier: Apache-2.0 */
/* Status classes, phrases and the sibling rule, each by a fact that decides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "web/rules/liveness.h"
#include "web/url/url.h"

#define N(a) (sizeof (a) / sizeof *(a))

static void test_classes(void **state)
{
	static const struct {
		int status;
		unsigned redirects;
		bool phrase;
		enum liveness_class page, target;
	} table[] = {
		{ 0, 0, false, LIVENESS_NO_ANSWER, LIVENESS_NO_ANSWER },
		{ 404, 0, true, LIVENESS_NOT_FOUND, LIVENESS_NOT_FOUND },
		{ 410, 0, false, LIVENESS_NOT_FOUND, LIVENESS_NOT_FOUND },
		{ 200, 0, false, LIVENESS_REAL_200, LIVENESS_REAL_200 },
		{ 200, 0, true, LIVENESS_SOFT_404, LIVENESS_SOFT_404 },
		{ 200, 1, false, LIVENESS_REDIRECT, LIVENESS_REAL_200 },
		{ 200, 2, true, LIVENESS_REDIRECT, LIVENESS_SOFT_404 },
		{ 404, 1, false, LIVENESS_REDIRECT, LIVENESS_NOT_FOUND },
		{ 0, 1, false, LIVENESS_REDIRECT, LIVENESS_NO_ANSWER },
		{ 301, 10, false, LIVENESS_REDIRECT, LIVENESS_OTHER },
		{ 302, 0, false, LIVENESS_REDIRECT, LIVENESS_OTHER },
		{ 308, 0, false, LIVENESS_REDIRECT, LIVENESS_OTHER },
		{ 304, 0, false, LIVENESS_OTHER, LIVENESS_OTHER },
		{ 403, 0, false, LIVENESS_OTHER, LIVENESS_OTHER },
		{ 204, 0, false, LIVENESS_OTHER, LIVENESS_OTHER },
		{ 500, 0, true, LIVENESS_OTHER, LIVENESS_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < N(table); i++) {
		struct liveness_answer a = { .status = table[i].status,
			.redirects = table[i].redirects, .not_found_phrase = table[i].phrase };
		enum liveness_class target;

		assert_int_equal(liveness_classify(&a, &target), table[i].page);
		assert_int_equal(target, table[i].target);
		assert_int_equal(liveness_classify(&a, NULL), table[i].page);
	}
	assert_string_equal(liveness_name(LIVENESS_SOFT_404), "soft 404");
	assert_string_equal(liveness_name((enum liveness_class)99), "other");
}

static void test_phrases(void **state)
{
	static const char *const yes[] = {
		"Page Not Found", "page not found", "x Error 404: gone", "ERROR  404",
		"PPage Not Found", ("Page\n\t Not\xc2\xa0" "Found"), "errorerror 404",
		"Oops!  Page not \r\n found.",
	};
	static const char *const no[] = {
		"", "Page Not Foun", "PageNotFound", "Page Found", "404", "404 Error", "P", "e",
		"Error: 404", "Error 40", "Page Not", "Not Found", "Page Not\xc2",
		("Error\xc2" "404"),
	};

	(void)state;
	for (size_t i = 0; i < N(yes); i++)
		if (!liveness_has_phrase(yes[i], strlen(yes[i])))
			fail_msg("not seen in: %s", yes[i]);
	for (size_t i = 0; i < N(no); i++)
		if (liveness_has_phrase(no[i], strlen(no[i])))
			fail_msg("seen in: %s", no[i]);
	/* the size counts, not a NUL */
	assert_false(liveness_has_phrase("Error 404", 8));
	assert_true(liveness_has_phrase("a\0Error 404", 11));
}

static void test_sibling_url(void **state)
{
	static const char *const table[][2] = {
		{ "http://h/", "http://h/" },
		{ "http://h/a", "http://h/" },
		{ "https://h:81/a/b.html?x=/y/z", "https://h:81/a/" },
		{ "http://h/a/b/", "http://h/a/b/" },
	};
	struct buf a, b, canonical;
	char longest[URL_SIZE_MAX];

	(void)state;
	buf_init(&a, BUF_NO_LIMIT);
	buf_init(&b, BUF_NO_LIMIT);
	buf_init(&canonical, BUF_NO_LIMIT);
	for (size_t i = 0; i < N(table); i++) {
		const char *url = table[i][0];
		size_t dir = strlen(table[i][1]);

		buf_clear(&a);
		buf_clear(&b);
		buf_clear(&canonical);
		assert_int_equal(liveness_sibling(url, strlen(url), 7, &a, NULL), 0);
		assert_int_equal(liveness_sibling(url, strlen(url), 7, &b, NULL), 0);
		assert_string_equal(a.data, b.data);            /* same draw, same name */
		assert_memory_equal(a.data, table[i][1], dir);
		assert_int_equal(a.size, dir + LIVENESS_SIBLING_SIZE);
		for (size_t k = dir; k < a.size; k++)
			assert_true(a.data[k] >= 'a' && a.data[k] <= 'z');
		assert_int_equal(url_canonical(a.data, a.size, &canonical, NULL), 0);
		assert_string_equal(a.data, canonical.data);
		buf_clear(&b);
		assert_int_equal(liveness_sibling(url, strlen(url), 8, &b, NULL), 0);
		assert_string_not_equal(a.data, b.data);
	}
	memset(longest, 'x', sizeof longest);
	memcpy(longest, "http://h/", 9);
	longest[sizeof longest - 1] = '/';
	buf_clear(&a);
	assert_int_equal(liveness_sibling(longest, sizeof longest, 1, &a, NULL), E_LIMIT);
	assert_int_equal(a.size, 0);
	buf_release(&a);
	buf_release(&b);
	buf_release(&canonical);
}

#define AT(url) .final_url = url, .final_size = sizeof url - 1

static void test_sibling_rule(void **state)
{
	static const struct {
		const char *url;
		struct liveness_answer page, sibling;
		double similarity;
		bool alive;
		enum liveness_reason reason;
	} table[] = {
		{ "http://h/a", { .status = 404 }, { .status = 404 }, -1, false,
		  LIVENESS_BY_ERROR },
		{ "http://h/a", { .status = 0 }, { .status = 200 }, -1, false,
		  LIVENESS_BY_ERROR },
		{ "http://h/", { .status = 500 }, { .status = 404 }, -1, false,
		  LIVENESS_BY_ERROR },
		{ "http://h/a", { .status = 200 }, { .status = 404 }, 1, true,
		  LIVENESS_BY_HONESTY },
		{ "http://h/a", { .status = 200 }, { .status = 0 }, 1, true,
		  LIVENESS_BY_HONESTY },
		{ "http://h/", { .status = 200 }, { .status = 200 }, 1, true,
		  LIVENESS_BY_ROOT },
		{ "http://h/?q", { .status = 200 }, { .status = 200 }, 1, false,
		  LIVENESS_BY_LIKENESS },
		{ "http://h/a", { .status = 200, .redirects = 1 }, { .status = 200 }, 1, true,
		  LIVENESS_BY_REDIRECTS },
		{ "http://h/a", { .status = 200, .redirects = 1, AT("http://h/") },
		  { .status = 200, .redirects = 1, AT("http://h/") }, 0, false,
		  LIVENESS_BY_PLACE },
		{ "http://h/a", { .status = 200, .redirects = 1, AT("http://h/b") },
		  { .status = 200, .redirects = 1, AT("http://h/c") }, 0.2, true,
		  LIVENESS_BY_DIFFERENCE },
		{ "http://h/a", { .status = 200 }, { .status = 200 }, 0.95, false,
		  LIVENESS_BY_LIKENESS },
		{ "http://h/a", { .status = 200 }, { .status = 200 }, 0.94, true,
		  LIVENESS_BY_DIFFERENCE },
		{ "http://h/a", { .status = 200, .simhash = 0xff00 },
		  { .status = 200, .simhash = 0xff07 }, -1, false, LIVENESS_BY_LIKENESS },
		{ "http://h/a", { .status = 200, .simhash = 0xff00 },
		  { .status = 200, .simhash = 0xff0f }, -1, true, LIVENESS_BY_DIFFERENCE },
	};

	(void)state;
	for (size_t i = 0; i < N(table); i++) {
		enum liveness_reason reason;
		bool alive = liveness_by_sibling(table[i].url, strlen(table[i].url),
		                                 &table[i].page, &table[i].sibling,
		                                 table[i].similarity, &reason);

		if (alive != table[i].alive || reason != table[i].reason)
			fail_msg("row %zu: reason %d", i, (int)reason);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_phrases),
		cmocka_unit_test(test_sibling_url),
		cmocka_unit_test(test_sibling_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
