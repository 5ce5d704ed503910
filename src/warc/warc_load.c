/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_load.c - what is inside a record, with its digests checked; see warc.h.
 *
 * One pass in the input's own buffer: each piece is hashed for the block digest,
 * freed of chunk framing, hashed for the payload digest, and kept as long as the
 * caller's maximum allows.  A record of any size costs that much memory.
 *
 * The payload digest is by the standard that of the entity without transfer
 * encoding; wget and others hash the framing too, so both are computed when the
 * body is chunked and either is right.
 */
#include "warc/warc.h"

#include <string.h>

static bool is_http_type(const struct warc_record *rec)
{
	switch (rec->type) {
	case WARC_RESPONSE: case WARC_REQUEST: case WARC_REVISIT:
		return !rec->content_type || field_says(rec->content_type, "application/http");
	default:
		return false;
	}
}

void warc_content_init(struct warc_content *c, size_t body_max)
{
	*c = (struct warc_content){ .body_max = body_max };
	buf_init(&c->head, HTTP_HEAD_MAX);
	buf_init(&c->head_text, HTTP_HEAD_MAX);
	buf_init(&c->body, body_max);
}

void warc_content_release(struct warc_content *c)
{
	buf_release(&c->head);
	buf_release(&c->head_text);
	buf_release(&c->body);
	http_release_head(&c->http);
}

/* The digest a field gives, and h begun to compute the same kind. */
static void begin_check(const struct field *f, struct warc_hasher *h,
                        struct warc_digest *want, enum warc_check *ret)
{
	want->hash = WARC_HASH_NONE;
	*ret = WARC_CHECK_NONE;
	if (f && !warc_digest_parse(f->value, f->value_size, want))
		*ret = WARC_CHECK_UNKNOWN;
	warc_hasher_begin(h, want->hash);
}

static enum warc_check compare(const struct warc_digest *want,
                               const struct warc_digest *got)
{
	if (got->hash != want->hash)
		return WARC_CHECK_UNKNOWN;
	return warc_digest_equal(want, got) ? WARC_CHECK_OK : WARC_CHECK_WRONG;
}

/* The HTTP head, if the block begins with one.  0 or error; *ret_damaged if the
 * block breaks off. */
static int read_http_head(struct warc_reader *r, struct warc_content *c,
                          bool *ret_damaged, struct err *err)
{
	size_t want = 4096, size, head;
	const char *data;

	for (;;) {
		int rc = warc_peek_block(r, want, &data, &size, ret_damaged, err);

		if (rc <= 0)
			return rc;
		head = fields_head_size(data, size < HTTP_HEAD_MAX ? size : HTTP_HEAD_MAX);
		if (head || size < want || size == r->left || want >= HTTP_HEAD_MAX)
			break;
		want *= 2;
	}
	if (head == 0 && size == r->left && size <= HTTP_HEAD_MAX)
		head = size;                    /* the block is a head without an empty line */
	if (head == 0)
		return 0;
	buf_add(&c->head_text, data, head);
	if (http_parse_head(&c->http, c->head_text.data, head, NULL) < 0)
		return 0;
	buf_add(&c->head, data, head);
	warc_hasher_add(&r->block, data, head);
	warc_skip_block(r, head);
	c->is_http = true;
	return 0;
}

static void keep(struct warc_reader *r, struct warc_content *c, const char *data,
                 size_t size)
{
	size_t room = c->body_max - c->body.size;

	warc_hasher_add(&r->payload, data, size);
	warc_hasher_add(&r->other, data, size);
	buf_add(&c->body, data, size < room ? size : room);
	c->body_size += size;
}

static void keep_chunked(struct warc_reader *r, struct warc_content *c,
                         struct http_chunked *chunked, const char *data, size_t size)
{
	warc_hasher_add(&r->raw, data, size);
	while (size && !chunked->done && !chunked->bad) {
		const char *piece;
		size_t n, used = http_dechunk(chunked, data, size, &piece, &n);

		keep(r, c, piece, n);
		data += used;
		size -= used;
	}
}

