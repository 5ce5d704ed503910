/* SPDX-License-Identifier: Apache-2.0 */
/* robots.txt: the situations of RFC 9309 in our own words, cuts at every byte,
 * and random rule sets against a backtracking matcher. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "web/rules/robots.h"
#include "web/url/url.h"

#define N(a) (sizeof (a) / sizeof *(a))

static bool ask(const struct robots *r, const char *path)
{
	struct buf given, url;
	struct err err;
	bool allowed;

	buf_init(&given, BUF_NO_LIMIT);
	buf_init(&url, BUF_NO_LIMIT);
	buf_printf(&given, "http://h%s", path);
	if (url_canonical(given.data, given.size, &url, &err))
		fail_msg("%s: %s", path, err.text);
	allowed = robots_allows(r, url.data, url.size, NULL);
	buf_release(&given);
	buf_release(&url);
	return allowed;
}

/* Does `text` let "freshet" fetch path? */
static bool allows(const char *text, const char *path)
{
	struct robots r;
	bool allowed;

	robots_parse(&r, text, strlen(text), false, "freshet");
	allowed = ask(&r, path);
	robots_release(&r);
	return allowed;
}

static void test_groups(void **state)
{
	static const char text[] =
		"# a comment\n"
		"User-Agent: *\n"
		"Disallow: /all/\n"
		"\n"
		"User-agent: other\n"
		"User-agent: FreshET/9.1 (anything)\n"
		"Disallow: /both/ # here too\n"
		"User-agent: freshet-news\n"
		"Disallow: /news/\n"
		"Disallow: /\n"
		"user-agent : freshet\n"
		"ALLOW: /both/open/\n"
		"Disallow:\n"
		"Disallow: /later/\n";

	(void)state;
	assert_true(allows(text, "/all/x"));            /* own group: "*" is not ours */
	assert_false(allows(text, "/both/x"));
	assert_true(allows(text, "/both/open/x"));      /* groups of one token unite */
	assert_false(allows(text, "/later/x"));
	assert_true(allows(text, "/news/x"));
	assert_true(allows(text, "/"));

	/* no group of ours: "*"; nobody's group: everything */
	assert_false(allows("User-agent: *\nDisallow: /\n", "/x"));
	assert_true(allows("User-agent: a\nDisallow: /\n", "/x"));
	assert_true(allows("Disallow: /\nUser-agent: *\nDisallow: /y\n", "/x"));
	/* an empty group of ours frees us from "*" */
	assert_true(allows("User-agent: *\nDisallow: /\nUser-agent: freshet\n", "/x"));
	/* other records do not end the list of agents */
	assert_false(allows("User-agent: freshet\nSitemap: http://h/s\nCrawl-delay: 1\n"
	                    "Foo: bar\nUser-agent: b\nDisallow: /\n", "/x"));
	/* but a delay and an empty line do */
	assert_true(allows("User-agent: *\nCrawl-delay: 1\n\n"
	                   "User-agent: bad\nDisallow: /\n", "/x"));
	assert_false(allows("User-agent: *\nCrawl-delay: 1\nUser-agent: bad\n\n"
	                    "Disallow: /\n", "/x"));
	/* blank lines alone do not */
	assert_false(allows("User-agent: freshet\n\n\nUser-agent: b\n\n"
	                    "Disallow: /x\n", "/x"));
	assert_false(allows("User-agent: freshet\nDisallow /x\n", "/x"));
}

static void test_lines(void **state)
{
	(void)state;
	assert_false(allows("\xef\xbb\xbfUser-agent: *\nDisallow: /x", "/x"));
	assert_false(allows("User-agent: *\rDisallow: /x\r", "/x"));
	assert_false(allows("User-agent: *\r\nDisallow: /x\r\n", "/x"));
	assert_false(allows("\n\r\n \t User-agent \t:\t * \t\n\tDisallow\t: /x\t", "/x"));
	assert_false(allows("User-agent:*\nDisallow:/x#y", "/x"));
	assert_true(allows("<html><body>Disallow: /</body></html>", "/x"));
	assert_true(allows("", "/x"));
	assert_true(allows("User-agent: *\n:\n#\nDisallow\n: /x\nAllow", "/x"));
}

