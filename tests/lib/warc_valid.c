/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_valid.c - see warc_valid.h.  The rules, of ISO 28500:2017 (WARC/1.1) and
 * its annexes on compression and revisits:
 *
 *  - a file is gzip members, each of exactly one record, nothing between;
 *  - version line, named fields, all ended by CRLF, an empty line, the block of
 *    Content-Length bytes, two CRLF;
 *  - id (a bracketed URI, unique), date (UTC, ISO 8601), type, length once each;
 *  - digests are of the bytes they name;
 *  - warcinfo first; response, request and revisit have a target URI and HTTP;
 *  - a request is concurrent to a record of the file;
 *  - a revisit has one of the two profiles and names URL and date of an earlier
 *    response whose payload digest it repeats.
 */
#include "warc_valid.h"

#include <ctype.h>
#include <openssl/sha.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static int bad(struct valid_file *f, size_t at, const char *fmt, ...)
{
	char what[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	snprintf(f->error, sizeof f->error, "member at %zu: %s", at, what);
	return -1;
}

/* One member; its data is malloc'ed. */
static long inflate_member(const unsigned char *in, size_t size, char **ret, size_t *ret_size)
{
	size_t cap = 1 << 16;
	z_stream z = { 0 };
	int rc;

	*ret = malloc(cap);
	if (inflateInit2(&z, 15 + 16) != Z_OK)
		abort();
	z.next_in = (Bytef *)(uintptr_t)in;
	z.avail_in = (uInt)size;
	do {
		if (z.total_out == cap)
			*ret = realloc(*ret, cap *= 2);
		z.next_out = (Bytef *)*ret + z.total_out;
		z.avail_out = (uInt)(cap - z.total_out);
		rc = inflate(&z, Z_NO_FLUSH);
	} while (rc == Z_OK);
	*ret_size = z.total_out;
	inflateEnd(&z);
	return rc == Z_STREAM_END ? (long)z.total_in : -1;
}

void warc_valid_sha1(const char *data, size_t size, char out[64])
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
	unsigned char sum[20];

	SHA1((const unsigned char *)data, size, sum);
	strcpy(out, "sha1:");
	for (int i = 0; i < 32; i++) {
		int v = 0;

		for (int b = 0; b < 5; b++) {
			int bit = i * 5 + b;

			v = v << 1 | (sum[bit / 8] >> (7 - bit % 8) & 1);
		}
		out[5 + i] = alphabet[v];
	}
	out[37] = '\0';
}

static int is_date(const char *s)
{
	static const char shape[] = "dddd-dd-ddTdd:dd:ddZ";

	if (strlen(s) != sizeof shape - 1)
		return 0;
	for (size_t i = 0; i < sizeof shape - 1; i++)
		if (shape[i] == 'd' ? !isdigit((unsigned char)s[i]) : s[i] != shape[i])
			return 0;
	return 1;
}

/* Copy a field's value, which must not have been there before. */
static int take(struct valid_file *f, size_t at, char *to, size_t room, const char *name,
                const char *value, size_t size)
{
	if (*to)
		return bad(f, at, "%s twice", name);
	if (size == 0 || size >= room)
		return bad(f, at, "%s empty or too long", name);
	memcpy(to, value, size);
	to[size] = '\0';
	return 0;
}

struct head {
	char length[32], block_digest[128], filename[256], content_type[64];
};

