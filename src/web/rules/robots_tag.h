/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots_tag.h - rules for robots in the page itself: <meta name=robots>, X-Robots-Tag
 * and rel=nofollow.
 *
 * We obey nofollow (do not follow its links), noindex, and none (both), for the name
 * "robots" and our own name.  Other words are ignored.
 *
 * A capture stores one text, separated by spaces: the words `nofollow` and `noindex`, if
 * the page has them, then those links of the page that always have rel=nofollow, written
 * as in its list of links.
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
/* The value of an X-Robots-Tag header; each part may name a robot. */
unsigned robots_tag_header(const char *value, size_t size);

/* Write the words of the stored text; read them again, with *ret_links (may be NULL) set
 * to the first link. */
void robots_tag_put(unsigned tags, struct buf *out);
unsigned robots_tag_kept(const char *text, size_t size, size_t *ret_links);

#endif
