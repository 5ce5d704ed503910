/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.c - compressed sparse rows: memory, transposing, checks; see graph.h.
 *
 * Transposing is a counting sort by target: one pass counts, one pass places.
 * Sources are walked in ascending order, so the new rows come out ascending
 * without being sorted.  The placing pass writes at random; it is done for one
 * range of targets at a time, chosen so that the write heads of a range stay in
 * the cache, at the price of reading the links once more per range.
 */
#include "graph/graph.h"

#include <sys/mman.h>

#include "base/mem.h"

/* Targets placed in one pass while transposing; their heads are 8 MB. */
#define TRANSPOSE_RANGE ((uint32_t)1 << 20)
/* Beyond this many ranges rereading costs more than missing the cache. */
#define TRANSPOSE_RANGES_MAX 8u
#define INSERTION_MAX 32

void graph_release(struct graph *g)
{
	if (!g)
		return;
	mem_big_free(g->own_offsets, g->own_offsets_size);
	mem_big_free(g->own_targets, g->own_targets_size);
	if (g->map)
		munmap(g->map, g->map_size);
	*g = (struct graph){ 0 };
}

void graph_alloc(struct graph *g, uint32_t n_nodes, uint64_t n_links,
                 uint64_t **ret_offsets, uint32_t **ret_targets)
{
	*g = (struct graph){ .n_nodes = n_nodes, .n_links = n_links };
	g->own_offsets_size = ((size_t)n_nodes + 1) * sizeof(uint64_t);
	g->own_targets_size = (n_links ? n_links : 1) * sizeof(uint32_t);
	g->offsets = *ret_offsets = g->own_offsets = mem_big(g->own_offsets_size);
	g->targets = *ret_targets = g->own_targets = mem_big(g->own_targets_size);
}

void graph_pad(struct graph *g, uint32_t n_nodes)
{
	size_t size = ((size_t)n_nodes + 1) * sizeof(uint64_t);
	uint64_t *offsets;

	if (n_nodes <= g->n_nodes)
		return;
	offsets = mem_big(size);
	if (g->offsets)
		memcpy(offsets, g->offsets, ((size_t)g->n_nodes + 1) * sizeof *offsets);
	for (size_t v = (size_t)g->n_nodes + 1; v <= n_nodes; v++)
		offsets[v] = g->n_links;
	mem_big_free(g->own_offsets, g->own_offsets_size);
	g->offsets = g->own_offsets = offsets;
	g->own_offsets_size = size;
	g->n_nodes = n_nodes;
}

void graph_in_degrees(const struct graph *g, uint32_t *ret_degrees)
{
	memset(ret_degrees, 0, (size_t)g->n_nodes * sizeof *ret_degrees);
	for (uint64_t i = 0; i < g->n_links; i++)
		ret_degrees[g->targets[i]]++;
}

/* Place the links whose target is in low .. high - 1. */
static void transpose_range(const struct graph *g, uint32_t low, uint32_t high,
                            uint64_t *heads, uint32_t *targets)
{
	for (uint32_t v = 0; v < g->n_nodes; v++)
		for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++) {
			uint32_t t = g->targets[i];

			if (t >= low && t < high)
				targets[heads[t]++] = v;
		}
}

void graph_transpose(const struct graph *g, struct graph *ret)
{
	uint32_t n = g->n_nodes, n_ranges;
	uint64_t *offsets, *heads;
	uint32_t *targets;

	graph_alloc(ret, n, g->n_links, &offsets, &targets);
	/* offsets[v + 1] serves as the write head of row v: it starts at the
	 * row's beginning and ends at its end, which is what it must hold. */
	heads = offsets + 1;
	for (uint64_t i = 0; i < g->n_links; i++)
		if (g->targets[i] + 1 < n)
			heads[g->targets[i] + 1]++;
	for (uint32_t v = 1; v < n; v++)
		heads[v] += heads[v - 1];
	n_ranges = n / TRANSPOSE_RANGE + 1;
	if (n_ranges > TRANSPOSE_RANGES_MAX)
		n_ranges = TRANSPOSE_RANGES_MAX;
	for (uint32_t r = 0; r < n_ranges; r++)
		transpose_range(g, (uint32_t)((uint64_t)n * r / n_ranges),
		                (uint32_t)((uint64_t)n * (r + 1) / n_ranges),
		                heads, targets);
}

bool graph_offsets_are_sound(const struct graph *g)
{
	bool sound = true;

	if (!g->n_nodes)
		return g->n_links == 0;
	if (g->offsets[0] != 0 || g->offsets[g->n_nodes] != g->n_links)
		return false;
	for (uint32_t v = 0; v < g->n_nodes; v++)
		sound &= g->offsets[v] <= g->offsets[v + 1];
	return sound;
}

bool graph_is_sound(const struct graph *g)
{
	uint32_t highest = 0;

	if (!graph_offsets_are_sound(g))
		return false;
	for (uint64_t i = 0; i < g->n_links; i++)
		if (g->targets[i] > highest)
			highest = g->targets[i];
	return !g->n_links || highest < g->n_nodes;
}

static void sift_down(uint32_t *row, uint64_t at, uint64_t n)
{
	uint32_t v = row[at];

	for (uint64_t child; (child = 2 * at + 1) < n; at = child) {
		child += child + 1 < n && row[child + 1] > row[child];
		if (row[child] <= v)
			break;
		row[at] = row[child];
	}
	row[at] = v;
}

static void heap_sort(uint32_t *row, uint64_t n)
{
	for (uint64_t i = n / 2; i-- > 0; )
		sift_down(row, i, n);
	for (uint64_t i = n; i-- > 1; ) {
		uint32_t t = row[0];

		row[0] = row[i];
		row[i] = t;
		sift_down(row, 0, i);
	}
}

/* Four byte-wise counting passes; spare has room for n. */
static void radix_sort(uint32_t *row, uint64_t n, uint32_t *spare)
{
	for (unsigned shift = 0; shift < 32; shift += 8) {
		uint64_t count[257] = { 0 };
		uint32_t *t = row;

		for (uint64_t i = 0; i < n; i++)
			count[((row[i] >> shift) & 255) + 1]++;
		for (unsigned c = 0; c < 256; c++)
			count[c + 1] += count[c];
		for (uint64_t i = 0; i < n; i++)
			spare[count[(row[i] >> shift) & 255]++] = row[i];
		row = spare;
		spare = t;
	}
}

void graph_sort_row(uint32_t *row, uint64_t n)
{
	if (n > 4096) {
		uint32_t *spare = mem_array(n, sizeof *spare);

		radix_sort(row, n, spare);      /* an even number of passes */
		free(spare);
	} else if (n > INSERTION_MAX) {
		heap_sort(row, n);
	} else {
		for (uint64_t i = 1; i < n; i++) {
			uint32_t v = row[i];
			uint64_t j = i;

			for (; j > 0 && row[j - 1] > v; j--)
				row[j] = row[j - 1];
			row[j] = v;
		}
	}
}

uint32_t graph_middle(const struct graph *g)
{
	uint32_t low = 0, high = g->n_nodes;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (g->offsets[mid] < g->n_links / 2)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}