static void test_matching(void **state)
{
	static const struct { const char *rules, *path; bool allowed; } table[] = {
		/* the most octets decide, order does not */
		{ "Allow: /example/page/\nDisallow: /example/page/no.gif",
		  "/example/page/", true },
		{ "Allow: /example/page/\nDisallow: /example/page/no.gif",
		  "/example/page/no.gif", false },
		{ "Disallow: /a\nAllow: /a/b\nDisallow: /a/b/c", "/a/b/x", true },
		{ "Disallow: /a\nAllow: /a/b\nDisallow: /a/b/c", "/a/b/c", false },
		{ "Disallow: /x\nAllow: /x", "/x", true },
		{ "Allow: /x\nDisallow: /x", "/x", true },
		{ "Disallow: /p", "/P", true },
		{ "Disallow: /p", "/page", false },
		{ "Disallow: /p/", "/p", true },
		{ "Disallow: /", "/robots.txt", true },
		{ "Disallow: /", "/robots.txt?x", false },
		/* specials */
		{ "Disallow: *.gif$", "/a/b.gif", false },
		{ "Disallow: *.gif$", "/a/b.gif?x", true },
		{ "Disallow: *.gif$", "/a.gif/b.gif", false },
		{ "Disallow: /*.gif", "/b.gif?x", false },
		{ "Disallow: /a*/c", "/a/b/c", false },
		{ "Disallow: /a*/c", "/a/b/d", true },
		{ "Disallow: /a/c*", "/a/c", false },
		{ "Disallow: /x$", "/x", false },
		{ "Disallow: /x$", "/xy", true },
		{ "Disallow: /x$y", "/x", true },
		{ "Disallow: /x$y", "/x$yz", false },
		{ "Disallow: /x$y", "/x%24y", false },
		{ "Disallow: /*?sort=", "/l?sort=a", false },
		{ "Disallow: /*sort=", "/l?sort=a", false },
		{ "Disallow: /*&sort=", "/l?a=b&sort=a", false },
		{ "Disallow: /*/print", "/l?next=/print", false },
		{ "Disallow: /$", "/", false },
		{ "Disallow: /$", "/x", true },
		{ "Disallow: *", "/x", false },
		{ "Disallow: **a**b**", "/xaxbx", false },
		{ "Disallow: **a**b**", "/xbxax", true },
		/* longest counts the star: "/page*" has 6 octets against 5 */
		{ "Allow: /page\nDisallow: /page*", "/page", false },
		{ "Allow: /$\nDisallow: /", "/", true },
		{ "Allow: /$\nDisallow: /", "/x", false },
		/* literal specials */
		{ "Disallow: /f%2A", "/f*x", false },
		{ "Disallow: /f%2a", "/f%2Ax", false },
		{ "Disallow: /f%2A", "/fx", true },
		{ "Disallow: /f%24", "/f$", false },
		/* one percent-encoding */
		{ "Disallow: /foo/bar?baz=https://foo.bar",
		  "/foo/bar?baz=https%3A%2F%2Ffoo.bar", false },
		{ "Disallow: /foo/bar?baz=https%3a%2f%2Ffoo.bar",
		  "/foo/bar?baz=https://foo.bar", false },
		{ "Disallow: /foo/\xe3\x83\x84", "/foo/%E3%83%84", false },
		{ "Disallow: /foo/%e3%83%84", "/foo/\xe3\x83\x84", false },
		{ "Disallow: /foo/%62%61%7A", "/foo/baz", false },
		{ "Disallow: /~joe", "/%7Ejoe", false },
		{ "Disallow: /a%2Fb", "/a/b", true },
		{ "Disallow: /a/b", "/a%2fb", true },
		{ "Disallow: /a b", "/a%20b", false },
		{ "Disallow: /100%", "/100%25", false },
		/* triplets do not make a rule longer */
		{ "Disallow: /%61%62%63\nAllow: /abcd", "/abcd", true },
		/* no leading slash: a Disallow is heard, an Allow is not */
		{ "Disallow: private", "/private/x", false },
		{ "Disallow: /\nAllow: x", "/x", false },
	};
	char text[300];

	(void)state;
	for (size_t i = 0; i < N(table); i++) {
		snprintf(text, sizeof text, "User-agent: *\n%s\n", table[i].rules);
		if (allows(text, table[i].path) != table[i].allowed)
			fail_msg("%s: %s", table[i].rules, table[i].path);
	}
}

