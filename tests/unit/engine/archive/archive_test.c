/* SPDX-License-Identifier: Apache-2.0 */
/* Archives as records: WARC records of every kind, index lines, what is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "../../../lib/pack.h"
#include "../../../lib/warc_valid.h"
#include "base/io/input.h"
#include "base/mem.h"
#include "engine/archive/archive.h"

#define TYPE "Content-Type: text/html\r\n"
#define PROFILE "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/"
#define EMPTY "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"

struct got {
	char url[200], mime[40], digest[80], prose[20], tags[20], title[40], links[300], etag[40];
	struct facts facts;
	int64_t time, length, offset;
	int status;
	bool revisit, has_links, has_simhash;
	uint64_t simhash;
};

struct seen { VEC(struct got) v; char report[600]; };

static void copy(char *out, size_t size, struct text s)
{
	snprintf(out, size, "%.*s", (int)s.size, s.s ? s.s : "");
}

static int take(void *arg, const struct record *r, struct err *err)
{
	struct seen *s = arg;
	struct got g = { .facts = r->facts, .time = r->time, .length = r->length,
	                 .offset = r->offset, .status = r->status, .revisit = r->revisit,
	                 .has_links = r->links.s != NULL, .has_simhash = r->has_simhash,
	                 .simhash = r->simhash };

	(void)err;
	copy(g.url, sizeof g.url, r->url);
	copy(g.mime, sizeof g.mime, r->mime);
	copy(g.digest, sizeof g.digest, r->digest);
	copy(g.prose, sizeof g.prose, r->prose);
	copy(g.tags, sizeof g.tags, r->tags);
	copy(g.title, sizeof g.title, r->title);
	copy(g.links, sizeof g.links, r->links);
	copy(g.etag, sizeof g.etag, r->etag);
	vec_push(&s->v, g);
	return 0;
}

static void note(void *arg, const char *text)
{
	struct seen *s = arg;

	snprintf(s->report, sizeof s->report, "%s", text);
}

static struct archive_stats read_all(struct seen *s, const struct buf *file)
{
	struct archive_reader a = { .record = take, .report = note, .arg = s };
	enum archive_kind kind;
	struct input *in;
	struct err err = { 0 };

	assert_int_equal(input_open_memory(&in, file->data, file->size, "file", &err), 0);
	assert_int_equal(archive_sniff(in, &kind, &err), 0);
	assert_int_equal(archive_read_input(&a, in, kind, &err), 0);
	return a.stats;
}

/* A record; extra: header lines. */
static void put(struct buf *file, const char *type, const char *url, int day,
                const char *extra, const char *block, size_t size)
{
	buf_printf(file, "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:x:%zu>\r\n"
	           "WARC-Date: 2024-02-%02dT03:04:05Z\r\nWARC-Target-URI: %s\r\n%s"
	           "Content-Length: %zu\r\n\r\n", type, file->size, day, url, extra, size);
	buf_add(file, block, size);
	buf_str(file, "\r\n\r\n");
}

static void put_http(struct buf *file, const char *type, const char *url, int day,
                     const char *extra, const char *http)
{
	char lines[500];

	snprintf(lines, sizeof lines, "%sContent-Type: application/http\r\n", extra);
	put(file, type, url, day, lines, http, strlen(http));
}

static void sha1_of(const char *body, char out[64])
{
	char labelled[64];

	warc_valid_sha1(body, strlen(body), labelled);
	snprintf(out, 64, "%s", labelled + 5);
}

