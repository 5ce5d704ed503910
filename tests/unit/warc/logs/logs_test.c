/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logs_test.c - lines written by hand from the descriptions of both formats (Heritrix's user
 * manual, "Logs"; Nutch's CrawlDatum), with what they say worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "warc/logs/logs.h"

static void is_text(struct text t, const char *want)
{
	assert_int_equal(t.size, strlen(want));
	assert_memory_equal(t.s, want, t.size);
}

static void test_heritrix(void **state)
{
	static const char line[] =
		"2011-06-23T17:12:09.100Z   200       1234 http://crawl.example/ - - text/html #012 "
		"20110623171208850+210 sha1:2WAXX5NUWNNCS2BDKCO5OVDQBJVNKIVV http://crawl.example/ 3t";
	struct logs_visit v;
	const char *why;

	(void)state;
	assert_true(logs_is_heritrix(line, sizeof line - 1));
	assert_int_equal(logs_heritrix(line, sizeof line - 1, &v, &why), LOGS_VISIT);
	is_text(v.url, "http://crawl.example/");
	is_text(v.mime, "text/html");
	is_text(v.digest, "sha1:2WAXX5NUWNNCS2BDKCO5OVDQBJVNKIVV");
	assert_int_equal(v.status, 200);
	assert_int_equal(v.length, 1234);
	assert_int_equal(v.time, 1308849128);           /* 17:12:08, when it began */
}

static void test_heritrix_others(void **state)
{
	static const struct { const char *line; enum logs_verdict want; } cases[] = {
		{ "", LOGS_OTHER },
		/* a name, a host that did not answer, robots.txt, another scheme */
		{ "2011-06-23T17:12:08.802Z 1 53 dns:crawl.example P http://crawl.example/ text/dns #042 "
		  "20110623171208749+31 sha1:VOPLUEUXL7BOFDM22AQN3U6Y4LMG2XGK - -", LOGS_OTHER },
		{ "2011-06-23T17:13:00.000Z -2 - http://dead.example/ LL - unknown #011 - - - 30t",
		  LOGS_OTHER },
		{ "2011-06-23T17:13:00.000Z -9998 - http://x.example/ L - unknown #011 - - - -", LOGS_OTHER },
		{ "2011-06-23T17:13:00.000Z 226 99 ftp://x.example/a L - text/plain #011 - - - -", LOGS_OTHER },
		/* not told: size, time of the fetch, digest */
		{ "2011-06-23T17:13:00.000Z 301 - https://x.example/a L - no-type #011 - - - -", LOGS_VISIT },
		{ "2011-06-23T17:13:00.000Z 200 5 http://x.example/", LOGS_BAD },
		{ "yesterday 200 5 http://x.example/ - - text/html #1 - - - -", LOGS_BAD },
		{ "2011-06-23T17:13:00.000Z OK 5 http://x.example/ - - text/html #1 - - - -", LOGS_BAD },
	};
	struct logs_visit v;
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(logs_heritrix(cases[i].line, strlen(cases[i].line), &v, &why),
		                 cases[i].want);
	logs_heritrix(cases[5].line, strlen(cases[5].line), &v, &why);
	assert_int_equal(v.time, 1308849180);
	assert_int_equal(v.length, -1);
	assert_null(v.mime.s);
	assert_null(v.digest.s);
	assert_false(logs_is_heritrix("http://x.example/ 200 5 http:", 29));
}

static void test_java_time(void **state)
{
	int64_t t;

	(void)state;
	assert_true(logs_java_time("Sat Jan 01 00:00:00 UTC 2011", 28, &t));
	assert_int_equal(t, 1293840000);
	assert_true(logs_java_time("Sat Jan 01 00:00:00 CET 2011", 28, &t));
	assert_int_equal(t, 1293840000 - 3600);
	assert_true(logs_java_time("Fri Jul 01 12:30:15 PDT 2011", 28, &t));
	assert_int_equal(t, 1309548615);                /* 19:30:15 UTC */
	assert_true(logs_java_time("Sat Jan 01 00:00:00 XYZ 2011", 28, &t));
	assert_int_equal(t, 1293840000);
	assert_false(logs_java_time("Sat Foo 01 00:00:00 UTC 2011", 28, &t));
	assert_false(logs_java_time("Sat anF 01 00:00:00 UTC 2011", 28, &t));
	assert_false(logs_java_time("Sat Jan 01 25:00:00 UTC 2011", 28, &t));
	assert_false(logs_java_time("2011-01-01T00:00:00Z", 20, &t));
}

/* The verdict on the last of some lines. */
static enum logs_verdict feed(struct logs_nutch *n, const char *text, struct logs_visit *v)
{
	enum logs_verdict verdict = LOGS_OTHER;
	const char *why;

	while (*text) {
		size_t size = strcspn(text, "\n");

		verdict = logs_nutch(n, text, size, v, &why);
		text += size + (text[size] == '\n');
	}
	return verdict;
}

#define FIELDS(status, time) "Status: " status "\nFetch time: " time "\nModified time: " \
	"Thu Jan 01 00:00:00 UTC 1970\nRetries since fetch: 0\nRetry interval: 86400 seconds " \
	"(1 days)\nScore: 1.0\nSignature: 0123456789abcdef0123456789abcdef\nMetadata: \n \t" \
	"_pst_=success(1), lastModified=0\n\tContent-Type=text/html\n\n"

static void test_nutch(void **state)
{
	static const struct { const char *status; int http; } states[] = {
		{ "1 (db_unfetched)", 0 }, { "2 (db_fetched)", 200 }, { "3 (db_gone)", 404 },
		{ "4 (db_redir_temp)", 302 }, { "5 (db_redir_perm)", 301 }, { "6 (db_notmodified)", 200 },
	};
	struct logs_nutch n = { 0 };
	struct logs_visit v;
	char text[1000];

	(void)state;
	assert_true(logs_is_nutch("http://a.example/\tVersion: 7", 28));
	assert_false(logs_is_nutch("http://a.example/\t1", 19));
	for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
		snprintf(text, sizeof text, "http://a.example/\tVersion: 7\n" FIELDS("%s",
		         "Sat Mar 02 10:00:00 UTC 2024"), states[i].status);
		assert_int_equal(feed(&n, text, &v), LOGS_VISIT);
		is_text(v.url, "http://a.example/");
		assert_int_equal(v.status, states[i].http);
		/* a day before the next */
		assert_int_equal(v.time, states[i].http ? 1709287200 : INT64_MIN);
		assert_null(v.digest.s);
	}
	assert_int_equal(feed(&n, "http://a.example/\tVersion: 7\n" FIELDS("2", "tomorrow"), &v), LOGS_BAD);
	assert_int_equal(feed(&n, "http://a.example/\tVersion: 7\nScore: 1\n\n", &v), LOGS_BAD);
	assert_int_equal(feed(&n, "http://a.example/\tVersion: 7\nhttp://b.example/\tVersion: 7", &v), LOGS_BAD);
	assert_int_equal(feed(&n, "Status: 2\n", &v), LOGS_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heritrix), cmocka_unit_test(test_heritrix_others),
		cmocka_unit_test(test_java_time), cmocka_unit_test(test_nutch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
