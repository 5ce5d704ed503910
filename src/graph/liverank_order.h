/* SPDX-License-Identifier: Apache-2.0 */
/* liverank_order.h - sorting and sampling of pages; private to liverank*.c. */
#ifndef GRAPH_LIVERANK_ORDER_H
#define GRAPH_LIVERANK_ORDER_H

#include <stdint.h>

#include "base/math/rng.h"
#include "graph/graph.h"

/* Pages by descending score (NULL: all equal) or descending flag, then by
 * ascending place. */
void liverank_sort(uint32_t *pages, uint32_t n, const double *scores, const uint8_t *flags,
                   const uint32_t *place);
void liverank_sort_degrees(uint32_t *pages, uint32_t n, const uint32_t *degrees,
                           const uint32_t *place);

/* Put every (n / z)th page from a random start in front, shuffled. */
void liverank_systematic(uint32_t *order, uint32_t n, uint32_t z, struct rng *r);
/* Put in front z pages, in order, of which no two are linked; if there are not
 * that many, the first ones left out fill up. */
void liverank_spread(uint32_t *order, uint32_t n, uint32_t z, const struct graph *out);
/*
 * Put in front t random pages of every site that has at least t, t as large as
 * z allows (raised from 1 until the sum passes z); if there are more sites than
 * z, one page of z random sites.  order comes shuffled.  Returns how many.
 */
uint32_t liverank_sample_sites(uint32_t *order, uint32_t n, const uint32_t *sites,
                               uint32_t n_sites, uint32_t z, struct rng *r);
/* By page: the share of its site's tested pages (state has the bit alive or dead)
 * that is alive, -1 where none was tested. */
void liverank_site_activity(const uint8_t *state, uint8_t alive, uint8_t dead, uint32_t n,
                            const uint32_t *sites, uint32_t n_sites, double *ret);
/* plus /= minus, zeros of minus counting as its smallest value above zero. */
void liverank_divide(double *plus, const double *minus, uint32_t n);

#endif