/* The rest of the block as body.  0 or error. */
static int read_body(struct warc_reader *r, struct warc_content *c, bool *ret_damaged,
                     bool *ret_bad_chunks, struct err *err)
{
	struct http_chunked chunked = { 0 };
	bool first = true, is_chunked = false;
	const char *data;
	size_t size;
	int rc;

	while ((rc = warc_peek_block(r, 1, &data, &size, ret_damaged, err)) > 0) {
		if (first)
			is_chunked = c->is_http && c->http.chunked &&
			             http_looks_chunked(data, size);
		first = false;
		warc_hasher_add(&r->block, data, size);
		if (is_chunked)
			keep_chunked(r, c, &chunked, data, size);
		else
			keep(r, c, data, size);
		warc_skip_block(r, size);
	}
	if (!is_chunked)
		warc_hasher_begin(&r->raw, WARC_HASH_NONE);
	*ret_bad_chunks = is_chunked && chunked.bad;
	return rc;
}

/* Digests of all that was read against those the header gives. */
static void check_payload(struct warc_reader *r, struct warc_content *c,
                          const struct warc_digest *want)
{
	struct warc_digest other, raw;

	warc_hasher_end(&r->payload, &c->digest);
	warc_hasher_end(&r->other, &other);
	warc_hasher_end(&r->raw, &raw);
	if (want->hash == WARC_HASH_NONE)
		return;
	c->payload_check = compare(want, want->hash == WARC_SHA1 ? &c->digest : &other);
	if (c->payload_check == WARC_CHECK_WRONG && warc_digest_equal(want, &raw))
		c->payload_check = WARC_CHECK_RAW;
}

/* Is the payload digest one of this block?  A revisit's is of the original's. */
static const struct field *payload_field(const struct warc_record *rec)
{
	if (rec->type == WARC_REVISIT || rec->type == WARC_CONTINUATION ||
	    fields_find(&rec->fields, "WARC-Segment-Number"))
		return NULL;
	return rec->payload_digest;
}

static int lost(struct warc_reader *r, const char *why)
{
	r->n_damaged++;
	warc_report(r, r->record.offset, why);
	return 0;
}

int warc_load(struct warc_reader *r, struct warc_content *c, struct err *err)
{
	struct warc_digest want_block, want_payload, got;
	bool damaged = false, bad_chunks = false;
	int rc = 0;

	buf_clear(&c->head);
	buf_clear(&c->head_text);
	buf_clear(&c->body);
	c->is_http = c->body_cut = false;
	c->body_size = 0;
	begin_check(r->record.block_digest, &r->block, &want_block, &c->block_check);
	begin_check(payload_field(&r->record), &r->other, &want_payload, &c->payload_check);
	warc_hasher_begin(&r->raw, want_payload.hash);
	if (want_payload.hash == WARC_SHA1)     /* r->payload computes SHA-1 anyway */
		warc_hasher_begin(&r->other, WARC_HASH_NONE);
	warc_hasher_begin(&r->payload, WARC_SHA1);
	if (is_http_type(&r->record))
		rc = read_http_head(r, c, &damaged, err);
	if (rc == 0 && !damaged)
		rc = read_body(r, c, &damaged, &bad_chunks, err);
	if (rc < 0)
		return rc;
	c->body_cut = c->body.size < c->body_size;
	warc_hasher_end(&r->block, &got);
	check_payload(r, c, &want_payload);
	rc = warc_end_record(r, err);
	if (rc <= 0)
		return rc;
	if (want_block.hash != WARC_HASH_NONE)
		c->block_check = compare(&want_block, &got);
	if (is_http_type(&r->record) && !c->is_http && c->payload_check == WARC_CHECK_WRONG)
		c->payload_check = WARC_CHECK_UNKNOWN;  /* the payload could not be separated */
	if (c->block_check == WARC_CHECK_WRONG)
		return lost(r, "block digest does not match");
	if (c->payload_check == WARC_CHECK_WRONG && c->block_check != WARC_CHECK_OK)
		return lost(r, "payload digest does not match");
	if (r->record.resynced && !r->at_member && c->block_check != WARC_CHECK_OK &&
	    c->payload_check != WARC_CHECK_OK && c->payload_check != WARC_CHECK_RAW)
		return lost(r, "found behind damage and no digest vouches for it");
	if (c->payload_check == WARC_CHECK_WRONG)
		warc_report(r, r->record.offset, "payload digest does not match; kept, the "
		            "block digest does");
	else if (bad_chunks)
		warc_report(r, r->record.offset, "chunked framing is broken; kept up to there");
	return 1;
}
