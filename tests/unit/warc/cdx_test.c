/* SPDX-License-Identifier: Apache-2.0 */
/* Index lines of every kind, read, refused and written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../../lib/pack.h"
#include "base/io/input.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "warc/cdx.h"

static void expect(struct text s, const char *want)
{
	assert_int_equal(s.size, strlen(want));
	assert_memory_equal(s.s, want, s.size);
}

static enum cdx_verdict parse(struct cdx_layout *layout, const char *text,
                              struct cdx_line *ret, const char **reason)
{
	static char copy[10000];

	*reason = NULL;
	snprintf(copy, sizeof copy, "%s", text);
	return cdx_parse(layout, copy, strlen(copy), ret, reason);
}

static void test_cdxj(void **state)
{
	struct cdx_layout layout = { .letters = "" };
	const char *why;
	struct cdx_line l;

	(void)state;
	assert_int_equal(parse(&layout,
	        "org,example)/a 20221001020304 {\"url\": \"http://example.org/a\", "
	        "\"mime\": \"text/html\", \"status\": \"200\", \"digest\": "
	        "\"sha1:EAMI3NY55X3QYGC5I33KKMLFVSAHRSFX\", \"length\": \"4122\", "
	        "\"offset\": \"17\", \"filename\": \"x.warc.gz\", \"other\": [1, {\"a\": 2}]}",
	        &l, &why), CDX_CAPTURE);
	expect(l.surt, "org,example)/a");
	expect(l.url, "http://example.org/a");
	expect(l.mime, "text/html");
	expect(l.digest, "sha1:EAMI3NY55X3QYGC5I33KKMLFVSAHRSFX");
	expect(l.filename, "x.warc.gz");
	assert_int_equal(l.time, 1664589784);   /* date -ud '2022-10-01 02:03:04' +%s */
	assert_int_equal(l.status, 200);
	assert_int_equal(l.length, 4122);
	assert_int_equal(l.offset, 17);
	assert_int_equal(l.words, -1);
	assert_true(cdx_has(&l, CDX_offset));
	assert_false(cdx_has(&l, CDX_words));
}

/* Every capture of a text as "time url status|", and the bad ones as "!". */
static void read_all(const char *text, char *got, size_t size)
{
	struct cdx_reader r;
	struct cdx_line l;
	struct input *in;
	size_t n = 0;

	*got = '\0';
	assert_int_equal(input_open_memory(&in, text, strlen(text), "text", NULL), 0);
	cdx_open_input(&r, in);
	while (cdx_next(&r, &l, NULL) > 0)
		n += (size_t)snprintf(got + n, size - n, "%llu %lld %.*s %.*s %lld|",
		                      (unsigned long long)r.line_number, (long long)l.time,
		                      (int)l.surt.size, l.surt.s, (int)l.url.size, l.url.s,
		                      (long long)l.status);
	snprintf(got + n, size - n, "%llu bad", (unsigned long long)r.n_bad);
	cdx_close(&r);
}

/* The Internet Archive's CDX server: arrays, one row a line or all in one. */
static void test_arrays(void **state)
{
	static const char names[] = "[\"urlkey\",\"timestamp\",\"original\",\"mimetype\","
		"\"statuscode\",\"digest\",\"length\"]";
	static const char a[] = "[\"org,e)/\", \"19700101000001\", \"http:\\/\\/e.org:80\\/\", "
		"\"text/html\", \"200\", \"D1\", \"17\"]";
	static const char b[] = "[\"org,e)/b\",\"19700101000002\",\"http://e.org/b\","
		"\"warc/revisit\",\"-\",\"D2\",null]";
	static const struct { const char *form, *want; } cases[] = {
		{ "[%s,\n%s,\n%s]\n",
		  "2 1 org,e)/ http://e.org:80/ 200|3 2 org,e)/b http://e.org/b -1|0 bad" },
		{ "[%s,%s,%s]", "1 1 org,e)/ http://e.org:80/ 200|1 2 org,e)/b http://e.org/b -1|0 bad" },
		{ "[\n  %s,\r\n  %s,\r\n  %s,\n[],\n[\"org%%2Ce%%29\"]\n]\n",
		  "3 1 org,e)/ http://e.org:80/ 200|4 2 org,e)/b http://e.org/b -1|0 bad" },
		{ "[[],%s,%s,%s,[\"x\",\"y\"]]", "1 1 org,e)/ http://e.org:80/ 200|"
		  "1 2 org,e)/b http://e.org/b -1|1 bad" },
		{ "[%s,\n%s,\n[\"cut\n%s]", "2 1 org,e)/ http://e.org:80/ 200|"
		  "4 2 org,e)/b http://e.org/b -1|1 bad" },
	};
	char text[2000], got[1000];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(text, sizeof text, cases[i].form, names, a, b);
		read_all(text, got, sizeof got);
		assert_string_equal(got, cases[i].want);
	}
	snprintf(text, sizeof text, "[%s,\n%s]", a, b);         /* names that were cut off */
	read_all(text, got, sizeof got);
	assert_string_equal(got, "1 1 org,e)/ http://e.org:80/ 200|"
	                    "2 2 org,e)/b http://e.org/b -1|0 bad");
	read_all("[[\"statuscode\",\"x\",\"original\",\"timestamp\"],"
	         "[404,{},\"http://e.org/\",1970],[410,2,\"http://e.org/\",1971]]", got, sizeof got);
	assert_string_equal(got, "1 31536000 http://e.org/ http://e.org/ 410|1 bad");
	read_all("[]\n", got, sizeof got);
	assert_string_equal(got, "0 bad");
	/* no array, but an address */
	read_all("[2001:db8::1]:8080)/ 19700101000001 {\"url\":\"http://[2001:db8::1]:8080/\","
	         "\"status\":\"200\"}\n[::1])/ 1971 http://[::1]/ - 200 D 1", got, sizeof got);
	assert_string_equal(got, "1 1 [2001:db8::1]:8080)/ http://[2001:db8::1]:8080/ 200|"
	                    "2 31536000 [::1])/ http://[::1]/ 200|0 bad");
}

