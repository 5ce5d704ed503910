/* SPDX-License-Identifier: Apache-2.0 */
/* pack.h - compressed bytes for tests, made by libraries other than ours. */
#ifndef TESTS_LIB_PACK_H
#define TESTS_LIB_PACK_H

#include "base/buf.h"

/* Append data as one gzip member (zlib), one zlib or raw deflate stream, one
 * zstd frame with checksum, or one brotli stream. */
void pack_gzip(struct buf *to, const void *data, size_t size);
void pack_zlib(struct buf *to, const void *data, size_t size);
void pack_deflate(struct buf *to, const void *data, size_t size);
void pack_zstd(struct buf *to, const void *data, size_t size);
void pack_brotli(struct buf *to, const void *data, size_t size);
/* Those that store, so that the data is visible in them. */
void pack_deflate_stored(struct buf *to, const void *data, size_t size);
void pack_gzip_stored(struct buf *to, const void *data, size_t size);

#endif
