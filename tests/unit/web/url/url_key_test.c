/* SPDX-License-Identifier: Apache-2.0 */
/* SURT keys, sites, directory chains: examples by hand, and the chain against
 * a naive tokeniser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "web/url/url.h"

#define N(a) (sizeof (a) / sizeof *(a))
#define ID32 "0123456789abcdefghijklmnopqrstuv"
#define ID24 "4hqa0555fwsecu455xqckv45"

static struct buf out;

static const char *canonical(const char *s)
{
	struct err err;

	buf_clear(&out);
	if (url_canonical(s, strlen(s), &out, &err))
		fail_msg("%s: %s", s, err.text);
	return out.data;
}

static void test_surt(void **state)
{
	static const char *const table[][2] = {
		{ "http://www.example.org/", "org,example)/" },
		{ "http://example.org/Goo/", "org,example)/goo" },
		{ "http://example.org/goo/?", "org,example)/goo" },
		{ "http://example.org/goo/?b&a", "org,example)/goo?a&b" },
		{ "https://example.org/goo/?a=2&b&a=1", "org,example)/goo?a=1&a=2&b" },
		{ "http://www12.example.org/x", "org,example)/x" },
		{ "http://www2example.org/x", "org,www2example)/x" },
		{ "http://www2.www3.example.org/x", "org,example,www3)/x" },
		{ "http://www.a.b.example.co.uk/", "uk,co,example,b,a)/" },
		{ "http://www/", "www)/" },
		{ "http://example.org:8080/x", "org,example:8080)/x" },
		{ "https://example.org:80/x", "org,example:80)/x" },
		{ "https://example.org:443/x", "org,example)/x" },
		{ "http://10.0.0.1/x", "1,0,0,10)/x" },
		{ "http://[::1]:81/x", "[::1]:81)/x" },
		{ "http://e.org//two///slashes?more//slashes",
		  "org,e)/two/slashes?more//slashes" },
		{ "http://e.org/%252525", "org,e)/%25" },
		{ "http://e.org/%252%2535", "org,e)/%25" },
		{ "http://e.org/%25%34%31", "org,e)/a" },
		{ "http://e.org/%25%32%35", "org,e)/%25" },
		{ "http://e.org/a%252F..%252Fb", "org,e)/b" },
		{ "http://e.org/%C3%96%20%3Cx%3E", "org,e)/%c3%96%20<x>" },
		{ "http://e.org/x?&R=http%3A//w.org/A%20b&c=1",
		  "org,e)/x?&c=1&r=http://w.org/a%20b" },
		/* by name, then value: '-' sorts before '=' as a byte, not as a name */
		{ "http://e.org/x?a-b=1&a=2", "org,e)/x?a=2&a-b=1" },
		{ "http://e.org/x?a=&a", "org,e)/x?a&a=" },
		{ "http://e.org/x?a=1&", "org,e)/x?&a=1" },
		{ "http://e.org/x?PHPSESSID=" ID32 "&action=p;u=4", "org,e)/x?action=p;u=4" },
		{ "http://e.org/x?sid=" ID32, "org,e)/x" },
		{ "http://e.org/x?sid=" ID32 "0", "org,e)/x?sid=" ID32 "0" },
		{ "http://e.org/x?one=two&jsessionid=" ID32, "org,e)/x?&one=two" },
		{ "http://e.org/x?sid=" ID32 "&jsessionid=" ID32, "org,e)/x" },
		{ "http://e.org/x?CFID=1&CFTOKEN=2&r=3", "org,e)/x?r=3" },
		{ "http://e.org/x?CFID=1&a=0&CFTOKEN=2", "org,e)/x?a=0&cfid=1&cftoken=2" },
		{ "http://e.org/x?aspsessionidABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&x=y",
		  "org,e)/x?x=y" },
		{ "http://e.org/x;jsessionid=" ID32 "?a=b", "org,e)/x?a=b" },
		{ "http://e.org/(S(" ID24 "))/m.aspx", "org,e)/m.aspx" },
		{ "http://e.org/(" ID24 ")/m.aspx?x", "org,e)/m.aspx?x" },
		{ "http://e.org/(a(" ID24 ")S(" ID24 "))/m.aspx", "org,e)/m.aspx" },
		{ "http://e.org/(" ID24 ")/m.html", "org,e)/(" ID24 ")/m.html" },
	};
	struct buf key;

	(void)state;
	buf_init(&key, BUF_NO_LIMIT);
	for (size_t i = 0; i < N(table); i++) {
		canonical(table[i][0]);
		buf_clear(&key);
		url_surt(out.data, out.size, &key);
		assert_string_equal(key.data, table[i][1]);
	}
	buf_release(&key);
}

static void test_surt_many_parts(void **state)
{
	struct buf url, key;

	(void)state;
	buf_init(&url, BUF_NO_LIMIT);
	buf_init(&key, BUF_NO_LIMIT);
	buf_str(&url, "http://e/?");
	for (int i = 299; i >= 0; i--)
		buf_printf(&url, "k%03d%s", i, i ? "&" : "");
	url_surt(url.data, url.size, &key);
	assert_memory_equal(key.data, "e)/?k000&k001&k002", 18);
	assert_int_equal(key.size, strlen("e)/?") + 300 * 5 - 1);
	buf_release(&url);
	buf_release(&key);
}

