/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - the inner loops of clustering, over many rows at a call.
 *
 * Sums run in ROWS_LANES lanes whatever the processor has, without fused
 * multiply-add, so the result is the same to the last bit on every machine and
 * with any number of threads.
 */
#ifndef CLUSTER_KERNEL_H
#define CLUSTER_KERNEL_H

#include "cluster/rows.h"

/* Centroids taken side by side by kernel_dots_tile(). */
#define KERNEL_TILE 32

/* out[i] = row id[i] . v; v has dim floats, dense rows: stride floats. */
void kernel_dots(const struct rows *r, const uint32_t *id, uint32_t n, const float *v,
                 float *out);
/* sum += sign * row; double, for sums over hundreds of thousands of rows. */
void kernel_add(const struct rows *r, uint32_t i, double sign, double *sum);
/* sum[side[i]] += row id[i]; side NULL: all to sum[0]; a NULL sum: left out. */
void kernel_add_rows(const struct rows *r, const uint32_t *id, uint32_t n,
                     const uint8_t *side, double *const sum[2]);
/* The dot products of a row x with two such sums, and with itself: x.a, x.b, x.x */
void kernel_dot_pair(const struct rows *r, uint32_t i, const double *a, const double *b,
                     double ret[3]);
/* out[i * KERNEL_TILE + c] = row id[i] . vector c, for KERNEL_TILE vectors; number j
 * of vector c is at tile[j * KERNEL_TILE + c]. */
void kernel_dots_tile(const struct rows *r, const uint32_t *id, uint32_t n,
                      const float *tile, float *out);

#endif
