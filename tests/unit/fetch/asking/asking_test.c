/* SPDX-License-Identifier: Apache-2.0 */
/* What goes with a request: which secrets to which URL, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "fetch/asking/asking.h"
#include "fetch/asking/media_types.h"
#include "fetch/asking/own_header.h"

#define N_OF(a) (sizeof(a) / sizeof *(a))
#define NOW 1000

/* All secret lines for a URL, with " | " between. */
static const char *sent(const struct asking_rules *a, const char *url)
{
	static char out[1000];
	struct asking_extra *e = asking_extra_new();
	size_t n = 0;

	asking_for(a, url, strlen(url), NOW, e);
	out[0] = '\0';
	for (const char *s = buf_text(&e->secret); s < buf_text(&e->secret) + e->secret.size;
	     s += strlen(s) + 1)
		n += (size_t)snprintf(out + n, sizeof out - n, "%s%s", n ? " | " : "", s);
	asking_extra_free(e);
	return out;
}

static void test_logins(void **state)
{
	static const char text[] =
		"machine example.org login me password p:w\n"
		"machine EXAMPLE.org login second password no\n"        /* the first holds */
		"machine b.example:8443 bearer tok # a comment\n"
		"machine http://b.example\n\tlogin \"a b\" password \"q\\\"\\\\\"\n"
		"default login d password d\n"
		"macdef init\nmachine evil.example login x\n\n"
		"machine c.example account z header \"X-Key: k v\" bearer t\n"
		"machine [::1]:8080 login u\n"
		"machine b\303\274cher.example login i";
	static const struct { const char *url, *lines; } rows[] = {
		{ "https://example.org/", "Authorization: Basic bWU6cDp3" },
		{ "https://example.org/deep/er?x", "Authorization: Basic bWU6cDp3" },
		{ "http://example.org/", "" },                  /* not in the clear */
		{ "https://example.org:8443/", "" },            /* another port */
		{ "https://www.example.org/", "" },             /* another host */
		{ "https://example.org.evil.example/", "" },
		{ "https://b.example:8443/x", "Authorization: Bearer tok" },
		{ "https://b.example/x", "" },
		{ "http://b.example/", "Authorization: Basic YSBiOnEiXA==" },
		{ "https://evil.example/", "" },
		{ "https://c.example/", "Authorization: Bearer t | X-Key: k v" },
		{ "https://[::1]:8080/", "Authorization: Basic dTo=" },
		{ "https://xn--bcher-kva.example/", "Authorization: Basic aTo=" },
	};
	struct asking_rules a = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(login_list_parse(&a.logins, text, sizeof text - 1, "f", &err), 0);
	assert_int_equal(a.logins.n_default, 1);
	for (size_t i = 0; i < N_OF(rows); i++)
		assert_string_equal(sent(&a, rows[i].url), rows[i].lines);
	asking_release(&a);
}

static void test_cookies(void **state)
{
	static const char text[] =
		"# Netscape HTTP Cookie File\r\n\r\n"
		".example.org\tTRUE\t/\tFALSE\t0\tall\t1\r\n"
		"#HttpOnly_www.example.org\tFALSE\t/a\tFALSE\t2000\thost\t2\n"
		"example.org\tFALSE\t/\tTRUE\t0\tsafe\t3\n"
		"example.org\tTRUE\t/\tFALSE\t999\told\t4\n"
		".co.uk\tTRUE\t/\tFALSE\t0\tsuffix\t5\n"
		".org\tTRUE\t/\tFALSE\t0\ttop\t6\n"
		"192.0.2.1\tTRUE\t/\tFALSE\t0\tip\t7\n"
		"localhost\tTRUE\t/\tFALSE\t0\there\t8\n"
		"b.example\tFALSE\t/x/\tFALSE\t0\tvalue with = and tab\t\t9\n"
		"c.example\tFALSE\t/\tFALSE\t1e9\tno\tnumber\n";
	static const struct { const char *url, *lines; } rows[] = {
		{ "http://example.org/", "Cookie: all=1" },
		{ "https://example.org/", "Cookie: all=1; safe=3" },
		{ "http://www.example.org/a/b", "Cookie: host=2; all=1" },
		{ "http://www.example.org/a", "Cookie: host=2; all=1" },
		{ "http://www.example.org/ab", "Cookie: all=1" },
		{ "http://x.www.example.org:8080/a", "Cookie: all=1" },
		{ "https://www.example.org/", "Cookie: all=1" },        /* safe: that host only */
		{ "http://notexample.org/", "" },
		{ "http://example.org.evil.example/", "" },
		{ "http://shop.co.uk/", "" },
		{ "http://other.org/", "" },
		{ "http://192.0.2.1/", "Cookie: ip=7" },
		{ "http://1.192.0.2.1.example/", "" },
		{ "http://x.localhost/", "" },
		{ "http://localhost:81/", "Cookie: here=8" },
	};
	struct asking_rules a = { 0 };
	struct err err;

	(void)state;
	/* a name with a blank and a time that is no number are refused, and the line is named */
	assert_true(cookie_list_parse(&a.cookies, text, sizeof text - 1, "f", &err) < 0);
	assert_non_null(strstr(err.text, "f, line 11:"));
	for (size_t i = 0; i < N_OF(rows); i++)
		assert_string_equal(sent(&a, rows[i].url), rows[i].lines);
	asking_release(&a);
}

