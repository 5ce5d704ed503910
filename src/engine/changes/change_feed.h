/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_feed.h - the changes of a repository in order, from a cursor that never misses.
 *
 * A cursor is a cycle and the order of a visit in it.  Both only rise: cycles come one after
 * the other, visits of a cycle are kept in the order told, and a cycle that is over gets no
 * more.  So what is kept later stands behind every cursor that was handed out before.
 */
#ifndef ENGINE_CHANGES_CHANGE_FEED_H
#define ENGINE_CHANGES_CHANGE_FEED_H

#include "repo/store.h"

#define CHANGE_CURSOR_SIZE 40

struct change_cursor { uint32_t cycle, order; };        /* those up to here were seen */

void change_cursor_write(const struct change_cursor *c, char out[CHANGE_CURSOR_SIZE]);
/* NULL is the beginning.  E_USAGE: it is none; E_GONE: it is ahead of this repository, as after
 * a restore. */
MUST_CHECK int change_cursor_read(struct change_cursor *ret, struct store *s, const char *text,
                                  struct err *err);
/* Can it be one of this store's?  E_GONE: it is ahead. */
MUST_CHECK int change_cursor_check(const struct change_cursor *c, struct store *s, struct err *err);
/* Behind everything that there is. */
MUST_CHECK int change_cursor_end(struct change_cursor *ret, struct store *s, struct err *err);
/* So that the newest `n` changes, at most CHANGE_LAST_MAX, stand behind it. */
#define CHANGE_LAST_MAX 1000
MUST_CHECK int change_cursor_last(struct change_cursor *ret, struct store *s, uint32_t n,
                                  struct err *err);

/* Visits behind the cursor that found a page new, changed or gone, in order, until each()
 * returns non-zero, which is returned if it is an error.  The cursor is set behind the last
 * that each() has seen and taken (0). */
MUST_CHECK int change_feed(struct store *s, struct change_cursor *c, store_visit_each *each,
                           void *arg, struct err *err);

#endif