static void test_site(void **state)
{
	static const char *const table[][3] = {
		{ "http://www.example.co.uk/x/y", "www.example.co.uk", "example.co.uk" },
		{ "https://a.b.example.com:8443/", "a.b.example.com:8443", "example.com" },
		{ "http://example.com/", "example.com", "example.com" },
		{ "http://co.uk/", "co.uk", "co.uk" },
		{ "http://localhost/", "localhost", "localhost" },
		{ "http://10.1.2.3:81/", "10.1.2.3:81", "10.1.2.3:81" },
		{ "http://[::1]/", "[::1]", "[::1]" },
		{ "http://x.b\xc3\xbc""cher.example/", "x.xn--bcher-kva.example",
		  "xn--bcher-kva.example" },
	};
	struct buf site;

	(void)state;
	buf_init(&site, BUF_NO_LIMIT);
	for (size_t i = 0; i < N(table); i++)
		for (int by_domain = 0; by_domain < 2; by_domain++) {
			canonical(table[i][0]);
			buf_clear(&site);
			url_site(out.data, out.size, by_domain, &site);
			assert_string_equal(site.data, table[i][1 + by_domain]);
		}
	buf_release(&site);
}

/* Tokens of "host/a/b?q" the slow way: host, directories, and the leaf with its query. */
static unsigned naive_tokens(const char *url, char token[100][64])
{
	const char *s = strstr(url, "://") + 3;
	unsigned n = 0, k = 0;
	int query = 0;

	for (; *s; s++) {
		query |= *s == '?';
		if (*s == '/' && !query) {
			token[n++][k] = '\0';
			k = 0;
		} else {
			token[n][k++] = *s;
		}
	}
	token[n++][k] = '\0';
	return n;
}

static void test_dirs_random(void **state)
{
	static const char *const words[] = { "a", "bb", "index.html", "", "x%20y", "v1" };
	char token[100][64], url[1000];
	struct url_dirs d;
	struct rng r;

	(void)state;
	rng_init(&r, 11);
	for (int i = 0; i < 5000; i++) {
		unsigned levels = (unsigned)rng_below(&r, 80), m;
		size_t n = (size_t)snprintf(url, sizeof url, "http%s://h.example",
		                            rng_below(&r, 2) ? "s" : "");

		for (unsigned j = 0; j <= levels; j++)
			n += (size_t)snprintf(url + n, sizeof url - n, "/%s",
			                      words[rng_below(&r, N(words))]);
		if (rng_below(&r, 2))
			n += (size_t)snprintf(url + n, sizeof url - n, "?u=/x/y");
		m = naive_tokens(url, token);
		assert_int_equal(url_depth(url, n), m - 1);
		url_dirs(url, n, &d);
		assert_int_equal(d.n, m - 1 > 64 ? 64 : m - 1);
		n = d.begin;
		for (unsigned j = 0; j < d.n; j++) {
			size_t k = strlen(token[j]);

			assert_memory_equal(url + n, token[j], k);
			assert_int_equal(url[n + k], '/');
			n += k + 1;
			assert_int_equal(d.end[j], n);
		}
		if (m - 1 <= 64)
			assert_string_equal(url + n, token[m - 1]);
	}
}

static void test_query_dir(void **state)
{
	static const char *const table[][2] = {
		{ "http://h/a/view.php?lang=en&id=3", "h/a/view.php?id,lang" },
		{ "https://h:81/a/view.php?id=4&lang=de&id=5", "h:81/a/view.php?id,lang" },
		{ "http://h/a/view.php?12345", "h/a/view.php?" },
		{ "http://h/?", "h/?" },
		{ "http://h/?a&b=1", "h/?,b" },
		{ "http://h/?b=1&ab=2&a=3", "h/?a,ab,b" },
		{ "http://h/a/view.php", NULL },
	};
	struct buf dir, url;

	(void)state;
	buf_init(&dir, BUF_NO_LIMIT);
	for (size_t i = 0; i < N(table); i++) {
		bool got;

		buf_clear(&dir);
		got = url_query_dir(table[i][0], strlen(table[i][0]), &dir);
		assert_int_equal(got, table[i][1] != NULL);
		if (got)
			assert_string_equal(dir.data, table[i][1]);
		else
			assert_int_equal(dir.size, 0);
	}
	/* the smallest URL_KEYS_MAX keys, whatever their order in the query */
	buf_init(&url, BUF_NO_LIMIT);
	buf_str(&url, "http://h/s?");
	for (int i = 0; i < 100; i++)
		buf_printf(&url, "k%02d=%d&", i * 37 % 100, i);
	url.size--;
	buf_clear(&dir);
	assert_true(url_query_dir(url.data, url.size, &dir));
	assert_memory_equal(dir.data, "h/s?k00,k01,k02,", 16);
	assert_int_equal(dir.size, 4 + URL_KEYS_MAX * 4 - 1);
	/* a full chain takes no more */
	buf_clear(&url);
	buf_str(&url, "http://h/");
	for (int i = 1; i < URL_LEVELS_MAX; i++)
		buf_str(&url, "d/");
	buf_str(&url, "x?a=1");
	buf_clear(&dir);
	assert_false(url_query_dir(url.data, url.size, &dir));
	buf_release(&url);
	buf_release(&dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_surt),
		cmocka_unit_test(test_surt_many_parts),
		cmocka_unit_test(test_site),
		cmocka_unit_test(test_dirs_random),
		cmocka_unit_test(test_query_dir),
	};
	int r;

	buf_init(&out, BUF_NO_LIMIT);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	buf_release(&out);
	return r;
}
