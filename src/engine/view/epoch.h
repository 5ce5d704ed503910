/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoch.h - what policies learn by stays the same for a while.
 *
 * A policy that recalls its history must see what it saw then, or it would plan otherwise
 * than if it had never stopped.  So links, PageRank, sizes, and which directories have but
 * one page, are those of the pages that were there when an epoch began: the settled pages.
 * Pages that come later are planned at once, and have no links and no size until the next
 * epoch.  Thus what was learnt is good until then, whatever is added.
 *
 * Epochs begin with the cycles 1, 2, 4, 8 and 16, while a repository grows, then with every
 * EPOCH_CYCLES: 27, 53, ...  Links of a page that is known are read again only with these.
 */
#ifndef ENGINE_VIEW_EPOCH_H
#define ENGINE_VIEW_EPOCH_H

#include "base/numbers.h"
#include "repo/store.h"

#define EPOCH_CYCLES 26

struct epoch {
	int64_t renewed;                /* captures from here on do not replace known links */
	int64_t until;                  /* captures from here on give no links at all */
	int64_t now;                    /* when the next cycle began; INT64_MAX: not yet */
	uint32_t n_pages;               /* settled ones; UINT32_MAX: all there are */
};

/* No epoch: all pages and their newest links, for callers that do not plan. */
#define EPOCH_ALL ((struct epoch){ INT64_MAX, INT64_MAX, INT64_MAX, UINT32_MAX })

/* The cycle with which the epoch of this one began. */
uint32_t epoch_first(uint32_t cycle);
/* The epoch of the next own cycle, or of this one. */
MUST_CHECK int epoch_find(struct epoch *ret, struct store *s, uint32_t cycle,
                          struct err *err);

#endif
