/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random URLs and links against libcurl's URL API (another parser, other
 * authors), in one process, over the ground where the two agree by intent.
 *
 * We differ on purpose, and the generator stays away from it or the comparison
 * makes up for it, where url.h says so: curl keeps upper case in hosts, percent
 * triplets as written, "%2e" segments and a trailing dot of the host, drops an
 * empty query, keeps user info, rewrites odd IPv4 forms, decodes percent in hosts.
 * What is left: scheme, authority and port splitting, path, dots, query, fragment,
 * and resolution.  Percent normalisation is compared with a naive one of our own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>
#include <cmocka.h>
#include <curl/curl.h>

#include "base/math/rng.h"
#include "web/url/url.h"

#define N(a) (sizeof (a) / sizeof *(a))
#define ROUNDS 60000

static struct buf ours, text;
static struct rng r;
static bool empty_segments;     /* resolving them, curl drops slashes; we do not */

static const char *pick(const char *const *of, size_t n)
{
	return of[rng_below(&r, n)];
}

/* Percent-encoding as the RFC has it, one character at a time, the slow way. */
static void naive_percent(const char *s, struct buf *out)
{
	static const char keep[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                           "0123456789-._~!$&'()*+,;=:@/?";

	for (; *s; s++) {
		if (*s == '%' && isxdigit((unsigned char)s[1])
		    && isxdigit((unsigned char)s[2])) {
			char two[3] = { s[1], s[2], 0 };
			int c = (int)strtol(two, NULL, 16);

			if (c < 128 && (isalnum(c) || (c && strchr("-._~", c))))
				buf_byte(out, c);
			else
				buf_printf(out, "%%%02X", (unsigned)c);
			s += 2;
		} else if (strchr(keep, *s)) {
			buf_byte(out, *s);
		} else {
			buf_printf(out, "%%%02X", (unsigned)(unsigned char)*s);
		}
	}
}

/* The canonical URL according to curl's parts. */
static void from_curl(CURLU *u, struct buf *out)
{
	static const CURLUPart part[] = {
		CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT, CURLUPART_PATH,
		CURLUPART_QUERY
	};
	char *p[5] = { 0 };

	for (int i = 0; i < 5; i++)
		curl_url_get(u, part[i], &p[i], i == 2 ? CURLU_NO_DEFAULT_PORT : 0);
	buf_printf(out, "%s://", p[0]);
	for (char *s = p[1]; *s; s++)
		buf_byte(out, tolower((unsigned char)*s));
	if (p[2])
		buf_printf(out, ":%s", p[2]);
	naive_percent(p[3], out);
	if (p[4]) {
		buf_byte(out, '?');
		naive_percent(p[4], out);
	}
	for (int i = 0; i < 5; i++)
		curl_free(p[i]);
}

static void random_path(struct buf *b, bool relative)
{
	static const char *const segment[] = {
		"", "a", "b.html", ".", "..", "...", "..a", "a..", "%41%62", "%c3%a4",
		"\xc3\xa4", "x;y=1", "~u", "%7e", "a:b", "@", "!$&'()*+,=", "%2F", "100%25",
		"[]", "{|}", "Very-Long_Name.With.Dots", "\"<>^`", "%", "%5", "%g1"
	};
	size_t n = rng_below(&r, 7);

	for (size_t i = 0; i <= n; i++) {
		const char *s = pick(segment, N(segment));

		if (i || !relative)
			buf_byte(b, '/');
		if (relative && !i && strchr(s, ':'))
			s = "z";
		buf_str(b, *s || empty_segments ? s : "z");
	}
}

static void random_tail(struct buf *b)
{
	static const char *const query[] = {
		"a", "a=1", "&", "/", "..", "/../", "?", "%3f", "%41", "\xff", "[]", "id=", "+"
	};
	static const char *const fragment[] = { "", "x", "a/../b", "?q", "%41", "#" };

	if (rng_below(&r, 2)) {
		buf_byte(b, '?');
		buf_str(b, "q");                /* curl drops an empty query */
		for (size_t n = rng_below(&r, 5); n; n--)
			buf_str(b, pick(query, N(query)));
	}
	if (!rng_below(&r, 4)) {
		buf_byte(b, '#');
		buf_str(b, pick(fragment, N(fragment)));
	}
}

static void random_absolute(struct buf *b)
{
	static const char *const scheme[] = { "http://", "https://", "HTTP://", "hTTps://" };
	static const char *const host[] = {
		"a", "example.com", "EXAMPLE.Com", "www.a-b.co.uk", "1.2.3.4", "x_y.z", "9.com",
		"xn--bcher-kva.example", "[::1]", "[2001:db8::1]", "127.0.0.1", "a.b.c.d.e.f.g"
	};
	static const char *const port[] = {
		"", "", "", "", ":80", ":443", ":8080", ":1", ":65535", ":", ":0080"
	};

	buf_str(b, pick(scheme, N(scheme)));
	buf_str(b, pick(host, N(host)));
	buf_str(b, pick(port, N(port)));
	if (rng_below(&r, 8))
		random_path(b, false);
	random_tail(b);
}

static void test_canonical_as_curl(void **state)
{
	struct buf want;
	struct err err;

	(void)state;
	buf_init(&want, BUF_NO_LIMIT);
	rng_init(&r, 1);
	empty_segments = true;
	for (int i = 0; i < ROUNDS; i++) {
		CURLU *u = curl_url();

		buf_clear(&text);
		buf_clear(&ours);
		buf_clear(&want);
		random_absolute(&text);
		if (url_canonical(text.data, text.size, &ours, &err))
			fail_msg("%s refused: %s", text.data, err.text);
		if (curl_url_set(u, CURLUPART_URL, text.data, 0))
			fail_msg("%s: curl refuses", text.data);
		from_curl(u, &want);
		if (strcmp(ours.data, want.data))
			fail_msg("%s\n  ours %s\n  curl %s", text.data, ours.data, want.data);
		curl_url_cleanup(u);
	}
	buf_release(&want);
}

static void test_resolve_as_curl(void **state)
{
	struct buf want, base;
	struct err err;

	(void)state;
	buf_init(&want, BUF_NO_LIMIT);
	buf_init(&base, BUF_NO_LIMIT);
	rng_init(&r, 2);
	empty_segments = false;
	for (int i = 0; i < ROUNDS; i++) {
		CURLU *u = curl_url();

		buf_clear(&text);
		buf_clear(&base);
		buf_clear(&ours);
		buf_clear(&want);
		random_absolute(&text);
		assert_int_equal(url_canonical(text.data, text.size, &base, &err), 0);
		buf_clear(&text);
		switch (rng_below(&r, 6)) {
		case 0:
			random_absolute(&text);
			break;
		case 1:
			buf_str(&text, "//Other.example:81");
			random_path(&text, false);
			random_tail(&text);
			break;
		case 2:
			buf_str(&text, "/r");
			random_path(&text, false);
			random_tail(&text);
			break;
		case 3:
			buf_str(&text, "?y");
			break;
		default:
			random_path(&text, true);
			random_tail(&text);
		}
		if (url_resolve(base.data, base.size, text.data, text.size, &ours, &err))
			fail_msg("%s refused: %s", text.data, err.text);
		assert_int_equal(curl_url_set(u, CURLUPART_URL, base.data, 0), 0);
		if (curl_url_set(u, CURLUPART_URL, text.data, 0))
			fail_msg("%s: curl refuses", text.data);
		from_curl(u, &want);
		if (strcmp(ours.data, want.data))
			fail_msg("%s on %s\n  ours %s\n  curl %s", text.data, base.data,
			         ours.data, want.data);
		curl_url_cleanup(u);
	}
	buf_release(&want);
	buf_release(&base);
}

/* Whatever is accepted is canonical at once, is its own resolution, and is read
 * by curl as the same host: no parser differential to hide a target in. */
static void test_random_bytes(void **state)
{
	static const char *const piece[] = {
		"http", "https", ":", "/", "//", "@", "\\", "%", "%2e", "%2E%2e", "%40", "[", "]",
		"::1", "?", "#", ".", "..", "a", "evil.com", "127.1", "0x7f", "80", ":80", " ",
		"\t",
		"\n", "\xc3\xbc", "\xe3\x80\x82", "\xef\xbc\x8f", ";", "&", "=", "user", "..%2f",
		"-",
		"%00", "%c3", "\xff", "_", "~", "|", "\xef\xbc\x90", "x7f.1", "\xc2\xad"
	};
	struct buf again;
	unsigned accepted = 0;

	(void)state;
	buf_init(&again, BUF_NO_LIMIT);
	rng_init(&r, 3);
	for (int i = 0; i < 4 * ROUNDS; i++) {
		size_t n = rng_below(&r, 12);
		struct url_parts p;
		CURLU *u;
		char *host;

		buf_clear(&text);
		buf_clear(&ours);
		if (rng_below(&r, 8))
			buf_str(&text, "http://h");
		while (n--)
			buf_str(&text, pick(piece, N(piece)));
		if (url_canonical(buf_text(&text), text.size, &ours, NULL))
			continue;
		accepted++;
		buf_clear(&again);
		assert_int_equal(url_canonical(ours.data, ours.size, &again, NULL), 0);
		assert_string_equal(again.data, ours.data);
		buf_clear(&again);
		assert_int_equal(url_resolve("https://x/y?z", 13, ours.data, ours.size,
		                             &again, NULL), 0);
		assert_string_equal(again.data, ours.data);
		buf_clear(&again);
		assert_int_equal(url_resolve(ours.data, ours.size, "", 0, &again, NULL), 0);
		assert_string_equal(again.data, ours.data);
		for (size_t k = 0; k < ours.size; k++)
			assert_true(ours.data[k] > 0x20 && ours.data[k] < 0x7f);

		url_split(ours.data, ours.size, &p);
		u = curl_url();
		assert_int_equal(curl_url_set(u, CURLUPART_URL, ours.data, 0), 0);
		assert_int_equal(curl_url_get(u, CURLUPART_HOST, &host, 0), 0);
		assert_int_equal(strlen(host), p.host_end - p.host);
		assert_memory_equal(host, ours.data + p.host, strlen(host));
		curl_free(host);
		curl_url_cleanup(u);
	}
	assert_true(accepted > 10000);
	buf_release(&again);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_canonical_as_curl),
		cmocka_unit_test(test_resolve_as_curl),
		cmocka_unit_test(test_random_bytes),
	};
	int result;

	buf_init(&ours, BUF_NO_LIMIT);
	buf_init(&text, BUF_NO_LIMIT);
	result = cmocka_run_group_tests(tests, NULL, NULL);
	buf_release(&ours);
	buf_release(&text);
	return result;
}
