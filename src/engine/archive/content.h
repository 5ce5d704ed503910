/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content.h - the record of a capture, read back from the file it lies in.
 *
 * Files are mapped one at a time; whoever reads many captures does it in the
 * order of file and offset.  A record that is not what the store says lies there
 * (another URL, another digest) is refused.
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
	/* inside */
	struct buf path;                /* of the file that is mapped */
	char *map;
	size_t size;
	uint64_t at;                    /* of the record in it */
	bool open;
};

/* body_max: bytes of bodies that are wanted. */
void content_init(struct content *c, const char *folder, size_t body_max);
void content_release(struct content *c);
/* 0, or E_IO, E_PARSE with what is wrong; E_USAGE if the capture has no place.  url:
 * of the capture's page. */
MUST_CHECK int content_load(struct content *c, const struct store_capture *capture,
                            struct text url, struct err *err);
/* The block of the record last loaded as it stands in the file. */
MUST_CHECK int content_block(struct content *c, struct buf *out, struct err *err);

#endif
