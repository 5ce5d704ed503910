/* SPDX-License-Identifier: Apache-2.0 */
/* robots_copy.h - copies of robots.txt in the store, read. */
#ifndef ENGINE_BOOK_ROBOTS_COPY_H
#define ENGINE_BOOK_ROBOTS_COPY_H

#include "base/buf.h"
#include "repo/store.h"

/* The copy of an origin ("https://host:port"), its text plain in `text`; what ret->body has
 * is not.  1: found; 0: there is none, or none that makes sense (damaged, or written by a
 * clock that is ahead of ours). */
MUST_CHECK int robots_copy_get(struct store *s, struct text origin, int64_t now,
                               struct store_robots *ret, struct buf *text, struct err *err);

/* The same of a row that is there: 1 or 0. */
int robots_copy_read(const struct store_robots *row, int64_t now, struct buf *text);

#endif