static void a_response_tells_all(void **state)
{
	const char *body = "<html><head><title> A  page </title></head><body><p>Two words"
	                   "<img src=x><table></table> me@a.example"
	                   "<a href='b.html'>b</a><a href='b.html'>b</a>"
	                   "<a href='http://other.example/x?y=1'>o</a><a href='https://a.example/s'>s"
	                   "</a><a href='mailto:x@y.example'>m</a></body></html>";
	struct buf file, http;
	struct seen s = { 0 };
	struct archive_stats stats;
	char digest[64];

	(void)state;
	buf_init(&file, BUF_NO_LIMIT);
	buf_init(&http, BUF_NO_LIMIT);
	buf_printf(&http, "HTTP/1.1 200 OK\r\ncontent-type: Text/HTML; charset=utf-8\r\n"
	           "ETag: \"e1\"\r\n\r\n%s", body);
	put(&file, "warcinfo", "urn:none", 1, "", "a: b\r\n", 6);
	put_http(&file, "response", "<HTTP://A.example:80/dir/../dir/a.html#x>", 2, "", http.data);
	stats = read_all(&s, &file);
	assert_int_equal(s.v.n, 1);
	assert_int_equal(stats.n_records, 1);
	assert_int_equal(stats.n_other, 1);
	assert_int_equal(stats.n_bad, 0);
	assert_string_equal(s.v.v[0].url, "http://a.example/dir/a.html");
	assert_string_equal(s.v.v[0].mime, "text/html");
	assert_string_equal(s.v.v[0].title, "A page");
	assert_string_equal(s.v.v[0].etag, "\"e1\"");
	assert_string_equal(s.v.v[0].links,
	                    "/dir/b.html http://other.example/x?y=1 https://a.example/s");
	sha1_of(body, digest);
	assert_string_equal(s.v.v[0].digest, digest);
	assert_int_equal(s.v.v[0].status, 200);
	assert_int_equal(s.v.v[0].length, strlen(body));
	assert_int_equal(s.v.v[0].time, 1706843045);    /* date -d 2024-02-02T03:04:05Z +%s */
	assert_int_equal(s.v.v[0].facts.images, 1);
	assert_int_equal(s.v.v[0].facts.tables, 1);
	assert_int_equal(s.v.v[0].facts.outlinks, 5);
	assert_int_equal(s.v.v[0].facts.emails, 2);
	assert_int_equal(strlen(s.v.v[0].prose), 16);
	buf_release(&file);
	buf_release(&http);
	vec_release(&s.v);
}

/* The digest is of the payload as it came; the text is of what it means. */
static void encodings_are_undone(void **state)
{
	const char *body = "<p>the same text in four wrappings</p>";
	struct buf file, packed, http;
	struct seen s = { 0 };
	char digest[64];

	(void)state;
	buf_init(&file, BUF_NO_LIMIT);
	buf_init(&packed, BUF_NO_LIMIT);
	buf_init(&http, BUF_NO_LIMIT);
	buf_printf(&http, "HTTP/1.1 200 OK\r\n" TYPE "\r\n%s", body);
	put_http(&file, "response", "http://a.example/1", 1, "", http.data);
	buf_clear(&http);
	buf_printf(&http, "HTTP/1.1 200 OK\r\n" TYPE "Transfer-Encoding: chunked\r\n\r\n"
	           "5\r\n%.5s\r\n%zx\r\n%s\r\n0\r\n\r\n", body, strlen(body) - 5, body + 5);
	put_http(&file, "response", "http://a.example/2", 1, "", http.data);
	pack_gzip(&packed, body, strlen(body));
	buf_clear(&http);
	buf_printf(&http, "HTTP/1.1 200 OK\r\n" TYPE "Content-Encoding: gzip\r\n\r\n");
	buf_add(&http, packed.data, packed.size);
	put(&file, "response", "http://a.example/3", 1, "", http.data, http.size);
	put(&file, "resource", "http://a.example/4", 1, TYPE, body, strlen(body));
	/* a body that says gzip and is damaged: its bytes stand for everything */
	put(&file, "response", "http://a.example/5", 1, "", http.data, http.size - 12);
	read_all(&s, &file);
	assert_int_equal(s.v.n, 5);
	sha1_of(body, digest);
	for (int i = 0; i < 4; i++) {
		assert_string_equal(s.v.v[i].prose, s.v.v[0].prose);
		assert_string_equal(s.v.v[i].tags, s.v.v[0].tags);
		assert_true(s.v.v[i].simhash == s.v.v[0].simhash);
		assert_int_equal(s.v.v[i].facts.words, 6);
		assert_int_equal(s.v.v[i].status, 200);
		if (i != 2)
			assert_string_equal(s.v.v[i].digest, digest);
	}
	warc_valid_sha1(packed.data, packed.size, digest);
	assert_string_equal(s.v.v[2].digest, digest + 5);
	assert_string_not_equal(s.v.v[4].prose, s.v.v[0].prose);
	assert_string_equal(s.v.v[4].prose, s.v.v[4].tags);
	assert_int_equal(s.v.v[4].facts.words, -1);
	buf_release(&file);
	buf_release(&packed);
	buf_release(&http);
	vec_release(&s.v);
}

