/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouping.h - the pages of a repository in clusters, for policies.
 *
 * Made from the features of the view when a policy asks for it, kept until it
 * asks again.  A repository whose features are not known is one group.
 *
 * Runs that begin with the same copies and draw alike (one seed under several budgets
 * or settings) make the same groups in their first cycle.  A share, if the view has
 * one, makes them once.  Not by sets of what changed from copy to copy: making those
 * leaves a trace in the features, which later ones are compared with.
 */
#ifndef POLICY_MODEL_GROUPING_H
#define POLICY_MODEL_GROUPING_H

#include "cluster/bisect.h"
#include "policy/view.h"

struct grouping {               /* zeroed, it is empty */
	uint32_t n_groups, n_pages;
	uint32_t *of;           /* by page; CLUSTER_NONE: not in the repository then */
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
/* Is there none, or are more than 5 % of the open pages in no group? */
bool grouping_is_stale(const struct grouping *g, const struct view *v);
/* All groups by distance from one, itself first. */
const uint32_t *grouping_near(struct grouping *g, uint32_t group);

/* For several threads; 8 bytes a page and grouping kept, 256 MiB in all. */
struct grouping_share *grouping_share_new(void);
void grouping_share_free(struct grouping_share *s);

#endif
