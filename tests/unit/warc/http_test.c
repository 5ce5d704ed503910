/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP heads, chunked framing and content encodings, good and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../../lib/pack.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "warc/http.h"

static int parse(struct http_head *h, const char *text)
{
	static char copy[4096];

	snprintf(copy, sizeof copy, "%s", text);
	return http_parse_head(h, copy, strlen(copy), NULL);
}

static void expect(const struct field *f, const char *want)
{
	assert_non_null(f);
	assert_int_equal(f->value_size, strlen(want));
	assert_memory_equal(f->value, want, f->value_size);
}

static void test_heads(void **state)
{
	struct http_head h = { 0 };

	(void)state;
	assert_int_equal(parse(&h, "HTTP/1.1 200 OK\r\nContent-Type:text/html ; charset=x\r\n"
	        "CONTENT-LENGTH:  12 \r\nX: a\r\n b\r\n\tc\r\nnot a field\r\n: no name\r\n"
	        "Name : v\r\nLocation: \r\nBad: a\rb\r\n\r\nY: not in the head\r\n"), 0);
	assert_int_equal(h.status, 200);
	assert_false(h.is_request);
	assert_false(h.chunked);
	assert_int_equal(h.content_length, 12);
	expect(h.content_type, "text/html ; charset=x");
	assert_true(field_says(h.content_type, "TEXT/html"));
	assert_false(field_says(h.content_type, "text/htm"));
	expect(fields_find(&h.fields, "x"), "a   b  \tc");
	expect(fields_find(&h.fields, "name"), "v");
	expect(fields_find(&h.fields, "bad"), "a b");
	expect(h.location, "");
	assert_null(fields_find(&h.fields, "Y"));
	assert_null(h.content_encoding);
	assert_int_equal(h.fields.n_odd, 2);

	/* bare LF, no reason, chunked */
	assert_int_equal(parse(&h, "HTTP/1.0 404\nTransfer-Encoding: gzip, Chunked\n\n"), 0);
	assert_int_equal(h.status, 404);
	assert_true(h.chunked);
	assert_int_equal(h.content_length, -1);
	/* two lengths that differ are none */
	assert_int_equal(parse(&h, "HTTP/2 301 \r\nContent-Length: 5\r\nContent-Length: 6\r\n"), 0);
	assert_int_equal(h.content_length, -1);
	assert_int_equal(parse(&h, "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
	assert_true(h.is_request);
	assert_int_equal(h.target_size, 4);

	static const char *const bad[] = {
		"", "\r\n", "HTTP/1.1", "HTTP/1.1 20", "HTTP/1.1 2000 OK", "HTTP/1.1 abc OK",
		"HTTP/1.1 000 OK", "HTCPCP/1.0 418 x", "get / HTTP/1.1", "GET HTTP/1.1",
		"<html>", " HTTP/1.1 200 OK",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (parse(&h, bad[i]) != E_PARSE)
			fail_msg("accepted: %s", bad[i]);
	char nul[] = "HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n";
	assert_int_equal(http_parse_head(&h, nul, sizeof nul - 1, NULL), E_PARSE);
	http_release_head(&h);
}

static void test_head_limits(void **state)
{
	struct http_head h = { 0 };
	struct buf b;

	(void)state;
	buf_init(&b, BUF_NO_LIMIT);
	buf_str(&b, "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < FIELDS_MAX; i++)
		buf_printf(&b, "A%d: b\r\n", i);
	assert_int_equal(http_parse_head(&h, b.data, b.size, NULL), 0);
	assert_int_equal(h.fields.list.n, FIELDS_MAX);
	buf_str(&b, "B: c\r\n");
	assert_int_equal(http_parse_head(&h, b.data, b.size, NULL), E_LIMIT);
	while (b.size <= HTTP_HEAD_MAX)
		buf_str(&b, "xxxxxxxxxxxxxxxxxxxxxxxxxx");
	assert_int_equal(http_parse_head(&h, b.data, b.size, NULL), E_LIMIT);
	buf_release(&b);
	http_release_head(&h);
}

static void test_head_size(void **state)
{
	(void)state;
	assert_int_equal(fields_head_size("a: b\r\n\r\nx", 9), 8);
	assert_int_equal(fields_head_size("a: b\n\nx", 7), 6);
	assert_int_equal(fields_head_size("a: b\n\r\nx", 8), 7);
	assert_int_equal(fields_head_size("a: b\r\n\r", 7), 0);
	assert_int_equal(fields_head_size("a: b\r\n", 6), 0);
	assert_int_equal(fields_head_size("", 0), 0);
}

/* All of `text`, given in pieces of `piece`. */
static void dechunk(const char *text, size_t size, size_t piece, struct http_chunked *c,
                    struct buf *out, size_t *ret_used)
{
	size_t at = 0;

	*c = (struct http_chunked){ 0 };
	buf_clear(out);
	while (at < size && !c->done && !c->bad) {
		size_t n = size - at < piece ? size - at : piece, got, used;
		char *exact = mem_alloc(n);
		const char *data;

		memcpy(exact, text + at, n);
		used = http_dechunk(c, exact, n, &data, &got);
		assert_true(used > 0 && used <= n);
		buf_add(out, data, got);
		at += used;
		free(exact);
	}
	*ret_used = at;
}

static void test_chunks(void **state)
{
	static const struct { const char *text, *body; bool done, bad; } cases[] = {
		{ "4\r\nWiki\r\n5\r\npedia\r\n0\r\n\r\n", "Wikipedia", true, false },
		{ "a;name=\"v\"\r\n0123456789\r\n000\r\nT: x\r\nU: y\r\n\r\nrest", "0123456789",
		  true, false },
		{ "4\nWiki\n0\n\n", "Wiki", true, false },
		{ "00000000000000000004 \r\nWiki\r\n0\r\n\r\n", "Wiki", true, false },
		{ "4\r\nWi", "Wi", false, false },
		{ "4\r\nWikiX", "Wiki", false, true },
		{ "x\r\n", "", false, true },
		{ "\r\n", "", false, true },
		{ "-4\r\nWiki", "", false, true },
		{ "0x4\r\nWiki", "", false, true },
		{ "fffffffffffffffff\r\nWiki", "", false, true },
		{ "ffffffffffffff\r\nWiki", "Wiki", false, false },
	};
	struct buf out;

	(void)state;
	buf_init(&out, 1000);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (size_t piece = 1; piece < 40; piece++) {
			struct http_chunked c;
			size_t used, size = strlen(cases[i].text);

			dechunk(cases[i].text, size, piece, &c, &out, &used);
			assert_string_equal(buf_text(&out), cases[i].body);
			assert_int_equal(c.done, cases[i].done);
			assert_int_equal(c.bad, cases[i].bad);
			if (strstr(cases[i].text, "rest"))
				assert_int_equal(used, size - 4);
		}
	assert_true(http_looks_chunked("4\r\nWiki", 7));
	assert_true(http_looks_chunked("4", 1));
	assert_true(http_looks_chunked("0\r\n\r\n", 5));
	assert_false(http_looks_chunked("<html>", 6));
	assert_false(http_looks_chunked("", 0));
	buf_release(&out);
}

static void test_long_chunk_lines(void **state)
{
	struct http_chunked c = { 0 };
	const char *data;
	size_t size, n = 0;

	(void)state;
	assert_int_equal(http_dechunk(&c, "4;", 2, &data, &size), 2);
	while (!c.bad && n < 100000) {
		http_dechunk(&c, "x", 1, &data, &size);
		n++;
	}
	assert_in_range(n, 4000, 4200);
}

static int decode(const char *encoding, const struct buf *body, struct buf *out)
{
	buf_clear(out);
	return http_decode(out, encoding, strlen(encoding), body->data, body->size, NULL);
}

static void test_encodings(void **state)
{
	struct buf text, body, twice, out;
	struct rng r;

	(void)state;
	rng_init(&r, 1);
	buf_init(&text, BUF_NO_LIMIT);
	buf_init(&body, BUF_NO_LIMIT);
	buf_init(&twice, BUF_NO_LIMIT);
	buf_init(&out, 1 << 20);
	while (text.size < 300000)
		buf_printf(&text, "<p>%x</p>", (unsigned)rng_below(&r, 100000));
	static const struct { const char *name; void (*pack)(struct buf *, const void *, size_t); }
	kinds[] = {
		{ "gzip", pack_gzip }, { " X-GZip ", pack_gzip }, { "deflate", pack_zlib },
		{ "deflate", pack_deflate }, { "br", pack_brotli }, { "zstd", pack_zstd },
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		buf_clear(&body);
		kinds[i].pack(&body, text.data, text.size);
		assert_int_equal(decode(kinds[i].name, &body, &out), 0);
		assert_int_equal(out.size, text.size);
		assert_memory_equal(out.data, text.data, text.size);
		/* cut: what came before is kept, and is a prefix */
		body.size -= 1 + rng_below(&r, body.size / 2);
		assert_int_equal(decode(kinds[i].name, &body, &out), E_PARSE);
		assert_memory_equal(out.data, text.data, out.size);
		/* the output's maximum, exactly and one less */
		buf_clear(&body);
		kinds[i].pack(&body, text.data, text.size);
		out.max = text.size;
		assert_int_equal(decode(kinds[i].name, &body, &out), 0);
		out.max = text.size - 1;
		assert_int_equal(decode(kinds[i].name, &body, &out), E_LIMIT);
		assert_in_range(out.size, 0, text.size - 1);
		out.max = 1 << 20;
		/* a second layer */
		buf_clear(&twice);
		pack_brotli(&twice, body.data, body.size);
		char name[64];
		snprintf(name, sizeof name, "%s,br", kinds[i].name);
		assert_int_equal(decode(name, &twice, &out), 0);
		assert_int_equal(out.size, text.size);
		assert_memory_equal(out.data, text.data, text.size);
	}
	/* two members; stored decoded; unknown; too many layers; nothing */
	buf_clear(&body);
	pack_gzip(&body, "one ", 4);
	pack_gzip(&body, "two", 3);
	buf_str(&body, "junk");
	assert_int_equal(decode("gzip", &body, &out), 0);
	assert_string_equal(out.data, "one two");
	buf_clear(&body);
	buf_str(&body, "<html>");
	assert_int_equal(decode("gzip", &body, &out), 0);
	assert_string_equal(out.data, "<html>");
	assert_int_equal(decode("zstd", &body, &out), 0);
	assert_string_equal(out.data, "<html>");
	assert_int_equal(decode("", &body, &out), 0);
	assert_string_equal(out.data, "<html>");
	assert_int_equal(decode("identity, ,identity", &body, &out), 0);
	assert_string_equal(out.data, "<html>");
	assert_int_equal(decode("br", &body, &out), E_PARSE);
	assert_int_equal(decode("compress", &body, &out), E_PARSE);
	assert_int_equal(decode("identity,identity,identity,identity", &body, &out), E_LIMIT);
	body.size = 0;
	assert_int_equal(decode("br", &body, &out), 0);
	assert_int_equal(out.size, 0);
	buf_release(&text);
	buf_release(&body);
	buf_release(&twice);
	buf_release(&out);
}

/* 64 MB of zeros: the ratio stops them long before an ample maximum. */
static void test_bombs(void **state)
{
	size_t size = 64u << 20;
	char *zeros = mem_zalloc(size, 1);
	struct buf body, out;

	(void)state;
	buf_init(&body, BUF_NO_LIMIT);
	buf_init(&out, 1u << 30);
	pack_brotli(&body, zeros, size);
	assert_int_equal(decode("br", &body, &out), E_LIMIT);
	assert_in_range(out.size, 0, 5u << 20);
	buf_clear(&body);
	pack_zstd(&body, zeros, size);
	assert_int_equal(decode("zstd", &body, &out), E_LIMIT);
	assert_in_range(out.size, 0, 5u << 20);
	/* gzip of gzip */
	struct buf inner;
	buf_init(&inner, BUF_NO_LIMIT);
	pack_gzip(&inner, zeros, size);
	buf_clear(&body);
	pack_gzip(&body, inner.data, inner.size);
	out.max = 8u << 20;
	assert_int_equal(decode("gzip, gzip", &body, &out), E_LIMIT);
	assert_in_range(out.size, 0, 8u << 20);
	buf_release(&inner);
	buf_release(&body);
	buf_release(&out);
	free(zeros);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_head_limits),
		cmocka_unit_test(test_head_size),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_long_chunk_lines),
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_bombs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