static void revisits_and_others(void **state)
{
	struct buf file;
	struct seen s = { 0 };
	struct archive_stats stats;
	char raw[64], line[200], digest[64];
	const char *chunked = "3\r\nabc\r\n0\r\n\r\n";

	(void)state;
	buf_init(&file, BUF_NO_LIMIT);
	put_http(&file, "revisit", "http://a.example/", 1, PROFILE "identical-payload-digest\r\n"
	         "WARC-Payload-Digest: sha1:MZXW6YTBOI======MZXW6YTBOI======\r\n",
	         "HTTP/1.1 200 OK\r\n\r\n");
	put_http(&file, "revisit", "http://a.example/", 2, PROFILE "server-not-modified\r\n"
	         "WARC-Payload-Digest: " EMPTY "\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n");
	put(&file, "revisit", "http://a.example/", 3, PROFILE "server-not-modified\r\n", "", 0);
	/* wget's digest is of the chunks: its revisits must find the payload */
	warc_valid_sha1(chunked, strlen(chunked), raw);
	snprintf(line, sizeof line, "WARC-Payload-Digest: %s\r\n", raw);
	put_http(&file, "response", "http://a.example/", 4, line,
	         "HTTP/1.1 200 OK\r\n" TYPE "Transfer-Encoding: chunked\r\n\r\n"
	         "3\r\nabc\r\n0\r\n\r\n");
	snprintf(line, sizeof line, PROFILE "identical-payload-digest\r\nWARC-Payload-Digest: %s"
	         "\r\n", raw);
	put_http(&file, "revisit", "http://a.example/", 5, line, "HTTP/1.1 200 OK\r\n\r\n");
	put(&file, "conversion", "http://a.example/", 6, "Content-Type: text/plain\r\n", "x", 1);
	put_http(&file, "request", "http://a.example/", 6, "", "GET / HTTP/1.1\r\n\r\n");
	put(&file, "resource", "metadata://gnu.org/software/wget", 6, TYPE, "x", 1);
	put(&file, "response", "dns:a.example", 6, "Content-Type: text/dns\r\n", "x", 1);
	put_http(&file, "response", "http://a.example/robots.txt", 6, "", "HTTP/1.0 200 OK\r\n\r\n");
	put_http(&file, "response", "http://a.example/a/robots.txt", 7, "",
	         "HTTP/1.0 404 No\r\n\r\nno");
	put_http(&file, "response", "http://a.example/gone", 7, "", "HTTP/1.0 404 No\r\n\r\nno");
	stats = read_all(&s, &file);
	assert_int_equal(stats.n_other, 5);
	assert_int_equal(s.v.n, 7);
	for (int i = 0; i < 3; i++) {
		assert_true(s.v.v[i].revisit);
		assert_string_equal(s.v.v[i].mime, "warc/revisit");
		assert_false(s.v.v[i].has_links);
		assert_string_equal(s.v.v[i].digest, "");
	}
	assert_int_equal(s.v.v[0].status, 200);
	assert_int_equal(s.v.v[1].status, 304);
	assert_int_equal(s.v.v[2].status, 304);
	sha1_of("abc", digest);
	assert_string_equal(s.v.v[3].digest, digest);
	assert_string_equal(s.v.v[4].digest, digest);
	assert_true(s.v.v[4].revisit);
	assert_string_equal(s.v.v[5].url, "http://a.example/a/robots.txt");
	assert_int_equal(s.v.v[6].status, 404);
	assert_false(s.v.v[6].has_simhash);
	buf_release(&file);
	vec_release(&s.v);
}

