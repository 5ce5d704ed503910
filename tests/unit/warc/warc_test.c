/* SPDX-License-Identifier: Apache-2.0 */
/* Reading archives of every make: what is found, what is checked, what is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../../lib/pack.h"
#include "../../lib/warc_valid.h"
#include "base/io/input.h"
#include "base/mem.h"
#include "warc/warc.h"

#define HTML "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>"

static void keep_report(void *arg, const char *text)
{
	buf_printf(arg, "%s\n", text);
}

/* A record by hand; fields are its lines between id and length. */
static void put(struct buf *b, const char *version, const char *type, const char *fields,
                const char *block, size_t size)
{
	buf_printf(b, "%s\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:x:%zu>\r\n"
	           "WARC-Date: 2023-11-14T22:13:20Z\r\n%sContent-Length: %zu\r\n\r\n",
	           version, type, b->size, fields, size);
	buf_add(b, block, size);
	buf_str(b, "\r\n\r\n");
}

static void open_text(struct warc_reader *r, const struct buf *b, struct buf *said)
{
	struct input *in;

	assert_int_equal(input_open_memory(&in, b->data, b->size, "t.warc", NULL), 0);
	warc_open_input(r, in);
	r->report = keep_report;
	r->report_arg = said;
	buf_clear(said);
}

static void expect(const struct field *f, const char *want)
{
	assert_non_null(f);
	assert_int_equal(f->value_size, strlen(want));
	assert_memory_equal(f->value, want, f->value_size);
}

static void test_types(void **state)
{
	static const char *const types[] = { "warcinfo", "response", "resource", "request",
	        "metadata", "revisit", "conversion", "continuation", "unheard-of" };
	static const enum warc_type want[] = { WARC_INFO, WARC_RESPONSE, WARC_RESOURCE,
	        WARC_REQUEST, WARC_METADATA, WARC_REVISIT, WARC_CONVERSION, WARC_CONTINUATION,
	        WARC_OTHER };
	struct buf b, said;
	struct warc_reader r;

	(void)state;
	buf_init(&b, BUF_NO_LIMIT);
	buf_init(&said, BUF_NO_LIMIT);
	for (size_t i = 0; i < 9; i++)
		put(&b, i & 1 ? "WARC/1.0" : "WARC/1.1", types[i],
		    "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/server-not-modified\r\n",
		    "x", 1);
	open_text(&r, &b, &said);
	for (size_t i = 0; i < 9; i++) {
		assert_int_equal(warc_next(&r, NULL), 1);
		assert_int_equal(r.record.type, want[i]);
		assert_int_equal(r.record.time, 1700000000);
		assert_int_equal(r.record.profile,
		                 i == 5 ? WARC_NOT_MODIFIED : WARC_PROFILE_OTHER);
	}
	assert_int_equal(warc_next(&r, NULL), 0);
	assert_int_equal(r.n_damaged, 0);
	assert_int_equal(said.size, 0);
	warc_close(&r);
	buf_release(&b);
	buf_release(&said);
}

static void test_fields(void **state)
{
	struct buf b, said;
	struct warc_content c;
	struct warc_reader r;

	(void)state;
	buf_init(&b, BUF_NO_LIMIT);
	buf_init(&said, BUF_NO_LIMIT);
	put(&b, "WARC/1.0", "revisit", "warc-target-uri: <http://a/b>\r\n"
	    "WARC-Refers-To-Target-URI: <http://a/c>\r\nWARC-Refers-To-Date: 2020-01-01T00:00:00Z\r\n"
	    "WARC-Profile: <http://netpreserve.org/warc/1.0/revisit/identical-payload-digest>\r\n"
	    "WARC-Truncated: length\r\nX-Folded: one\r\n two\r\nWARC-Concurrent-To: <a>\r\n"
	    "WARC-Concurrent-To: <b>\r\nWARC-Payload-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n",
	    "HTTP/1.1 200 OK\r\nA: b", 21);
	open_text(&r, &b, &said);
	warc_content_init(&c, 100);
	assert_int_equal(warc_next(&r, NULL), 1);
	expect(r.record.target_uri, "http://a/b");
	expect(r.record.refers_to_uri, "http://a/c");
	expect(r.record.refers_to_date, "2020-01-01T00:00:00Z");
	expect(r.record.truncated, "length");
	expect(r.record.concurrent_to, "<a>");
	expect(fields_find(&r.record.fields, "x-folded"), "one   two");
	assert_int_equal(r.record.profile, WARC_IDENTICAL_DIGEST);
	/* a revisit's digest is of another record's payload; its head has no end */
	assert_int_equal(warc_load(&r, &c, NULL), 1);
	assert_int_equal(c.payload_check, WARC_CHECK_NONE);
	assert_true(c.is_http);
	assert_int_equal(c.http.status, 200);
	assert_int_equal(c.body_size, 0);
	warc_content_release(&c);
	warc_close(&r);
	buf_release(&b);
	buf_release(&said);
}

