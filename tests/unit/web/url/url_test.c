/* SPDX-License-Identifier: Apache-2.0 */
/* Canonical form, resolution, refusals: tables worked out by hand from RFC 3986
 * and from url.h; url_curl_test.c compares with libcurl at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "web/url/url.h"

#define N(a) (sizeof (a) / sizeof *(a))

static struct buf out;
static struct err err;

static const char *canonical_n(const char *s, size_t size)
{
	int r;

	buf_clear(&out);
	buf_str(&out, "<");             /* appended to, never overwritten */
	r = url_canonical(s, size, &out, &err);
	if (r) {
		assert_int_equal(out.size, 1);
		assert_true(r == E_PARSE || r == E_LIMIT);
		assert_true(err.text[0]);
		return NULL;
	}
	assert_int_equal(out.data[0], '<');
	return out.data + 1;
}

static const char *canonical(const char *s)
{
	return canonical_n(s, strlen(s));
}

static void check(const char *in, const char *want)
{
	const char *got = canonical(in);
	char again[URL_SIZE_MAX + 1];

	if (!got)
		fail_msg("%s refused: %s", in, err.text);
	assert_string_equal(got, want);
	strcpy(again, got);
	assert_string_equal(canonical(again), want);    /* idempotent */
	assert_true(url_is_canonical(want, strlen(want)));
}

static void test_canonical(void **state)
{
	static const char *const table[][2] = {
		{ "HTTP://EXAMPLE.com", "http://example.com/" },
		{ "http://example.com?x", "http://example.com/?x" },
		{ "http://example.com#x", "http://example.com/" },
		{ "http://example.com/#", "http://example.com/" },
		{ "http://example.com/?", "http://example.com/?" },
		{ "http://example.com/?#?", "http://example.com/?" },
		{ "http://example.com:80/", "http://example.com/" },
		{ "http://example.com:443/", "http://example.com:443/" },
		{ "https://example.com:443/", "https://example.com/" },
		{ "https://example.com:80/", "https://example.com:80/" },
		{ "http://example.com:/", "http://example.com/" },
		{ "http://example.com:00080/", "http://example.com/" },
		{ "http://example.com:008080/x", "http://example.com:8080/x" },
		{ "http://example.com:65535/", "http://example.com:65535/" },
		{ "http://example.com:10/", "http://example.com:10/" },
		{ "http://example.com./", "http://example.com/" },
		{ "http://a_b.-x-.example/", "http://a_b.-x-.example/" },
		{ "http://a/b/./c", "http://a/b/c" },
		{ "http://a/b/../c", "http://a/c" },
		{ "http://a/b/..", "http://a/" },
		{ "http://a/b/.", "http://a/b/" },
		{ "http://a/../../x", "http://a/x" },
		{ "http://a/..", "http://a/" },
		{ "http://a/.", "http://a/" },
		{ "http://a/b//../c", "http://a/b/c" },
		{ "http://a//b", "http://a//b" },
		{ "http://a/..//b", "http://a//b" },
		{ "http://a/%2e%2E/x", "http://a/x" },
		{ "http://a/b/%2e%2E", "http://a/" },
		{ "http://a/b/.%2e?q", "http://a/?q" },
		{ "http://a/b/.?q", "http://a/b/?q" },
		{ "http://a/b/...", "http://a/b/..." },
		{ "http://a/.b/..c/d../e.", "http://a/.b/..c/d../e." },
		{ "http://a/?x=/../y", "http://a/?x=/../y" },
		{ "http://a/x?./..", "http://a/x?./.." },
		{ "http://a/%7Euser/%41%2f%3a%c3%a4", "http://a/~user/A%2F%3A%C3%A4" },
		{ "http://a/\xc3\xa4?\xff", "http://a/%C3%A4?%FF" },
		{ "http://a/%", "http://a/%25" },
		{ "http://a/%4", "http://a/%254" },
		{ "http://a/%zz%%34%31", "http://a/%25zz%2541" },
		{ "http://a/%00%0d%0a", "http://a/%00%0D%0A" },
		{ "http://a/\"<>[\\]^`{|}", "http://a/%22%3C%3E%5B%5C%5D%5E%60%7B%7C%7D" },
		{ "http://a/?\"<>[\\]^`{|}", "http://a/?%22%3C%3E%5B%5C%5D%5E%60%7B%7C%7D" },
		{ "http://a/-._~!$&'()*+,;=:@", "http://a/-._~!$&'()*+,;=:@" },
		{ "http://a/x?a=1&b=%26&c+d?/", "http://a/x?a=1&b=%26&c+d?/" },
		{ "http://a/a:b@c", "http://a/a:b@c" },
		{ "http://a/?u=http://x@y/", "http://a/?u=http://x@y/" },
		{ "http://a?@b", "http://a/?@b" },
		{ "http://1.2.3.4/", "http://1.2.3.4/" },
		{ "http://255.255.255.255:81", "http://255.255.255.255:81/" },
		{ "http://1.2.3.4.example/", "http://1.2.3.4.example/" },
		{ "http://0xg/", "http://0xg/" },
		{ "http://1e5/", "http://1e5/" },
		{ "http://[::1]/", "http://[::1]/" },
		{ "http://[0:0:0:0:0:0:0:1]:80/", "http://[::1]/" },
		{ "http://[2001:DB8:0:0:8:800:200C:417A]:8080",
		  "http://[2001:db8::8:800:200c:417a]:8080/" },
		{ "http://[::FFFF:1.2.3.4]/", "http://[::ffff:1.2.3.4]/" },
		{ "http://b\xc3\xbc""cher.example/", "http://xn--bcher-kva.example/" },
		{ "http://B\xc3\x9c""CHER.example/", "http://xn--bcher-kva.example/" },
		{ "http://fa\xc3\x9f.de/", "http://xn--fa-hia.de/" },
		{ "http://xn--bcher-kva.EXAMPLE/", "http://xn--bcher-kva.example/" },
		/* ideographic full stop, full-width letters */
		{ "http://ex\xe3\x80\x82""com/", "http://ex.com/" },
		{ "http://\xef\xbd\x85x.com/", "http://ex.com/" },
		/* full-width digits become an address, and stay one */
		{ "http://\xef\xbc\x91.2.3.4/", "http://1.2.3.4/" },
	};

	(void)state;
	for (size_t i = 0; i < N(table); i++)
		check(table[i][0], table[i][1]);
}