static void test_extensions(void **state)
{
	static const char text[] =
		"Sitemap: HTTP://Example.com/a/../map.xml\n"
		"User-agent: *\nCrawl-delay: 30\n\n"
		"User-agent: freshet\nCrawl-delay: 2.5\nSitemap: /relative\n"
		"Crawl-delay: 1\nCrawl-delay: x\nCrawl-delay: -3\nDisallow: /\n"
		"sitemap:https://example.com/b.xml # two\n";
	struct robots r;
	const char *rule;
	struct buf many;

	(void)state;
	robots_parse(&r, text, strlen(text), false, "freshet");
	assert_true(r.own_group);
	assert_float_equal(r.crawl_delay, 2.5, 1e-9);
	assert_int_equal(r.sitemaps.n, 2);
	assert_string_equal(robots_sitemap(&r, 0), "http://example.com/map.xml");
	assert_string_equal(robots_sitemap(&r, 1), "https://example.com/b.xml");
	assert_false(robots_allows(&r, "http://h/x", 10, &rule));
	assert_string_equal(rule, "/");
	robots_release(&r);
	robots_parse(&r, text, strlen(text), false, "else");
	assert_float_equal(r.crawl_delay, 30, 1e-9);
	assert_true(robots_allows(&r, "http://h/x", 10, &rule));
	assert_null(rule);
	robots_release(&r);

	buf_init(&many, BUF_NO_LIMIT);
	buf_str(&many, "User-agent: *\nCrawl-delay: 99999999999999999999999\n");
	for (int i = 0; i < 2 * ROBOTS_SITEMAPS_MAX; i++)
		buf_printf(&many, "Sitemap: http://h/%d\n", i);
	robots_parse(&r, many.data, many.size, false, "freshet");
	assert_int_equal(r.sitemaps.n, ROBOTS_SITEMAPS_MAX);
	assert_float_equal(r.crawl_delay, ROBOTS_DELAY_MAX, 1e-9);
	robots_release(&r);
	buf_release(&many);
}

static void test_policy(void **state)
{
	const int64_t month = ROBOTS_UNREACHABLE_MAX;

	(void)state;
	assert_int_equal(robots_policy(200, 0), ROBOTS_READ);
	assert_int_equal(robots_policy(206, 0), ROBOTS_READ);
	assert_int_equal(robots_policy(302, 0), ROBOTS_ALLOW_ALL);
	assert_int_equal(robots_policy(401, 0), ROBOTS_ALLOW_ALL);
	assert_int_equal(robots_policy(403, 0), ROBOTS_ALLOW_ALL);
	assert_int_equal(robots_policy(404, 0), ROBOTS_ALLOW_ALL);
	assert_int_equal(robots_policy(410, 0), ROBOTS_ALLOW_ALL);
	assert_int_equal(robots_policy(429, 0), ROBOTS_DISALLOW_ALL);
	assert_int_equal(robots_policy(500, 0), ROBOTS_DISALLOW_ALL);
	assert_int_equal(robots_policy(503, month), ROBOTS_DISALLOW_ALL);
	assert_int_equal(robots_policy(503, month + 1), ROBOTS_ALLOW_ALL);
	assert_int_equal(robots_policy(0, 0), ROBOTS_DISALLOW_ALL);
	assert_int_equal(robots_policy(0, month + 1), ROBOTS_ALLOW_ALL);
	assert_int_equal(robots_policy(600, 0), ROBOTS_DISALLOW_ALL);
}

/* Cut anywhere, a file whose last line can only widen what came before must not
 * open what the whole file forbids by a rule that was (partly) read. */
static void test_cut(void **state)
{
	static const char text[] =
		"User-agent: *\nDisallow: /\nUser-agent: freshet\nDisallow: /shut/deep\n"
		"Allow: /shut/deep/open/door\n";
	const char *disallow = strstr(text, "Disallow: /shut");
	struct robots r;
	char *big;
	size_t n;

	(void)state;
	for (size_t size = 0; size <= strlen(text); size++) {
		bool open;

		robots_parse(&r, text, size, true, "freshet");
		open = ask(&r, "/shut/deep/open/window");
		robots_release(&r);
		if (size >= strlen("User-agent: *\nDi"))
			assert_false(open);
		robots_parse(&r, text, size, true, "freshet");
		/* once our own group is known, the rest of the site is ours again */
		if (text + size > disallow + 13)
			assert_true(ask(&r, "/else"));
		robots_release(&r);
	}
	/* a name cut short may be another's; a group cut short is not all of it */
	for (int known = 0; known < 2; known++) {
		static const char *const tail[] = { "freshet", "freshet\n" };
		char cut[100];

		snprintf(cut, sizeof cut, "User-agent: *\nDisallow: /\nCrawl-delay: 9\n"
		         "User-agent: %s", tail[known]);
		robots_parse(&r, cut, strlen(cut), true, "freshet");
		assert_int_equal(r.own_group, known);
		assert_false(ask(&r, "/x"));
		assert_float_equal(r.crawl_delay, 9, 1e-9);
		robots_release(&r);
	}
	/* the same cut made by the size limit: Allow: /a cut from /abc opens nothing */
	n = ROBOTS_SIZE_MAX + 2;
	big = malloc(n + 1);
	memset(big, '\n', n);
	big[n] = '\0';
	memcpy(big, "User-agent: *\nDisallow: /\n", 26);
	memcpy(big + n - 12, "Allow: /a/bc", 12);
	robots_parse(&r, big, n, false, "freshet");
	assert_true(r.cut);
	assert_false(ask(&r, "/a/x"));
	robots_release(&r);
	robots_parse(&r, big, ROBOTS_SIZE_MAX - 10, false, "freshet");
	assert_false(r.cut);
	robots_release(&r);

	/* a line too long is cut too: its Disallow covers more, its Allow nothing */
	memset(big, 'x', n);
	memcpy(big, "User-agent: *\nDisallow: /a", 26);
	big[ROBOTS_LINE_MAX + 1000] = '\n';
	memcpy(big + ROBOTS_LINE_MAX + 1001, "Disallow: /\nAllow: /y", 21);
	robots_parse(&r, big, 5 * ROBOTS_LINE_MAX, false, "freshet");
	assert_false(r.cut);
	assert_int_equal(r.rules.n, 2);
	assert_false(ask(&r, "/yx"));
	robots_release(&r);
	free(big);
}

