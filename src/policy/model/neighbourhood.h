/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbourhood.h - the pages near a page: by links (LB), by directories (DB),
 * by clusters (CB).  Distances and signs as Tan et al. 2007 define them, read
 * as our policies document says (docs/policies.md).
 *
 * D > 0: pages at distance 0..D (out-links; upper directories; next clusters),
 * D < 0: pages at distance D..0 (in-links; lower directories), D = 0: siblings;
 * the same directory; the same cluster.
 */
#ifndef POLICY_MODEL_NEIGHBOURHOOD_H
#define POLICY_MODEL_NEIGHBOURHOOD_H

#include "policy/model/grouping.h"
#include "policy/policy.h"

enum near_by { NEAR_LINK, NEAR_DIR, NEAR_CLUSTER };

/* Working memory, reused from sample to sample; zeroed, it is empty. */
struct neighbourhood {
	VEC(uint32_t) pages;            /* the result */
	VEC(uint32_t) queue;
	uint32_t *page_mark;           /* stamps: no clearing between samples */
	uint32_t *dir_spent;            /* cycle in which no page of the directory was open */
	/* by links, of this cycle: all pages up to `reach` - 1 hops from the page were
	 * found before; parent: its own links were followed as a sibling's parent */
	struct walked { uint32_t cycle; uint8_t reach, parent; } *walked;
	uint32_t n_pages, n_dirs, stamp;
	struct grouping groups;         /* NEAR_CLUSTER: made by the caller */
};

/* Fill n->pages with open pages within distance D of `page`, without itself, each at most
 * once; stop soon after `enough` of them.  By links, pages found earlier in the cycle may
 * be left out: the caller must take all pages found (or be out of budget), so that they
 * are no longer open. */
void neighbourhood_find(struct neighbourhood *n, const struct view *v, uint32_t page,
                        enum near_by by, int d, bool cousins, size_t enough);
void neighbourhood_release(struct neighbourhood *n);

#endif