/* Digest fields, the block they come with, and what must be found. */
static void test_digests(void **state)
{
	/* sha1("<html>"), sha1(HTML) by OpenSSL; sha256("<html>") from sha256sum */
	static const char sha256[] =
		"b7d082ee12e91b756ea22e8513b8594eebcf5d39fab813da3cb55794dc888ad7";
	char body[64], block[64], fields[600];
	static const struct { const char *fmt; int load; enum warc_check block, payload; }
	cases[] = {
		{ "", 1, WARC_CHECK_NONE, WARC_CHECK_NONE },
		{ "WARC-Payload-Digest: %1$s\r\n", 1, WARC_CHECK_NONE, WARC_CHECK_OK },
		{ "WARC-Block-Digest: %2$s\r\n", 1, WARC_CHECK_OK, WARC_CHECK_NONE },
		{ "WARC-Block-Digest: %2$s\r\nWARC-Payload-Digest: %1$s\r\n", 1, WARC_CHECK_OK,
		  WARC_CHECK_OK },
		{ "WARC-Block-Digest: %2$s\r\nWARC-Payload-Digest: %2$s\r\n", 1, WARC_CHECK_OK,
		  WARC_CHECK_WRONG },
		{ "WARC-Payload-Digest: %2$s\r\n", 0, WARC_CHECK_NONE, WARC_CHECK_WRONG },
		{ "WARC-Block-Digest: %1$s\r\nWARC-Payload-Digest: %1$s\r\n", 0, WARC_CHECK_WRONG,
		  WARC_CHECK_OK },
		{ "WARC-Payload-Digest: sha256:%3$s\r\n", 1, WARC_CHECK_NONE, WARC_CHECK_OK },
		{ "WARC-Payload-Digest: SHA-256:%3$s\r\n", 1, WARC_CHECK_NONE, WARC_CHECK_OK },
		{ "WARC-Payload-Digest: sha256:%1$s\r\n", 1, WARC_CHECK_NONE, WARC_CHECK_UNKNOWN },
		{ "WARC-Payload-Digest: blake3:%3$s\r\n", 1, WARC_CHECK_NONE, WARC_CHECK_UNKNOWN },
		{ "WARC-Payload-Digest: %2$s\r\nWARC-Segment-Number: 1\r\n", 1, WARC_CHECK_NONE,
		  WARC_CHECK_NONE },
	};
	struct buf b, said;

	(void)state;
	buf_init(&b, BUF_NO_LIMIT);
	buf_init(&said, BUF_NO_LIMIT);
	warc_valid_sha1("<html>", 6, body);
	warc_valid_sha1(HTML, sizeof HTML - 1, block);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct warc_content c;
		struct warc_reader r;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(fields, sizeof fields, cases[i].fmt, body, block, sha256);
#pragma GCC diagnostic pop
		buf_clear(&b);
		put(&b, "WARC/1.1", "response", fields, HTML, sizeof HTML - 1);
		open_text(&r, &b, &said);
		warc_content_init(&c, 100);
		assert_int_equal(warc_next(&r, NULL), 1);
		if (warc_load(&r, &c, NULL) != cases[i].load || c.block_check != cases[i].block ||
		    c.payload_check != cases[i].payload)
			fail_msg("case %zu: checks %d %d", i, c.block_check, c.payload_check);
		assert_string_equal(buf_text(&c.body), "<html>");
		assert_int_equal(r.n_damaged, cases[i].load == 0);
		assert_int_equal(said.size > 0, cases[i].load == 0 ||
		                 cases[i].payload == WARC_CHECK_WRONG);
		warc_content_release(&c);
		warc_close(&r);
	}
	buf_release(&b);
	buf_release(&said);
}

