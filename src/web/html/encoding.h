/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encoding.h - convert the bytes of a page to UTF-8.
 *
 * The encoding is the first of these: a byte order mark; the charset of HTTP's
 * Content-Type; <meta> in the first 1024 bytes; UTF-8 if the bytes are valid UTF-8;
 * uchardet's guess from the first 64 KiB; windows-1252.  Labels have the meaning of the
 * WHATWG standard (latin1 is windows-1252 and so on).
 *
 * Bytes that cannot be decoded become U+FFFD, one for each bad byte or cut sequence.
 * Plain ASCII and valid UTF-8 are not copied.
 */
#ifndef WEB_HTML_ENCODING_H
#define WEB_HTML_ENCODING_H

#include <stddef.h>

#include "base/buf.h"

#define ENCODING_PRESCAN 1024
#define ENCODING_DETECT_MAX 65536

enum encoding_source {
	ENCODING_FROM_BOM,
	ENCODING_FROM_HTTP,
	ENCODING_FROM_META,
	ENCODING_FROM_BYTES,            /* they are valid UTF-8, or ASCII */
	ENCODING_FROM_DETECTOR,
	ENCODING_ASSUMED,
};

struct encoding {                       /* zeroed: ready; reusable */
	const char *name;               /* of the last text, WHATWG spelling */
	enum encoding_source source;

	struct buf out;
	void *iconv;                    /* stays open while the name is the same */
	const char *iconv_name;
};

void encoding_release(struct encoding *e);
/* Load all that converting needs, to the end of the process: afterwards it opens no file. */
void encoding_prepare(void);

/* Decode data.  `http_charset`: from Content-Type, or NULL.  The result is valid UTF-8
 * without byte order mark, at most `max` bytes: a part of data, or memory of e that is
 * valid until the next call. */
void encoding_decode(struct encoding *e, const char *data, size_t size,
                     const char *http_charset, size_t charset_size, size_t max,
                     const char **ret_text, size_t *ret_size);

/* WHATWG name for a label, or NULL. */
const char *encoding_find(const char *label, size_t size);
/* The charset parameter in a Content-Type value, or NULL. */
const char *encoding_charset(const char *content_type, size_t size, size_t *ret_size);

#endif
