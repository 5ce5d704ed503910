/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - one capture of one page, from any archive.
 *
 * WARC, CDX, CDXJ and the repository itself are all read into this; import and replay use
 * nothing else.  Slices point into the reader's memory and are valid until the next
 * record.
 */
#ifndef ENGINE_ARCHIVE_RECORD_H
#define ENGINE_ARCHIVE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "repo/store.h"

#define RECORD_LINKS_MAX 4096           /* of one capture; more are not read */

/* Counts of a page; -1: unknown. */
struct facts {
	int64_t text, words, images, tables, emails, outlinks;
};

struct record {
	struct text url;                /* canonical */
	struct text given;              /* as the archive has it; nothing: not told */
	struct text target;             /* URL that answered after redirects; links are
	                                   relative to it */
	int64_t time;
	int status;                     /* 200 ...; 0: unknown */
	bool revisit;                   /* has the content with this digest or, without
	                                   one, of the page's previous capture */
	struct text mime;
	int64_t length;                 /* bytes of the payload or the record; -1 */
	struct text digest;             /* of the payload: what `bytes` compares */
	struct text prose, tags;        /* digests of visible text and tag skeleton */
	bool has_simhash;
	uint64_t simhash;
	struct facts facts;
	struct text title;
	struct text terms;              /* "id:count id:count" */
	struct text links;              /* space-separated, host-relative or absolute */
	struct text robots;             /* its rules for robots: web/rules/robots_tag.h */
	struct text etag, modified;     /* validators, verbatim */
	struct text file;               /* WARC file */
	int64_t offset, record_size;    /* place in that file; -1: not known */
};

/* Conversions to and from rows of the store.  They do not set page and id of a capture,
 * or url of a record. */
void record_to_capture(const struct record *r, struct store_capture *ret);
void record_from_capture(const struct store_capture *c, struct record *ret);

#endif
