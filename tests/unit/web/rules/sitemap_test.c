/* SPDX-License-Identifier: Apache-2.0 */
/* Sitemaps of every kind, damaged ones, and attacks on the parser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <zlib.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/when.h"
#include "web/rules/sitemap.h"
#include "web/url/url.h"

#define HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define NS   " xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\""
#define SET(x) HEAD "<urlset" NS ">" x "</urlset>"

static struct buf seen;                 /* "url[ date]\n", "+" before sitemaps */
static struct sitemap_report report;
static struct err err;
static int stop_after;

static int note(void *context, const struct sitemap_entry *e, struct err *error)
{
	char date[21];

	assert_ptr_equal(context, &seen);
	buf_printf(&seen, "%s%.*s", e->is_sitemap ? "+" : "", (int)e->url_size, e->url);
	if (e->has_lastmod) {
		when_iso(e->lastmod, date);
		buf_printf(&seen, " %s", date);
	}
	buf_byte(&seen, '\n');
	if (stop_after && !--stop_after)
		return err_set(error, E_STOP, "enough");
	return 0;
}

static int read_source(const char *data, size_t size, struct sitemap_source source)
{
	struct input *in;
	int code;

	buf_clear(&seen);
	assert_int_equal(input_open_memory(&in, data, size, "map", &err), 0);
	code = sitemap_read(in, &source, note, &seen, &report, &err);
	input_close(in);
	return code;
}

static int read_n(const char *data, size_t size)
{
	return read_source(data, size, (struct sitemap_source){ .scope = SITEMAP_ANY });
}

static void check(const char *text, const char *want)
{
	if (read_n(text, strlen(text)))
		fail_msg("%s: %s", text, err.text);
	assert_string_equal(buf_text(&seen), want);
}

static void test_xml(void **state)
{
	(void)state;
	check(SET(""), "");
	check(SET("<url><loc>http://A.example</loc></url>"), "http://a.example/\n");
	check(SET("<url>\n <loc>\n http://a/x?a=1&amp;b=&#38;c \n</loc>\n"
	          "<lastmod> 2022-10-01 </lastmod><changefreq>daily</changefreq>"
	          "<priority>0.5</priority></url><!-- c --><url><loc>http://a/y</loc></url>"),
	      "http://a/x?a=1&b=&c 2022-10-01T00:00:00Z\nhttp://a/y\n");
	/* lastmod first, CDATA, namespace prefix, no XML declaration, BOM, blanks */
	check("\xef\xbb\xbf \n<s:urlset xmlns:s=\"u\"><s:url><s:lastmod>"
	      "2022-10-01T12:30:00+02:00</s:lastmod>"
	      "<s:loc><![CDATA[http://a/?x&y]]></s:loc></s:url></s:urlset>",
	      "http://a/?x&y 2022-10-01T10:30:00Z\n");
	/* a picture is not a page; a date does not leak into the next entry */
	check(SET("<url><loc>http://a/p</loc><lastmod>2020</lastmod><image:image>"
	          "<image:loc>http://a/i.png</image:loc></image:image></url>"
	          "<url><image:image><image:loc>http://a/i</image:loc></image:image>"
	          "<loc>http://a/q</loc><x:url/></url><foo><loc>http://a/no</loc></foo>"),
	      "http://a/p 2020-01-01T00:00:00Z\nhttp://a/q\n");
	assert_int_equal(report.entries, 2);
	assert_int_equal(report.refused, 0);
	assert_false(report.index || report.text || report.cut);
	check(SET("<url><loc>ftp://a/</loc></url><url><loc>http://u@a/</loc></url><url/>"
	          "<url><loc/></url><url><loc>x</loc></url><url><loc>http://a/</loc>"
	          "<lastmod>yesterday</lastmod></url>"), "http://a/\n");
	assert_int_equal(report.refused, 5);
	assert_int_equal(report.bad_dates, 1);
	/* other encodings, which expat knows */
	check("<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url>"
	      "<loc>http://a/\xe4</loc></url></urlset>", "http://a/%C3%A4\n");
}

static void test_dates(void **state)
{
	static const char *const table[][2] = {
		{ "2022", "2022-01-01T00:00:00Z" },
		{ "2022-10", "2022-10-01T00:00:00Z" },
		{ "2022-10-02", "2022-10-02T00:00:00Z" },
		{ "2022-10-02T03:04Z", "2022-10-02T03:04:00Z" },
		{ "2022-10-02T03:04:05Z", "2022-10-02T03:04:05Z" },
		{ "2022-10-02T03:04:05.678-01:00", "2022-10-02T04:04:05Z" },
		{ "2022-10-02T03:04+01:30", "2022-10-02T01:34:00Z" },
	};
	char text[400], want[100];

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		snprintf(text, sizeof text, SET("<url><loc>http://a/</loc><lastmod>%s</lastmod>"
		         "</url>"), table[i][0]);
		snprintf(want, sizeof want, "http://a/ %s\n", table[i][1]);
		check(text, want);
	}
}

