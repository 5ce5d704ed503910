/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots_tag.h - what a page itself asks of robots: <meta name=robots>, X-Robots-Tag and
 * rel=nofollow.
 *
 * Of all that is written there we know nofollow (its links are not to be followed),
 * noindex and none (both).  Other words are nothing.  A name we answer to is "robots" or
 * our own.
 *
 * What a capture keeps of it is one text: the words `nofollow` and `noindex`, if the page
 * says so, and then the links of the page that bear rel=nofollow wherever they stand on
 * it, as its links are written; separated by spaces.
 */
#ifndef WEB_RULES_ROBOTS_TAG_H
#define WEB_RULES_ROBOTS_TAG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define ROBOTS_TAG_NAME "freshet"       /* ours, as in robots.txt */

enum robots_tag { ROBOTS_TAG_NOFOLLOW = 1, ROBOTS_TAG_NOINDEX = 2 };

/* Is a <meta> of this name meant for us? */
bool robots_tag_is_ours(const char *name, size_t size);
/* The content of such a <meta>; or-ed. */
unsigned robots_tag_words(const char *text, size_t size);
/* The value of an X-Robots-Tag header: its parts may each be for a robot by name. */
unsigned robots_tag_header(const char *value, size_t size);

/* The words of what a capture keeps, written; and read, *ret_links then being where the
 * links begin (it may be NULL). */
void robots_tag_put(unsigned tags, struct buf *out);
unsigned robots_tag_kept(const char *text, size_t size, size_t *ret_links);

#endif
