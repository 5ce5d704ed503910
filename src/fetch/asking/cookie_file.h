/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cookie_file.h - cookies from a file in Netscape's format, as curl, wget and extensions of
 * browsers write it, and which of them go to a URL.
 *
 *   domain TAB subdomains TAB path TAB secure TAB expires TAB name TAB value
 *
 * subdomains and secure are TRUE or FALSE; expires is in Unix seconds, 0: never.  A line
 * that begins with #HttpOnly_ is a cookie, any other with # a comment.
 *
 * A cookie goes to its domain (and, if it says so, to subdomains), below its path, before
 * it expires, and over https only if it is secure (RFC 6265 section 5.4).  One for all of a
 * public suffix such as co.uk goes to that very host only.  Cookies of servers are never
 * taken: the file is all there is.
 */
#ifndef FETCH_ASKING_COOKIE_FILE_H
#define FETCH_ASKING_COOKIE_FILE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"

#define COOKIE_LINE_MAX 8192    /* bytes of a line of the file */
#define COOKIE_SENT_MAX 8192    /* bytes of what goes to a URL; more are left out */

struct cookie {
	char *path, *name, *value;
	bool subdomains, secure;
	int64_t expires;                /* 0: never */
	uint32_t next;                  /* of the same domain, or UINT32_MAX */
};

struct cookie_list {                    /* zeroed, it is empty */
	struct strtab domains;
	VEC(uint32_t) first, last;      /* by domain: cookies */
	VEC(struct cookie) v;
};

/* E_PARSE names the line. */
MUST_CHECK int cookie_list_parse(struct cookie_list *l, const char *text, size_t size,
                                 const char *path, struct err *err);
/* Append "name=value; name=value" to `out`, longer paths first, and each value, with a NUL
 * behind it, to `hidden`.  False: none goes to this canonical URL. */
bool cookie_list_for(const struct cookie_list *l, const char *url, size_t size, int64_t now,
                     struct buf *out, struct buf *hidden);
void cookie_list_release(struct cookie_list *l);

#endif