static void test_utf16(void **state)
{
	static const char text[] = "<urlset><url><loc>http://a/x</loc></url></urlset>";
	char wide[2 * sizeof text] = "\xff\xfe";

	(void)state;
	for (size_t i = 0; i + 1 < sizeof text; i++)
		wide[2 + 2 * i] = text[i], wide[3 + 2 * i] = 0;
	assert_int_equal(read_n(wide, 2 * sizeof text), 0);
	assert_string_equal(buf_text(&seen), "http://a/x\n");
}

static void test_index(void **state)
{
	static const char text[] = HEAD "<sitemapindex" NS "><sitemap>"
		"<loc>http://h/d/a.xml.gz</loc><lastmod>2021-05-06</lastmod></sitemap>"
		"<sitemap><loc>http://h/b.xml</loc>"
		"</sitemap><sitemap><loc>http://o/c.xml</loc></sitemap></sitemapindex>";
	struct sitemap_source s = { "http://h/d/index.xml", 20, SITEMAP_PATH, 0 };

	(void)state;
	assert_int_equal(read_source(text, strlen(text), s), 0);
	assert_string_equal(seen.data, "+http://h/d/a.xml.gz 2021-05-06T00:00:00Z\n"
	                    "+http://h/b.xml\n");
	assert_true(report.index);
	assert_int_equal(report.outside, 1);
	s.depth = SITEMAP_DEPTH_MAX - 1;
	assert_int_equal(read_source(text, strlen(text), s), 0);
	s.depth = SITEMAP_DEPTH_MAX;
	assert_int_equal(read_source(text, strlen(text), s), E_LIMIT);
	assert_int_equal(seen.size, 0);
}

static void test_scope(void **state)
{
	static const char text[] = "http://h/d/a\nhttps://h/d/e/b\nhttp://h/c\nhttp://h/d\n"
		"http://h.evil/d/x\nhttp://h:81/d/y\nHTTP://h/d/f\n";
	struct sitemap_source s = { "http://h/d/map.txt?v=/1", 23, SITEMAP_PATH, 0 };

	(void)state;
	assert_int_equal(read_source(text, strlen(text), s), 0);
	assert_string_equal(seen.data, "http://h/d/a\nhttps://h/d/e/b\n"
	                    "http://h/d/f\n");
	assert_int_equal(report.outside, 4);
	s.scope = SITEMAP_SITE;
	assert_int_equal(read_source(text, strlen(text), s), 0);
	assert_int_equal(report.entries, 5);
	assert_int_equal(report.outside, 2);
	s.scope = SITEMAP_ANY;
	assert_int_equal(read_source(text, strlen(text), s), 0);
	assert_int_equal(report.entries, 7);
}

/* What servers have at /sitemap.xml that is none: no word of it becomes a page. */
static void test_not_a_list(void **state)
{
	static const char *const not[] = {
		"hello", "hello\nhttp://h/a\n", "\n \n not found \n", "{\"error\":404}", "%PDF-1.4\n1 0 obj\n",
		"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "/a\n/b\n", "//h/a\n", "ftp://h/a\n", "User-agent: *\nDisallow:\n",
		"http://", "GIF89a\x01", "\xef\xbb\xbfhello",
	};
	static const char mixed[] = "\xef\xbb\xbf\n  http://h/a  \nhello\nhttps://h/b";
	struct sitemap_source s = { "http://h/sitemap.xml", 20, SITEMAP_SITE, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof not / sizeof *not; i++) {
		if (read_source(not[i], strlen(not[i]), s) != E_PARSE)
			fail_msg("'%s' is a list", not[i]);
		assert_int_equal(report.entries, 0);
		assert_int_equal(seen.size, 0);
	}
	/* a list with a word in it is one */
	assert_int_equal(read_source(mixed, sizeof mixed - 1, s), 0);
	assert_string_equal(buf_text(&seen), "http://h/a\nhttps://h/b\n");
	assert_int_equal(report.refused, 1);
}

static void test_text(void **state)
{
	struct buf b;

	(void)state;
	check("\xef\xbb\xbfhttp://a/1\r\n\n  http://a/2  \nnonsense\nhttp://a/3",
	      "http://a/1\nhttp://a/2\nhttp://a/3\n");
	assert_true(report.text);
	assert_int_equal(report.refused, 1);
	check("", "");
	check("\n\n", "");
	buf_init(&b, BUF_NO_LIMIT);
	buf_str(&b, "http://a/");
	for (int i = 0; i < URL_SIZE_MAX; i++)
		buf_byte(&b, 'x');
	buf_str(&b, "\nhttp://a/short\n");
	check(b.data, "http://a/short\n");
	assert_int_equal(report.refused, 1);
	buf_release(&b);
	assert_int_equal(read_n("http://a/\0\n", 11), 0);
	assert_int_equal(report.refused, 1);
}

static void refused(const char *text, int code, const char *why)
{
	int got = read_n(text, strlen(text));

	if (got != code || !strstr(err.text, why))
		fail_msg("%.60s: %d %s", text, got, err.text);
}

