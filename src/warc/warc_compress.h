/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_compress.h - how archive files are compressed: gzip, or zstd with a dictionary.
 *
 * Each record is a gzip member or a zstd frame of its own.  A .warc.zst file begins with
 * its dictionary, in a skippable frame (the convention of the IIPC), so that it can be
 * read without anything beside it.  What reads archives never asks which kind a file is:
 * base/io/input.h finds out.
 */
#ifndef WARC_WARC_COMPRESS_H
#define WARC_WARC_COMPRESS_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum warc_compress { WARC_GZIP, WARC_ZSTD };

#define WARC_COMPRESS_CHOICES "gzip|zstd"
#define WARC_DICTIONARY_MAX ((size_t)112 << 10)         /* bytes of one that is trained */
#define WARC_SAMPLES_MIN 32             /* fewer records make no dictionary */

struct warc_dictionary;

/* How records are packed; zeroed: gzip.  The dictionary (NULL: none) must outlive all that
 * packs with it. */
struct warc_packing { enum warc_compress compress; const struct warc_dictionary *dictionary; };

/* ".warc.gz" or ".warc.zst". */
const char *warc_compress_end(enum warc_compress how);

/* Bytes as they lie in a file; E_PARSE if they are no zstd dictionary. */
MUST_CHECK int warc_dictionary_make(struct warc_dictionary **ret, const void *data,
                                    size_t size, struct err *err);
/* Learned from records, one behind the other in `data`, so long each.  1; 0: they are
 * too few or too different to learn from. */
MUST_CHECK int warc_dictionary_train(struct buf *ret, const void *data, const size_t *sizes,
                                     size_t n, struct err *err);
void warc_dictionary_free(struct warc_dictionary *d);   /* NULL is fine */
/* Append the skippable frame that a file begins with. */
void warc_dictionary_frame(const struct warc_dictionary *d, struct buf *out);

/* Frames by one dictionary (or none, NULL), which must outlive it. */
struct warc_framer;
struct warc_framer *warc_framer_new(const struct warc_dictionary *d);
void warc_framer_free(struct warc_framer *f);           /* NULL is fine */
/* Append the bytes as one frame, with its size and a checksum. */
void warc_framer_add(struct warc_framer *f, const void *data, size_t size, struct buf *out);

#endif
