/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - a directed graph over integers, in compressed sparse rows.
 *
 * Node v links to targets[offsets[v]] .. targets[offsets[v + 1] - 1], in
 * ascending order.  4 bytes a link and 8 bytes a node; one direction.  The
 * other direction is another struct graph, made by graph_transpose().  The
 * arrays are read-only once built; they live in memory or in a mapped file
 * (graph_file.h).  A zeroed struct is a valid empty graph.
 *
 *   struct graph_builder *b = graph_builder_new(NULL);
 *   graph_builder_add(b, 3, 5, &err) ...;
 *   graph_builder_finish(b, n_nodes, &g, &err);     // frees b
 *   ... graph_links(&g, 3, &n) ...
 *   graph_release(&g);
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define GRAPH_NODES_MAX 0xfffffff0u     /* node numbers are below this */
#define GRAPH_NONE UINT32_MAX

struct graph {
	uint32_t n_nodes;
	uint64_t n_links;
	const uint64_t *offsets;        /* n_nodes + 1; NULL in an empty graph */
	const uint32_t *targets;
	/* memory to free: own arrays, or one mapping */
	void *own_offsets, *own_targets, *map;
	size_t own_offsets_size, own_targets_size, map_size;
};

/* The links of a node and how many. */
static inline const uint32_t *graph_links(const struct graph *g, uint32_t node,
                                          uint64_t *ret_n)
{
	*ret_n = g->offsets[node + 1] - g->offsets[node];
	return g->targets + g->offsets[node];
}

static inline uint64_t graph_degree(const struct graph *g, uint32_t node)
{
	return g->offsets[node + 1] - g->offsets[node];
}

/* The node before which half of the links are, or nearly so. */
uint32_t graph_middle(const struct graph *g);

void graph_release(struct graph *g);
/* Arrays for a graph of this size, to be filled by the caller. */
void graph_alloc(struct graph *g, uint32_t n_nodes, uint64_t n_links,
                 uint64_t **ret_offsets, uint32_t **ret_targets);
/* A graph of own arrays gets nodes without links behind its own. */
void graph_pad(struct graph *g, uint32_t n_nodes);
/* Reverse all links; rows are ascending.  Working memory: 4 bytes a node. */
void graph_transpose(const struct graph *g, struct graph *ret);
/* Links pointing at each node, n_nodes numbers. */
void graph_in_degrees(const struct graph *g, uint32_t *ret_degrees);
/* True if every offset and target is inside; one pass over the arrays. */
bool graph_is_sound(const struct graph *g);
/* The same of the offsets only. */
bool graph_offsets_are_sound(const struct graph *g);
/* Ascending order, in place. */
void graph_sort_row(uint32_t *row, uint64_t n);

/*
 * Building: links in any order, by radix passes.  At most `memory` bytes of
 * links are held (8 a link); beyond it sorted runs go to an unlinked file in
 * tmp_dir, 8 bytes a link, so the peak is the graph itself + memory * 2.
 */
struct graph_build_opts {
	bool dedupe;                    /* a link given twice counts once */
	bool drop_loops;                /* leave out links of a node to itself */
	size_t memory;                  /* 0: 2 GiB */
	const char *tmp_dir;            /* NULL: $TMPDIR or /tmp */
};
struct graph_builder;

struct graph_builder *graph_builder_new(const struct graph_build_opts *opts);
void graph_builder_free(struct graph_builder *b);       /* NULL is fine */
MUST_CHECK int graph_builder_add(struct graph_builder *b, uint32_t from, uint32_t to,
                                 struct err *err);
MUST_CHECK int graph_builder_add_many(struct graph_builder *b, const uint32_t *from,
                                      const uint32_t *to, size_t n, struct err *err);
/* n_nodes: at least the highest node + 1, or 0 for just that.  Frees the
 * builder, also on failure. */
MUST_CHECK int graph_builder_finish(struct graph_builder *b, uint32_t n_nodes,
                                    struct graph *ret, struct err *err);
/* All of it in one call, from two arrays. */
MUST_CHECK int graph_build(const uint32_t *from, const uint32_t *to, size_t n_links,
                           uint32_t n_nodes, bool dedupe, struct graph *ret,
                           struct err *err);

#endif
