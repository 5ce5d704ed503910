/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - how many sites and directories the pages of a repository have, without all of
 * its pages in memory.
 *
 * Pages never go and URLs never change, so what was counted stays counted.  The hashes of
 * sites and directories are kept beside the store (cachefile.h), with the number of pages
 * that they are of, and only pages that came since are read.  They are those of pages.c,
 * so the numbers are those of a view, where sites are hosts.
 */
#ifndef ENGINE_VIEW_TALLY_H
#define ENGINE_VIEW_TALLY_H

#include "base/io/progress.h"
#include "repo/store.h"

#define TALLY_END "-tree"       /* name of the file: that of the store, and this */

struct tally { uint32_t pages, sites, dirs; };

/* progress is shown if many pages must be read; it may be NULL. */
MUST_CHECK int tally_count(struct tally *ret, struct store *s, struct progress *progress,
                           struct err *err);
/* Bytes of the view (load.h) that planning needs, URL text excluded. */
size_t tally_view_bytes(const struct tally *t);

#endif
