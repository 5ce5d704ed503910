/* SPDX-License-Identifier: Apache-2.0 */
/* Times, durations, sizes, shares, options, JSON, buffers: tables of cases. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/io/json.h"
#include "base/log.h"
#include "base/math/rng.h"
#include "base/option/option.h"
#include "base/utf8.h"
#include "base/when.h"

static void test_times(void **state)
{
	static const struct { const char *text; int64_t t; bool good; } cases[] = {
		{ "20221001000000", 1664582400, true },
		{ "2022", 1640995200, true },
		{ "202210", 1664582400, true },
		{ "2022-10-01", 1664582400, true },
		{ "2022-10", 1664582400, true },
		{ "2022-10-01T00:00:00Z", 1664582400, true },
		{ "2022-10-01T02:30:00.123+02:30", 1664582400, true },
		{ "2022-09-30T19:00-0500", 1664582400, true },
		{ "2024-02-29", 1709164800, true },
		{ "1969-12-31T23:59:59Z", -1, true },
		{ "2023-02-29", 0, false }, { "20221301000000", 0, false },
		{ "2022-10-01T25:00", 0, false }, { "", 0, false }, { "yesterday", 0, false },
		{ "2022-10-01T00:00:00Zx", 0, false }, { "20221", 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int64_t t = 0;

		assert_int_equal(when_parse(cases[i].text, strlen(cases[i].text), &t), cases[i].good);
		if (cases[i].good)
			assert_int_equal(t, cases[i].t);
	}
}

/* gmtime_r is the oracle. */
static void test_times_against_libc(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 5);
	for (int i = 0; i < 20000; i++) {
		int64_t t = (int64_t)rng_below(&r, 8000000000u) - 2000000000, back;
		time_t tt = (time_t)t;
		char ours[32], libc[32];
		struct tm tm;

		gmtime_r(&tt, &tm);
		strftime(libc, sizeof libc, "%Y%m%d%H%M%S", &tm);
		when_digits(t, ours);
		assert_string_equal(ours, libc);
		assert_true(when_parse(ours, 14, &back) && back == t);
		strftime(libc, sizeof libc, "%a, %d %b %Y %H:%M:%S GMT", &tm);
		when_http(t, ours);
		assert_string_equal(ours, libc);
		assert_true(when_parse_http(ours, strlen(ours), &back) && back == t);
		when_iso(t, ours);
		assert_true(when_parse(ours, strlen(ours), &back) && back == t);
	}
}

static void test_http_dates(void **state)
{
	static const char *const same[] = { "Sun, 06 Nov 1994 08:49:37 GMT",
		"Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994" };
	int64_t t;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_true(when_parse_http(same[i], strlen(same[i]), &t));
		assert_int_equal(t, 784111777);
	}
	assert_false(when_parse_http("Sun, 06 Foo 1994 08:49:37 GMT", 29, &t));
	assert_false(when_parse_http("Sun, 06 Nov 1994 08:49:37 CET", 29, &t));
	assert_false(when_parse_http("120", 3, &t));
}

static void test_durations_sizes_shares(void **state)
{
	struct share s;
	int64_t d;
	double exact;
	char out[24];

	(void)state;
	assert_true(duration_parse("2w", &d) && d == 1209600);
	assert_true(duration_parse("1d12h", &d) && d == 129600);
	assert_true(duration_parse("1.5h", &d) && d == 5400);
	assert_true(duration_parse("90", &d) && d == 90);
	assert_true(duration_parse("1d500ms", &d) && d == 86401);
	assert_true(duration_parse("0.25h", &d) && d == 900);
	assert_true(duration_parse("0", &d) && d == 0);
	assert_false(duration_parse("100ms", &d));      /* is not 0, and not a second */
	assert_true(duration_parse_exact("250ms", &exact) && exact == 0.25);
	assert_true(duration_parse_exact("0.1s", &exact) && exact == 0.1);
	assert_true(duration_parse_exact("1m500ms", &exact) && exact == 60.5);
	assert_true(duration_parse_exact("1.5m", &exact) && exact == 90);
	assert_false(duration_parse_exact("5mss", &exact));
	assert_false(duration_parse_exact("ms", &exact));
	assert_false(duration_parse("2x", &d));
	assert_false(duration_parse("", &d));
	assert_false(duration_parse("-2d", &d));
	assert_false(duration_parse("1e300w", &d));
	duration_format(1209600, out);
	assert_string_equal(out, "2w");
	duration_format(129600, out);
	assert_string_equal(out, "1d12h");
	assert_true(share_parse("2%", &s) && s.percent && share_of(s, 1000) == 20);
	assert_true(share_of(s, 3) == 1 && share_of(s, 0) == 0);
	assert_true(share_parse("50", &s) && !s.percent && share_of(s, 10) == 10);
	assert_true(share_parse("8.3%", &s) && share_of(s, 84593) == 7021);
	assert_false(share_parse("101%", &s));
	assert_false(share_parse("0", &s));
	assert_false(share_parse("2%%", &s));
}