static void test_masks(void **state)
{
	static const char login[] = "machine a.example login me password \"********\" "
		"header \"X-K: twelve-bytes\"\n";
	char body[] = "x twelve-bytes y bWU6KioqKioqKio= ******** twelve-byte";
	struct asking_rules a = { 0 };
	struct asking_extra *e = asking_extra_new();
	struct err err;

	(void)state;
	assert_int_equal(login_list_parse(&a.logins, login, sizeof login - 1, "f", &err), 0);
	asking_for(&a, "https://a.example/", 18, NOW, e);
	assert_true(asking_shows(e, body, strlen(body)));
	asking_mask(e, body, strlen(body));
	assert_string_equal(body, "x ************ y **************** ******** twelve-byte");
	asking_mask(e, NULL, 0);
	asking_mask(NULL, body, strlen(body));
	asking_extra_free(e);
	asking_release(&a);
}

static void test_headers(void **state)
{
	static const struct { const char *line; bool open, secret; } rows[] = {
		{ "X-Lab: one", true, true }, { "Accept-Language:de", true, true },
		{ "Referer: https://x.example/", true, true }, { "X: \xc3\xa4", true, true },
		{ "X: a\tb", true, true },
		{ "Host: x", false, false }, { "hOST: x", false, false },
		{ "If-Modified-Since: x", false, false }, { "Content-Type: x", false, false },
		{ "Proxy-Connection: x", false, false }, { "TE: trailers", false, false },
		{ "Accept: x", false, false }, { "Accept-Encoding: x", false, false },
		{ "Tea: x", true, true }, { "Hostile: x", true, true },
		{ "X-Api-Key: k", false, true }, { "Authorization: Digest x", false, true },
		{ "Cookie: a=b", false, false }, { "X-Session: s", false, true },
		{ "X: a\nb", false, false }, { "X: a\rb", false, false }, { "X: \x01", false, false },
		{ "X: \x7f", false, false }, { "X Y: z", false, false }, { ": z", false, false },
		{ "X:", false, false }, { "X:  ", false, false }, { "", false, false },
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		size_t n = strlen(rows[i].line);

		assert_int_equal(own_header_check(rows[i].line, n, false, &err) == 0, rows[i].open);
		assert_int_equal(own_header_check(rows[i].line, n, true, &err) == 0, rows[i].secret);
	}
}

static void test_types(void **state)
{
	static const struct { const char *list, *type; bool has; } rows[] = {
		{ "text/html", "text/html", true }, { "text/html", "TEXT/HTML; charset=x", true },
		{ "text/html", "text/htmlx", false }, { "text/html", "text/htm", false },
		{ "text/*", "text/css", true }, { "text/*", "texty/css", false },
		{ "text/*", "text/", false }, { "*/*", "image/png", true },
		{ "image/png,text/html", "text/html", true }, { "image/png , text/html", "a/b", false },
		{ "text/html", "", true },
	};
	static const char *const bad[] = { "", ", ", "html", "text/", "/html", "*/html", "te*t/x",
	                                   "text/html;q=1", "a/b/c", "a b/c" };
	struct err err;

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		assert_int_equal(media_types_check(rows[i].list, &err), 0);
		assert_int_equal(media_types_has(rows[i].list, rows[i].type, strlen(rows[i].type)),
		                 rows[i].has);
	}
	for (size_t i = 0; i < N_OF(bad); i++)
		assert_true(media_types_check(bad[i], &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logins),
		cmocka_unit_test(test_cookies),
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