/* Chunked, and chunked in name only, with each encoding on top. */
static void test_bodies(void **state)
{
	static const struct { const char *name; void (*pack)(struct buf *, const void *, size_t); }
	kinds[] = {
		{ "gzip", pack_gzip }, { "br", pack_brotli }, { "zstd", pack_zstd },
		{ "deflate", pack_zlib },
	};
	struct buf packed, block, b, said, plain;
	char text[3000];

	(void)state;
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)('a' + i % 7 * (i % 3));
	buf_init(&packed, BUF_NO_LIMIT);
	buf_init(&block, BUF_NO_LIMIT);
	buf_init(&b, BUF_NO_LIMIT);
	buf_init(&said, BUF_NO_LIMIT);
	buf_init(&plain, 100000);
	for (size_t i = 0; i < 3 * sizeof kinds / sizeof *kinds; i++) {
		char digest[64], fields[128];
		size_t k = i / 3, mode = i % 3;     /* framed, not framed, framing hashed */
		struct warc_content c;
		struct warc_reader r;

		buf_clear(&packed);
		kinds[k].pack(&packed, text, sizeof text);
		buf_clear(&block);
		buf_printf(&block, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
		           "Content-Encoding: %s\r\n\r\n", kinds[k].name);
		size_t head = block.size;
		if (mode == 1) {
			buf_add(&block, packed.data, packed.size);
		} else {
			for (size_t at = 0; at < packed.size; at += 10) {
				size_t n = packed.size - at < 10 ? packed.size - at : 10;

				buf_printf(&block, "%zx\r\n", n);
				buf_add(&block, packed.data + at, n);
				buf_str(&block, "\r\n");
			}
			buf_str(&block, "0\r\n\r\n");
		}
		if (mode == 2)
			warc_valid_sha1(block.data + head, block.size - head, digest);
		else
			warc_valid_sha1(packed.data, packed.size, digest);
		snprintf(fields, sizeof fields, "WARC-Payload-Digest: %s\r\n", digest);
		buf_clear(&b);
		put(&b, "WARC/1.1", "response", fields, block.data, block.size);
		open_text(&r, &b, &said);
		warc_content_init(&c, 100000);
		assert_int_equal(warc_next(&r, NULL), 1);
		assert_int_equal(warc_load(&r, &c, NULL), 1);
		assert_int_equal(c.payload_check, mode == 2 ? WARC_CHECK_RAW : WARC_CHECK_OK);
		assert_int_equal(c.body.size, packed.size);
		assert_memory_equal(c.body.data, packed.data, packed.size);
		assert_int_equal(c.head.size, head);
		assert_memory_equal(c.head.data, block.data, head);
		buf_clear(&plain);
		assert_int_equal(http_decode(&plain, c.http.content_encoding->value,
		                             c.http.content_encoding->value_size, c.body.data,
		                             c.body.size, NULL), 0);
		assert_int_equal(plain.size, sizeof text);
		assert_memory_equal(plain.data, text, sizeof text);
		warc_content_release(&c);
		warc_close(&r);
	}
	buf_release(&packed);
	buf_release(&block);
	buf_release(&b);
	buf_release(&said);
	buf_release(&plain);
}

