/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagerank_order.c - the order of the rows, and the cells they are cut into; see
 * pagerank_matrix.h and pagerank_plan.h.
 *
 * A crawl numbered by URL has most links between close numbers; that order is kept, because
 * the values a row needs are then in the cache.  If the numbers say nothing (fewer than a
 * third of the links stay near), nodes are renumbered by out-degree, in classes of powers of
 * two: the few that are read most share a few cache lines, and a sweep that begins with them
 * needs fewer passes.  Measured in docs/graphs.md.
 */
#include "base/mem.h"
#include "graph/pagerank_plan.h"

#define WINDOW 1024u            /* rows that are sorted by length together */
#define LENGTH_CLASSES 4096u
#define NEAR_SHARE 0.33

static unsigned log2_of(uint64_t v)
{
	return 63 - (unsigned)__builtin_clzll(v | 1);
}

/* Every 61st node is asked. */
bool pagerank_is_local(const struct graph *g)
{
	uint64_t near = 0, all = 0, reach = g->n_nodes / 16;

	for (uint64_t v = 0; v < g->n_nodes; v += 61)
		for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++, all++)
			near += g->targets[i] + reach >= v && g->targets[i] <= v + reach;
	return (double)near >= NEAR_SHARE * (double)all;
}

static int longer_first(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Rows by descending length, equal ones in their old order; spare has room. */
static void sort_by_length(uint32_t *nodes, uint32_t n, const uint32_t *length,
                           uint32_t *spare)
{
	uint32_t heads[LENGTH_CLASSES] = { 0 }, n_long, sum = 0;
	uint64_t *keys;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t l = length[nodes[i]];

		heads[l < LENGTH_CLASSES ? l : LENGTH_CLASSES - 1]++;
	}
	n_long = heads[LENGTH_CLASSES - 1];
	for (uint32_t c = LENGTH_CLASSES; c-- > 0; ) {
		uint32_t count = heads[c];

		heads[c] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t l = length[nodes[i]];

		spare[heads[l < LENGTH_CLASSES ? l : LENGTH_CLASSES - 1]++] = nodes[i];
	}
	memcpy(nodes, spare, n * sizeof *nodes);
	if (n_long < 2)
		return;
	keys = mem_array(n_long, sizeof *keys);
	for (uint32_t i = 0; i < n_long; i++)
		keys[i] = (uint64_t)length[nodes[i]] << 32 | (UINT32_MAX - nodes[i]);
	qsort(keys, n_long, sizeof *keys, longer_first);
	for (uint32_t i = 0; i < n_long; i++)
		nodes[i] = UINT32_MAX - (uint32_t)keys[i];
	free(keys);
}

/* The rows of all cells from `first` on, window by window. */
static void sort_windows(struct pagerank_plan *p, uint32_t first, uint32_t n_cells)
{
	struct pagerank_matrix *m = p->m;

	#pragma omp parallel for schedule(dynamic, 1) if (p->threaded)
	for (uint32_t c = first; c < n_cells; c++)
		for (uint32_t r = m->cells[c].row_begin; r < m->cells[c].row_end; r += WINDOW) {
			uint32_t spare[WINDOW], left = m->cells[c].row_end - r;

			sort_by_length(m->node + r, left < WINDOW ? left : WINDOW, p->length, spare);
		}
}

/* Core nodes in classes of out-degree, high ones first, each class by length. */
static void order_by_degree(struct pagerank_plan *p)
{
	struct pagerank_matrix *m = p->m;
	uint32_t heads[64] = { 0 }, borders[65], sum = 0;
	uint32_t *old = mem_array((size_t)m->n_core + 1, sizeof *old);

	memcpy(old, m->node, m->n_core * sizeof *old);
	for (uint32_t i = 0; i < m->n_core; i++)
		heads[63 - log2_of(graph_degree(p->g, old[i]))]++;
	for (unsigned c = 0; c < 64; c++) {
		uint32_t count = heads[c];

		borders[c] = heads[c] = sum;
		sum += count;
	}
	borders[64] = sum;
	for (uint32_t i = 0; i < m->n_core; i++)
		m->node[heads[63 - log2_of(graph_degree(p->g, old[i]))]++] = old[i];
	#pragma omp parallel for schedule(dynamic, 1)
	for (unsigned i = 0; i < 64; i++) {
		unsigned c = 63 - i;            /* low degrees are the most */

		sort_by_length(m->node + borders[c], borders[c + 1] - borders[c], p->length,
		               old + borders[c]);
	}
	free(old);
}

