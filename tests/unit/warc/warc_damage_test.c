/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Archives cut at every byte and damaged at random: never a crash, a hang, or a
 * record that was not there, and what is untouched is still read.
 */
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
#include "base/math/rng.h"
#include "base/mem.h"
#include "warc/warc.h"

#define N_RECORDS 12
#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"

enum form { PLAIN, GZIP_EACH, GZIP_ONE, ZSTD_EACH, ZSTD_ONE, STORED_EACH, N_FORMS };

struct archive {
	enum form form;
	struct buf file;
	struct buf body[N_RECORDS];
	size_t end[N_RECORDS + 1];      /* offsets in the file: of record or member i */
};

static void pack_form(enum form form, struct buf *to, const struct buf *text)
{
	switch (form) {
	case GZIP_EACH: case GZIP_ONE: pack_gzip(to, text->data, text->size); break;
	case ZSTD_EACH: case ZSTD_ONE: pack_zstd(to, text->data, text->size); break;
	case STORED_EACH: pack_gzip_stored(to, text->data, text->size); break;
	default: buf_add(to, text->data, text->size);
	}
}

/* Response records of some hundred bytes, all with block digests. */
static void make_archive(struct archive *a, enum form form)
{
	struct buf text, block;
	struct rng r;

	rng_init(&r, 42);
	*a = (struct archive){ .form = form };
	buf_init(&a->file, BUF_NO_LIMIT);
	buf_init(&text, BUF_NO_LIMIT);
	buf_init(&block, BUF_NO_LIMIT);
	for (int i = 0; i < N_RECORDS; i++) {
		struct buf *body = &a->body[i];
		char digest[64];

		buf_init(body, BUF_NO_LIMIT);
		buf_printf(body, "<html>%d ", i);
		for (size_t n = rng_below(&r, 40); n > 0; n--)
			buf_printf(body, "%u\r\n\r\n ", (unsigned)rng_below(&r, 3000));
		buf_clear(&block);
		buf_str(&block, HEAD);
		buf_add(&block, body->data, body->size);
		warc_valid_sha1(block.data, block.size, digest);
		buf_printf(&text, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:%d>\r\n"
		           "WARC-Date: 2023-11-14T22:13:20Z\r\nWARC-Target-URI: http://a/%d\r\n"
		           "WARC-Block-Digest: %s\r\nContent-Length: %zu\r\n\r\n", i, i, digest,
		           block.size);
		buf_add(&text, block.data, block.size);
		buf_str(&text, "\r\n\r\n");
		if (form != GZIP_ONE && form != ZSTD_ONE) {
			pack_form(form, &a->file, &text);
			buf_clear(&text);
			a->end[i + 1] = a->file.size;
		}
	}
	if (text.size)
		pack_form(form, &a->file, &text);
	buf_release(&text);
	buf_release(&block);
}

static void drop_archive(struct archive *a)
{
	buf_release(&a->file);
	for (int i = 0; i < N_RECORDS; i++)
		buf_release(&a->body[i]);
}

static bool is_one_piece(enum form form)
{
	return form == PLAIN || form == GZIP_ONE || form == ZSTD_ONE;
}

struct outcome {
	bool seen[N_RECORDS];
	size_t n;
	uint64_t damaged;
	bool said;
};

static void note(void *arg, const char *text)
{
	assert_non_null(strstr(text, "t.warc: record at "));
	((struct outcome *)arg)->said = true;
}

/* Read everything; each record must be one of the archive's, byte for byte. */
static struct outcome read_back(const struct archive *a, const char *data, size_t size)
{
	struct outcome o = { 0 };
	struct warc_content c;
	struct warc_reader r;
	struct input *in;
	char *exact = mem_alloc(size ? size : 1);
	int rc;

	memcpy(exact, data, size);
	assert_int_equal(input_open_memory(&in, exact, size, "t.warc", NULL), 0);
	warc_open_input(&r, in);
	r.report = note;
	r.report_arg = &o;
	warc_content_init(&c, 1 << 20);
	while ((rc = warc_next(&r, NULL)) > 0) {
		int k = -1;

		if (warc_load(&r, &c, NULL) != 1)
			continue;
		/* if the type was hit, the HTTP head is part of the body */
		size_t skip = c.is_http ? 0 : sizeof HEAD - 1;
		for (int i = 0; i < N_RECORDS; i++)
			if (c.body.size == a->body[i].size + skip &&
			    memcmp(c.body.data + skip, a->body[i].data, a->body[i].size) == 0)
				k = i;
		/* nothing guards the digest line itself but a member's checksum */
		if (k < 0 && is_one_piece(a->form) && c.block_check != WARC_CHECK_OK)
			k = N_RECORDS;
		assert_true(k >= 0);
		if (k < N_RECORDS)
			o.seen[k] = true;
		o.n++;
	}
	assert_int_equal(rc, 0);
	o.damaged = r.n_damaged;
	warc_content_release(&c);
	warc_close(&r);
	free(exact);
	return o;
}

