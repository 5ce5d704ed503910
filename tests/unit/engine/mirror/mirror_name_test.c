/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files in a mirror: worked by hand, and by rules that hold for all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <cmocka.h>

#include "base/map.h"
#include "base/math/rng.h"
#include "engine/mirror/mirror_name.h"
#include "web/url/url.h"

static void name_of(const char *url, const char *mime, char out[600])
{
	struct text m = { mime, mime ? strlen(mime) : 0 };
	struct buf b;

	buf_init(&b, BUF_NO_LIMIT);
	mirror_name((struct text){ url, strlen(url) }, m, &b);
	assert_true(b.size < 600);
	memcpy(out, buf_text(&b), b.size + 1);
	buf_release(&b);
}

/* want: the name, with * for a hash. */
static void expect(const char *url, const char *mime, const char *want)
{
	char name[600];
	const char *star = strchr(want, '*');
	size_t before = star ? (size_t)(star - want) : 0;

	name_of(url, mime, name);
	if (!star) {
		assert_string_equal(name, want);
		return;
	}
	assert_memory_equal(name, want, before);
	assert_int_equal(strspn(name + before, "0123456789abcdef"), 12);
	assert_string_equal(name + before + 12, star + 1);
}

static void test_by_hand(void **state)
{
	(void)state;
	expect("https://example.org/", "text/html", "example.org/index.html");
	expect("https://example.org/a/b.html", "text/html; charset=utf-8", "example.org/a/b.html");
	expect("https://example.org/a/", "text/html", "example.org/a/index.html");
	expect("https://example.org/about", "text/html", "example.org/about@.html");
	expect("https://example.org/x.php", "text/html", "example.org/x.php@.html");
	expect("https://example.org/x.png", "image/png", "example.org/x.png");
	expect("https://example.org/data", "image/png", "example.org/data@.png");
	expect("https://example.org/data", NULL, "example.org/data@.bin");
	expect("https://example.org/v1.2/x.png", "image/png", "example.org/v1.2+/x.png");
	expect("http://example.org/", "text/html", "example.org_80/index.html");
	expect("http://example.org:8080/", "text/html", "example.org_8080/index.html");
	expect("https://example.org:8443/", "text/html", "example.org_s8443/index.html");
	expect("https://example.org/?q=1", "text/html", "example.org/index@q_1-*.html");
	expect("https://example.org/About", "text/html", "example.org/About@-*.html");
	expect("https://example.org/index.html", "text/html", "example.org/index-*.html");
	expect("https://example.org/con.txt", "text/plain", "example.org/_con-*.txt");
	expect("https://example.org/.git/a.txt", "text/plain", "example.org/_git-*+/a.txt");
	expect("https://example.org/%C3%A9/", "text/html", "example.org/_C3_A9-*/index.html");
	expect("https://[::1]:8443/", "text/html", "___1__s8443/index.html");
	/* not the names of http://example.org:8080/, https://[::1]/, the mirror's own files */
	expect("https://example.org_8080/", "text/html", "example.org_8080-*/index.html");
	expect("https://___1_/", "text/html", "___1_-*/index.html");
	expect("https://index.html/", "text/html", "index.html-*/index.html");
	expect("https://index.html.part/", "text/html", "index.html.part-*/index.html");
	expect("http://con/", "text/html", "_con-*_80/index.html");
	expect("https://example.org/x.png.part", "image/png", "example.org/x.png.part@.png");
}

/* The longest host that a URL may have, with a port. */
static void test_long_host(void **state)
{
	char url[400] = "https://", name[600];

	(void)state;
	for (int i = 0; i < 4; i++)
		memset(url + strlen(url), 'a', 62), strcat(url, ".");
	strcpy(url + 8 + 249, "aaaa:65535/");
	name_of(url, "text/html", name);
	assert_true(strcspn(name, "/") <= 255);
	assert_non_null(strstr(name, "_s65535/index.html"));
}

