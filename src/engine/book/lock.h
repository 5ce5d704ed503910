/* SPDX-License-Identifier: Apache-2.0 */
/* lock.h - one program at a time crawls or tells: it holds the lock of the store. */
#ifndef ENGINE_BOOK_LOCK_H
#define ENGINE_BOOK_LOCK_H

#include "repo/store.h"

/* As store_lock(), but wait up to half a minute for programs that hold it for a moment; not
 * for one that crawls. */
MUST_CHECK int lock_wait(struct store *s, struct err *err);

#endif
