/* SPDX-License-Identifier: Apache-2.0 */
/* pagerank_plan.h - what pagerank_prepare.c and pagerank_order.c share while a graph is
 * laid out; private to them. */
#ifndef GRAPH_PAGERANK_PLAN_H
#define GRAPH_PAGERANK_PLAN_H

#include "graph/pagerank_matrix.h"

#define CELL_ALIGN 256u         /* cells begin at multiples of so many rows */

/* The nodes are two parts with as many links each.  A part is read by one thread, which
 * has its own counts and write heads: threads never wait, and the order of the links in a
 * row is the same for any number of them. */
#define PARTS 2u
#define PLACE_SAMPLE 16u        /* every so many nodes tell how many links look back */
#define ROWS_AHEAD 16u          /* rows between the fetching of their links and their use */

struct pagerank_plan {
	const struct graph *g;
	struct pagerank_matrix *m;
	bool threaded;
	uint32_t part_begin[PARTS + 1]; /* nodes */
	uint32_t *slot[PARTS];          /* by node: links into it from the part; later, where
	                                 * the next one goes, counted from its cell's first */
	uint32_t *length;               /* by node: links into it, one loop left out */
	uint8_t *loops;                 /* bit per node: links to itself */
	uint8_t *cell_of;               /* by node */
};

/* Fills node, cells with their rows, and their numbers; needs length and n_core. */
void pagerank_order(struct pagerank_plan *p);

/* Do links mostly stay near? */
bool pagerank_is_local(const struct graph *g);
/* Puts all links into their rows, which may be anywhere; takes PLACE_LINK bytes a link on the
 * way.  Needs cells, slots, which it forgets, and loops.  row_of: by node. */
#define PLACE_LINK 2u
void pagerank_place_far(struct pagerank_plan *p, const uint32_t *row_of);
void pagerank_forget_slots(struct pagerank_plan *p);

#endif
