/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory.h - what a repository holds, in memory: its pages, and what else is asked for.
 *
 * For everybody who wants to look at pages, links, PageRank or features.  No policy takes
 * part, and no visit is read.  (Who wants to plan uses engine/recall/resume.h.)
 */
#ifndef ENGINE_VIEW_INVENTORY_H
#define ENGINE_VIEW_INVENTORY_H

#include "base/io/progress.h"
#include "engine/view/copies.h"
#include "engine/view/load.h"
#include "engine/view/prepare.h"

struct inventory_opts {
	unsigned needs;                 /* enum policy_needs, or-ed; 0: only the pages */
	enum goal goal;                 /* alive: links to pages without a copy count, too */
	enum weight_by weight;
	bool site_by_domain;
	uint32_t before_cycle;          /* as it was when this own cycle began; 0: as it is now */
	struct progress *progress;      /* shown meanwhile; NULL: nothing is */
};

/* Its parts point to each other: it must stay where it was opened. */
struct inventory {
	struct loaded loaded;
	struct prepared prepared;
	struct copies copies;           /* NEED_CLUSTERS */
	float *weight;                  /* by page, mean 1; NULL: all count alike */
};

/* The store must be one opened to read, or frozen (store_freeze()).  Also what failed is
 * to be released. */
MUST_CHECK int inventory_open(struct inventory *v, struct store *s,
                              const struct inventory_opts *opts, struct err *err);
void inventory_release(struct inventory *v);
/* Show it to a view that has its pages (pages_view()). */
void inventory_view(const struct inventory *v, struct view *ret);

/* In inventory_links.c: what prepare() makes of links and sizes.  ret_until: captures from
 * then on are not looked at. */
MUST_CHECK int inventory_links(struct inventory *v, struct store *s,
                               const struct inventory_opts *opts, unsigned needs,
                               int64_t *ret_until, struct err *err);

#endif
