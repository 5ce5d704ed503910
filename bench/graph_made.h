/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_made.h - graphs made for benchmarks, the same on every machine.
 *
 * R-MAT (a = .57, b = c = .19) with shuffled numbers: skewed degrees, no order.
 * Web-like: pages numbered by site, most links to near pages of the site, hub
 * pages per site, copied link lists, a few links far away, one in six dangling.
 */
#ifndef BENCH_GRAPH_MADE_H
#define BENCH_GRAPH_MADE_H

#include <stdint.h>

#include "base/err.h"
#include "graph/graph.h"

MUST_CHECK int graph_made_rmat(unsigned scale, unsigned links_per_node, uint64_t seed,
                               struct graph *ret, struct err *err);

/* The links of one page of the web-like graph; returns how many. */
#define GRAPH_MADE_LINKS_MAX 4096
unsigned graph_made_web_page(uint32_t page, uint32_t n_pages, double mean_links,
                             uint64_t seed, uint32_t *ret_links);

/* The first page of a page's site in that graph. */
uint32_t graph_made_web_site(uint32_t page, uint32_t n_pages, uint64_t seed);

/* Which pages of it live: sites die as a whole, of those that do not a share that
 * is uniform in 0 .. 1 lives; `share` of all pages on average. */
void graph_made_life(uint32_t n_pages, double share, uint64_t seed, uint8_t *ret);

#endif