static void test_refused(void **state)
{
	static const struct { const char *in, *reason; } table[] = {
		{ "", "empty" },
		{ "http:a/b", "no host" },
		{ "http:/a/b", "no host" },
		{ "example.com", "no scheme" },
		{ "//example.com/", "no scheme" },
		{ "/x", "no scheme" },
		{ "1http://a/", "no scheme" },
		{ ":", "no scheme" },
		{ "ftp://a/", "neither http" },
		{ "httpx://a/", "neither http" },
		{ "htt://a/", "neither http" },
		{ "httpss://a/", "neither http" },
		{ "javascript:alert(1)", "neither http" },
		{ "mailto:a@b", "neither http" },
		{ "file:///etc/passwd", "neither http" },
		{ "http:", "no host" },
		{ "http:/", "no host" },
		{ "http:a", "no host" },
		{ "http:\\\\a", "no host" },
		{ "http:/\\a", "no host" },
		{ "http://", "empty host" },
		{ "http:///x", "empty host" },
		{ "http://?x", "empty host" },
		{ "http://#x", "empty host" },
		{ "http://:80/", "empty host" },
		{ "http://./", "empty host" },
		{ "http://a..b/", "empty label" },
		{ "http://.a/", "empty label" },
		{ "http://a../", "empty label" },
		{ "http://user@a/", "user info" },
		{ "http://user:pw@a/", "user info" },
		{ "http://@a/", "user info" },
		{ "http://a@b@c/", "user info" },
		{ "http://good.example\\@evil.example/", "backslash" },
		{ "http://a\\b/", "backslash" },
		{ "http://a%2eb/", "percent" },
		{ "http://a%/", "percent" },
		{ "http://%61/", "percent" },
		{ "http://a b/", "blank" },
		{ "http://a/b c", "blank" },
		{ " http://a/", "blank" },
		{ "http://a/ ", "blank" },
		{ "http://a/#x y", "blank" },
		{ "http://a/\t", "0x09" },
		{ "http://a/\nb", "0x0a" },
		{ "http://a/?\r", "0x0d" },
		{ "http://a/#\r", "0x0d" },
		{ "http://a\r\n/", "0x0d" },
		{ "http://a/\x7f", "0x7f" },
		{ "http://a/\x01", "0x01" },
		{ "http://a;b/", "';'" },
		{ "http://a,b/", "','" },
		{ "http://a!b/", "'!'" },
		{ "http://a<b/", "'<'" },
		{ "http://a:b/", "port" },
		{ "http://a:0/", "port" },
		{ "http://a:65536/", "port" },
		{ "http://a:99999999999999999999/", "port" },
		{ "http://a:-1/", "port" },
		{ "http://a:80:80/", "':'" },
		{ "http://a: 80/", "port" },
		{ "http://a:8%30/", "port" },
		{ "http://0x7f.1/", "number" },
		{ "http://0x7f000001/", "number" },
		{ "http://0x/", "number" },
		{ "http://2130706433/", "number" },
		{ "http://127.1/", "number" },
		{ "http://1.2.3/", "number" },
		{ "http://1.2.3.4.5/", "number" },
		{ "http://1.2.3.04/", "number" },
		{ "http://0177.0.0.1/", "number" },
		{ "http://1.2.3.256/", "number" },
		{ "http://1.2.3.1000/", "number" },
		{ "http://example.1/", "number" },
		{ "http://example.0x1/", "number" },
		{ "http://[::1/", "IPv6" },
		{ "http://[]/", "IPv6" },
		{ "http://[::g]/", "IPv6" },
		{ "http://[1.2.3.4]/", "IPv6" },
		{ "http://[fe80::1%25eth0]/", "IPv6" },
		{ "http://[fe80::1%eth0]/", "IPv6" },
		{ "http://[::1]x/", "IPv6" },
		{ "http://[v1.x]/", "IPv6" },
		{ "http://::1/", "':'" },
		{ "http://\xff/", "international" },
		{ "http://a\xc3/", "international" },
		/* full-width @, /, %, : and \ must not turn into the ASCII ones */
		{ "http://a\xef\xbc\xa0""b/", "" },
		{ "http://a\xef\xbc\x8f""b/", "" },
		{ "http://a\xef\xbc\x85""41/", "" },
		{ "http://a\xef\xbc\x9a""80/", "" },
		{ "http://a\xef\xbc\xbc""b/", "" },
		{ "http://\xc3\xa4@b/", "user info" },
		{ "http://\xc3\xa4 b/", "blank" },
		/* full-width 0x7f.1 */
		{ "http://\xef\xbc\x90x7f.1/", "number" },
	};

	(void)state;
	for (size_t i = 0; i < N(table); i++) {
		const char *got = canonical(table[i].in);

		if (got)
			fail_msg("%s became %s", table[i].in, got);
		if (!strstr(err.text, table[i].reason))
			fail_msg("%s: \"%s\" says nothing of \"%s\"", table[i].in, err.text,
			         table[i].reason);
	}
	assert_null(canonical_n("http://a/\0b", 11));
	assert_null(canonical_n("http://a\0.b/", 12));
	assert_null(canonical_n("http://[::1\0]/", 14));
}