static void test_cut_at_every_byte(void **state)
{
	(void)state;
	for (enum form form = PLAIN; form < N_FORMS; form++) {
		struct archive a;

		make_archive(&a, form);
		/* a head of 4 bytes at least tells compressed from plain */
		for (size_t cut = 4; cut <= a.file.size; cut++) {
			struct outcome o = read_back(&a, a.file.data, cut);
			size_t whole = 0;

			/* a prefix of the records, each once */
			for (size_t i = 0; i < N_RECORDS; i++)
				assert_int_equal(o.seen[i], i < o.n);
			if (form == GZIP_ONE || form == ZSTD_ONE) {
				assert_int_equal(o.n == N_RECORDS && o.damaged == 0,
				                 cut == a.file.size);
				continue;
			}
			while (whole < N_RECORDS && a.end[whole + 1] <= cut)
				whole++;
			/* a plain record may lack its last line ends */
			assert_in_range(o.n, whole, whole + (form == PLAIN &&
			                whole < N_RECORDS && a.end[whole + 1] - cut <= 4));
			assert_int_equal(o.said, o.damaged > 0);
			if (cut > a.end[whole] + (form == PLAIN ? 8 : 0) && o.n == whole)
				assert_true(o.damaged >= 1);
			else if (cut == a.end[whole])
				assert_int_equal(o.damaged, 0);
		}
		drop_archive(&a);
	}
}

/* One byte changed: at most the record it is in is lost. */
static void test_one_byte(void **state)
{
	static const enum form forms[] = { PLAIN, GZIP_EACH, ZSTD_EACH, STORED_EACH };
	struct rng r;

	(void)state;
	rng_init(&r, 9);
	for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
		struct archive a;

		make_archive(&a, forms[f]);
		for (size_t at = 4; at < a.file.size; at++) {
			struct outcome o;
			size_t hit = 0, lost = 0;
			char old = a.file.data[at];

			while (a.end[hit + 1] <= at)
				hit++;
			a.file.data[at] = (char)(old ^ (1 << rng_below(&r, 8)));
			o = read_back(&a, a.file.data, a.file.size);
			for (size_t i = 0; i < N_RECORDS; i++)
				if (!o.seen[i]) {
					/* a plain record that claims to go on beyond the end of
					 * the file takes the very last one with it: it may be
					 * part of a body that was cut off */
					bool last = forms[f] == PLAIN && i == N_RECORDS - 1 &&
					            hit == i - 1;

					if (i != hit && !last)
						fail_msg("form %d: byte %zu in record %zu lost record %zu",
						         forms[f], at, hit, i);
					lost++;
				}
			if (lost && o.n < N_RECORDS)
				assert_true(o.said);
			a.file.data[at] = old;
		}
		drop_archive(&a);
	}
}

/* Bytes changed, blanked, taken out, put in, doubled. */
static void damage(struct buf *b, struct rng *r)
{
	size_t at = 4 + rng_below(r, b->size - 4), n = 1 + rng_below(r, 200);
	char noise[200];

	if (n > b->size - at)
		n = b->size - at;
	for (size_t i = 0; i < n; i++)
		noise[i] = (char)rng_next(r);
	switch (rng_below(r, 5)) {
	case 0:
		memcpy(b->data + at, noise, 1 + n / 20);
		break;
	case 1:
		memset(b->data + at, 0, n);
		break;
	case 2:
		memmove(b->data + at, b->data + at + n, b->size - at - n);
		b->size -= n;
		break;
	case 3:
		memcpy(noise, b->data + at, n);         /* doubled */
		/* fall through */
	default:
		buf_add(b, noise, n);
		memmove(b->data + at + n, b->data + at, b->size - n - at);
		memcpy(b->data + at, noise, n);
	}
}

static void test_random_damage(void **state)
{
	(void)state;
	for (enum form form = PLAIN; form < N_FORMS; form++) {
		struct archive a;
		struct buf copy;
		struct rng r;
		size_t kept = 0;

		make_archive(&a, form);
		buf_init(&copy, BUF_NO_LIMIT);
		rng_init(&r, (uint64_t)form);
		for (int i = 0; i < 1000; i++) {
			struct outcome o;

			buf_clear(&copy);
			buf_add(&copy, a.file.data, a.file.size);
			for (uint64_t k = rng_below(&r, 3); k + 1 > 0; k--)
				damage(&copy, &r);
			o = read_back(&a, copy.data, copy.size);
			kept += o.n;
		}
		/* two places hit on average: most of the twelve are still there, except
		 * where one stream holds them all */
		if (form == PLAIN || !is_one_piece(form))
			assert_in_range(kept, 1000 * (N_RECORDS - 5), 1000 * (N_RECORDS + 1));
		buf_release(&copy);
		drop_archive(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_one_byte),
		cmocka_unit_test(test_random_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
