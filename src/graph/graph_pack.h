/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_pack.h - the rows of a graph for many passes in their order: packed in memory as far
 * as there is room, and from the graph, which may be a mapped file, behind that.
 *
 * A row is its number of links, doubled, and one more if some link to the node itself; their
 * number, then; and the links: the first as its distance from the node, doubled, with the
 * sign in the lowest bit, the others as their distance from the link before, less one.
 * Numbers are 7 bits a byte, low ones first; they wrap, so that any order of the links comes
 * back.  Links of web graphs take 1.2 to 1.4 bytes so, links to anywhere 2.2.
 *
 * The nodes are two halves of about as many links; two threads can read one each.
 */
#ifndef GRAPH_GRAPH_PACK_H
#define GRAPH_GRAPH_PACK_H

#include "graph/graph.h"

#define PACK_HALVES 2u

struct graph_pack_half {
	uint32_t begin, packed_end, end;        /* nodes; those before packed_end are packed */
	uint8_t *bytes;
	size_t size;
	uint32_t longest;                       /* links of a packed row */
};

struct graph_pack {
	const struct graph *g;
	struct graph_pack_half halves[PACK_HALVES];
};

/* At most `memory` bytes are taken.  g must live on; it is read once here, and in each pass
 * where rows are not packed. */
void graph_pack(struct graph_pack *ret, const struct graph *g, size_t memory);
void graph_pack_release(struct graph_pack *p);
/* Links pointing at each node, n_nodes numbers.  Returns how many are loops. */
uint64_t graph_pack_in_degrees(const struct graph_pack *p, uint32_t *ret_degrees);

/* Reads the rows of a half, one after the other:
 *
 *   struct graph_rows rows;
 *   graph_rows_begin(&rows, &pack, half);
 *   for (uint32_t v = ...begin; v < ...end; v++) graph_rows_next(&rows);
 *   graph_rows_end(&rows);
 */
struct graph_rows {
	const struct graph_pack *pack;
	const struct graph_pack_half *half;
	const uint8_t *at;
	uint32_t node;                          /* the next one */
	uint32_t *row;                          /* room for an unpacked one */
	const uint32_t *links;                  /* of the row read last */
	uint64_t n, loops;                      /* its links; those that end in its own node */
};

void graph_rows_begin(struct graph_rows *r, const struct graph_pack *p, unsigned half);
void graph_rows_end(struct graph_rows *r);
/* A row that is not packed. */
void graph_rows_read(struct graph_rows *r);

static inline uint32_t graph_pack_take(const uint8_t **at)
{
	const uint8_t *p = *at;
	uint32_t v = *p++;

	if (v >= 128) {
		v &= 127;
		for (unsigned shift = 7; ; shift += 7) {
			uint32_t byte = *p++;

			v |= (byte & 127) << shift;
			if (byte < 128)
				break;
		}
	}
	*at = p;
	return v;
}

static inline void graph_rows_next(struct graph_rows *r)
{
	const uint8_t *at = r->at;
	uint32_t v = r->node++, head, link, *row = r->row;

	if (v >= r->half->packed_end) {
		graph_rows_read(r);
		return;
	}
	head = graph_pack_take(&at);
	r->n = head / 2;
	r->loops = head % 2 ? graph_pack_take(&at) : 0;
	if (head > 1) {
		uint32_t first = graph_pack_take(&at);

		row[0] = link = v + (first >> 1 ^ -(first & 1));
		for (uint32_t i = 1; i < head / 2; i++)
			row[i] = link += graph_pack_take(&at) + 1;
	}
	r->links = row;
	r->at = at;
}

#endif
