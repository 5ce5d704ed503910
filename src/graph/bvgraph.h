/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bvgraph.h - reads WebGraph's BVGraph format (BASE.graph, BASE.properties).
 *
 * Every option of the format is understood: gamma, delta, zeta, nibble, Golomb
 * and unary codes where the format allows them, any window, chains of
 * references, with or without intervals.  Rows are decoded in one pass, so no
 * offsets are needed; if BASE.offsets is there, each row is held against it.
 */
#ifndef GRAPH_BVGRAPH_H
#define GRAPH_BVGRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "graph/graph.h"

/* More links than this are refused (64 GiB of rows). */
#define BVGRAPH_LINKS_MAX ((uint64_t)1 << 34)

enum bvgraph_code {
	BVGRAPH_GAMMA, BVGRAPH_DELTA, BVGRAPH_ZETA, BVGRAPH_NIBBLE, BVGRAPH_UNARY,
	BVGRAPH_GOLOMB
};

struct bvgraph_props {
	uint64_t n_nodes, n_links;
	uint64_t window, min_interval, zeta_k;
	enum bvgraph_code degrees, blocks, residuals, references, block_counts, offsets;
};

/* base: the common beginning of the file names, or one of the names. */
MUST_CHECK int bvgraph_read(const char *base, struct graph *ret, struct err *err);

/* The parts of it, over bytes in memory; name is for messages. */
MUST_CHECK int bvgraph_parse_props(const char *text, size_t size, const char *name,
                                   struct bvgraph_props *ret, struct err *err);
/* offsets may be NULL. */
MUST_CHECK int bvgraph_decode(const struct bvgraph_props *props, const char *name,
                              const void *data, size_t size, const void *offsets,
                              size_t offsets_size, struct graph *ret, struct err *err);

#endif