static int parse_line(struct valid_file *f, struct valid_record *r, struct head *h,
                      const char *line, size_t size)
{
	struct { const char *name; char *to; size_t room; } known[] = {
		{ "WARC-Type", r->type, sizeof r->type },
		{ "WARC-Record-ID", r->id, sizeof r->id },
		{ "WARC-Date", r->date, sizeof r->date },
		{ "WARC-Target-URI", r->url, sizeof r->url },
		{ "WARC-Payload-Digest", r->digest, sizeof r->digest },
		{ "WARC-Block-Digest", h->block_digest, sizeof h->block_digest },
		{ "WARC-Profile", r->profile, sizeof r->profile },
		{ "WARC-Refers-To-Target-URI", r->refers_url, sizeof r->refers_url },
		{ "WARC-Refers-To-Date", r->refers_date, sizeof r->refers_date },
		{ "WARC-Concurrent-To", r->concurrent, sizeof r->concurrent },
		{ "WARC-Truncated", r->truncated, sizeof r->truncated },
		{ "WARC-Filename", h->filename, sizeof h->filename },
		{ "Content-Length", h->length, sizeof h->length },
		{ "Content-Type", h->content_type, sizeof h->content_type },
	};
	const char *colon = memchr(line, ':', size);

	if (!colon || colon == line || colon[1] != ' ')
		return bad(f, r->offset, "not a named field: %.*s", (int)size, line);
	for (size_t i = 0; i < size; i++)
		if (iscntrl((unsigned char)line[i]))
			return bad(f, r->offset, "control byte in the header");
	for (const char *p = line; p < colon; p++)
		if (!isalnum((unsigned char)*p) && *p != '-')
			return bad(f, r->offset, "bad field name");
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i].name) == (size_t)(colon - line) &&
		    memcmp(known[i].name, line, (size_t)(colon - line)) == 0)
			return take(f, r->offset, known[i].to, known[i].room, known[i].name,
			            colon + 2, size - (size_t)(colon + 2 - line));
	return 0;
}

/* Version line and fields; returns where the block begins, or -1. */
static long parse_head(struct valid_file *f, struct valid_record *r, struct head *h,
                       const char *data, size_t size)
{
	size_t at = 10;

	if (size < 10 || memcmp(data, "WARC/1.1\r\n", 10))
		return bad(f, r->offset, "no version line");
	for (;;) {
		const char *end = memmem(data + at, size - at, "\r\n", 2);

		if (!end)
			return bad(f, r->offset, "header does not end");
		if (end == data + at)
			break;
		if (parse_line(f, r, h, data + at, (size_t)(end - data - (long)at)))
			return -1;
		at = (size_t)(end - data) + 2;
	}
	if (!*r->type || !*r->id || !*r->date || !*h->length)
		return bad(f, r->offset, "a mandatory field is missing");
	if (strncmp(r->id, "<urn:uuid:", 10) || strlen(r->id) != 47 || r->id[46] != '>')
		return bad(f, r->offset, "id is no bracketed URI: %s", r->id);
	if (!strstr(" warcinfo response resource request metadata revisit conversion "
	            "continuation ", r->type))
		return bad(f, r->offset, "unknown type %s", r->type);
	if (!is_date(r->date))
		return bad(f, r->offset, "bad date %s", r->date);
	return (long)at + 2;
}

static int check_digests(struct valid_file *f, struct valid_record *r, const struct head *h)
{
	char sum[64];

	/* a response has the digest of its payload, any other record that of its block */
	if (strcmp(r->type, "response")) {
		warc_valid_sha1(r->block, r->block_size, sum);
		return strcmp(sum, h->block_digest) ?
		       bad(f, r->offset, "block digest %s is not %s", h->block_digest, sum) : 0;
	}
	if (!*r->digest)
		return bad(f, r->offset, "response without payload digest");
	warc_valid_sha1(r->block + r->body_at, r->block_size - r->body_at, sum);
	if (!memmem(r->block, r->body_at, "chunked", 7) && strcmp(sum, r->digest))
		return bad(f, r->offset, "payload digest %s is not %s", r->digest, sum);
	return 0;
}

static int check_http(struct valid_file *f, struct valid_record *r, const struct head *h)
{
	const char *want = strcmp(r->type, "request") ? "application/http; msgtype=response" :
	                   "application/http; msgtype=request";
	const char *end = memmem(r->block, r->block_size, "\r\n\r\n", 4);

	if (!*r->url)
		return bad(f, r->offset, "%s without target URI", r->type);
	if (strcmp(h->content_type, want))
		return bad(f, r->offset, "content type %s", h->content_type);
	if (!end)
		return bad(f, r->offset, "no HTTP head");
	r->body_at = (size_t)(end - r->block) + 4;
	return 0;
}