static void test_extended(void **state)
{
	struct cdx_layout layout = { .letters = "" };
	struct text link;
	const char *why;
	struct cdx_line l;
	uint32_t id, n;
	uint64_t v;

	(void)state;
	/* keys out of order, numbers and strings mixed, escapes */
	assert_int_equal(parse(&layout,
	        "k 2022 {\"links\":\" /a  http://b/c\",\"terms\":\"51:7 x 9: 3:2:1 715:12\","
	        "\"title\":\"a \\\"b\\\" \\u00e9\\ud83d\\ude00\",\"tags\":\"8fb507af327482e5\","
	        "\"prose\":\"zz\",\"words\":\"12\",\"images\":5,\"tables\":0,\"emails\":1,"
	        "\"outlinks\":7,\"text\":1916,\"status\":404,\"url\":\"http:\\/\\/k\\/\"}",
	        &l, &why), CDX_CAPTURE);
	expect(l.url, "http://k/");
	expect(l.title, "a \"b\" \xc3\xa9\xf0\x9f\x98\x80");
	assert_int_equal(l.words, 12);
	assert_int_equal(l.images, 5);
	assert_int_equal(l.tables, 0);
	assert_int_equal(l.emails, 1);
	assert_int_equal(l.outlinks, 7);
	assert_int_equal(l.text, 1916);
	assert_int_equal(l.status, 404);
	assert_true(cdx_hex64(l.tags, &v));
	assert_true(v == 0x8fb507af327482e5u);
	assert_false(cdx_hex64(l.prose, &v));
	assert_true(cdx_next_term(&l.terms, &id, &n));
	assert_true(id == 51 && n == 7);
	assert_true(cdx_next_term(&l.terms, &id, &n));
	assert_true(id == 715 && n == 12);
	assert_false(cdx_next_term(&l.terms, &id, &n));
	assert_true(text_word(&l.links, &link));
	expect(link, "/a");
	assert_true(text_word(&l.links, &link));
	expect(link, "http://b/c");
	assert_false(text_word(&l.links, &link));
}

