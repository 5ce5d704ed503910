/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_header.h - a header of the user's own: is it one that may be sent?
 *
 * "Name: value".  Refused are: names that are no token, control bytes in the value (they
 * could end the line), headers that the fetcher itself writes (Host, Range, If-None-Match
 * and their like, which decide how an answer is read), and, unless `secret`, names of
 * headers that carry secrets: these go into the file of --credentials, for one host.  No
 * message has the value.
 */
#ifndef FETCH_ASKING_OWN_HEADER_H
#define FETCH_ASKING_OWN_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define OWN_HEADER_MAX 4096     /* bytes of a header */
#define OWN_HEADERS_MAX 32      /* of one request */

/* E_USAGE says why not.  secret: it is from a file of credentials. */
MUST_CHECK int own_header_check(const char *line, size_t size, bool secret, struct err *err);
/* The lines of a setting: parted by newlines, each checked. */
MUST_CHECK int own_header_check_text(const char *text, struct err *err);
/* Where the value begins. */
size_t own_header_value(const char *line, size_t size);

#endif
