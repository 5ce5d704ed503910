/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of scope: a table worked by hand, globs against fnmatch(), hostile expressions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "web/rules/scope.h"
#include "../../../lib/scratch.h"

static bool fits(const char *rules, const char *url, bool unsure)
{
	struct scope_list l = { 0 };
	struct err err;
	bool yes;

	if (scope_list_add(&l, rules, &err) < 0)
		fail_msg("%s: %s", rules, err.text);
	yes = scope_list_fits(&l, url, strlen(url), unsure);
	scope_list_release(&l);
	return yes;
}

static void test_forms(void **state)
{
	static const struct { const char *rule, *yes, *no; } rows[] = {
		{ "example.org", "http://example.org/", "http://myexample.org/" },
		{ "example.org", "https://news.example.org:8080/x", "http://example.org.evil.test/" },
		{ "Example.ORG", "http://example.org/x?y", "http://example.com/example.org" },
		{ "example.org/shop/", "https://www.example.org/shop/1", "http://example.org/shop" },
		{ "example.org:8080", "http://a.example.org:8080/", "http://example.org/" },
		{ "site:intranet", "http://intranet/x", "http://internet/x" },
		{ "m\xc3\xbcller.test", "http://xn--mller-kva.test/", "http://muller.test/" },
		{ "http://a.org/x", "http://a.org/xy", "https://a.org/x" },
		{ "HTTP://A.org", "http://a.org/b", "http://a.organic/b" },
		{ "prefix:https://a.org/b?", "https://a.org/b?c", "https://a.org/bc" },
		{ "/tag/", "http://a/tag/1", "http://a/x/tag/1" },
		{ "*.pdf", "http://a/b.pdf", "http://a/b.pdf?c" },
		{ "/tag/*/old", "http://a/tag/1/2/old", "http://a/b/tag/1/old" },
		{ "a.org/*?id=*", "http://a.org/x?id=1", "http://b.a.org/x?id=1" },
		{ "http://*/x", "http://b/y/x", "https://b/y/x" },
		{ "glob:http://a/?", "http://a/?", "http://a/b" },
		{ "regex:[?&]session=", "http://a/?x=1&session=9", "http://a/session=9" },
		{ "regex:^https?://[^/]*/\\d+$", "http://a/12", "http://a/b/12" },
		{ "[::1]", "http://[::1]:80/x", "http://[::2]/x" },
		{ "[::1]:81", "http://[::1]:81/x", "http://[::1]:82/x" },
		{ "x.test  /b\n *.gif", "http://a/b", "http://a/c" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!fits(rows[i].rule, rows[i].yes, false))
			fail_msg("%s does not fit %s", rows[i].rule, rows[i].yes);
		if (fits(rows[i].rule, rows[i].no, true))
			fail_msg("%s fits %s", rows[i].rule, rows[i].no);
	}
}

static void test_bad_rules(void **state)
{
	static const char *const bad[] = { "news", "regex:(", "regex:", "site:", "glob:", "prefix:",
		"regex:\\C", "@/nowhere/at/all", "a.org/\x01",
		("regex:((((((((((((((((((((((((((((((((((((((((((((((((((((x"
		 "))))))))))))))))))))))))))))))))))))))))))))))))))))))"), "regex:(a{1,60000}){1,60000}" };
	struct scope_list l = { 0 };
	static char longest[SCOPE_RULE_MAX + 2];
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (scope_list_add(&l, bad[i], &err) >= 0)
			fail_msg("%s was taken", bad[i]);
	memset(longest, '/', sizeof longest - 1);
	assert_int_equal(scope_list_add(&l, longest, &err), E_LIMIT);
	scope_list_release(&l);
}

/* Expressions that take for ever give up, and what is unsure is left out. */
static void test_hostile_expressions(void **state)
{
	static const char *const slow[] = { "regex:(a+)+!", "regex:(a|aa)+!", "regex:((a+)\\2?)+!",
		"regex:(?:(?:a+)*)+a!", "regex:(a?){60}a{60}!" };
	char url[4000] = "http://h/";

	(void)state;
	memset(url + 9, 'a', sizeof url - 12);
	strcat(url, "/!");
	for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
		struct scope s = { 0 };

		assert_int_equal(scope_list_add(&s.include, slow[i], NULL), 0);
		assert_false(scope_has(&s, url, strlen(url)));
		scope_list_release(&s.include);
		s = (struct scope){ 0 };
		assert_int_equal(scope_list_add(&s.exclude, slow[i], NULL), 0);
		scope_has(&s, url, strlen(url));
		assert_true(!s.exclude.gave_up || !scope_has(&s, url, strlen(url)));
		scope_release(&s);
	}
	assert_true(fits("regex:(a+)+!", url, true));
	assert_false(fits("regex:(a+)+!", url, false));
}

static void random_text(char *out, size_t most, uint64_t seed, uint32_t k, const char *of)
{
	struct rng r;
	size_t n;

	rng_init(&r, rng_draw(seed, 1, k, RNG_USER));
	n = rng_next(&r) % most;
	for (size_t i = 0; i < n; i++)
		out[i] = of[rng_next(&r) % strlen(of)];
	out[n] = '\0';
}

static void test_globs_are_those_of_fnmatch(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < 20000; k++) {
		char pattern[40] = "glob:/", path[40] = "/", url[60];
		bool want;

		random_text(pattern + 6, 8, 7, 2 * k, "ab*/");
		random_text(path + 1, 12, 7, 2 * k + 1, "ab/");
		snprintf(url, sizeof url, "http://h%s", path);
		want = fnmatch(pattern + 5, path, FNM_NOESCAPE) == 0;
		if (fits(pattern, url, false) != want)
			fail_msg("%s on %s", pattern, path);
	}
}

static void test_scope(void **state)
{
	struct scope s = { 0 };
	char path[SCRATCH_PATH], text[SCRATCH_PATH + 40];
	struct buf out;
	FILE *f;

	(void)state;
	assert_true(scope_is_empty(&s) && scope_has(&s, "http://a/", 9));
	scratch_path(path, "rules");
	f = fopen(path, "w");
	fputs("# comment\n\n/private/   # why\nregex:x#y *.zip\n", f);
	fclose(f);
	snprintf(text, sizeof text, "@%s", path);
	assert_int_equal(scope_list_add(&s.exclude, text, NULL), 0);
	assert_int_equal(scope_list_add(&s.include, "a.test b.test", NULL), 0);
	assert_true(scope_has(&s, "http://b.test/", 14));
	assert_false(scope_has(&s, "http://c.test/", 14));
	assert_false(scope_has(&s, "http://b.test/private/", 22));
	assert_false(scope_has(&s, "http://b.test/a.zip", 19));
	buf_init(&out, BUF_NO_LIMIT);
	scope_list_text(&s.exclude, &out);
	assert_string_equal(buf_text(&out), "/private/ regex:x#y *.zip");
	buf_release(&out);
	f = fopen(path, "w");           /* a file that names itself, and a bad line */
	fprintf(f, "@%s\n", path);
	fclose(f);
	assert_int_equal(scope_list_add(&s.exclude, text, NULL), E_USAGE);
	f = fopen(path, "w");
	fputs("ok.test\nnews\n", f);
	fclose(f);
	struct err err;
	assert_int_equal(scope_list_add(&s.exclude, text, &err), E_USAGE);
	assert_non_null(strstr(err.text, "rules:2: 'news' is no rule"));
	scope_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms), cmocka_unit_test(test_bad_rules),
		cmocka_unit_test(test_hostile_expressions),
		cmocka_unit_test(test_globs_are_those_of_fnmatch), cmocka_unit_test(test_scope),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