/* Heads that are none, lengths that lie: said so, and the next record is read. */
static void test_bad_heads(void **state)
{
	static const char *const heads[] = {
		"WARC/2.0\r\nWARC-Type: response\r\n",
		"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 1\r\n",
		"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <x>\r\nWARC-Date: 2023\r\n"
		"Content-Length: -1\r\n",
		"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <x>\r\nWARC-Date: yesterday\r\n"
		"Content-Length: 1\r\n",
		"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <x>\r\nWARC-Date: 2023\r\n"
		"Content-Length: 1\r\nContent-Length: 2\r\n",
		"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <x>\r\nWARC-Date: 2023\r\n"
		"Content-Length: 99999999999999999999\r\n",
		"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <x>\r\nWARC-Date: 2023\r\n"
		"Content-Length: 999999\r\n",
		"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <x>\r\nWARC-Date: 2023\r\n"
		"Content-Length: 0\r\n",
		"WARC/1.1\r\nno colon\r\n",
		"garbage",
	};
	struct buf b, said, packed;

	(void)state;
	buf_init(&b, BUF_NO_LIMIT);
	buf_init(&said, BUF_NO_LIMIT);
	buf_init(&packed, BUF_NO_LIMIT);
	for (size_t i = 0; i < 2 * sizeof heads / sizeof *heads; i++) {
		struct warc_reader r;

		buf_clear(&b);
		buf_printf(&b, "%s\r\nXYZ12\r\n\r\n", heads[i / 2]);
		if (i & 1) {                    /* one member each */
			size_t first = b.size;

			buf_clear(&packed);
			pack_gzip(&packed, b.data, b.size);
			put(&b, "WARC/1.1", "resource", "", "abc", 3);
			pack_gzip(&packed, b.data + first, b.size - first);
			open_text(&r, &packed, &said);
		} else {
			put(&b, "WARC/1.1", "resource", "", "abc", 3);
			put(&b, "WARC/1.1", "metadata", "", "abc", 3);
			open_text(&r, &b, &said);
		}
		int rc = warc_next(&r, NULL);
		if (rc == 1 && r.record.type == WARC_RESPONSE) {
			/* known to be wrong only at its end */
			assert_true(i & 1);
			rc = warc_next(&r, NULL);
		}
		if (rc != 1 || r.record.type != WARC_RESOURCE || r.n_damaged != 1)
			fail_msg("%s: %d, %d damaged", heads[i / 2], rc, (int)r.n_damaged);
		assert_true(r.record.resynced);
		assert_non_null(strstr(said.data, "t.warc: record at 0: "));
		if (!(i & 1)) {
			assert_int_equal(warc_next(&r, NULL), 1);
			assert_false(r.record.resynced);
		}
		assert_int_equal(warc_next(&r, NULL), 0);
		warc_close(&r);
	}
	buf_release(&b);
	buf_release(&said);
	buf_release(&packed);
}

/* A body that holds a whole record, line ends and all, is one body. */
static void test_smuggling(void **state)
{
	struct buf inner, b, said;
	struct warc_content c;
	struct warc_reader r;
	struct input *in;

	(void)state;
	buf_init(&inner, BUF_NO_LIMIT);
	buf_init(&b, BUF_NO_LIMIT);
	buf_init(&said, BUF_NO_LIMIT);
	buf_str(&inner, "HTTP/1.1 200 OK\r\n\r\n\r\n\r\n");
	put(&inner, "WARC/1.1", "response", "WARC-Target-URI: http://evil/\r\n", "EVIL", 4);
	buf_str(&inner, "more of the body");
	put(&b, "WARC/1.1", "response", "WARC-Target-URI: http://good/\r\n", inner.data, inner.size);
	size_t second = b.size;
	put(&b, "WARC/1.1", "response", "WARC-Target-URI: http://good/2\r\n", HTML, 20);
	warc_content_init(&c, 10000);
	open_text(&r, &b, &said);
	assert_int_equal(warc_next(&r, NULL), 1);
	assert_int_equal(warc_load(&r, &c, NULL), 1);
	assert_int_equal(c.body_size, inner.size - 19);
	assert_int_equal(warc_next(&r, NULL), 1);
	expect(r.record.target_uri, "http://good/2");
	assert_int_equal(r.record.offset, second);
	assert_int_equal(warc_next(&r, NULL), 0);
	warc_close(&r);
	/* cut inside that body: the record in it is still no record */
	for (size_t cut = 0; cut < second; cut++) {
		assert_int_equal(input_open_memory(&in, b.data, cut, "t.warc", NULL), 0);
		warc_open_input(&r, in);
		while (warc_next(&r, NULL) > 0)
			if (warc_load(&r, &c, NULL) == 1) {
				expect(r.record.target_uri, "http://good/");
				assert_int_equal(c.body_size, inner.size - 19);
			}
		warc_close(&r);
	}
	warc_content_release(&c);
	buf_release(&inner);
	buf_release(&b);
	buf_release(&said);
}