static bool naive_match(const char *p, const char *s)
{
	if (!*p)
		return true;
	if (*p == '$' && !p[1])
		return !*s;
	if (*p == '*')
		return naive_match(p + 1, s) || (*s && naive_match(p, s + 1));
	return *p == *s && naive_match(p + 1, s + 1);
}

#define MANY 120

struct drawn { char text[16]; bool allow; };

static void draw_rule(struct rng *rng, const char *letters, struct drawn *rule)
{
	size_t len = 1 + rng_below(rng, 8), n = strlen(letters);

	for (size_t k = 0; k < len; k++) {
		rule->text[k] = k ? letters[rng_below(rng, n)] : "/*"[rng_below(rng, 2)];
		if (k && rule->text[k - 1] == '$')      /* special only at the end */
			rule->text[k - 1] = 'a';
	}
	rule->text[len] = '\0';
	rule->allow = rng_below(rng, 2);
}

/* What the naive matcher says; *ret_best: octets of the rule that decides. */
static bool naive_allows(const struct drawn *rules, size_t n, const char *path, size_t *ret_best)
{
	bool want = true;

	*ret_best = 0;
	for (size_t i = 0; i < n; i++) {
		size_t octets = strlen(rules[i].text);

		if (octets < *ret_best || !naive_match(rules[i].text, path))
			continue;
		want = rules[i].allow || (octets == *ret_best && want);
		*ret_best = octets;
	}
	return want;
}

/* Few rules and many, with many stars and few; and with too little time for all of them,
 * which closes more and opens nothing. */
static void test_random(void **state)
{
	static const char *const letters[] = { "ab/*$?", "ab/$", "aaab*", "ab" };
	unsigned matched = 0, closed = 0;
	struct rng rng;

	(void)state;
	rng_init(&rng, 5);
	for (int round = 0; round < 20000; round++) {
		struct drawn rules[MANY];
		char text[MANY * 32] = "User-agent: *\n", url[40] = "http://h/", *path = url + 8;
		size_t n = 1 + rng_below(&rng, round % 4 ? 8 : MANY), best, len = strlen(text), steps;
		const char *rule;
		struct robots r;
		bool want;

		for (size_t i = 0; i < n; i++) {
			draw_rule(&rng, letters[round % 16 / 4], &rules[i]);
			len += (size_t)sprintf(text + len, "%s: %s\n", rules[i].allow ? "Allow" :
			                       "Disallow", rules[i].text);
		}
		for (size_t k = 1, end = rng_below(&rng, 12); k <= end; k++)
			path[k] = "ab/?"[rng_below(&rng, 4)], path[k + 1] = '\0';
		want = naive_allows(rules, n, path, &best);
		robots_parse(&r, text, len, false, "freshet");
		if (robots_allows(&r, url, strlen(url), &rule) != want)
			fail_msg("%s%s", text, path);
		assert_int_equal(rule ? strlen(rule) : 0, best);
		matched += rule != NULL;
		for (size_t most = 1; most < 200; most *= 3) {
			bool open = robots_allows_within(&r, most, url, strlen(url), &rule, &steps);

			if (open && !want)
				fail_msg("open within %zu steps: %s%s", most, text, path);
			closed += want && !open;
		}
		robots_release(&r);
	}
	assert_true(matched > 5000 && matched < 19900);
	assert_true(closed > 1000);
}

