/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - neighbourhoods: breadth-first search and siblings.
 *
 * A struct walk holds a stamp for every node, so a new walk begins in O(1):
 * nothing is cleared, the stamp's value moves on.  A walk costs what it
 * touches, not what the graph holds.  One walk at a time per struct.
 */
#ifndef GRAPH_WALK_H
#define GRAPH_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "graph/graph.h"

struct walk {
	uint32_t *stamps;
	uint32_t n_nodes, now;
	VEC(uint32_t) queue;
	const uint32_t *groups; /* not NULL: stay within the group of the start */
};

/* Called once for every node found; false ends the walk. */
typedef bool walk_visit(void *arg, uint32_t node, uint32_t hops);

void walk_init(struct walk *w, uint32_t n_nodes, const uint32_t *groups);
void walk_release(struct walk *w);

/* Nodes reachable from start in 1 .. depth hops, nearest first, each once,
 * never start itself.  Over a transposed graph: nodes that reach start.
 * Returns how many were visited. */
uint32_t walk_breadth(struct walk *w, const struct graph *g, uint32_t start,
                      uint32_t depth, walk_visit *visit, void *arg);
/* Nodes that some node links to together with start (shared parent), each
 * once, never start itself; hops is 0. */
uint32_t walk_siblings(struct walk *w, const struct graph *in, const struct graph *out,
                       uint32_t start, walk_visit *visit, void *arg);

#endif
