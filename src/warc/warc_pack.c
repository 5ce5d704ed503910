/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_pack.c - makes WARC/1.1 records and compresses them; see warc_pack.h.
 *
 * Revisits always name the original's URL and date, because players resolve them
 * by those and not by its id, and carry the original's payload digest, also for
 * a 304 whose own body is empty.
 *
 * Every record has one SHA-1 of what it brings: a response that of its payload, any
 * other that of its block.  A response's block digest would go over the same bytes
 * once more, a tenth of all that a page costs; it is optional, Heritrix writes none
 * either, and gzip's checksum covers the whole record.  What is given up: of a file
 * that was unpacked, damage to the HTTP head does not show.
 *
 * ISA-L's level 1 costs about an eighth of zlib -6 and gives a seventh more bytes.
 */
#include "warc/warc_pack.h"

#include <isa-l/igzip_lib.h>
#include <stdio.h>
#include <string.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "base/vector_state.h"
#include "base/when.h"

#define SMALL 2048                      /* bytes; up to here a fixed Huffman code is used */
#define PIECE_MAX (1u << 30)
#define KEEP_TEXT ((size_t)1 << 20)     /* bytes; larger buffers are freed after use */
#define PROFILE "http://netpreserve.org/warc/1.1/revisit/"

struct warc_packer {
	struct buf text;                        /* the record being made */
	struct isal_zstream stream;
	uint8_t level_buf[ISAL_DEF_LVL1_DEFAULT];
	struct warc_hasher hasher;
	struct warc_framer *framer;             /* NULL: gzip */
};

struct warc_packer *warc_packer_new(struct warc_packing how)
{
	struct warc_packer *p = mem_zalloc(1, sizeof *p);

	buf_init(&p->text, BUF_NO_LIMIT);
	if (how.compress == WARC_ZSTD)
		p->framer = warc_framer_new(how.dictionary);
	return p;
}

void warc_packer_free(struct warc_packer *p)
{
	if (!p)
		return;
	buf_release(&p->text);
	warc_hasher_release(&p->hasher);
	warc_framer_free(p->framer);
	free(p);
}

void warc_packed_init(struct warc_packed *p)
{
	*p = (struct warc_packed){ 0 };
	buf_init(&p->members, BUF_NO_LIMIT);
}

void warc_packed_release(struct warc_packed *p)
{
	buf_release(&p->members);
}

