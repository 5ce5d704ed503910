/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_file.h - private to the writer: the file of records.  warc_pack.c packs records,
 * warc_write.c decides their position, warc_file.c writes them.
 */
#ifndef WARC_WARC_FILE_H
#define WARC_WARC_FILE_H

#include "base/buf.h"
#include "warc/warc_write.h"

#define WARC_NAME_SIZE 256
#define WARC_OPEN_SIZE (WARC_NAME_SIZE + sizeof WARC_OPEN_END)

struct warc_writer {
	struct warc_writer_options options;     /* strings are copies */
	int folder_fd, fd;                      /* fd -1: no file open */
	char name[WARC_NAME_SIZE];              /* final name of the open file */
	bool synced;                            /* a part of the file is on the disk */
	bool broken;                            /* a write failed */
	unsigned serial;
	uint64_t n_ids;
	uint64_t file_size;                     /* bytes of whole records: written, or in out */
	uint64_t written;                       /* of these, bytes given to write() */
	struct buf out;                         /* not yet written */
	struct warc_packer *packer;             /* packs what callers did not pack */
	struct warc_packed packed;
};

MUST_CHECK int warc_file_init(struct warc_writer *w, struct err *err);
/* Is there a file with room for `size` more bytes?  If not, complete it. */
MUST_CHECK int warc_file_make_room(struct warc_writer *w, uint64_t size, struct err *err);
/* Create a file for records from this time on; the caller adds warcinfo. */
MUST_CHECK int warc_file_create(struct warc_writer *w, int64_t time, struct err *err);
MUST_CHECK int warc_file_append(struct warc_writer *w, const void *data, size_t size,
                                struct err *err);
void warc_file_release(struct warc_writer *w);

#endif
