/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zip.h - ZIP files: what is in one, where it lies, and writing one; ZIP64, too.
 *
 * A reader is told the offset of each entry in the file, so that an entry that is stored
 * (not deflated) can be read in place.  Libraries hide it; that is why this is our own.
 *
 * A ZIP file is hostile input.  zip_open() refuses it as a whole if an entry's name leads
 * out of the folder it would be unpacked to, is there twice or is a link; if entries overlap
 * each other or the directory (the bombs that unpack one byte many times do); if the two
 * headers of an entry differ; if sizes cannot be true; if something is encrypted.  Nothing
 * is ever unpacked to a disk, and an entry's bytes are checked against its size and sum.
 */
#ifndef BASE_IO_ZIP_H
#define BASE_IO_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/io/input.h"

#define ZIP_ENTRIES_MAX 100000
#define ZIP_NAME_MAX 1000               /* bytes of a name */
#define ZIP_DIRECTORY_MAX ((uint64_t)64 << 20)  /* bytes of the directory at the end */
#define ZIP_RATIO_MAX 1032              /* deflate cannot do better */

struct zip_entry {
	const char *name;
	uint64_t offset;                /* of its data, in the file */
	uint64_t packed, size;          /* bytes there; and unpacked */
	uint32_t sum;                   /* CRC-32 */
	bool deflated;                  /* else stored */
};

struct zip;

bool zip_looks_so(const char *data, size_t size);       /* by the first bytes of a file */
MUST_CHECK int zip_open(struct zip **ret, const char *path, struct err *err);
void zip_close(struct zip *z);                          /* NULL is fine */
/* The files, without folders, in the order of their offsets. */
size_t zip_count(const struct zip *z);
const struct zip_entry *zip_entry(const struct zip *z, size_t i);
const struct zip_entry *zip_find(const struct zip *z, const char *name);        /* or NULL */

/* The bytes of an entry, unpacked, one after the other.  E_PARSE at the end if size or sum
 * is another than the ZIP file says. */
struct zip_stream;
struct zip_stream *zip_stream_new(const struct zip *z, const struct zip_entry *e);
void zip_stream_free(struct zip_stream *s);             /* NULL is fine */
MUST_CHECK long zip_stream_read(struct zip_stream *s, void *data, size_t size,
                                struct err *err);
/* The same as an input, which undoes gzip and zstd.  Offsets in a stored entry are those in
 * the ZIP file; its sum is not checked (zip_stream_read() does). */
MUST_CHECK int zip_input(const struct zip *z, const struct zip_entry *e, struct input **ret,
                         struct err *err);

/*
 * A writer.  Entries are stored.  The file is PATH.part until zip_writer_close().
 * After an error only zip_writer_abandon() may follow.
 */
struct zip_writer;

/* time: of all entries. */
MUST_CHECK int zip_writer_open(struct zip_writer **ret, const char *path, int64_t time,
                               struct err *err);
MUST_CHECK int zip_writer_begin(struct zip_writer *w, const char *name, struct err *err);
MUST_CHECK int zip_writer_add(struct zip_writer *w, const void *data, size_t size,
                              struct err *err);
MUST_CHECK int zip_writer_end(struct zip_writer *w, struct err *err);
MUST_CHECK int zip_writer_close(struct zip_writer *w, struct err *err);
void zip_writer_abandon(struct zip_writer *w);          /* NULL is fine */

#endif
