/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_write.h - writes WARC/1.1 files, one gzip member or zstd frame per record.
 *
 * A file is PREFIX-TIME-SERIAL-HOST.warc.gz (or .warc.zst, behind its dictionary) in one
 * folder and begins with a warcinfo record.  While it grows its name ends in ".open"; it is renamed when
 * complete: when the next record would exceed its maximum size, or when the writer is
 * closed. After a crash the file with the open name can be read up to the last record
 * that reached the disk; a batch is safe when warc_writer_sync() has returned.  After
 * E_IO nothing more can be written, records since the last sync may be lost, and closing
 * keeps complete records.
 *
 * No clock and no random numbers: times come with the records, record ids from a seed.
 * Values that hold control bytes are refused, never cleaned.
 */
#ifndef WARC_WARC_WRITE_H
#define WARC_WARC_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "warc/warc_pack.h"

#define WARC_OPEN_END ".open"   /* of the name of a file that grows */
#define WARC_FILE_MAX UINT64_C(1000000000)

struct warc_writer_options {
	const char *folder, *prefix, *host;     /* letters, digits, "._-" in both names */
	const char *software;                   /* of warcinfo; NULL: left out */
	const char *operator, *robots, *user_agent, *description;
	uint64_t file_max;                      /* 0: WARC_FILE_MAX */
	uint64_t seed;                          /* another for every run */
	struct warc_packing packing;            /* of what callers did not pack, and of names */
};

/* Position of a record, for an index. */
struct warc_position {
	char filename[256];                     /* final name, without folder */
	uint64_t offset, length;                /* of its member */
	uint64_t end;                           /* of all that was written with it */
	char id[WARC_ID_SIZE];
	struct warc_digest payload;
};

struct warc_writer;

MUST_CHECK int warc_writer_open(struct warc_writer **ret,
                                const struct warc_writer_options *options,
                                struct err *err);
/* Numbers for the ids of so many captures, to pack them with. */
struct warc_ids warc_writer_ids(struct warc_writer *w, size_t n_captures);
/* Write what was packed, by any packer. */
MUST_CHECK int warc_write_packed(struct warc_writer *w, const struct warc_packed *packed,
                                 struct warc_position *ret, struct err *err);
/* Pack and write a response, or a revisit, and behind it the request if given. */
MUST_CHECK int warc_write_capture(struct warc_writer *w, const struct warc_capture *c,
                                  struct warc_position *ret, struct err *err);
MUST_CHECK int warc_write_record(struct warc_writer *w, const struct warc_out *rec,
                                 struct warc_position *ret, struct err *err);
/* The warcinfo that a file of this name begins with; of the options only what describes
 * the archive. */
MUST_CHECK int warc_pack_info(struct warc_packer *p, const struct warc_writer_options *o,
                              const char *name, int64_t time, struct warc_ids ids,
                              struct warc_packed *ret, struct err *err);
/* Everything written so far is on the disk. */
MUST_CHECK int warc_writer_sync(struct warc_writer *w, struct err *err);
/* Complete the open file, if there is one, and free; NULL is fine. */
MUST_CHECK int warc_writer_close(struct warc_writer *w, struct err *err);
/* Free without completing: the file stays under its open name, or goes if nothing of it
 * was ever synced. */
void warc_writer_abandon(struct warc_writer *w);

#endif