/* What a stranger may have put where URLs are kept. */
static void test_is_canonical(void **state)
{
	static const char *const not[] = {
		"", "h", "http", "http://", "http://a", "https://a", "https:///", "http:///", "ftp://a/",
		"HTTP://a/", "http://A/", "http://a.example", "http://a.example?x", "http://a.example#/",
		"http://a.example:/", "http://a.example:0/", "http://a.example:65536/",
		"http://a.example:99999999999999999999/", "http://a.example:8 0/", "http://a.example:80x/",
		"http://:80/", "http://[::1", "http://[::1/", "http://[::1]", "http://[zz]/", "http://[]/",
		"http://a@b/", "http://a..b/", "http://a./", "http://.a/", "http://a\\b/", "http://a/ ",
		"http://a/#x", "http://a/\x7f", "http://a/\n", "http://a/\xc3\xa4", "http://\xc3\xa4/",
		"http://1.2.3/", "http://a/<b>", "httpx://a/", "httpss://a/", "http:/a/b/c",
	};
	static const char good[] = "https://www.a.example:8080/b/c?d=%20e";
	char long_url[URL_SIZE_MAX + 2];

	(void)state;
	for (size_t i = 0; i < sizeof not / sizeof *not; i++)
		if (url_is_canonical(not[i], strlen(not[i])))
			fail_msg("'%s' was taken", not[i]);
	for (size_t i = 0; i < sizeof good; i++) {      /* cut anywhere: an exact copy, for ASan */
		char *cut = mem_strndup(good, i), *slash = strchr(cut, '/');
		bool whole = i > 26;            /* the slash behind the port is in */

		assert_true(!whole || slash);
		assert_int_equal(url_is_canonical(cut, i), whole);
		free(cut);
	}
	assert_false(url_is_canonical("http://a/\0b", 11));
	memset(long_url, 'a', sizeof long_url);
	memcpy(long_url, "http://a/", 9);
	assert_true(url_is_canonical(long_url, URL_SIZE_MAX));
	assert_false(url_is_canonical(long_url, URL_SIZE_MAX + 1));
}

