/* SPDX-License-Identifier: Apache-2.0 */
/* squeeze.h - compress a text in memory: by zstd for storage, by gzip for others. */
#ifndef BASE_IO_SQUEEZE_H
#define BASE_IO_SQUEEZE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Append the compressed bytes to out. */
void squeeze(struct buf *out, const void *data, size_t size);
/* Append the decompressed bytes to out.  Bytes that were not compressed are appended as
 * they are.  E_PARSE: damaged; E_LIMIT: more than out may hold; out is then unchanged. */
MUST_CHECK int squeeze_undo(struct buf *out, const void *data, size_t size, struct err *err);
/* Append the bytes as one gzip member. */
void squeeze_gzip(struct buf *out, const void *data, size_t size);

#endif