/* A UUID of version 5 (made by a hash): of seed, time and a counter. */
static void make_id(struct warc_ids ids, int64_t time, char out[WARC_ID_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	uint64_t a = rng_draw(ids.seed, (uint64_t)time, ids.n, RNG_USER);
	uint64_t b = rng_draw(ids.seed, (uint64_t)time, ids.n, RNG_USER + 1);
	char *p = stpcpy(out, "<urn:uuid:");

	a = (a & ~UINT64_C(0xf000)) | 0x5000;           /* the version */
	b = b >> 2 | UINT64_C(1) << 63;                 /* and the variant */
	for (unsigned i = 0; i < 32; i++) {
		if (i >= 8 && i <= 20 && i % 4 == 0)
			*p++ = '-';
		*p++ = digits[(i < 16 ? a : b) >> (60 - i % 16 * 4) & 15];
	}
	memcpy(p, ">", 2);
}

/* ---- compression ---- */

/* What is in w->text, as a member to *out. */
static void add_member(struct warc_packer *w, struct buf *out)
{
	struct isal_zstream *z = &w->stream;
	const char *data = w->text.data;
	size_t left = w->text.size;

	if (w->framer) {
		warc_framer_add(w->framer, data, left, out);
		return;
	}
	isal_deflate_init(z);
	z->level = left < SMALL ? 0 : 1;
	z->level_buf = w->level_buf;
	z->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
	z->gzip_flag = IGZIP_GZIP;
	z->flush = NO_FLUSH;
	do {
		uint32_t n = left < PIECE_MAX ? (uint32_t)left : PIECE_MAX;
		uint32_t room = n / 2 + 1024;

		z->next_in = (uint8_t *)(uintptr_t)data;
		z->avail_in = n;
		z->end_of_stream = n == left;
		do {
			z->next_out = (uint8_t *)buf_room(out, room);
			z->avail_out = room;
			(void)isal_deflate(z);          /* fails only for bad parameters */
			out->size += room - z->avail_out;
		} while (z->avail_out == 0 || z->avail_in);
		data += n;
		left -= n;
	} while (left || z->internal_state.state != ZSTATE_END);
	vector_state_clear();
}

/* ---- records ---- */

/* What one record is made of; NULL leaves a field out. */
struct parts {
	const char *type, *id, *url, *ip, *content_type, *concurrent_to, *truncated;
	const char *profile, *refers_to, *refers_to_url, *filename, *page, *hop_of;
	int64_t time, refers_to_time;
	const struct warc_digest *payload;      /* its digest, if it is known */
	bool with_payload;                      /* the second piece is the payload */
	struct { const char *data; size_t size; } piece[2];
};

static void put(struct buf *b, const char *name, const char *value)
{
	if (!value)
		return;
	buf_str(b, name);
	buf_add(b, ": ", 2);
	buf_str(b, value);
	buf_add(b, "\r\n", 2);
}

static void put_digest(struct buf *b, const char *name, const struct warc_digest *d)
{
	char text[WARC_DIGEST_TEXT];

	warc_digest_format(d, text);
	put(b, name, text);
}

static void make_header(struct buf *b, const struct parts *p,
                        const struct warc_digest *payload, const struct warc_digest *block)
{
	char date[21];

	buf_clear(b);
	buf_str(b, "WARC/1.1\r\n");
	put(b, "WARC-Type", p->type);
	put(b, "WARC-Record-ID", p->id);
	when_iso(p->time, date);
	put(b, "WARC-Date", date);
	put(b, "WARC-Target-URI", p->url);
	put(b, "WARC-IP-Address", p->ip);
	put(b, "WARC-Concurrent-To", p->concurrent_to);
	put(b, "WARC-Profile", p->profile);
	if (p->refers_to_url) {
		put(b, "WARC-Refers-To", p->refers_to);
		put(b, "WARC-Refers-To-Target-URI", p->refers_to_url);
		when_iso(p->refers_to_time, date);
		put(b, "WARC-Refers-To-Date", date);
	}
	put(b, "WARC-Filename", p->filename);
	put(b, "WARC-Truncated", p->truncated);
	put(b, WARC_FIELD_PAGE, p->page);
	put(b, WARC_FIELD_HOP_OF, p->hop_of);
	if (payload->hash != WARC_HASH_NONE)
		put_digest(b, "WARC-Payload-Digest", payload);
	if (block->hash != WARC_HASH_NONE)
		put_digest(b, "WARC-Block-Digest", block);
	put(b, "Content-Type", p->content_type);
	buf_printf(b, "Content-Length: %zu\r\n\r\n", p->piece[0].size + p->piece[1].size);
}

/* Append the record as a member to *out; *ret_payload is set. */
static void make_record(struct warc_packer *w, const struct parts *p, struct buf *out,
                        struct warc_digest *ret_payload)
{
	struct warc_digest block = { 0 }, payload = { 0 };
	bool hashed = p->with_payload && p->payload;

	if (p->payload)
		payload = *p->payload;
	if (!hashed) {
		warc_hasher_begin(&w->hasher, WARC_SHA1);
		for (int i = p->with_payload; i < 2; i++)
			warc_hasher_add(&w->hasher, p->piece[i].data, p->piece[i].size);
		warc_hasher_end(&w->hasher, p->with_payload ? &payload : &block);
	}
	if (w->text.cap > KEEP_TEXT)
		buf_release(&w->text);
	make_header(&w->text, p, &payload, &block);
	for (int i = 0; i < 2; i++)
		buf_add(&w->text, p->piece[i].data, p->piece[i].size);
	buf_add(&w->text, "\r\n\r\n", 4);
	add_member(w, out);
	*ret_payload = payload;
}

/* ---- what may be written ---- */

/* No control bytes; in a URI no blanks either. */
static bool is_clean(const char *s, bool uri)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f || (uri && *s == ' '))
			return false;
	return true;
}

int warc_check_value(const char *what, const char *s, bool uri, struct err *err)
{
	if (!s || (*s && is_clean(s, uri)))
		return 0;
	return err_set(err, E_USAGE, "%s is empty or holds %scontrol bytes: not written",
	               what, uri ? "blanks or " : "");
}

/* A revisit must say of what, and tell the truth about it. */
static int check_revisit(const struct warc_capture *c, struct err *err)
{
	const char *space = c->head_size ? memchr(c->head, ' ', c->head_size) : NULL;

	if (!c->refers_to_url || !c->payload_digest ||
	    c->payload_digest->hash == WARC_HASH_NONE)
		return err_set(err, E_USAGE, "revisit of %s without the original's URL or "
		               "digest", c->url);
	if (c->revisit == WARC_NOT_MODIFIED &&
	    (!space || c->head_size - (size_t)(space - c->head) < 4 ||
	     memcmp(space, " 304", 4)))
		return err_set(err, E_USAGE, "revisit of %s: server-not-modified without a 304",
		               c->url);
	return 0;
}