/* What other writers put where we write whole numbers and three fields. */
static void test_other_writers(void **state)
{
	struct cdx_layout layout = { .letters = "" };
	const char *why;
	struct cdx_line l;

	(void)state;
	assert_int_equal(parse(&layout, "k 20220101000000 {\"url\":\"u\",\"length\":-1,"
	        "\"text\":12.75,\"words\":\"-3.0\",\"images\":4}", &l, &why), CDX_CAPTURE);
	assert_int_equal(l.length, -1);
	assert_false(cdx_has(&l, CDX_length));
	assert_int_equal(l.text, 12);
	assert_int_equal(l.words, -1);
	assert_int_equal(l.images, 4);
	assert_int_equal(parse(&layout, "{\"original\":\"http:\\/\\/e.org\\/%5Cu0041\",\"statuscode\":"
	        "\"-\",\"mimetype\":\"warc\\/revisit\",\"timestamp\":\"2022\"}", &l, &why),
	        CDX_CAPTURE);
	expect(l.url, "http://e.org/%5Cu0041");
	expect(l.mime, "warc/revisit");
	assert_int_equal(l.status, -1);
	/* as index servers answer: JSON alone, in any order */
	assert_int_equal(parse(&layout, "{\"urlkey\": \"org,e)/\", \"timestamp\": "
	        "\"20220102030405\", \"url\": \"http://e.org/\", \"mime-detected\": \"x\", "
	        "\"status\": \"301\"}", &l, &why), CDX_CAPTURE);
	expect(l.surt, "org,e)/");
	expect(l.url, "http://e.org/");
	assert_int_equal(l.time, 1641092645);
	assert_int_equal(l.status, 301);
	assert_int_equal(parse(&layout, "{\"url\":\"http://e.org/\",\"timestamp\":2022}", &l,
	        &why), CDX_CAPTURE);
	expect(l.surt, "http://e.org/");
	assert_int_equal(l.time, 1640995200);
	/* in a line with a key of its own these two are nobody's */
	assert_int_equal(parse(&layout, "k 2022 {\"url\":\"u\",\"urlkey\":\"x\","
	        "\"timestamp\":\"no time\"}", &l, &why), CDX_CAPTURE);
	expect(l.surt, "k");
}

static void test_classic(void **state)
{
	struct cdx_layout layout = { .letters = "" };
	const char *why;
	struct cdx_line l;

	(void)state;
	/* headerless: 11, 9 and 7 fields */
	assert_int_equal(parse(&layout, "org,e)/ 20220101000000 http://e.org/ text/html 200 "
	        "DIGEST - - 1043 333 f.warc.gz", &l, &why), CDX_CAPTURE);
	assert_int_equal(l.length, 1043);
	assert_int_equal(l.offset, 333);
	expect(l.filename, "f.warc.gz");
	assert_int_equal(l.redirect.size, 0);
	assert_int_equal(parse(&layout, "org,e)/ 20220101000000 http://e.org/ text/html 301 "
	        "DIGEST http://e.org/x 333 f.warc.gz", &l, &why), CDX_CAPTURE);
	expect(l.redirect, "http://e.org/x");
	assert_int_equal(l.status, 301);
	assert_int_equal(l.length, -1);
	assert_int_equal(parse(&layout, "org,e)/ 20220101000000 http://e.org/ warc/revisit - "
	        "DIGEST 500", &l, &why), CDX_CAPTURE);
	assert_int_equal(l.status, -1);
	assert_int_equal(l.length, 500);
	/* wget's header, then its line */
	assert_int_equal(parse(&layout, " CDX a b a m s k r M V g u", &l, &why), CDX_COMMENT);
	assert_string_equal(layout.letters, "abamskrMVgu");
	assert_int_equal(parse(&layout, "http://h:8000/ 20240102030405 http://h:8000/ text/html "
	        "200 KZ2D6FXGTJUJTJ3GVIWP6P6TBFXMFTFB - - 421 w.warc.gz <urn:uuid:x>",
	        &l, &why), CDX_CAPTURE);
	expect(l.surt, "http://h:8000/");
	expect(l.url, "http://h:8000/");
	expect(l.digest, "KZ2D6FXGTJUJTJ3GVIWP6P6TBFXMFTFB");
	assert_int_equal(l.offset, 421);
	/* the header counts: 9 fields are wrong now, CDXJ still right */
	assert_int_equal(parse(&layout, "org,e)/ 20220101000000 http://e.org/ text/html 301 "
	        "DIGEST http://e.org/x 333 f.warc.gz", &l, &why), CDX_BAD);
	assert_int_equal(parse(&layout, "k 2022 {\"url\":\"u\"}", &l, &why), CDX_CAPTURE);
	/* another delimiter, second choices */
	assert_int_equal(parse(&layout, "\tCDX\tA\tb\ta\tn\tS\tv", &l, &why), CDX_COMMENT);
	assert_int_equal(parse(&layout, "canon\t20220101\torig\t10\t20\t30", &l, &why),
	                 CDX_CAPTURE);
	expect(l.url, "orig");
	assert_int_equal(l.length, 20);
	assert_int_equal(l.offset, 30);
}

