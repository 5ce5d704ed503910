/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - where the tables of a repository's folder are.
 *
 * DIR/freshet.db; where there is none, the store that the file DIR/store names: one line, as
 * --store takes it.  `freshet init --store` writes it, never with a password.  Opening such a store makes
 * a connection, so the file is used only if it belongs to the user or to root.
 */
#ifndef REPO_PLACE_H
#define REPO_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define PLACE_SIZE 4096         /* of a path or URL, with its NUL */

/* Is there a repository in the folder? */
bool place_is_repository(const char *folder);
/* What store_open() takes. */
MUST_CHECK int place_find(const char *folder, char ret[PLACE_SIZE], struct err *err);
/* An error if the folder has tables of its own: they would be used, whatever it remembers. */
MUST_CHECK int place_may_remember(const char *folder, struct err *err);
/* Remember a store.  1: it has a password, which was left out. */
MUST_CHECK int place_remember(const char *folder, const char *where, struct err *err);
/* The text without a password; true: there was one. */
bool place_without_password(const char *where, struct buf *ret);

#endif