static size_t steps_of(const struct robots *r, const char *path, bool want)
{
	char url[URL_SIZE_MAX + 1];
	const char *rule;
	size_t steps, n = (size_t)snprintf(url, sizeof url, "http://h%s", path);

	assert_int_equal(robots_allows_within(r, ROBOTS_STEPS_MAX, url, n, &rule, &steps), want);
	return steps;
}

/* As many rules as a file can hold: what a question costs is bounded, whatever the rules
 * and the URL.  Steps are bytes looked at. */
static void test_cost(void **state)
{
	static const char *const forms[] = { "Disallow:*/p%05zu\n", "Disallow: /p%05zu\n",
		"Disallow:*a%05zu*b\n" };
	char path[URL_SIZE_MAX] = "/";
	struct robots r;
	struct buf text;

	(void)state;
	memset(path + 1, 'a', 2000);
	buf_init(&text, BUF_NO_LIMIT);
	for (int form = 0; form < 3; form++) {
		size_t n = 0;

		buf_clear(&text);
		buf_str(&text, "User-agent: *\n");
		while (text.size + 20 < ROBOTS_SIZE_MAX) {
			char line[32];

			snprintf(line, sizeof line, forms[form], n++);
			buf_str(&text, line);
		}
		robots_parse(&r, text.data, text.size, false, "freshet");
		assert_int_equal(r.rules.n, n);
		assert_true(n > 26000);
		/* an ordinary URL: a look at each wild rule, and little more */
		assert_in_range(steps_of(&r, "/products/2024/a-name.html", true), 1,
		                form == 1 ? 200 : n + 30000);
		assert_in_range(steps_of(&r, path, true), 1, form == 1 ? 200 : n + 30000);
		if (form < 2)
			assert_in_range(steps_of(&r, "/p00123", false), 1, form ? 200 : n + 30000);
		robots_release(&r);
	}
	/* All of them fit the URL but for one byte: there is no time for all, and so it is
	 * closed.  A URL that is short enough is read to the end. */
	buf_clear(&text);
	buf_str(&text, "User-agent: *\n");
	while (text.size + 20 < ROBOTS_SIZE_MAX)
		buf_str(&text, "Disallow:*aa*aaaaaab\n");
	robots_parse(&r, text.data, text.size, false, "freshet");
	memcpy(path + 1900, "xaaab", 5);
	assert_in_range(steps_of(&r, path, false), ROBOTS_STEPS_MAX, ROBOTS_STEPS_MAX + 100000);
	assert_in_range(steps_of(&r, "/aaab", true), 1, ROBOTS_STEPS_MAX);
	robots_release(&r);
	buf_release(&text);
}

/* Patterns made to blow up a backtracking matcher. */
static void test_hostile(void **state)
{
	struct robots r;
	struct buf text, url;
	clock_t t = clock();

	(void)state;
	buf_init(&text, BUF_NO_LIMIT);
	buf_init(&url, BUF_NO_LIMIT);
	buf_str(&text, "User-agent: *\n");
	for (int i = 0; i < 200; i++) {
		buf_str(&text, "Disallow: /");
		for (int k = 0; k < 100; k++)
			buf_str(&text, "*a*a");
		buf_str(&text, "b$\n");
	}
	buf_str(&url, "http://h/");
	while (url.size < URL_SIZE_MAX)
		buf_byte(&url, 'a');
	robots_parse(&r, text.data, text.size, false, "freshet");
	assert_int_equal(r.rules.n, 200);
	assert_true(robots_allows(&r, url.data, url.size, NULL));
	robots_release(&r);
	/* the most rules a file can hold */
	buf_clear(&text);
	buf_str(&text, "User-agent: *\n");
	while (text.size + 12 < ROBOTS_SIZE_MAX)
		buf_str(&text, "Disallow:*b\n");
	robots_parse(&r, text.data, text.size, false, "freshet");
	assert_true(r.rules.n > 40000);
	assert_true(robots_allows(&r, url.data, url.size, NULL));
	robots_release(&r);
	assert_true((double)(clock() - t) / CLOCKS_PER_SEC < 4);
	buf_release(&text);
	buf_release(&url);
}

/* robots_cell_test.c has them, too. */
#define ROBOTS_TESTS \
	cmocka_unit_test(test_groups), \
	cmocka_unit_test(test_lines), \
	cmocka_unit_test(test_matching), \
	cmocka_unit_test(test_extensions), \
	cmocka_unit_test(test_policy), \
	cmocka_unit_test(test_cut), \
	cmocka_unit_test(test_random), \
	cmocka_unit_test(test_cost), \
	cmocka_unit_test(test_hostile)

int main(void)
{
	static const struct CMUnitTest tests[] = { ROBOTS_TESTS };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
