/* SPDX-License-Identifier: Apache-2.0 */
/* encoding_test.c - each way to an encoding, each family of encodings. */
#include <iconv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "web/html/encoding.h"

static struct encoding e;

static void check(const char *data, size_t size, const char *charset, const char *name,
                  enum encoding_source source, const char *expected)
{
	const char *text;
	size_t n;
	char *exact = malloc(size ? size : 1);

	memcpy(exact, data, size);
	encoding_decode(&e, exact, size, charset, charset ? strlen(charset) : 0, 1 << 20,
	                &text, &n);
	assert_string_equal(e.name, name);
	assert_int_equal(e.source, source);
	if (n != strlen(expected) || memcmp(text, expected, n))
		fail_msg("%s: expected %s actual %.*s", name, expected, (int)n, text);
	free(exact);
}

#define CHECK(data, ...) check(data, sizeof data - 1, __VA_ARGS__)

static void test_order(void **state)
{
	(void)state;
	/* a mark beats HTTP, HTTP beats meta, meta beats guessing */
	CHECK("\xef\xbb\xbf\xc3\xa4", "latin1", "UTF-8", ENCODING_FROM_BOM, "\xc3\xa4");
	CHECK("\xff\xfe\xe4\0a\0", "utf-8", "UTF-16LE", ENCODING_FROM_BOM, "\xc3\xa4" "a");
	CHECK("\xfe\xff\0\xe4\0a", "utf-8", "UTF-16BE", ENCODING_FROM_BOM, "\xc3\xa4" "a");
	CHECK("<meta charset=utf-8>\xe4", "iso-8859-1", "windows-1252", ENCODING_FROM_HTTP,
	      "<meta charset=utf-8>\xc3\xa4");
	CHECK("<meta charset=windows-1251>\xe4", NULL, "windows-1251", ENCODING_FROM_META,
	      "<meta charset=windows-1251>\xd0\xb4");
	CHECK("<META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=koi8-r'>\xc1", "nonsense",
	      "KOI8-R", ENCODING_FROM_META,
	      "<META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=koi8-r'>\xd0\xb0");
	CHECK("<!--<meta charset=koi8-r>--><meta charset=utf-16>\xc3\xa4", NULL, "UTF-8",
	      ENCODING_FROM_META, "<!--<meta charset=koi8-r>--><meta charset=utf-16>\xc3\xa4");
	CHECK("plain", NULL, "UTF-8", ENCODING_FROM_BYTES, "plain");
	CHECK("", NULL, "UTF-8", ENCODING_FROM_BYTES, "");
	CHECK("gr\xc3\xbc\xc3\x9f", NULL, "UTF-8", ENCODING_FROM_BYTES, "gr\xc3\xbc\xc3\x9f");
}

static void test_prescan_limit(void **state)
{
	char page[1200], expected[1300];

	(void)state;
	memset(page, ' ', sizeof page);
	memcpy(page, "\xc3\xa4", 2);
	memcpy(page + 1100, "<meta charset=koi8-r>", 21);
	memcpy(expected, page, sizeof page);
	expected[sizeof page] = '\0';
	check(page, sizeof page, NULL, "UTF-8", ENCODING_FROM_BYTES, expected);
}

