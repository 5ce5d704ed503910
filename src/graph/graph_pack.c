/* SPDX-License-Identifier: Apache-2.0 */
/* graph_pack.c - see graph_pack.h. */
#include "graph/graph_pack.h"

#include "base/mem.h"

#define NUMBER_MAX 5u           /* bytes of a number */

static uint8_t *put(uint8_t *at, uint32_t v)
{
	for (; v >= 128; v >>= 7)
		*at++ = (uint8_t)(v | 128);
	*at++ = (uint8_t)v;
	return at;
}

static uint64_t count_loops(const uint32_t *links, uint64_t n, uint32_t node)
{
	uint64_t loops = 0;

	for (uint64_t i = 0; i < n; i++)
		loops += links[i] == node;
	return loops;
}

static uint8_t *put_row(uint8_t *at, uint32_t node, const uint32_t *links, uint32_t n)
{
	uint32_t loops = (uint32_t)count_loops(links, n, node);

	at = put(at, n * 2 + (loops > 0));
	if (loops)
		at = put(at, loops);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t away = links[0] - node;

		at = put(at, i ? links[i] - links[i - 1] - 1 : away << 1 ^ -(away >> 31));
	}
	return at;
}

/* The most that rows begin .. end - 1 can take. */
static size_t most_bytes(const struct graph *g, uint32_t begin, uint32_t end)
{
	return (size_t)(g->offsets[end] - g->offsets[begin] + 2 * (uint64_t)(end - begin)) *
		NUMBER_MAX;
}

static void pack_half(struct graph_pack_half *h, const struct graph *g)
{
	uint8_t *at = h->bytes;

	for (; h->packed_end < h->end; h->packed_end++) {
		uint32_t v = h->packed_end;
		uint64_t n;
		const uint32_t *links = graph_links(g, v, &n);

		if (n > UINT32_MAX / 2 ||
		    h->size - (size_t)(at - h->bytes) < most_bytes(g, v, v + 1))
			break;
		at = put_row(at, v, links, (uint32_t)n);
		h->longest = n > h->longest ? (uint32_t)n : h->longest;
	}
}

void graph_pack(struct graph_pack *ret, const struct graph *g, size_t memory)
{
	uint32_t cut = g->n_nodes ? graph_middle(g) : 0;

	*ret = (struct graph_pack){ .g = g, .halves = {
		{ .end = cut }, { .begin = cut, .packed_end = cut, .end = g->n_nodes },
	} };
	#pragma omp parallel for schedule(static, 1)
	for (unsigned i = 0; i < PACK_HALVES; i++) {
		struct graph_pack_half *h = &ret->halves[i];
		size_t most = h->end > h->begin ? most_bytes(g, h->begin, h->end) : 0;

		h->size = memory / PACK_HALVES < most ? memory / PACK_HALVES : most;
		if (h->size) {
			h->bytes = mem_big(h->size);
			pack_half(h, g);
		}
	}
}

void graph_pack_release(struct graph_pack *p)
{
	for (unsigned i = 0; i < PACK_HALVES; i++)
		mem_big_free(p->halves[i].bytes, p->halves[i].size);
	*p = (struct graph_pack){ 0 };
}

void graph_rows_begin(struct graph_rows *r, const struct graph_pack *p, unsigned half)
{
	const struct graph_pack_half *h = &p->halves[half];

	*r = (struct graph_rows){ .pack = p, .half = h, .at = h->bytes, .node = h->begin,
		.row = mem_array(h->longest + 1ul, sizeof *r->row) };
}

void graph_rows_end(struct graph_rows *r)
{
	free(r->row);
}

void graph_rows_read(struct graph_rows *r)
{
	r->links = graph_links(r->pack->g, r->node - 1, &r->n);
	r->loops = count_loops(r->links, r->n, r->node - 1);
}

uint64_t graph_pack_in_degrees(const struct graph_pack *p, uint32_t *ret_degrees)
{
	uint64_t loops = 0;

	memset(ret_degrees, 0, p->g->n_nodes * sizeof *ret_degrees);
	for (unsigned i = 0; i < PACK_HALVES; i++) {
		struct graph_rows rows;

		graph_rows_begin(&rows, p, i);
		while (rows.node < rows.half->end) {
			graph_rows_next(&rows);
			loops += rows.loops;
			for (uint64_t k = 0; k < rows.n; k++)
				ret_degrees[rows.links[k]]++;
		}
		graph_rows_end(&rows);
	}
	return loops;
}
