/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc.h - reads web archives: WARC 1.0 and 1.1, plain, gzip, zstd.
 *
 *     while ((rc = warc_next(&r, &err)) > 0) {
 *             if (r.record.type != WARC_RESPONSE)
 *                     continue;                       (its block is skipped)
 *             if (warc_load(&r, &content, &err) == 1)
 *                     use r.record, content.http, content.body
 *     }
 *
 * Archives are hostile input.  A record is as long as its header says and
 * nothing inside a block is ever taken for a record.  A damaged record is
 * reported with file and offset and reading goes on at the next: the next
 * member in a file compressed by record, else the next line that begins a record after an
 * empty line.  Only a record found in the second way can have been planted in the body of
 * another.  `resynced` marks every record directly after damage; warc_load() refuses it
 * unless it begins a member or its digest is right.
 */
#ifndef WARC_WARC_H
#define WARC_WARC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "warc/fields.h"
#include "warc/http.h"
#include "warc/warc_digest.h"

#define WARC_HEAD_MAX (256u << 10)              /* bytes of a record's header */
#define WARC_LENGTH_MAX (INT64_C(1) << 42)      /* bytes of a block */

/* Our own fields, since no standard field says it: the page that was requested, if
 * redirects led from it to the record's target; and, for a redirect on the way, the page
 * it belongs to. */
#define WARC_FIELD_PAGE   "Freshet-Page"
#define WARC_FIELD_HOP_OF "Freshet-Hop-Of"

enum warc_type {
	WARC_OTHER,             /* unknown: to be ignored */
	WARC_INFO, WARC_RESPONSE, WARC_RESOURCE, WARC_REQUEST, WARC_METADATA,
	WARC_REVISIT, WARC_CONVERSION, WARC_CONTINUATION
};

enum warc_profile {             /* of a revisit */
	WARC_PROFILE_OTHER, WARC_IDENTICAL_DIGEST, WARC_NOT_MODIFIED
};

struct warc_record {
	enum warc_type type;
	enum warc_profile profile;
	uint64_t offset;                /* in the file, of its member or itself */
	uint64_t file_size;             /* bytes from offset to the next record in the
	                                   file, members too; known after warc_load */
	int64_t length;                 /* of the block */
	int64_t time;                   /* WARC-Date */
	bool resynced;
	struct fields fields;           /* valid until the next warc_next() */
	/* NULL if absent; angle brackets around URIs are taken off. */
	const struct field *id, *target_uri, *content_type, *block_digest, *payload_digest,
	                   *refers_to, *refers_to_uri, *refers_to_date, *concurrent_to,
	                   *ip_address, *truncated, *filename;
};

enum warc_check {
	WARC_CHECK_NONE,        /* no digest given, or not for this block */
	WARC_CHECK_UNKNOWN,     /* a digest we cannot compute */
	WARC_CHECK_OK,
	WARC_CHECK_RAW,         /* of the body with its chunk framing, as wget does */
	WARC_CHECK_WRONG
};

/* What is inside a record; one is used for many.  warc_content_init() first. */
struct warc_content {
	size_t body_max;                /* bytes of body kept; the rest is only read */
	bool is_http;                   /* head and http are set */
	struct buf head;                /* the HTTP head as it stands in the file */
	struct buf head_text;           /* its copy that http points into */
	struct http_head http;
	struct buf body;                /* HTTP: the entity, transfer encoding removed
	                                   and content encoding kept; else the block */
	uint64_t body_size;             /* of all of it */
	bool body_cut;                  /* body holds less than that */
	enum warc_check block_check, payload_check;
	struct warc_digest digest;      /* SHA-1 of the body, always computed */
};

struct warc_reader {
	struct input *in;
	struct warc_record record;      /* the one warc_next() found */
	uint64_t n_records;             /* headers read */
	uint64_t n_damaged;             /* damaged records, and damage between records */
	/* Called for everything that could not be read: "FILE: record at N: reason".  May
	 * be NULL. */
	void (*report)(void *arg, const char *text);
	void *report_arg;
	/* private */
	uint64_t left;                  /* bytes of the block that are not read yet */
	uint64_t start;                 /* position of the record in the data */
	uint64_t probe_left;            /* bytes that may still be read twice */
	bool in_block, at_member, resynced;
	bool cut;                       /* a record went beyond the end of the file */
	struct buf head_text;
	struct warc_hasher block, payload, other, raw;
};

MUST_CHECK int warc_open(struct warc_reader *r, const char *path, struct err *err);
/* Takes over an input already open. */
void warc_open_input(struct warc_reader *r, struct input *in);
void warc_close(struct warc_reader *r);

/* The next record's header.  1: r->record is set, 0: the end, < 0: cannot be
 * read.  What was not loaded of the record before is skipped. */
MUST_CHECK int warc_next(struct warc_reader *r, struct err *err);

void warc_content_init(struct warc_content *c, size_t body_max);
void warc_content_release(struct warc_content *c);
/* Read the block of r->record and check its digests.  1: whole and right, 0:
 * damaged and reported, to be thrown away, < 0: cannot be read.  Damaged means:
 * cut, a wrong block digest, or a wrong payload digest and no right block digest. */
MUST_CHECK int warc_load(struct warc_reader *r, struct warc_content *c, struct err *err);

/* Between warc.c, warc_head.c and warc_load.c. */
bool warc_is_version(const char *p, size_t size);       /* "WARC/1.0" or its like */
/* Read the header at the next byte into r->record.  *ret_why: NULL, or why there is none.  0
 * or error. */
MUST_CHECK int warc_read_head(struct warc_reader *r, const char **ret_why, struct err *err);
void warc_report(struct warc_reader *r, uint64_t offset, const char *reason);
/* Up to the rest of the block, at least 1 byte: *ret_size at *ret_data.  1; 0 if
 * the block is over or (*ret_damaged) broken off; < 0 cannot be read. */
MUST_CHECK int warc_peek_block(struct warc_reader *r, size_t want, const char **ret_data,
                               size_t *ret_size, bool *ret_damaged, struct err *err);
void warc_skip_block(struct warc_reader *r, size_t size);
/* Behind the block: 1 if the record ends as it must, 0 if not, or error. */
MUST_CHECK int warc_end_record(struct warc_reader *r, struct err *err);

#endif
