/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of sites: the most special host wins; against a table worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "repo/site_settings.h"
#include "../../lib/scratch.h"

static void test_the_most_special_wins(void **state)
{
	static const struct { const char *name, *host, *value; } rows[] = {
		{ "delay", "example.org", "1" }, { "delay", "News.Example.org", "2" },
		{ "delay", "example.org:8080", "3" }, { "delay", "http://b.test/", "4" },
		{ "detect", "example.org", "text" }, { "delay", "[::1]:81", "5" },
		{ "delay", "m\xc3\xbcller.test", "6" }, { "delay", "127.0.0.1", "7" },
	};
	static const struct { const char *name, *url, *value; } want[] = {
		{ "delay", "http://example.org/", "1" }, { "delay", "https://www.example.org/x", "1" },
		{ "delay", "http://news.example.org/", "2" }, { "delay", "http://a.news.example.org/", "2" },
		{ "delay", "http://example.org:8080/", "3" }, { "delay", "http://x.example.org:8080/", "3" },
		{ "delay", "http://news.example.org:8080/", "2" },
		{ "delay", "http://myexample.org/", NULL }, { "delay", "http://org/", NULL },
		{ "detect", "http://news.example.org/", "text" }, { "budget", "http://example.org/", NULL },
		{ "delay", "http://b.test:9/", "4" }, { "delay", "http://[::1]:81/", "5" },
		{ "delay", "http://[::1]/", NULL }, { "delay", "http://xn--mller-kva.test/", "6" },
		{ "delay", "http://127.0.0.1:99/", "7" },
	};
	static const char *const bad[] = { "", "a b", "example.org/path", "http://" };
	char path[SCRATCH_PATH], *key;
	struct site_settings x = { 0 };
	struct store *s;

	(void)state;
	assert_null(site_settings_get(&x, "delay", "http://a/", 9));
	scratch_path(path, "db");
	assert_int_equal(store_open(&s, path, STORE_CREATE, NULL), 0);
	assert_int_equal(store_begin(s, NULL), 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(site_settings_key(rows[i].name, rows[i].host, &key, NULL), 0);
		assert_int_equal(store_setting_put(s, key, rows[i].value, NULL), 0);
		free(key);
	}
	assert_int_equal(store_commit(s, NULL), 0);
	assert_int_equal(site_settings_load(&x, s, NULL), 0);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		const char *got = site_settings_get(&x, want[i].name, want[i].url, strlen(want[i].url));

		if (!got != !want[i].value || (got && strcmp(got, want[i].value)))
			fail_msg("%s of %s: %s", want[i].name, want[i].url, got ? got : "none");
	}
	assert_true(site_settings_has(&x, "detect"));
	assert_false(site_settings_has(&x, "det"));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_true(site_settings_key("delay", bad[i], &key, NULL) < 0);
	site_settings_release(&x);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_the_most_special_wins) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
