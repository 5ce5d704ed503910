/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coding.h - undo the Content-Encoding of a body: gzip, deflate, br, zstd.
 *
 * The body is hostile: what comes out is capped by the caller's buffer and by
 * CODING_RATIO_MAX times what went in, whatever the stream says of itself.  One
 * layer only: two codings on top of each other serve no page, only bombs.
 */
#ifndef WEB_CODING_H
#define WEB_CODING_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Pages reach 10 to 50; below CODING_FREE bytes of output nobody is hurt. */
#define CODING_RATIO_MAX 250
#define CODING_FREE (1 << 20)

enum coding {
	CODING_NONE, CODING_GZIP, CODING_DEFLATE, CODING_BR, CODING_ZSTD,
	CODING_OTHER,           /* unknown, or more than one */
};

/* What the value of a Content-Encoding header says. */
enum coding coding_find(const char *value, size_t size);

/* Append the decoded body to out.  E_PARSE: damaged, incomplete, or CODING_OTHER;
 * E_LIMIT: a bomb.  In both cases out holds what came before. */
MUST_CHECK int coding_decode(enum coding coding, const void *data, size_t size,
                             struct buf *out, struct err *err);

#endif
