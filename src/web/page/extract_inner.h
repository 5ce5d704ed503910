/* SPDX-License-Identifier: Apache-2.0 */
/* extract_inner.h - shared by the files of the extractor. */
#ifndef WEB_PAGE_EXTRACT_INNER_H
#define WEB_PAGE_EXTRACT_INNER_H

#include "web/page/extract.h"

enum { PENDING_NONE, PENDING_SPACE, PENDING_LINE };

/* Append text, white space runs as one space; *pending is the state between calls. */
void extract_add_text(struct buf *out, unsigned *pending, const char *p, size_t size);

/* The same straight from a page in the data state, where most text is: up to a
 * '<', '&' or NUL, or as far as is convenient; returns where it stopped. */
const char *extract_copy_text(struct buf *out, unsigned *pending, const char *p,
                              const char *end);

/* Links, images and the like of the current start tag. */
void extract_start_tag(struct extract *x);
/* The current tag in the skeleton of tags. */
void extract_add_tag(struct extract *x);

#endif