struct opts { int64_t n; double x; int choice; bool flag; const char *text;
              struct option_list list; struct share max_share; };

static const struct option_spec specs[] = {
	OPT_INT(opts, n, 3, 1, 10, "a number"),
	OPT_DOUBLE(opts, x, 0.5, 0, 1, "a share"),
	OPT_CHOICE(opts, choice, "red|green|blue", "green", "a colour"),
	OPT_FLAG(opts, flag, "yes or no"),
	OPT_TEXT(opts, text, NULL, "TEXT", "a text"),
	OPT_LIST(opts, list, "X", "many"),
	OPT_SHARE(opts, max_share, "5%", "a share"),
	OPT_END
};

static void test_options_of_a_spec(void **state)
{
	static const char *const bad[] = { "n=0", "n=1.5", "n=x", "x=2", "choice=pink", "flag=2",
	                                   "nosuch=1", "n", "max-share=200%", "x=180%",
	                                   "x=80%%", "n=5%" };
	struct opts o = { 0 };
	struct arena keep = { 0 };
	struct err err;

	(void)state;
	option_defaults(specs, &o);
	assert_int_equal(o.n, 3);
	assert_int_equal(o.choice, 1);
	assert_int_equal(option_parse_spec(specs, &o, "n=7,choice=blue,flag=1,max_share=8%",
	                                   &keep, &err), 0);
	assert_int_equal(o.n, 7);
	assert_int_equal(o.choice, 2);
	assert_true(o.flag && o.max_share.percent);
	assert_int_equal(option_parse_spec(specs, &o, "x=80%", &keep, &err), 0);
	assert_true(fabs(o.x - 0.8) < 1e-12);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		err.text[0] = '\0';
		assert_int_equal(option_parse_spec(specs, &o, bad[i], &keep, &err), E_USAGE);
		assert_true(strlen(err.text) > 5);
	}
	arena_release(&keep);
}