static void test_refused(void **state)
{
	static const struct { const char *text, *why; } bad[] = {
		{ "one", "neither" },
		{ "k 20221301000000 {\"url\":\"u\"}", "time" },
		{ "k 2022100 {\"url\":\"u\"}", "time" },
		{ "k 202x {\"url\":\"u\"}", "time" },
		{ "k 20220101000000 {\"url\":\"u\"", "JSON" },
		{ "k 20220101000000 {\"url\" \"u\"}", "JSON" },
		{ "k 20220101000000 {\"url\":\"u\"} x", "follows" },
		{ "k 20220101000000 {\"url\":\"\\x\"}", "escape" },
		{ "k 20220101000000 {\"url\":\"\"}", "url" },
		{ "k 20220101000000 {\"status\":\"200\"}", "url" },
		{ "k 20220101000000 {\"url\":\"u\",\"status\":\"abc\"}", "number" },
		{ "k 20220101000000 {\"url\":\"u\",\"status\":\"1000\"}", "status" },
		{ "k 20220101000000 {\"url\":\"u\",\"status\":-5}", "number" },
		{ "k 20220101000000 {\"url\":\"u\",\"length\":1.2.3}", "number" },
		{ "k 20220101000000 {\"url\":\"u\",\"length\":\"1.\"}", "number" },
		{ "{\"url\":\"u\"}", "timestamp" },
		{ "{\"timestamp\":\"20220101000000\",\"urlkey\":\"k\"}", "url" },
		{ "{\"timestamp\":\"2022x\",\"url\":\"u\"}", "time" },
		{ "k 20220101000000 {\"url\":\"u\",\"length\":1e9}", "number" },
		{ "k 20220101000000 {\"url\":\"u\",\"length\":9999999999999999999}", "number" },
		{ "k 20220101000000 {\"url\":[\"u\"]}", "neither" },
		{ "k 20220101000000 {\"url\":\"http://e/\\r\\nX: y\"}", "control" },
		{ "k 20220101000000 {\"url\":\"http://e/\\u0000\"}", "control" },
		{ " 20220101000000 {\"url\":\"u\"}", "key" },
		{ "a b c d e f g h", "neither" },
		{ "a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f g h", "many" },
		{ "org,e)/ 2022x101000000 http://e.org/ text/html 200 D - - 1 2 f", "time" },
		{ "org,e)/ 20220101000000 http://e.org/ text/html 2x0 D - - 1 2 f", "number" },
	};
	struct cdx_layout layout = { .letters = "" };
	struct cdx_line l;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		const char *why;

		if (parse(&layout, bad[i].text, &l, &why) != CDX_BAD || !strstr(why, bad[i].why))
			fail_msg("%s: %s", bad[i].text, why ? why : "accepted");
	}
	char nul[] = "k 2022 {\"url\":\"u\0\"}";
	const char *why;
	assert_int_equal(cdx_parse(&layout, nul, sizeof nul - 1, &l, &why), CDX_BAD);
	assert_int_equal(parse(&layout, "", &l, &why), CDX_COMMENT);
	assert_int_equal(parse(&layout, " \t ", &l, &why), CDX_COMMENT);
	assert_int_equal(parse(&layout, "!OpenWayback-CDXJ 1.0", &l, &why), CDX_COMMENT);
}

static void keep_report(void *arg, const char *text)
{
	buf_printf(arg, "%s\n", text);
}

static void test_reader_reports(void **state)
{
	static const char text[] =
		"!OpenWayback-CDXJ 1.0\n"
		"a 2022 {\"url\":\"http://a/\"}\n"
		"bad line\r\n"
		"b 2022 {\"url\":\"http://b/\"}\r\n"
		"c 2022 {\"url\":\"http://c/\"";
	struct buf said, file;
	struct cdx_reader r;
	struct input *in;
	struct cdx_line l;

	(void)state;
	buf_init(&said, 10000);
	buf_init(&file, 10000);
	pack_zstd(&file, text, sizeof text - 1);
	assert_int_equal(input_open_memory(&in, file.data, file.size, "t.cdxj", NULL), 0);
	cdx_open_input(&r, in);
	r.report = keep_report;
	r.report_arg = &said;
	assert_int_equal(cdx_next(&r, &l, NULL), 1);
	expect(l.url, "http://a/");
	assert_int_equal(r.line_number, 2);
	assert_int_equal(cdx_next(&r, &l, NULL), 1);
	expect(l.url, "http://b/");
	assert_int_equal(r.line_number, 4);
	assert_int_equal(cdx_next(&r, &l, NULL), 0);
	assert_int_equal(r.n_lines, 2);
	assert_int_equal(r.n_bad, 2);
	assert_string_equal(said.data, "t.cdxj:3: neither CDXJ nor CDX of 7, 9, 10 or 11 fields\n"
	                    "t.cdxj:5: not JSON\n");
	cdx_close(&r);
	buf_release(&said);
	buf_release(&file);
}

