/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory.h - a repository in memory: its pages and, on request, links, PageRank,
 * features.
 *
 * For callers that only look at pages.  It uses no policy and reads no visits.  (To plan,
 * use engine/recall/resume.h.)
 */
#ifndef ENGINE_VIEW_INVENTORY_H
#define ENGINE_VIEW_INVENTORY_H

#include "base/io/progress.h"
#include "engine/view/copies.h"
#include "engine/view/epoch.h"
#include "engine/view/load.h"
#include "engine/view/prepare.h"

struct inventory_opts {
	unsigned needs;                 /* enum policy_needs, or-ed; 0: only the pages */
	enum goal goal;                 /* GOAL_ALIVE: links to pages without a copy count, too */
	enum weight_by weight;
	bool site_by_domain;
	bool as_planned;                /* links of the epoch (epoch.h), as policies see them; else
	                                 * those of the newest copies */
	uint32_t before_cycle;          /* the state when this own cycle began; 0: the present one */
	bool cache;                     /* what took long is kept beside the store (kept_links.h) */
	struct progress *progress;      /* to show; may be NULL */
};

/* Its parts point to each other: do not copy or move it. */
struct inventory {
	struct loaded loaded;
	struct prepared prepared;
	struct copies copies;           /* NEED_CLUSTERS */
	float *weight;                  /* by page, mean 1; NULL: all count alike */
};

/* The store must be open for reading, or frozen (store_freeze()).  Release it also after
 * an error. */
MUST_CHECK int inventory_open(struct inventory *v, struct store *s,
                              const struct inventory_opts *opts, struct err *err);
void inventory_release(struct inventory *v);
/* Point a view, already set up by pages_view(), at it. */
void inventory_view(const struct inventory *v, struct view *ret);

/* In inventory_links.c: prepare links and sizes. */
MUST_CHECK int inventory_links(struct inventory *v, struct store *s,
                               const struct inventory_opts *opts, unsigned needs,
                               const struct epoch *epoch, struct err *err);

#endif