static void test_sizes(void **state)
{
	char s[3 * URL_SIZE_MAX], label[65];
	struct buf small;

	(void)state;
	memset(label, 'a', 64);
	label[64] = '\0';
	snprintf(s, sizeof s, "http://%s/", label);
	assert_null(canonical(s));
	assert_non_null(strstr(err.text, "label of more"));
	snprintf(s, sizeof s, "http://x.%s.b/", label);
	assert_null(canonical(s));
	assert_non_null(strstr(err.text, "label of more"));
	snprintf(s, sizeof s, "http://%s/", label + 1);
	check(s, s);
	/* 3 * 63 + 61 + 3 dots = 253 */
	snprintf(s, sizeof s, "http://%s.%s.%s.%s/", label + 1, label + 1,
	         label + 1, label + 3);
	check(s, s);
	snprintf(s, sizeof s, "http://%s.%s.%s.%s/", label + 1, label + 1,
	         label + 1, label + 2);
	assert_null(canonical(s));
	assert_non_null(strstr(err.text, "more than 253"));

	memset(s, 'x', sizeof s);
	memcpy(s, "http://a/", 9);
	assert_non_null(canonical_n(s, URL_SIZE_MAX));
	assert_null(canonical_n(s, URL_SIZE_MAX + 1));
	assert_int_equal(err.code, E_LIMIT);
	memset(s + 9, '<', sizeof s - 9);       /* three bytes each */
	assert_non_null(canonical_n(s, 9 + (URL_SIZE_MAX - 9) / 3));
	assert_null(canonical_n(s, 9 + (URL_SIZE_MAX - 9) / 3 + 1));
	assert_int_equal(err.code, E_LIMIT);
	assert_null(canonical_n(s, URL_SIZE_MAX));

	buf_init(&small, 10);
	assert_int_equal(url_canonical("http://abc/", 11, &small, &err), E_LIMIT);
	assert_int_equal(small.size, 0);
	buf_release(&small);
}

static void check_resolve(const char *base, const char *ref, const char *want)
{
	int r;

	buf_clear(&out);
	r = url_resolve(base, strlen(base), ref, strlen(ref), &out, &err);
	if (!want) {
		assert_int_equal(r, E_PARSE);
		assert_int_equal(out.size, 0);
		return;
	}
	if (r)
		fail_msg("%s on %s refused: %s", ref, base, err.text);
	assert_string_equal(out.data, want);
}

