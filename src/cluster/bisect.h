/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bisect.h - repeated bisection: k clusters, and the tree that led to them.
 *
 * Maximises I2, the sum over all rows of the cosine to their cluster's centroid,
 * which for unit rows is the sum of the lengths of the clusters' sums.  The
 * first cluster is all rows; while there are fewer than k, one is chosen and
 * divided in two (split.h).  Clusters of one row, or of rows all alike, are never
 * divided, so fewer than k may come out; there is at least one unless there are
 * no rows.
 *
 * The result depends on rows, members, options and seed only, not on threads.
 * The first j - 1 divisions are what a run with k = j would have made, so one run
 * gives the clusterings of every smaller k (clusters_at()), unless `refine` moved
 * rows at the end.
 */
#ifndef CLUSTER_BISECT_H
#define CLUSTER_BISECT_H

#include "cluster/rows.h"

#define CLUSTER_NONE UINT32_MAX

enum bisect_choose {
	BISECT_BEST,            /* divide the cluster whose division gains most */
	BISECT_LARGEST,         /* the one with most rows: cheaper, by a quarter */
};

struct bisect_options {         /* zero: the default in brackets */
	uint32_t k;             /* [100] */
	enum bisect_choose choose;
	unsigned trials;        /* pairs of seeds for each division [10] */
	unsigned sample;        /* rows on which pairs are tried [256] */
	unsigned passes;        /* of refinement of a division [10] */
	unsigned refine;        /* of all k together at the end (refine.h) [0] */
	unsigned threads;       /* [as many as OpenMP gives] */
	uint64_t seed;
};

struct cluster_node {
	uint32_t begin, size;   /* its rows are order[begin .. begin + size) */
	uint32_t parent;        /* node; CLUSTER_NONE for the root, node 0 */
	uint32_t child[2];      /* nodes; CLUSTER_NONE for a leaf */
	uint32_t cluster;       /* of a leaf; CLUSTER_NONE for an inner node */
	double norm;            /* length of the sum of its rows */
};

struct clusters {               /* zeroed, it is empty */
	uint32_t n_rows, k;
	uint32_t *of;           /* by row: its cluster; CLUSTER_NONE: no member */
	uint32_t n_members;
	uint32_t *order;        /* member rows, those of a node side by side */
	struct cluster_node *nodes;
	uint32_t n_nodes;       /* 2k - 1; division i made nodes 2i - 1 and 2i */
	uint32_t *leaf;         /* by cluster: its node */
	uint32_t *size;         /* by cluster, falling: cluster 0 is the largest */
	struct rows centroids;  /* k unit rows of the same kind; empty: zero */
	double criterion;       /* I2; divided by n_members it is a mean cosine */
};

/* Cluster the rows in members[0..n), or all of them if members is NULL. */
void bisect_run(const struct rows *rows, const uint32_t *members, uint32_t n,
                const struct bisect_options *options, struct clusters *ret);
void clusters_release(struct clusters *c);

/* The rows of cluster i. */
const uint32_t *clusters_members(const struct clusters *c, uint32_t i, uint32_t *ret_n);
/* The nodes that were the clusters when there were k of them (k <= c->k). */
void clusters_at(const struct clusters *c, uint32_t k, uint32_t *ret_nodes);
/* I2 when there were k of them. */
double clusters_criterion_at(const struct clusters *c, uint32_t k);
/* Unit centroids of the nodes given; their norms are set on the way. */
void clusters_centroids(struct clusters *c, const struct rows *rows, const uint32_t *nodes,
                        uint32_t n_nodes, struct rows *ret);

#endif