static void bad_records_are_named(void **state)
{
	static const struct { const char *url, *extra, *http, *why; } cases[] = {
		{ "http://user@a.example/", "", "HTTP/1.1 200 OK\r\n\r\nx", "user" },
		{ "http://a.example/", "", "not http at all", "without an HTTP head" },
		{ "http://a.example/", "", "GET / HTTP/1.1\r\n\r\n", "without an HTTP head" },
		{ "http://a.example/", "WARC-Block-Digest: " EMPTY "\r\n", "HTTP/1.1 200 OK\r\n\r\nx",
		  "digest" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct seen s = { 0 };
		struct archive_stats stats;
		struct buf file;

		buf_init(&file, BUF_NO_LIMIT);
		put_http(&file, "response", cases[i].url, 1, cases[i].extra, cases[i].http);
		put_http(&file, "response", "http://a.example/next", 1, "",
		         "HTTP/1.1 200 OK\r\n\r\nfine");
		stats = read_all(&s, &file);
		assert_int_equal(stats.n_bad, 1);
		assert_non_null(strstr(s.report, cases[i].why));
		assert_non_null(strstr(s.report, "file: record at 0:"));
		assert_int_equal(s.v.n, 1);
		assert_string_equal(s.v.v[0].url, "http://a.example/next");
		buf_release(&file);
		vec_release(&s.v);
	}
}

static void index_lines_are_records(void **state)
{
	struct buf file;
	struct seen s = { 0 };

	(void)state;
	buf_init(&file, BUF_NO_LIMIT);
	buf_str(&file, "example,a)/x 20240202030405 {\"url\":\"http://A.example/x\",\"status\":\"200\","
	        "\"digest\":\"sha1:abc\",\"length\":\"77\",\"simhash\":\"00ff\",\"words\":3,"
	        "\"links\":\"/y\"}\n"
	        "example,a)/x 20240203030405 {\"url\":\"http://A.example/x\",\"mime\":"
	        "\"warc/revisit\",\"digest\":\"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\"}\n"
	        "example,a)/y 20240203030405 {\"url\":\"ftp://A.example/y\",\"status\":\"200\"}\n"
	        "example,a)/z 20240203030405 {\"url\":\"http://a.example/z\",\"digest\":\"abc\"}\n"
	        "example,a)/z 20240204030405 {\"url\":\"http://a.example/z\"}\n");
	assert_int_equal(read_all(&s, &file).n_bad, 1);
	assert_int_equal(s.v.n, 4);
	/* no status: there was something if it has a digest */
	assert_int_equal(s.v.v[2].status, 200);
	assert_int_equal(s.v.v[3].status, 0);
	assert_string_equal(s.v.v[0].url, "http://a.example/x");
	assert_string_equal(s.v.v[0].digest, "abc");
	assert_true(s.v.v[0].has_simhash && s.v.v[0].simhash == 255);
	assert_int_equal(s.v.v[0].facts.words, 3);
	assert_int_equal(s.v.v[0].facts.text, -1);
	assert_string_equal(s.v.v[0].links, "/y");
	assert_true(s.v.v[1].revisit);
	assert_int_equal(s.v.v[1].status, 0);
	assert_string_equal(s.v.v[1].digest, "");       /* that of no bytes says nothing */
	assert_non_null(strstr(s.report, "file:3:"));
	buf_release(&file);
	vec_release(&s.v);
}

static void kinds_are_found_by_looking(void **state)
{
	static const struct { const char *text; enum archive_kind kind; } cases[] = {
		{ "WARC/1.0\r\n", ARCHIVE_WARC }, { " CDX N b a m\n", ARCHIVE_CDX },
		{ "com,a)/ 20200101000000 {}\n", ARCHIVE_CDX },
		{ "com,a)/ 2020010100000 -\n", ARCHIVE_URLS }, { "", ARCHIVE_URLS },
		{ "\xef\xbb\xbf\n<?xml version='1.0'?>", ARCHIVE_SITEMAP },
		{ "!OpenWayback-CDXJ 1.0\n# x\n\n \norg,a)/ 20240101000000 {}", ARCHIVE_CDX },
		{ "org,a)/ 20240101000000123 {}", ARCHIVE_CDX }, { "org,a)/ 2024 {", ARCHIVE_CDX },
		{ "{\"urlkey\":\"org,a)/\"}", ARCHIVE_CDX }, { "# a\n! b", ARCHIVE_URLS },
		{ "{\"a\":1,\"timestamp\":\"2024", ARCHIVE_CDX },
		{ "{\"url\":\"http://a/\"}", ARCHIVE_URLS },
		{ "# a\nhttp://a.example/ 2024\n", ARCHIVE_URLS },
		{ "http://a.example/\n", ARCHIVE_URLS }, { "# WARC/1.0\n", ARCHIVE_URLS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		enum archive_kind kind;
		struct input *in;

		assert_int_equal(input_open_memory(&in, cases[i].text, strlen(cases[i].text), "x",
		                                   NULL), 0);
		assert_int_equal(archive_sniff(in, &kind, NULL), 0);
		assert_int_equal(kind, cases[i].kind);
		input_close(in);
	}
}

static void zero_bytes_are_a_bad_line_of_a_list(void **state)
{
	static const struct { const char *text; size_t size; enum archive_kind kind; } cases[] = {
		{ "http://a.example/\n\0\1x\n", 22, ARCHIVE_URLS },
		{ "\0\nhttps://a.example/\n", 21, ARCHIVE_URLS },
		{ "h\0t\0t\0p\0:\0/\0/\0a\0\n\0", 18, ARCHIVE_UNKNOWN },
		{ "\177ELF\0\nsee http://a.example/\n", 28, ARCHIVE_UNKNOWN },
		{ "\0\nhttp:/", 8, ARCHIVE_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		enum archive_kind kind;
		struct input *in;

		assert_int_equal(input_open_memory(&in, cases[i].text, cases[i].size, "x", NULL), 0);
		assert_int_equal(archive_sniff(in, &kind, NULL), 0);
		assert_int_equal(kind, cases[i].kind);
		input_close(in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_response_tells_all),
		cmocka_unit_test(encodings_are_undone),
		cmocka_unit_test(revisits_and_others),
		cmocka_unit_test(bad_records_are_named),
		cmocka_unit_test(index_lines_are_records),
		cmocka_unit_test(kinds_are_found_by_looking),
		cmocka_unit_test(zero_bytes_are_a_bad_line_of_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