/* RFC 3986 section 5.4, fragments dropped. */
static void test_rfc3986_5_4(void **state)
{
	static const char *const table[][2] = {
		{ "g:h", NULL },
		{ "g", "http://a/b/c/g" },
		{ "./g", "http://a/b/c/g" },
		{ "g/", "http://a/b/c/g/" },
		{ "/g", "http://a/g" },
		{ "//g", "http://g/" },
		{ "?y", "http://a/b/c/d;p?y" },
		{ "g?y", "http://a/b/c/g?y" },
		{ "#s", "http://a/b/c/d;p?q" },
		{ "g#s", "http://a/b/c/g" },
		{ "g?y#s", "http://a/b/c/g?y" },
		{ ";x", "http://a/b/c/;x" },
		{ "g;x", "http://a/b/c/g;x" },
		{ "g;x?y#s", "http://a/b/c/g;x?y" },
		{ "", "http://a/b/c/d;p?q" },
		{ ".", "http://a/b/c/" },
		{ "./", "http://a/b/c/" },
		{ "..", "http://a/b/" },
		{ "../", "http://a/b/" },
		{ "../g", "http://a/b/g" },
		{ "../..", "http://a/" },
		{ "../../", "http://a/" },
		{ "../../g", "http://a/g" },
		{ "../../../g", "http://a/g" },
		{ "../../../../g", "http://a/g" },
		{ "/./g", "http://a/g" },
		{ "/../g", "http://a/g" },
		{ "g.", "http://a/b/c/g." },
		{ ".g", "http://a/b/c/.g" },
		{ "g..", "http://a/b/c/g.." },
		{ "..g", "http://a/b/c/..g" },
		{ "./../g", "http://a/b/g" },
		{ "./g/.", "http://a/b/c/g/" },
		{ "g/./h", "http://a/b/c/g/h" },
		{ "g/../h", "http://a/b/c/h" },
		{ "g;x=1/./y", "http://a/b/c/g;x=1/y" },
		{ "g;x=1/../y", "http://a/b/c/y" },
		{ "g?y/./x", "http://a/b/c/g?y/./x" },
		{ "g?y/../x", "http://a/b/c/g?y/../x" },
		{ "g#s/./x", "http://a/b/c/g" },
		{ "g#s/../x", "http://a/b/c/g" },
		{ "http:g", NULL },             /* strict: no host */
	};

	(void)state;
	for (size_t i = 0; i < N(table); i++)
		check_resolve("http://a/b/c/d;p?q", table[i][0], table[i][1]);
}

static void test_resolve(void **state)
{
	static const char *const table[][3] = {
		{ "https://h:8443/x/y?q/r", "z", "https://h:8443/x/z" },
		{ "https://h:8443/x/y?q/r", "/z", "https://h:8443/z" },
		{ "https://h:8443/x/y?q/r", "//O:443", "https://o/" },
		{ "http://h/x/y", "//o:443", "http://o:443/" },
		{ "http://h/x/y", "HTTPS://O:443/../a", "https://o/a" },
		{ "http://h/", "", "http://h/" },
		{ "http://h/?a", "?", "http://h/?" },
		{ "http://h/?a", "#", "http://h/?a" },
		{ "http://h/a?b", "?c#d", "http://h/a?c" },
		{ "http://h/a", "  b\n", "http://h/b" },
		{ "http://h/a", "b c?d e", "http://h/b%20c?d%20e" },
		{ "http://h/a", "http://h/b c", "http://h/b%20c" },
		{ "http://h/a", "http://h h/b", NULL },
		{ "http://h/a", "b\tc", NULL },
		{ "http://h/a", "b\r\nX: y", NULL },
		{ "http://h/a", "#b\nc", NULL },
		{ "http://h/a", "\\\\evil/", NULL },
		{ "http://h/a", "/\\evil/", NULL },
		{ "http://h/a", "\\/evil/", NULL },
		{ "http://h/a", "\\x", "http://h/%5Cx" },
		{ "http://h/a/b", "x\\..\\y", "http://h/a/x%5C..%5Cy" },
		{ "http://h/a", "///x", NULL },
		{ "http://h/a", "//u@x/", NULL },
		{ "http://h/a", "mailto:x@y", NULL },
		{ "http://h/a", "javascript:void(0)", NULL },
		{ "http://h/a", "tel:123", NULL },
		{ "http://h/a", "data:text/html,x", NULL },
		{ "http://h/a", "1:2", "http://h/1:2" },
		{ "http://h/a", "./a:b", "http://h/a:b" },
		{ "http://h/a/b/", "%2e%2e/c", "http://h/a/c" },
		{ "http://h/a/b/", "%2E", "http://h/a/b/" },
		{ "http://h/a//b", "../c", "http://h/a/c" },
		{ "http://h/a//b", "c", "http://h/a//c" },
		{ "http://h/a/..b", "?x", "http://h/a/..b?x" },
		{ "http://h/a", "/.//x", "http://h//x" },
		{ "http://h//", "..", "http://h/" },
		{ "http://h/a", "\xc3\xa4", "http://h/%C3%A4" },
		{ "http://h/a", "//b\xc3\xbc""cher.example", "http://xn--bcher-kva.example/" },
		{ "http://[::1]:81/a", "b", "http://[::1]:81/b" },
	};
	struct buf b;

	(void)state;
	for (size_t i = 0; i < N(table); i++)
		check_resolve(table[i][0], table[i][1], table[i][2]);

	/* base and ref may lie in the buffer appended to */
	buf_init(&b, BUF_NO_LIMIT);
	buf_str(&b, "http://h/a/b");
	for (int i = 0; i < 40; i++)
		assert_int_equal(url_resolve(b.data, 12, b.data + 9, 1, &b, NULL), 0);
	assert_string_equal(b.data + 12 + 39 * 12, "http://h/a/a");
	buf_release(&b);
}