static void test_options_of_a_command_line(void **state)
{
	char a0[] = "file", a1[] = "--n=4", a2[] = "--list", a3[] = "p", a4[] = "--flag",
	     a5[] = "--list=q", a6[] = "-1", a7[] = "--", a8[] = "--n";
	char *argv[] = { a0, a1, a2, a3, a4, a5, a6, a7, a8, NULL };
	struct opts o = { 0 };
	bool given[8] = { 0 };
	struct option_group g = { specs, &o, given };
	struct err err;
	int n = 0;

	(void)state;
	option_defaults(specs, &o);
	assert_int_equal(option_parse_args(&g, 1, 9, argv, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_string_equal(argv[0], "file");
	assert_string_equal(argv[1], "-1");             /* a number, no option */
	assert_string_equal(argv[2], "--n");
	assert_int_equal(o.list.n, 2);
	assert_string_equal(o.list.v[1], "q");
	assert_true(o.flag && o.n == 4);
	assert_true(given[0] && given[3] && !given[1]);
	option_release(specs, &o);
}

static void test_json_writes_what_parses(void **state)
{
	struct buf b;
	struct json j;

	(void)state;
	buf_init(&b, 1000);
	json_to_buf(&j, &b);
	json_object(&j);
	json_kstr(&j, "a\"b", "x\n\xff\xc3\xa9");
	json_kint(&j, "i", -5);
	json_knum(&j, "nan", NAN);
	json_key(&j, "l");
	json_array(&j);
	json_num(&j, 0.25);
	json_bool(&j, true);
	json_null(&j);
	json_end_array(&j);
	json_end_object(&j);
	assert_string_equal(buf_text(&b), "{\"a\\\"b\":\"x\\u000a\xef\xbf\xbd\xc3\xa9\",\"i\":-5,"
	                    "\"nan\":null,\"l\":[0.25,true,null]}");
	buf_release(&b);
}

/* Every character there is: what Unicode calls control, format, or end of a line goes out
 * escaped, and comes back. */
static void test_hidden_characters(void **state)
{
	/* Cc, Cf, Zl, Zp below U+2070 and some beyond, by the Unicode Character Database */
	static const uint32_t hidden[] = { 0, 0x1b, 0x1f, 0x7f, 0x80, 0x9b, 0x9f, 0xad, 0x61c,
		0x180e, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2060, 0x2066,
		0x2069, 0x206f, 0xfeff, 0xfff9, 0xe0001, 0xe007f };
	static const uint32_t shown[] = { ' ', '~', 0xa0, 0xe9, 0x627, 0x2010, 0x2027, 0x2030,
		0x4e2d, 0xfffd, 0x1f600, 0x10fffd };
	struct buf b;

	(void)state;
	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
		assert_true(utf8_is_hidden(hidden[i]));
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
		assert_false(utf8_is_hidden(shown[i]));
	buf_init(&b, BUF_NO_LIMIT);
	for (uint32_t c = 0; c < 0x110000; c++) {
		char text[UTF8_MAX + 1] = "", back[40];
		size_t n = utf8_put(c, text);
		const char *p;
		struct json_member m;
		struct json j;
		uint32_t got;

		if (c >= 0xd800 && c < 0xe000) {
			assert_int_equal(utf8_get(text, n, &got), 0);
			continue;
		}
		assert_int_equal(utf8_get(text, n, &got), n);
		assert_int_equal(got, c);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(utf8_get(text, k, &got), 0);
		buf_clear(&b);
		json_to_buf(&j, &b);
		json_array(&j);
		json_strn(&j, text, n);
		json_end_array(&j);
		assert_true(!utf8_is_hidden(c) == !memmem(b.data, b.size, "\\u", 2));
		p = b.data;
		assert_int_equal(json_element(&p, b.data + b.size, &m), 1);
		assert_int_equal(json_unescape(&m, back), n);
		assert_memory_equal(back, text, n);
		if (c) {
			bool stays = c == '\t' || c == '\n' || !utf8_is_hidden(c);
			char *plain = log_plain(text);

			assert_true(stays ? !memcmp(plain, back, n)
			                  : !strcmp(plain, "?"));
		}
	}
	buf_release(&b);
}

static void test_plain_text(void **state)
{
	char text[] = "a\xe2\x80\xae" "b\x9b" "c\xc3\xa9\td\xe2\x80";

	(void)state;
	assert_string_equal(log_plain(text), "a?b?c\xc3\xa9\td??");
}

/* Cut at every length, it is whole characters, the most that fit, and nothing that ends a line. */
static void test_plain_line_is_cut_between_characters(void **state)
{
	static const char text[] = "a\xc3\xa9\n\xe2\x82\xac\t\xf0\x9f\x98\x80\x9b" "z";
	static const char plain[] = "a\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80?z";
	static const bool whole[] = { 1, 1, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1 };  /* a character ends there */
	char out[32];

	(void)state;
	assert_int_equal(sizeof whole, sizeof plain);
	for (size_t size = 1; size <= sizeof out; size++) {
		size_t n = size - 1 < sizeof plain - 1 ? size - 1 : sizeof plain - 1;

		while (!whole[n])
			n--;
		assert_ptr_equal(log_plain_line(text, out, size), out);
		assert_int_equal(strlen(out), n);
		assert_memory_equal(out, plain, n);
	}
}

static void test_json_reads_members(void **state)
{
	static const char text[] = "{ \"a\": \"q\\u00e9\\n\\ud83d\\ude00\", \"n\":-1.5e3,"
		"\"o\":{\"x\":[1,\"}\"]},\"t\":true}";
	static const char *const bad[] = { "{\"a\"}", "{\"a\":}", "{\"a\":\"x", "{\"a\":1,,}",
		"{\"a\":[1}", "{a:1}", "{\"a\":+1}" };
	const char *p = text;
	struct json_member m;
	char out[64];
	long n;

	(void)state;
	assert_int_equal(json_next(&p, text + sizeof text - 1, &m), 1);
	n = json_unescape(&m, out);
	assert_int_equal(n, 8);
	assert_memory_equal(out, "q\xc3\xa9\n\xf0\x9f\x98\x80", 8);
	assert_int_equal(json_next(&p, text + sizeof text - 1, &m), 1);
	assert_true(m.type == JSON_NUMBER && m.value_size == 6);
	assert_int_equal(json_next(&p, text + sizeof text - 1, &m), 1);
	assert_true(m.type == JSON_NESTED && m.value_size == 13);
	assert_int_equal(json_next(&p, text + sizeof text - 1, &m), 1);
	assert_true(m.type == JSON_BOOL);
	assert_int_equal(json_next(&p, text + sizeof text - 1, &m), 0);
	assert_ptr_equal(p, text + sizeof text - 1);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		int rc;

		p = bad[i];
		while ((rc = json_next(&p, bad[i] + strlen(bad[i]), &m)) > 0)
			;
		assert_int_equal(rc, -1);
	}
}

static void test_a_buffer_never_passes_its_maximum(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 10);
	buf_str(&b, "12345");
	buf_printf(&b, "%d", 123456);
	assert_true(b.full);
	assert_string_equal(buf_text(&b), "12345");
	buf_str(&b, "6");
	assert_string_equal(buf_text(&b), "12345");
	buf_clear(&b);
	buf_str(&b, "1234567890");
	assert_false(b.full);
	buf_release(&b);
}