static void test_refused(void **state)
{
	(void)state;
	refused("<html><body/></html>", E_PARSE, "<html>");
	refused("<!DOCTYPE html><html></html>", E_PARSE, "document type");
	refused("<!DOCTYPE urlset [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]>"
	        "<urlset><url><loc>http://a/&b;</loc></url></urlset>", E_PARSE,
	        "document type");
	refused("<!DOCTYPE urlset SYSTEM \"file:///etc/passwd\"><urlset/>", E_PARSE,
	        "document type");
	refused(HEAD "<urlset><url><loc>http://a/&x;</loc></url></urlset>", E_PARSE,
	        "line 2");
	refused(SET("<url><loc>http://a/</url>"), E_PARSE, "mismatched");
	/* what came before the damage stands */
	assert_int_equal(read_n(SET("<url><loc>http://a/1</loc></url><url><loc>http:"), 90),
	                 E_PARSE);
	refused(SET("<url><loc>http://a/1</loc></url><url></loc>"), E_PARSE, "mismatched");
	assert_string_equal(seen.data, "http://a/1\n");
	refused("<urlset>", E_PARSE, "no element");
	stop_after = 2;
	refused(SET("<url><loc>http://a/1</loc></url><url><loc>http://a/2</loc></url>"
	            "<url><loc>http://a/3</loc></url>"), E_STOP, "enough");
	assert_string_equal(seen.data, "http://a/1\nhttp://a/2\n");
	stop_after = 1;
	refused("http://a/1\nhttp://a/2\n", E_STOP, "enough");
}

static void repeat(struct buf *b, const char *piece, size_t times)
{
	while (times--)
		buf_str(b, piece);
}

static void test_caps(void **state)
{
	struct buf b;
	clock_t t = clock();

	(void)state;
	buf_init(&b, BUF_NO_LIMIT);
	buf_str(&b, "<urlset>");
	repeat(&b, "<url><loc>http://a/</loc></url>", SITEMAP_URLS_MAX + 5);
	buf_str(&b, "</urlset>");
	assert_int_equal(read_n(b.data, b.size), 0);
	assert_int_equal(report.entries, SITEMAP_URLS_MAX);
	assert_true(report.cut);
	buf_clear(&b);
	repeat(&b, "http://a/\n", SITEMAP_URLS_MAX + 5);
	assert_int_equal(read_n(b.data, b.size), 0);
	assert_int_equal(report.entries, SITEMAP_URLS_MAX);
	assert_true(report.cut);

	buf_clear(&b);
	buf_str(&b, "<urlset>");
	repeat(&b, "<a>", 1000);
	assert_int_equal(read_n(b.data, b.size), E_LIMIT);
	/* one comment, one tag, one attribute without end */
	for (int i = 0; i < 3; i++) {
		static const char *const open[] = { "<urlset><!--", "<urlset><x", "<urlset y='" };

		buf_clear(&b);
		buf_str(&b, open[i]);
		repeat(&b, "0123456789abcdef", 20 * 1024 * 1024 / 16);
		assert_int_equal(read_n(b.data, b.size), E_LIMIT);
		assert_non_null(strstr(err.text, "token"));
	}
	/* a location without end */
	buf_clear(&b);
	buf_str(&b, "<urlset><url><loc>http://a/");
	repeat(&b, "0123456789abcdef", 65536);
	buf_str(&b, "</loc></url><url><loc>http://a/</loc></url></urlset>");
	assert_int_equal(read_n(b.data, b.size), 0);
	assert_int_equal(report.refused, 1);
	assert_int_equal(report.entries, 1);
	assert_true((double)(clock() - t) / CLOCKS_PER_SEC < 10);
	buf_release(&b);
}

/* 60 MB of blanks in 60 kB of gzip: read up to the cap, no further. */
static void test_bomb(void **state)
{
	static char blanks[65536], packed[1 << 18];
	z_stream z = { 0 };

	(void)state;
	memset(blanks, ' ', sizeof blanks);
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = (unsigned char *)packed;
	z.avail_out = sizeof packed;
	for (int i = 0; i < 960; i++) {
		z.next_in = (unsigned char *)(i ? blanks : "<urlset>");
		z.avail_in = i ? sizeof blanks : 8;
		assert_int_equal(deflate(&z, i == 959 ? Z_FINISH : Z_NO_FLUSH),
		                 i == 959 ? Z_STREAM_END : Z_OK);
	}
	assert_int_equal(read_n(packed, z.total_out), 0);
	assert_true(report.cut);
	deflateEnd(&z);
}

/* sitemap_cell_test.c has them, too. */
#define SITEMAP_TESTS \
	cmocka_unit_test(test_xml), \
	cmocka_unit_test(test_dates), \
	cmocka_unit_test(test_utf16), \
	cmocka_unit_test(test_index), \
	cmocka_unit_test(test_scope), \
	cmocka_unit_test(test_text), \
	cmocka_unit_test(test_not_a_list), \
	cmocka_unit_test(test_refused), \
	cmocka_unit_test(test_caps), \
	cmocka_unit_test(test_bomb)

int main(void)
{
	static const struct CMUnitTest tests[] = { SITEMAP_TESTS };
	int r;

	buf_init(&seen, BUF_NO_LIMIT);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	buf_release(&seen);
	return r;
}