/* Core first, the dangling behind it, both in the order of their numbers. */
static void split_core(struct pagerank_plan *p)
{
	struct pagerank_matrix *m = p->m;
	uint32_t core = 0, tail = m->n_core;

	for (uint32_t v = 0; v < m->n; v++)
		m->node[graph_degree(p->g, v) ? core++ : tail++] = v;
}

/* Cut rows begin .. end into n cells of about the same work; cells[where[i]].  Work is
 * added up in blocks of CELL_ALIGN rows, and a cell ends with a block. */
static void cut_cells(struct pagerank_plan *p, uint32_t begin, uint32_t end, uint32_t n,
                      struct pagerank_cell *cells, const uint32_t *where)
{
	uint32_t n_blocks = (end - begin + CELL_ALIGN - 1) / CELL_ALIGN, cell = 0;
	uint64_t *blocks = mem_zalloc((size_t)n_blocks + 1, sizeof *blocks), work = 0, done = 0;

	#pragma omp parallel for schedule(static) reduction(+:work) if (p->threaded)
	for (uint32_t b = 0; b < n_blocks; b++) {
		uint32_t first = begin + b * CELL_ALIGN;
		uint32_t last = end - first < CELL_ALIGN ? end : first + CELL_ALIGN;

		for (uint32_t r = first; r < last; r++)
			blocks[b] += p->length[p->m->node[r]] + 4;
		work += blocks[b];
	}
	cells[where[0]].row_begin = begin;
	for (uint32_t b = 0; b < n_blocks; b++) {
		done += blocks[b];
		if (cell + 1 < n && b + 1 < n_blocks && done >= work / n * (cell + 1)) {
			cells[where[cell]].row_end = begin + (b + 1) * CELL_ALIGN;
			cells[where[++cell]].row_begin = begin + (b + 1) * CELL_ALIGN;
		}
	}
	cells[where[cell]].row_end = end;
	while (++cell < n)
		cells[where[cell]].row_begin = cells[where[cell]].row_end = end;
	free(blocks);
}

static void make_cells(struct pagerank_plan *p)
{
	struct pagerank_matrix *m = p->m;
	uint32_t n = m->n_steps * m->n_lanes, where[LANES_MAX * STEPS_MAX + TAIL_CELLS] = { 0 };

	m->cells = mem_zalloc(n + m->n_tails, sizeof *m->cells);
	/* a lane runs through neighbouring rows if those are linked; if not, a
	 * step takes neighbouring ranks, best first */
	for (uint32_t i = 0; i < n; i++)
		where[i] = m->relabelled ? i : i % m->n_steps * m->n_lanes + i / m->n_steps;
	cut_cells(p, 0, m->n_core, n, m->cells, where);
	for (uint32_t i = 0; i < m->n_tails; i++)
		where[i] = i;
	cut_cells(p, m->n_core, m->n, m->n_tails, m->cells + n, where);
}

void pagerank_order(struct pagerank_plan *p)
{
	struct pagerank_matrix *m = p->m;

	split_core(p);
	if (!p->threaded) {
		m->n_steps = m->n_lanes = m->n_tails = 1;
	} else {
		m->relabelled = !pagerank_is_local(p->g);
		m->n_steps = m->relabelled ? STEPS_MAX : 2;
		/* snapshots are numbered behind the core, in 32 bits */
		m->n_lanes = m->n_core > UINT32_MAX / 2 ? 1 : LANES_MAX;
		m->n_tails = TAIL_CELLS;
	}
	if (m->relabelled)
		order_by_degree(p);
	make_cells(p);
	sort_windows(p, m->relabelled ? m->n_steps * m->n_lanes : 0,
	             m->n_steps * m->n_lanes + m->n_tails);
}
