/* SPDX-License-Identifier: Apache-2.0 */
/* What pages ask of robots: single values, and a page read whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/archive/analyse.h"
#include "web/rules/robots_tag.h"

enum { F = ROBOTS_TAG_NOFOLLOW, I = ROBOTS_TAG_NOINDEX };

static void test_headers(void **state)
{
	static const struct { const char *value; unsigned tags; } cases[] = {
		{ "", 0 }, { "all", 0 }, { "nofollow", F }, { "NoIndex", I }, { "none", F | I },
		{ "noindex, nofollow", F | I }, { "noindex,nofollow,noarchive", F | I },
		{ "nofollowed", 0 }, { "no follow", 0 },
		{ "otherbot: nofollow", 0 }, { "freshet: nofollow", F }, { "Freshet:none", F | I },
		{ "otherbot: noindex, nofollow", 0 },
		{ "otherbot: noindex, freshet: nofollow", F },
		{ "nofollow, otherbot: noindex", F },
		{ "unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow", F },
		{ "unavailable_after: Fri, 25 Jun 2030 15:00:00 GMT, nofollow", F },
		{ "otherbot: unavailable_after: Fri, 25 Jun 2030 15:00:00 GMT, nofollow", 0 },
		{ "max-snippet: 20, otherbot: nofollow", 0 },
		{ "max-image-preview:large, noindex", I },
		{ "*: nofollow", F }, { ":", 0 }, { ",,:,", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (robots_tag_header(cases[i].value, strlen(cases[i].value)) != cases[i].tags)
			fail_msg("%s: %u", cases[i].value,
			         robots_tag_header(cases[i].value, strlen(cases[i].value)));
}

/* What a capture keeps, there and back. */
static void test_kept(void **state)
{
	static const struct { const char *text; unsigned tags; size_t links; } cases[] = {
		{ "", 0, 0 }, { "nofollow", F, 8 }, { "noindex", I, 7 }, { "nofollow noindex", F | I, 16 },
		{ "noindex /a http://h/b", I, 8 }, { "/nofollow nofollow", 0, 0 },
		{ "nofollowed", 0, 0 }, { " noindex  /a", I, 10 },
	};
	struct buf out;
	size_t at;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(robots_tag_kept(cases[i].text, strlen(cases[i].text), &at),
		                 cases[i].tags);
		assert_int_equal(at, cases[i].links);
	}
	buf_init(&out, BUF_NO_LIMIT);
	for (unsigned tags = 0; tags < 4; tags++) {
		buf_clear(&out);
		robots_tag_put(tags, &out);
		assert_int_equal(robots_tag_kept(buf_text(&out), out.size, &at), tags);
		assert_int_equal(at, out.size);
	}
	buf_release(&out);
}

static bool is_text(struct text s, const char *text)
{
	return s.size == strlen(text) && (!s.size || !memcmp(s.s, text, s.size));
}

static void expect(const char *html, unsigned header, const char *links, const char *robots)
{
	struct analyser a;
	struct record r = { 0 };

	analyser_init(&a);
	analyse_here(&a, &(struct analyse_input){ .url = { "http://h.example/d/", 19 },
		.content_type = { "text/html", 9 }, .body = html, .size = strlen(html),
		.robots = header }, &r);
	if (!is_text(r.links, links))
		fail_msg("%s: links %.*s", html, (int)r.links.size, r.links.s);
	if (!is_text(r.robots, robots))
		fail_msg("%s: robots %.*s", html, (int)r.robots.size, r.robots.s);
	analyser_release(&a);
}

static void test_pages(void **state)
{
	(void)state;
	expect("<a href=a>a</a><a href=b rel=nofollow>b</a>", 0, "/d/a /d/b", "/d/b");
	expect("<a href=a rel='ugc NoFollow'>a</a><a href=a>again</a>", 0, "/d/a", "");
	expect("<a href=a>a</a><a href=a rel=nofollow>again</a>", 0, "/d/a", "");
	expect("<a href=b rel=nofollow>b</a><a href=b rel=nofollow>b</a>", 0, "/d/b", "/d/b");
	expect("<area href=http://o.example/ rel=nofollow>", 0, "http://o.example/",
	       "http://o.example/");
	expect("<a href=a rel=follow>a</a>", 0, "/d/a", "");
	expect("<meta name=robots content='noindex, nofollow'><a href=a>a</a>", 0, "/d/a",
	       "nofollow noindex");
	expect("<meta name=ROBOTS content=none>", 0, "", "nofollow noindex");
	expect("<meta name=otherbot content=nofollow><a href=a>a</a>", 0, "/d/a", "");
	expect("<meta name=freshet content=nofollow><a href=a rel=nofollow>a</a>", 0, "/d/a",
	       "nofollow /d/a");
	expect("<meta name=robots>", 0, "", "");
	expect("<a href=a>a</a>", F, "/d/a", "nofollow");
	expect("<a href=a>a</a>", I, "/d/a", "noindex");
	expect("<template><meta name=robots content=nofollow></template><a href=a>a</a>", 0,
	       "/d/a", "");
}

/* A file that is no page has a header, too. */
static void test_file(void **state)
{
	struct analyser a;
	struct record r = { 0 };

	(void)state;
	analyser_init(&a);
	analyse_here(&a, &(struct analyse_input){ .url = { "http://h.example/d.pdf", 22 },
		.content_type = { "application/pdf", 15 }, .body = "%PDF-1.4", .size = 8,
		.robots = I }, &r);
	assert_true(is_text(r.robots, "noindex"));
	assert_null(r.links.s);
	analyser_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