static bool is_bad_part(const char *part, size_t size)
{
	return size == 0 || size > 255 || part[0] == '.' || part[size - 1] == '.' ||
	       (size > 5 && !strncasecmp(part + size - 5, ".part", 5)) ||
	       (size == 3 && !strncasecmp(part, "con", 3));
}

/* Many odd URLs: two never share a name, not even where a is A; no file is a folder; no
 * part is forbidden anywhere. */
static void test_rules(void **state)
{
	static const char *const bits[] = { "a", "A", "a.html", "a.b", "con", ".part", "..x", "x.",
		"/", "/", "/", "//", "?", "?x=1", "index", "index.html", "%2F", "%20", "@", "+", "-", "~", "_",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };
	static const char *const types[] = { "text/html", "text/plain", "image/png", "x/y" };
	static const char *const hosts[] = { "https://h.example/", "http://h.example/",
		"https://h.example_80/", "http://h.example_80/", "https://[::1]/", "https://___1_/" };
	struct strtab urls = { 0 }, names = { 0 }, folders = { 0 };
	struct rng rng;

	(void)state;
	rng_init(&rng, 7);
	for (int i = 0; i < 30000; i++) {
		char url[2000], lower[600];
		struct err err;
		struct buf canonical;
		bool is_new;
		size_t n;

		strcpy(url, hosts[rng_below(&rng, sizeof hosts / sizeof *hosts)]);
		for (uint64_t k = rng_below(&rng, 7); k; k--)
			strcat(url, bits[rng_below(&rng, sizeof bits / sizeof *bits)]);
		buf_init(&canonical, URL_SIZE_MAX);
		assert_int_equal(url_canonical(url, strlen(url), &canonical, &err), 0);
		strtab_intern(&urls, buf_text(&canonical), canonical.size, &is_new);
		if (is_new) {
			/* the type of a URL is always the same here */
			name_of(buf_text(&canonical), types[hash_bytes(canonical.data, canonical.size, 1) % 4],
			        lower);
			n = strlen(lower);
			assert_int_equal(strspn(lower, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			                        "0123456789._~-+@/"), n);
			for (size_t k = 0; k < n; k++)
				lower[k] = (char)(lower[k] >= 'A' && lower[k] <= 'Z' ? lower[k] + 32 : lower[k]);
			strtab_intern(&names, lower, n, &is_new);
			if (!is_new)
				fail_msg("%s: %s is another's", buf_text(&canonical), lower);
			for (char *part = lower, *slash; *part; part = slash + 1) {
				slash = strchr(part, '/');
				assert_false(is_bad_part(part, slash ? (size_t)(slash - part) : strlen(part)));
				if (!slash)
					break;
				strtab_intern(&folders, lower, (size_t)(slash - lower), NULL);
			}
		}
		buf_release(&canonical);
	}
	assert_true(names.n > 5000);
	for (uint32_t i = 0; i < folders.n; i++)
		assert_int_equal(strtab_find(&names, strtab_get(&folders, i), strtab_size(&folders, i)),
		                 MAP_NONE);
	strtab_release(&urls);
	strtab_release(&names);
	strtab_release(&folders);
}

static void test_relative(void **state)
{
	static const struct { const char *from, *to, *link; } rows[] = {
		{ "h/index.html", "h/a.html", "a.html" }, { "h/a/b.html", "h/c.html", "../c.html" },
		{ "h/a/b/c.html", "g/x.html", "../../../g/x.html" }, { "h/a.html", "h/a.html", "a.html" },
		{ "h/ab/x.html", "h/ac/x.html", "../ac/x.html" },
	};
	struct buf b;

	(void)state;
	buf_init(&b, 100);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		buf_clear(&b);
		mirror_relative(rows[i].from, rows[i].to, &b);
		assert_string_equal(buf_text(&b), rows[i].link);
	}
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand), cmocka_unit_test(test_long_host),
		cmocka_unit_test(test_rules), cmocka_unit_test(test_relative),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