static void test_draws_are_uniform_and_repeatable(void **state)
{
	uint32_t count[10] = { 0 };
	double sum = 0, square = 0;
	struct rng r;

	(void)state;
	for (uint64_t i = 0; i < 100000; i++)
		count[(int)(rng_unit(rng_draw(1, 2, i, 3)) * 10)]++;
	for (int i = 0; i < 10; i++)
		assert_in_range(count[i], 10000 - 500, 10000 + 500);    /* 5 sigma: 474 */
	assert_true(rng_draw(1, 2, 3, 4) == rng_draw(1, 2, 3, 4));
	assert_true(rng_draw(1, 2, 3, 4) != rng_draw(1, 3, 2, 4));
	rng_init(&r, 1);
	for (int i = 0; i < 100000; i++) {
		double x = rng_normal(&r);

		sum += x;
		square += x * x;
	}
	assert_true(fabs(sum / 100000) < 0.016 && fabs(square / 100000 - 1) < 0.025);
}

static void test_quoting_hides_passwords_and_controls(void **state)
{
	static const struct { const char *text, *quoted; } cases[] = {
		{ "http://u:secret@h/a:b@c", "http://u:***@h/a:b@c" },
		{ "http://u:@h/", "http://u:***@h/" },  /* an empty one, too */
		{ "http://u@h/", "http://u@h/" },
		{ "a:b@c", "a:b@c" },
		{ "a\x1b[2J\xc3", "a\\x1b[2J\\xc3" },
		{ "0123456789012345678901234567890123", "01234567890123456789012345678" },
	};
	char shown[34];                 /* and what is longer is cut */

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(log_quote(cases[i].text, strlen(cases[i].text), shown,
		                              sizeof shown), cases[i].quoted);
}

static void test_figures(void **state)
{
	static const struct { double v; int digits; const char *text; } cases[] = {
		{ 100, 2, "100" }, { 99.6, 2, "100" }, { 20, 2, "20" }, { 2.5, 2, "2.5" },
		{ 2, 2, "2" }, { 0.05, 2, "0.05" }, { 0.0000123, 2, "0.000012" }, { 0, 2, "0" },
		{ 1234.5, 3, "1234" }, { 12.34, 3, "12.3" }, { 0.1, 3, "0.1" }, { -0.25, 2, "-0.25" },
		{ 5e-300, 2, "0" }, { 1e300, 2, "1000000000000000" },
		{ INFINITY, 2, "1000000000000000" }, { 123456789, 2, "123456789" },
	};
	char out[32];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		figure_format(cases[i].v, cases[i].digits, out);
		assert_string_equal(out, cases[i].text);
	}
	figure_format((double)NAN, 2, out);
	assert_string_equal(out, "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_times_against_libc),
		cmocka_unit_test(test_http_dates),
		cmocka_unit_test(test_durations_sizes_shares),
		cmocka_unit_test(test_options_of_a_spec),
		cmocka_unit_test(test_options_of_a_command_line),
		cmocka_unit_test(test_json_writes_what_parses),
		cmocka_unit_test(test_hidden_characters),
		cmocka_unit_test(test_plain_text),
		cmocka_unit_test(test_plain_line_is_cut_between_characters),
		cmocka_unit_test(test_json_reads_members),
		cmocka_unit_test(test_a_buffer_never_passes_its_maximum),
		cmocka_unit_test(test_draws_are_uniform_and_repeatable),
		cmocka_unit_test(test_quoting_hides_passwords_and_controls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
