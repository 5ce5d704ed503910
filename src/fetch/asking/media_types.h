/* SPDX-License-Identifier: Apache-2.0 */
/*
 * media_types.h - a list of media types, as in an Accept header: "text/html, text/plain".
 * A star stands for any type: for the part behind the slash, or for both parts.
 */
#ifndef FETCH_ASKING_MEDIA_TYPES_H
#define FETCH_ASKING_MEDIA_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define MEDIA_TYPES_MAX 1000    /* bytes of a list */

/* E_USAGE: it is no such list. */
MUST_CHECK int media_types_check(const char *list, struct err *err);
/* Is the type, the value of a Content-Type header, on the list?  One that is empty is. */
bool media_types_has(const char *list, const char *type, size_t size);

#endif
