/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content.h - read the record of a capture back from its WARC file.
 *
 * One file is mapped at a time, so read many captures in the order of file and offset.  A
 * record with another URL or digest than the store says is refused.
 */
#ifndef ENGINE_ARCHIVE_CONTENT_H
#define ENGINE_ARCHIVE_CONTENT_H

#include "repo/store.h"
#include "warc/warc.h"

#define CONTENT_BLOCK_MAX ((size_t)1 << 30)     /* bytes of a block read back */

struct content {
	const char *folder;             /* of the repository */
	struct warc_reader warc;        /* warc.record is the record */
	struct warc_content body;       /* head, body, digest */
	/* private */
	struct buf path;                /* of the mapped file */
	char *map;
	size_t size;
	uint64_t at;                    /* of the record in it */
	bool open;
	bool whole;                     /* all that its reader read so far */
};

/* body_max: bytes of a body to read, at most. */
void content_init(struct content *c, const char *folder, size_t body_max);
void content_release(struct content *c);
/* 0, or E_IO or E_PARSE with the reason; E_USAGE: the capture has no file.  url: of the
 * capture's page. */
MUST_CHECK int content_load(struct content *c, const struct store_capture *capture,
                            struct text url, struct err *err);
/* Is what was loaded the record of this capture? */
bool content_is_of(const struct warc_reader *r, const struct warc_content *body,
                   const struct store_capture *capture, struct text url);
/* The block of the last loaded record, as in the file. */
MUST_CHECK int content_block(struct content *c, struct buf *out, struct err *err);

#endif
