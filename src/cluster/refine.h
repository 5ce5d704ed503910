/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refine.h - rows change to nearer clusters after the last division.
 *
 * A division is final in repeated bisection: a row that went left at the top never
 * meets a cluster on the right.  Refinement lets every row go to the nearest of
 * all k centroids, which are then made anew; the criterion never falls.  The tree
 * stays as a hierarchy of the clusters, but is no longer the record of runs with a
 * smaller k.
 */
#ifndef CLUSTER_REFINE_H
#define CLUSTER_REFINE_H

#include "cluster/bisect.h"

/* At most `passes` of them, fewer when no row moves; clusters are numbered anew
 * by size.  No cluster is emptied. */
void refine_run(struct clusters *c, const struct rows *rows, unsigned passes,
                unsigned threads);

/* For bisect.c: number the leaves by size, tell each row its cluster. */
void clusters_number(struct clusters *c);

#endif
