/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_pack.h - compress captures into gzip members or zstd frames, independently of the file.
 *
 * Digests and compression are nearly the whole cost of writing an archive, and they
 * depend only on the capture.  So several threads may pack, each with its own packer, and
 * one writer (warc_write.h) writes the results in its order.  Record ids come from
 * numbers that the writer gives out before, so they do not depend on the thread.
 */
#ifndef WARC_WARC_PACK_H
#define WARC_WARC_PACK_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "warc/warc.h"
#include "warc/warc_compress.h"
#include "warc/warc_digest.h"

#define WARC_ID_SIZE 48                 /* "<urn:uuid:...>" and NUL */

/*
 * One fetch.  head is the HTTP head with its empty line, body what followed on
 * the wire; if that is chunked, payload_digest must be given, else it may be to
 * save the time.  A revisit writes the head only.
 */
struct warc_capture {
	int64_t time;
	const char *url;
	const char *ip_address;                 /* or NULL */
	const char *request;                    /* head and body sent, or NULL */
	size_t request_size;
	const char *head, *body;
	size_t head_size, body_size;
	const char *truncated;                  /* "length", "time", ... or NULL */
	/* Redirects: the page that was asked for, if this URL is where it led to; or
	 * the page whose redirect this answer is. */
	const char *page, *hop_of;              /* or NULL */
	const struct warc_digest *payload_digest;       /* or NULL */
	/* For a revisit: of what; profile WARC_PROFILE_OTHER: it is a response. */
	enum warc_profile revisit;
	const char *refers_to_id;               /* or NULL */
	const char *refers_to_url;
	int64_t refers_to_time;
};

/* A record of any other kind. */
struct warc_out {
	const char *type;                       /* "metadata", "resource", ... */
	int64_t time;
	const char *url, *content_type, *concurrent_to;         /* or NULL */
	const char *filename;                   /* of a warcinfo; or NULL */
	const char *block;
	size_t block_size;
};

/* What ids are drawn from; a capture takes two. */
struct warc_ids { uint64_t seed, n; };

struct warc_packed {                            /* after warc_packed_init() */
	struct buf members;                     /* of records, behind each its request's */
	size_t at, first;                       /* offset and size of the last record's member */
	int64_t time;
	char id[WARC_ID_SIZE];
	struct warc_digest payload;
};

struct warc_packer;

struct warc_packer *warc_packer_new(struct warc_packing how);
void warc_packer_free(struct warc_packer *p);   /* NULL is fine */
void warc_packed_init(struct warc_packed *p);
void warc_packed_release(struct warc_packed *p);

/* Replace what *ret holds.  E_USAGE for what may not be written: control bytes, a
 * revisit that names no original or no digest, server-not-modified when the
 * server did not say 304. */
MUST_CHECK int warc_pack_capture(struct warc_packer *p, const struct warc_capture *c,
                                 struct warc_ids ids, struct warc_packed *ret,
                                 struct err *err);
/* Append a capture to those already packed: first redirects, then their target. */
MUST_CHECK int warc_pack_next(struct warc_packer *p, const struct warc_capture *c,
                              struct warc_ids ids, struct warc_packed *ret, struct err *err);
MUST_CHECK int warc_pack_record(struct warc_packer *p, const struct warc_out *rec,
                                struct warc_ids ids, struct warc_packed *ret,
                                struct err *err);

/* E_USAGE unless absent, or without control bytes (nor blanks, in a URI). */
MUST_CHECK int warc_check_value(const char *what, const char *s, bool uri, struct err *err);

#endif
