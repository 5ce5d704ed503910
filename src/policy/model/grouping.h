/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouping.h - the pages of a repository in clusters, for policies.
 *
 * A policy makes the clusters from the features of the view and keeps them until it makes
 * them again.  A repository without features is one group.
 *
 * Replay runs with the same copies and the same seed (under several budgets or settings)
 * make the same groups in their first cycle.  If the view has a grouping_share, they are
 * made once.  Sets of changes between copies are not shared: making them changes state in
 * the feature maker, with which later ones are compared.
 */
#ifndef POLICY_MODEL_GROUPING_H
#define POLICY_MODEL_GROUPING_H

#include "cluster/bisect.h"
#include "policy/view.h"

struct grouping {               /* zeroed, it is empty */
	uint32_t n_groups, n_pages;
	uint32_t *of;           /* group by page; CLUSTER_NONE: page not in repository */
	uint32_t *first;        /* n_groups + 1: into pages */
	uint32_t *pages;        /* of each group, nearest to the centroid first */
	struct rows centroids;
	uint32_t **near;        /* by group, made when asked for */
	uint32_t *spent;        /* by group: for the caller, zero at first */
	uint32_t cycle;         /* in which it was made; 0: not made */
};

/* Up to k groups by this feature set, of the pages that are here now. */
void grouping_make(struct grouping *g, const struct view *v, enum feature_set set,
                   uint32_t k);
void grouping_release(struct grouping *g);
/* True: there are no groups, or more than 5 % of the open pages are in none. */
bool grouping_is_stale(const struct grouping *g, const struct view *v);
/* All groups by distance from one, itself first. */
const uint32_t *grouping_near(struct grouping *g, uint32_t group);

/* Thread-safe.  Takes 8 bytes a page and grouping, at most 256 MiB. */
struct grouping_share *grouping_share_new(void);
void grouping_share_free(struct grouping_share *s);

#endif