/* 64 MB in one record: digests right, memory as the caller said. */
static void test_large_record(void **state)
{
	size_t size = 64 << 20;
	char *body = mem_alloc(size), digest[64], fields[128];
	struct warc_content c;
	struct warc_reader r;
	struct buf b, packed, said;

	(void)state;
	for (size_t i = 0; i < size; i++)
		body[i] = (char)(i * 2654435761u >> 27);
	memcpy(body, "HTTP/1.1 200 OK\r\n\r\n", 19);
	buf_init(&b, BUF_NO_LIMIT);
	buf_init(&packed, BUF_NO_LIMIT);
	buf_init(&said, BUF_NO_LIMIT);
	warc_valid_sha1(body + 19, size - 19, digest);
	snprintf(fields, sizeof fields, "WARC-Payload-Digest: %s\r\n", digest);
	put(&b, "WARC/1.1", "response", fields, body, size);
	pack_zstd(&packed, b.data, b.size);
	open_text(&r, &packed, &said);
	warc_content_init(&c, 1000);
	assert_int_equal(warc_next(&r, NULL), 1);
	assert_int_equal(warc_load(&r, &c, NULL), 1);
	assert_int_equal(c.payload_check, WARC_CHECK_OK);
	assert_true(c.body_cut);
	assert_int_equal(c.body_size, size - 19);
	assert_int_equal(c.body.size, 1000);
	assert_in_range(c.body.cap, 1000, 2100);
	assert_memory_equal(c.body.data, body + 19, 1000);
	assert_int_equal(warc_next(&r, NULL), 0);
	warc_content_release(&c);
	warc_close(&r);
	buf_release(&b);
	buf_release(&packed);
	buf_release(&said);
	free(body);
}

static void test_head_limits(void **state)
{
	struct warc_reader r;
	struct buf b, said;

	(void)state;
	buf_init(&b, BUF_NO_LIMIT);
	buf_init(&said, BUF_NO_LIMIT);
	buf_str(&b, "WARC/1.1\r\nX: ");
	for (size_t i = 0; i < 2 * WARC_HEAD_MAX; i++)
		buf_byte(&b, 'x');
	buf_str(&b, "\r\n\r\n");
	put(&b, "WARC/1.1", "resource", "", "abc", 3);
	open_text(&r, &b, &said);
	assert_int_equal(warc_next(&r, NULL), 1);
	assert_int_equal(r.record.type, WARC_RESOURCE);
	assert_non_null(strstr(said.data, "header too long"));
	warc_close(&r);
	buf_clear(&b);
	buf_str(&b, "WARC/1.1\r\n");
	for (int i = 0; i < FIELDS_MAX + 1; i++)
		buf_str(&b, "X: y\r\n");
	buf_str(&b, "\r\n");
	open_text(&r, &b, &said);
	assert_int_equal(warc_next(&r, NULL), 0);
	assert_non_null(strstr(said.data, "too many header lines"));
	warc_close(&r);
	buf_release(&b);
	buf_release(&said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_digests),
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_bad_heads),
		cmocka_unit_test(test_smuggling),
		cmocka_unit_test(test_large_record),
		cmocka_unit_test(test_head_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
