/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_file.h - read a file that holds secrets: credentials, cookies.
 *
 * The file must be a regular one that belongs to the user (or to root) and that nobody else
 * may read or write.  What is checked is the open file, so it does not matter whether its
 * name is a link.  No message quotes a byte of it.
 */
#ifndef FETCH_ASKING_SECRET_FILE_H
#define FETCH_ASKING_SECRET_FILE_H

#include "base/buf.h"
#include "base/err.h"

#define SECRET_FILE_MAX (1 << 20)       /* bytes */

/* Append the file to *out.  E_IO: it cannot be read; E_USAGE: others may read it; E_LIMIT,
 * E_PARSE: it is too large, or no text. */
MUST_CHECK int secret_file_read(const char *path, struct buf *out, struct err *err);
/* Overwrite a buffer that held secrets, and release it. */
void secret_release(struct buf *b);

#endif
