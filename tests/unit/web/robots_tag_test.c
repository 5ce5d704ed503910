/* SPDX-License-Identifier: Apache-2.0 */
/* What pages ask of robots: single values, and a page read whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/analyse.h"
#include "web/robots_tag.h"

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

static bool is_text(struct slice s, const char *text)
{
	return s.size == strlen(text) && (!s.size || !memcmp(s.s, text, s.size));
}

static void expect(const char *html, unsigned header, const char *links, const char *robots)
{
	struct analyser a;
	struct record r = { 0 };

	analyser_init(&a);
	analyse(&a, &(struct analyse_input){ .url = { "http://h.example/d/", 19 },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