/* Plain links are copied where the buffer has room, else written bytewise: both ways
 * on links made of pieces that decide which. */
static void test_resolve_both_ways(void **state)
{
	static const char *const pieces[] = { "a", "index.html", "/", "//", "../", "./", "..", ".",
		"?q=1", "&", "#part", "#\t", "%41", "%2f", "%", "~u", "_", ":", "http://", "https://",
		"http://h.org/", "HTTP://H.org/", "http://h.org:80/", "http://1.2.3.4/", "h.", ".h", "-",
		"http://page.org/", "http://a..b/", "http://h/", "xn--", "\xc3\xa9", " ", "[", "^", "`",
		"{", "|", "\\", "\"", "<", "@", "longer-than-sixteen-bytes", "mailto:x", "\x7f", "\x01" };
	static const char *const pages[] = { "http://page.org/", "https://page.org/a/b/c?d/e",
		"http://[::1]:8080/x/", "http://10.0.0.1/y" };
	uint64_t s = 1;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		struct buf ref, tight, roomy;
		const char *page = pages[round % 4];
		int rc, again;

		buf_init(&ref, BUF_NO_LIMIT);
		buf_init(&tight, BUF_NO_LIMIT);
		buf_init(&roomy, BUF_NO_LIMIT);
		do {
			s = s * 6364136223846793005u + 1442695040888963407u;
			buf_str(&ref, pieces[(s >> 33) % (sizeof pieces / sizeof pieces[0])]);
		} while (s >> 62);
		buf_room(&roomy, ref.size + strlen(page) + 64);
		rc = url_resolve(page, strlen(page), ref.data, ref.size, &tight, NULL);
		again = url_resolve(page, strlen(page), ref.data, ref.size, &roomy, NULL);
		if (rc != again || tight.size != roomy.size ||
		    (rc == 0 && strcmp(tight.data, roomy.data)))
			fail_msg("\"%s\" on %s: %d \"%s\", copied %d \"%s\"", ref.data, page, rc,
			         buf_text(&tight), again, buf_text(&roomy));
		buf_release(&ref);
		buf_release(&tight);
		buf_release(&roomy);
	}
}

static void test_split(void **state)
{
	struct url_parts p;
	const char *u = "https://[::1]:8443/a/b?c?d";

	(void)state;
	url_split(u, strlen(u), &p);
	assert_true(p.https && p.ip);
	assert_int_equal(p.port, 8443);
	assert_int_equal(p.host, 8);
	assert_int_equal(p.host_end, 13);
	assert_int_equal(p.path, 18);
	assert_int_equal(p.query, 22);
	assert_int_equal(p.end, 26);
	u = "http://a1/";
	url_split(u, strlen(u), &p);
	assert_true(!p.https && !p.ip);
	assert_int_equal(p.port, 80);
	assert_int_equal(p.path, 9);
	assert_int_equal(p.query, 10);
	u = "https://1.2.3.4/";
	url_split(u, strlen(u), &p);
	assert_true(p.https && p.ip);
	assert_int_equal(p.port, 443);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_is_canonical),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_rfc3986_5_4),
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_resolve_both_ways), cmocka_unit_test(test_split),
	};
	int r;

	buf_init(&out, BUF_NO_LIMIT);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	buf_release(&out);
	return r;
}
