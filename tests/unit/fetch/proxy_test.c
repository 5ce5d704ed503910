/* SPDX-License-Identifier: Apache-2.0 */
/* Proxy settings: the environment as libcurl reads it, no_proxy matching. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fetch/proxy.h"

static const char *const *vars;         /* name, value, ..., NULL */

static char *env(const char *name)
{
	for (const char *const *v = vars; *v; v += 2)
		if (!strcmp(v[0], name))
			return (char *)(uintptr_t)v[1];
	return NULL;
}

static void check(const char *const *list, const char *http, const char *https)
{
	struct proxy p;

	vars = list;
	assert_int_equal(proxy_init(&p, NULL, NULL, env, NULL), 0);
	for (int i = 0; i < 2; i++) {
		const char *want = i ? https : http, *got = proxy_for(&p, i, "example.org");

		assert_int_equal(want == NULL, got == NULL);
		if (want)
			assert_string_equal(got, want);
	}
	proxy_release(&p);
}

static void test_environment(void **state)
{
	(void)state;
	check((const char *[]){ NULL }, NULL, NULL);
	check((const char *[]){ "http_proxy", "http://p:1", NULL }, "http://p:1", NULL);
	check((const char *[]){ "HTTP_PROXY", "http://evil:1", NULL }, NULL, NULL);
	check((const char *[]){ "HTTPS_PROXY", "p:2", NULL }, NULL, "http://p:2");
	check((const char *[]){ "all_proxy", "socks5://p", "https_proxy", "https://q", NULL },
	      "socks5h://p", "https://q");
	check((const char *[]){ "http_proxy", "", "ALL_PROXY", "socks4://x:1", NULL },
	      "socks4a://x:1", "socks4a://x:1");
	check((const char *[]){ "http_proxy", "p:1", "no_proxy", "*", NULL }, NULL, NULL);
	check((const char *[]){ "http_proxy", "p:1", "NO_PROXY", "a, example.org", NULL },
	      NULL, NULL);
	check((const char *[]){ "http_proxy", "p:1", "no_proxy", "ample.org", NULL },
	      "http://p:1", NULL);
}

static void test_exceptions(void **state)
{
	static const struct { const char *list, *host; bool direct; } cases[] = {
		{ "example.org", "example.org", true }, { "example.org", "www.example.org", true },
		{ ".example.org", "www.example.org", true }, { ".example.org", "example.org", true },
		{ "example.org.", "EXAMPLE.org", true }, { "example.org", "notexample.org", false },
		{ "example.org", "example.org.net", false }, { "a,b c", "c", true },
		{ "10.0.0.0/8", "10.1.2.3", true }, { "10.0.0.0/8", "11.1.2.3", false },
		{ "10.0.0.1", "10.0.0.1", true }, { "fd00::/8", "fd12::1", true },
		{ "fd00::/8", "fe12::1", false }, { ", ,", "a", false },
		{ "192.168.0.0/99", "192.168.0.1", false },
	};
	struct proxy p;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(proxy_init(&p, "http://p", cases[i].list, NULL, NULL), 0);
		if ((proxy_for(&p, false, cases[i].host) == NULL) != cases[i].direct)
			fail_msg("%s in %s", cases[i].host, cases[i].list);
		proxy_release(&p);
	}
}

static void test_bad_settings(void **state)
{
	static const char *const bad[] = { "ftp://p", "http://", "http://a b", "http://a\r\nX: 1" };
	struct proxy p;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(proxy_init(&p, bad[i], NULL, NULL, NULL), E_USAGE);
	vars = (const char *[]){ "http_proxy", "http://p", NULL };
	assert_int_equal(proxy_init(&p, "", NULL, env, NULL), 0);       /* "" means none */
	assert_null(proxy_for(&p, false, "x"));
	proxy_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_exceptions),
		cmocka_unit_test(test_bad_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
