/* SPDX-License-Identifier: Apache-2.0 */
/* change_lines.h - the first lines of text that differ between a copy and the one before. */
#ifndef ENGINE_CHANGES_CHANGE_LINES_H
#define ENGINE_CHANGES_CHANGE_LINES_H

#include "engine/changes/page_copy.h"

struct change_lines {
	struct store *store;
	struct content content;
	struct page_copy before, after;
};

/* folder: of the repository; it must stay. */
void change_lines_init(struct change_lines *c, struct store *s, const char *folder);
void change_lines_release(struct change_lines *c);
/* Append up to `max` lines, "+ text" or "- text", to out: what came first, then what went.
 * Nothing is appended if a copy is missing or cannot be read: that is no error. */
MUST_CHECK int change_lines_add(struct change_lines *c, const char *url, uint32_t page,
                                uint64_t capture, unsigned max, struct buf *out,
                                struct err *err);

#endif