static void test_repair(void **state)
{
	static const char *const cases[][2] = {
		{ "a\xff" "b", "a?b" }, { "a\xc3", "a?" }, { "\xe2\x82", "?" },
		{ "\xe2\x82" "x", "?x" }, { "\xf0\x9f\x98", "?" }, { "\xc0\xaf", "??" },
		{ "\xed\xa0\x80", "???" }, { "\xf4\x90\x80\x80", "????" },
		{ "\x80\x80" "ok\xe4", "??ok?" }, { "\xe0\x80\x80", "???" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char expected[64] = "";

		for (const char *p = cases[i][1]; *p; p++) {
			if (*p == '?')
				strcat(expected, "\xef\xbf\xbd");
			else
				strncat(expected, p, 1);
		}
		check(cases[i][0], strlen(cases[i][0]), "utf8", "UTF-8", ENCODING_FROM_HTTP,
		      expected);
	}
	/* UTF-16: a lone surrogate and a cut unit do not shift the rest */
	CHECK("\x00\xd8" "a\0b", "utf-16le", "UTF-16LE", ENCODING_FROM_HTTP,
	      "\xef\xbf\xbd" "a\xef\xbf\xbd");
	CHECK("\x3d\xd8\x00\xde", "utf-16le", "UTF-16LE", ENCODING_FROM_HTTP, "\xf0\x9f\x98\x80");
	/* Shift_JIS: a byte it does not have */
	CHECK("a\xffz", "sjis", "Shift_JIS", ENCODING_FROM_HTTP, "a\xef\xbf\xbdz");
	/* windows-1252 has a character for every byte */
	CHECK("\x80\x81\x9f\xff", "latin1", "windows-1252", ENCODING_FROM_HTTP,
	      "\xe2\x82\xac\xc2\x81\xc5\xb8\xc3\xbf");
}

/* Every encoding of the table: text made by iconv comes back. */
static void test_round_trip(void **state)
{
	static const char *const cases[][2] = {
		{ "UTF-8", "gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x98\x80" },
		{ "ISO-8859-2", "\xc5\x99\xc3\xa1" }, { "ISO-8859-3", "\xc4\xa7" },
		{ "ISO-8859-4", "\xc4\x81" }, { "ISO-8859-5", "\xd0\xb4\xd0\xb0" },
		{ "ISO-8859-6", "\xd8\xa7" }, { "ISO-8859-7", "\xce\xb1" },
		{ "ISO-8859-8", "\xd7\x90" }, { "ISO-8859-10", "\xc4\x81" },
		{ "ISO-8859-13", "\xc4\x81" }, { "ISO-8859-14", "\xe1\xb8\x83" },
		{ "ISO-8859-15", "\xe2\x82\xac" }, { "ISO-8859-16", "\xc8\x99" },
		{ "KOI8-R", "\xd0\xb4\xd0\xb0" }, { "KOI8-U", "\xd1\x97" },
		{ "windows-1250", "\xc5\x99" }, { "windows-1251", "\xd0\xb4" },
		{ "windows-1253", "\xce\xb1" }, { "windows-1254", "\xc4\x9f" },
		{ "windows-1255", "\xd7\x90" }, { "windows-1256", "\xd8\xa7" },
		{ "windows-1257", "\xc4\x81" }, { "windows-1258", "\xc4\x83" },
		{ "windows-874", "\xe0\xb8\x81\xe0\xb8\x82" }, { "macintosh", "\xc3\xa4" },
		{ "IBM866", "\xd0\xb4" }, { "x-mac-cyrillic", "\xd0\xb4" },
		{ "Shift_JIS", "\xe6\xbc\xa2\xe5\xad\x97\xe3\x82\xab" },
		{ "EUC-JP", "\xe6\xbc\xa2\xe5\xad\x97" },
		{ "ISO-2022-JP", "\xe6\xbc\xa2\xe5\xad\x97 x" },
		{ "GBK", "\xe6\xb1\x89\xe5\xad\x97" }, { "gb18030", "\xf0\x9f\x98\x80" },
		{ "Big5", "\xe6\xbc\xa2\xe5\xad\x97" }, { "EUC-KR", "\xed\x95\x9c\xea\xb5\xad" },
		{ "UTF-16LE", "a\xe6\xbc\xa2\xf0\x9f\x98\x80" },
		{ "UTF-16BE", "a\xe6\xbc\xa2\xf0\x9f\x98\x80" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *name = cases[i][0];
		char out[256], *in = (char *)(uintptr_t)cases[i][1], *to = out;
		size_t left = strlen(in), room = sizeof out;
		iconv_t cd = iconv_open(!strncmp(name, "windows-", 8) && name[8] == '8' ? "CP874" :
		                        !strcmp(name, "x-mac-cyrillic") ? "MAC-CYRILLIC" : name,
		                        "UTF-8");

		assert_true(cd != (iconv_t)-1);
		assert_true(iconv(cd, &in, &left, &to, &room) != (size_t)-1);
		iconv(cd, NULL, NULL, &to, &room);
		iconv_close(cd);
		assert_non_null(encoding_find(name, strlen(name)));
		check(out, sizeof out - room, name, name, ENCODING_FROM_HTTP, cases[i][1]);
	}
}

static void test_detector(void **state)
{
	/* Russian in windows-1251, long enough to be recognised */
	static const char russian[] =
		"\xcf\xf0\xe8\xe2\xe5\xf2, \xfd\xf2\xee \xee\xe1\xfb\xf7\xed\xfb\xe9 "
		"\xf0\xf3\xf1\xf1\xea\xe8\xe9 \xf2\xe5\xea\xf1\xf2, \xed\xe0\xef\xe8\xf1\xe0\xed"
		"\xed\xfb\xe9 \xe4\xeb\xff \xef\xf0\xee\xe2\xe5\xf0\xea\xe8.";
	const char *text;
	size_t n;

	(void)state;
	encoding_decode(&e, russian, sizeof russian - 1, NULL, 0, 1 << 20, &text, &n);
	assert_int_equal(e.source, ENCODING_FROM_DETECTOR);
	assert_string_equal(e.name, "windows-1251");
	assert_memory_equal(text, "\xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82", 12);
}

static void test_labels(void **state)
{
	size_t n;
	const char *c;

	(void)state;
	assert_string_equal(encoding_find(" Latin1\n", 8), "windows-1252");
	assert_string_equal(encoding_find("iso-8859-9", 10), "windows-1254");
	assert_string_equal(encoding_find("gb2312", 6), "GBK");
	assert_null(encoding_find("utf-7", 5));
	assert_null(encoding_find("", 0));
	c = encoding_charset("text/html; Charset=\"utf-8\"; x", 29, &n);
	assert_true(c && n == 5 && !memcmp(c, "utf-8", 5));
	c = encoding_charset("text/html;charset = koi8-r;x", 28, &n);
	assert_true(c && n == 6 && !memcmp(c, "koi8-r", 6));
	assert_null(encoding_charset("text/html", 9, &n));
	assert_null(encoding_charset("charset", 7, &n));
	assert_null(encoding_charset("charset='x", 10, &n));
}

/* The limit cuts between characters; nothing valid is copied. */
static void test_limit(void **state)
{
	static const char data[] = "ab\xc3\xa4\xc3\xa4";
	const char *text;
	size_t n;

	(void)state;
	encoding_decode(&e, data, 6, NULL, 0, 6, &text, &n);
	assert_true(text == data && n == 6);
	encoding_decode(&e, data, 6, NULL, 0, 5, &text, &n);
	assert_int_equal(n, 4);
	encoding_decode(&e, data, 5, NULL, 0, 100, &text, &n);
	assert_true(n <= 100);
}

static int release(void **state)
{
	(void)state;
	encoding_release(&e);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order), cmocka_unit_test(test_prescan_limit),
		cmocka_unit_test(test_repair), cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_detector), cmocka_unit_test(test_labels),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