static int check_revisit(struct valid_file *f, const struct valid_record *r)
{
	static const char base[] = "http://netpreserve.org/warc/1.1/revisit/";
	int same = strcmp(r->profile + sizeof base - 1, "identical-payload-digest") == 0;
	int not_modified = strcmp(r->profile + sizeof base - 1, "server-not-modified") == 0;

	if (strncmp(r->profile, base, sizeof base - 1) || (!same && !not_modified))
		return bad(f, r->offset, "unknown profile %s", r->profile);
	if (not_modified && memcmp(r->block, "HTTP/1.1 304", 12))
		return bad(f, r->offset, "server-not-modified without 304");
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->v[i].type, "response") == 0 && strcmp(f->v[i].url, r->refers_url) == 0 &&
		    strcmp(f->v[i].date, r->refers_date) == 0)
			return strcmp(f->v[i].digest, r->digest) ?
			       bad(f, r->offset, "not the original's digest") : 0;
	return f->part ? 0 : bad(f, r->offset, "no response %s of %s", r->refers_url, r->refers_date);
}

static int check_place(struct valid_file *f, const struct valid_record *r,
                       const struct head *h, const char *name)
{
	int found = !*r->concurrent;

	if ((f->n == 0) != (strcmp(r->type, "warcinfo") == 0))
		return bad(f, r->offset, "warcinfo is not first, or not alone");
	if (f->n == 0 && strcmp(h->filename, name))
		return bad(f, r->offset, "warcinfo gives the name %s", h->filename);
	for (size_t i = 0; i < f->n; i++) {
		if (strcmp(f->v[i].id, r->id) == 0)
			return bad(f, r->offset, "id twice");
		found |= strcmp(f->v[i].id, r->concurrent) == 0;
	}
	if (!found)
		return bad(f, r->offset, "concurrent to no record here");
	if (strcmp(r->type, "request") == 0 && !*r->concurrent)
		return bad(f, r->offset, "request concurrent to nothing");
	return 0;
}

static int add_record(struct valid_file *f, const char *name, size_t offset, size_t length,
                      const char *data, size_t size)
{
	struct valid_record r = { .offset = offset, .length = length };
	struct head h = { .length = "" };
	long at = parse_head(f, &r, &h, data, size);
	size_t block;

	if (at < 0)
		return -1;
	block = (size_t)strtoull(h.length, NULL, 10);
	if (size != (size_t)at + block + 4 || memcmp(data + at + block, "\r\n\r\n", 4))
		return bad(f, offset, "length %s does not end the record and the member", h.length);
	r.block = malloc(block + 1);
	memcpy(r.block, data + at, block);
	r.block_size = block;
	int http = strcmp(r.type, "response") == 0 || strcmp(r.type, "request") == 0 ||
	           strcmp(r.type, "revisit") == 0;
	if ((http && check_http(f, &r, &h)) || check_digests(f, &r, &h) ||
	    (strcmp(r.type, "revisit") == 0 && check_revisit(f, &r)) ||
	    check_place(f, &r, &h, name)) {
		free(r.block);
		return -1;
	}
	f->v = realloc(f->v, (f->n + 1) * sizeof *f->v);
	f->v[f->n++] = r;
	return 0;
}

static void judge(struct valid_file *ret, const char *name, const void *data, size_t size)
{
	size_t at = 0;

	while (at < size && !*ret->error) {
		char *text;
		size_t text_size;
		long used = inflate_member((const unsigned char *)data + at, size - at, &text,
		                           &text_size);

		if (used < 0)
			bad(ret, at, "not a gzip member");
		else
			add_record(ret, name, at, (size_t)used, text, text_size);
		free(text);
		at += used > 0 ? (size_t)used : 0;
	}
	if (ret->n == 0 && !*ret->error)
		bad(ret, 0, "no record");
}

void warc_valid(struct valid_file *ret, const char *name, const void *data, size_t size)
{
	*ret = (struct valid_file){ .error = "" };
	judge(ret, name, data, size);
}

void warc_valid_part(struct valid_file *ret, const char *name, const void *data, size_t size)
{
	*ret = (struct valid_file){ .error = "", .part = true };
	judge(ret, name, data, size);
}

void warc_valid_release(struct valid_file *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->v[i].block);
	free(f->v);
	f->v = NULL;
	f->n = 0;
}