/* A damaged member costs its lines, not the file. */
static void test_reader_damage(void **state)
{
	struct buf file, said;
	struct cdx_reader r;
	struct input *in;
	struct cdx_line l;
	size_t second, n = 0;

	(void)state;
	buf_init(&file, 10000);
	buf_init(&said, 10000);
	pack_gzip(&file, "a 2022 {\"url\":\"http://a/\"}\n", 27);
	second = file.size;
	pack_gzip(&file, "b 2022 {\"url\":\"http://b/\"}\n", 27);
	pack_gzip(&file, "c 2022 {\"url\":\"http://c/\"}\n", 27);
	file.data[second + 14] = (char)(file.data[second + 14] ^ 0x55);
	assert_int_equal(input_open_memory(&in, file.data, file.size, "t.cdxj", NULL), 0);
	cdx_open_input(&r, in);
	r.report = keep_report;
	r.report_arg = &said;
	while (cdx_next(&r, &l, NULL) > 0)
		if (l.surt.s[0] != 'b')
			n++;
	assert_int_equal(n, 2);
	assert_int_equal(r.n_damaged, 1);
	assert_int_equal(r.bytes_lost, second);         /* the members are as long */
	assert_non_null(strstr(said.data, "is damaged"));
	cdx_close(&r);
	buf_release(&file);
	buf_release(&said);
}

static void test_write(void **state)
{
	struct cdx_layout layout = { .letters = "" };
	struct cdx_line l, back;
	struct buf out;
	const char *why;

	(void)state;
	buf_init(&out, 10000);
	cdx_clear(&l);
	l.surt = (struct text){ "org,e)/", 7 };
	l.time = 1664589784;
	l.url = (struct text){ "http://e.org/\"", 14 };
	l.status = 200;
	l.length = 12;
	l.words = 3;
	l.title = (struct text){ "\xff t", 3 };
	l.links = (struct text){ "", 0 };
	assert_int_equal(cdx_write(&out, &l, false, NULL), 0);
	assert_string_equal(out.data, "org,e)/ 20221001020304 {\"url\":\"http://e.org/\\\"\","
	                    "\"status\":\"200\",\"length\":\"12\"}\n");
	buf_clear(&out);
	assert_int_equal(cdx_write(&out, &l, true, NULL), 0);
	assert_string_equal(out.data, "org,e)/ 20221001020304 {\"url\":\"http://e.org/\\\"\","
	                    "\"status\":\"200\",\"length\":\"12\",\"words\":3,"
	                    "\"title\":\"\xef\xbf\xbd t\",\"links\":\"\"}\n");
	assert_int_equal(cdx_parse(&layout, out.data, out.size - 1, &back, &why), CDX_CAPTURE);
	expect(back.url, "http://e.org/\"");
	assert_int_equal(back.words, 3);
	buf_clear(&out);
	static const char *const keys[] = { "", "a b", "a\nb", "!a", "a\tb" };
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		l.surt = (struct text){ keys[i], strlen(keys[i]) };
		assert_int_equal(cdx_write(&out, &l, true, NULL), E_PARSE);
	}
	assert_int_equal(out.size, 0);
	buf_release(&out);
}

/* Any byte of a line changed: never a crash, and what comes out lies inside. */
static void test_mutations(void **state)
{
	static const char good[] = "org,e)/ 20221001020304 {\"url\":\"http://e.org/\\u00e9\","
	        "\"status\":\"200\",\"words\":3,\"terms\":\"1:2 3:4\",\"links\":\"/a /b\"}";
	struct cdx_layout layout = { .letters = "" };
	struct rng r;

	(void)state;
	rng_init(&r, 11);
	for (int i = 0; i < 200000; i++) {
		size_t size = 1 + rng_below(&r, sizeof good - 1);
		char *text = mem_alloc(size);
		struct text link;
		struct cdx_line l;
		const char *why;
		uint32_t a, b;

		memcpy(text, good, size);
		for (int k = 0; k < 2; k++)
			text[rng_below(&r, size)] = (char)rng_next(&r);
		if (cdx_parse(&layout, text, size, &l, &why) == CDX_CAPTURE) {
			assert_true(l.url.s >= text && l.url.s + l.url.size <= text + size);
			while (l.terms.s && cdx_next_term(&l.terms, &a, &b))
				;
			while (l.links.s && text_word(&l.links, &link))
				assert_true(link.size > 0);
		}
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cdxj),
		cmocka_unit_test(test_extended),
		cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_other_writers),
		cmocka_unit_test(test_classic),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_reader_reports),
		cmocka_unit_test(test_reader_damage),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