static int check_capture(const struct warc_capture *c, struct err *err)
{
	const struct { const char *what, *value; bool uri; } values[] = {
		{ "URL", c->url, true }, { "IP address", c->ip_address, true },
		{ "reason of truncation", c->truncated, true },
		{ "id referred to", c->refers_to_id, true },
		{ "URL referred to", c->refers_to_url, true },
		{ "URL of the page", c->page, true },
		{ "URL of the page", c->hop_of, true },
	};

	if (!c->url)
		return err_set(err, E_USAGE, "capture without a URL");
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		int rc = warc_check_value(values[i].what, values[i].value, values[i].uri, err);

		if (rc < 0)
			return rc;
	}
	return c->revisit == WARC_PROFILE_OTHER ? 0 : check_revisit(c, err);
}

/* ---- packing ---- */

static void pack_begin(struct warc_packed *ret, int64_t time, struct warc_ids ids)
{
	ret->at = ret->members.size;
	ret->time = time;
	make_id(ids, time, ret->id);
}

int warc_pack_capture(struct warc_packer *p, const struct warc_capture *c,
                      struct warc_ids ids, struct warc_packed *ret, struct err *err)
{
	buf_clear(&ret->members);
	return warc_pack_next(p, c, ids, ret, err);
}

int warc_pack_next(struct warc_packer *p, const struct warc_capture *c, struct warc_ids ids,
                   struct warc_packed *ret, struct err *err)
{
	bool revisit = c->revisit != WARC_PROFILE_OTHER;
	char request_id[WARC_ID_SIZE];
	struct parts r = {
		.type = revisit ? "revisit" : "response", .id = ret->id, .url = c->url,
		.ip = c->ip_address, .time = c->time, .truncated = c->truncated,
		.content_type = "application/http; msgtype=response",
		.payload = c->payload_digest, .with_payload = !revisit, .page = c->page,
		.hop_of = c->hop_of,
	};
	struct warc_digest none;
	int rc = check_capture(c, err);

	if (rc < 0)
		return rc;
	r.piece[0].data = c->head;
	r.piece[0].size = c->head_size;
	if (revisit) {
		r.profile = c->revisit == WARC_NOT_MODIFIED ? PROFILE "server-not-modified" :
		            PROFILE "identical-payload-digest";
		r.refers_to = c->refers_to_id;
		r.refers_to_url = c->refers_to_url;
		r.refers_to_time = c->refers_to_time;
		if (c->body_size && !r.truncated)
			r.truncated = "length";
	} else {
		r.piece[1].data = c->body;
		r.piece[1].size = c->body_size;
	}
	pack_begin(ret, c->time, ids);
	make_record(p, &r, &ret->members, &ret->payload);
	ret->first = ret->members.size - ret->at;
	if (c->request) {
		struct parts q = {
			.type = "request", .id = request_id, .url = c->url, .time = c->time,
			.ip = c->ip_address, .concurrent_to = ret->id,
			.content_type = "application/http; msgtype=request",
		};

		q.piece[0].data = c->request;
		q.piece[0].size = c->request_size;
		ids.n++;
		make_id(ids, c->time, request_id);
		make_record(p, &q, &ret->members, &none);
	}
	return 0;
}

int warc_pack_record(struct warc_packer *p, const struct warc_out *rec, struct warc_ids ids,
                     struct warc_packed *ret, struct err *err)
{
	struct parts r = {
		.type = rec->type, .id = ret->id, .url = rec->url, .time = rec->time,
		.content_type = rec->content_type, .concurrent_to = rec->concurrent_to,
		.filename = rec->filename,
	};
	int rc = warc_check_value("record type", rec->type, true, err);

	if (rc == 0)
		rc = warc_check_value("URL", rec->url, true, err);
	if (rc == 0)
		rc = warc_check_value("content type", rec->content_type, false, err);
	if (rc == 0)
		rc = warc_check_value("id referred to", rec->concurrent_to, true, err);
	if (rc < 0)
		return rc;
	r.piece[0].data = rec->block;
	r.piece[0].size = rec->block_size;
	buf_clear(&ret->members);
	pack_begin(ret, rec->time, ids);
	make_record(p, &r, &ret->members, &ret->payload);
	ret->first = ret->members.size - ret->at;
	return 0;
}
