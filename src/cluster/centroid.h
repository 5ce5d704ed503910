/* SPDX-License-Identifier: Apache-2.0 */
/*
 * centroid.h - distances: of rows to centroids, and of centroids to each other.
 *
 * Nearness is the cosine; equal ones are ordered by number, so that every list
 * is the same on every run.
 */
#ifndef CLUSTER_CENTROID_H
#define CLUSTER_CENTROID_H

#include "cluster/bisect.h"

/* ret[i * centroids->n + c] = cosine of row id[i] and centroid c. */
void centroid_cosines(const struct rows *rows, const uint32_t *id, uint32_t n,
                      const struct rows *centroids, float *ret);
/* The nearest centroid of each row; CLUSTER_NONE without centroids. */
void centroid_assign(const struct rows *rows, const uint32_t *id, uint32_t n,
                     const struct rows *centroids, uint32_t *ret_cluster,
                     float *ret_cosine);

/* All clusters by centroid distance from cluster c: itself first (rank 0), then
 * the nearest (rank 1), ...; k numbers. */
void centroid_order(const struct rows *centroids, uint32_t c, uint32_t *ret_order);

/* The rows of cluster c, nearest to the centroid first; size[c] numbers. */
void centroid_members(const struct clusters *c, const struct rows *rows, uint32_t cluster,
                      uint32_t *ret_rows);

/*
 * Rank features: the n_labels largest clusters are labels; feature f of a row is 0
 * if it is in cluster f, else the rank of its cluster among all clusters by
 * centroid distance from cluster f, divided by k - 1.  Where there are fewer
 * clusters than labels the rest are 0; rows outside the clustering get 0.
 * ret: n_rows * n_labels.
 */
void centroid_rank_features(const struct clusters *c, uint32_t n_labels, float *ret);

#endif
