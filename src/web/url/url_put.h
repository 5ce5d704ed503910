/* SPDX-License-Identifier: Apache-2.0 */
/* url_put.h - writing the parts of a canonical URL; for url*.c, and robots.c, whose
 * patterns are written alike. */
#ifndef WEB_URL_URL_PUT_H
#define WEB_URL_URL_PUT_H

#include "web/url/url.h"

/* Of a hexadecimal digit, or -1. */
static inline int url_hex_value(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* RFC 3986 section 2.3: never percent-encoded. */
static inline bool url_is_unreserved(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
	       || c == '-' || c == '.' || c == '_' || c == '~';
}

/* Each writes to d, where the longest result has room, and returns its end; NULL if
 * refused.  `blanks`: they become %20 instead. */

/* Path and query of [s, end), behind a path that begins at root - 1 and ends in a
 * slash at d. */
char *url_put_path(char *root, char *d, const char *s, const char *end, bool blanks,
                   struct err *err);
/* Authority, path and query of [s, end), which begins behind the "//". */
char *url_put_hierarchy(char *d, const char *s, const char *end, bool https, bool blanks,
                        struct err *err);
/* An absolute URL whose scheme takes n bytes at s. */
char *url_put_absolute(char *d, const char *s, const char *end, size_t n, bool blanks,
                       struct err *err);

/* The size of "scheme:" at s, or 0. */
size_t url_scheme_size(const char *s, const char *end);
/* Append what was written, if it is not too long. */
MUST_CHECK int url_finish(const char *begin, const char *end, struct buf *out,
                          struct err *err);

#endif
