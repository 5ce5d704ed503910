/* SPDX-License-Identifier: Apache-2.0 */
/* squeeze.h - a piece of text made small for keeping, by zstd. */
#ifndef BASE_IO_SQUEEZE_H
#define BASE_IO_SQUEEZE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Append the bytes, squeezed, to out. */
void squeeze(struct buf *out, const void *data, size_t size);
/* Append what was squeezed to out.  Bytes that never were are appended as they are.
 * E_PARSE: damaged; E_LIMIT: more than out may hold.  With both, out is as before. */
MUST_CHECK int squeeze_undo(struct buf *out, const void *data, size_t size, struct err *err);

#endif
