/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagerank_prepare.c - lays a graph out for PageRank; see pagerank_matrix.h.
 *
 * Two passes over the links, each by two threads that share nothing (PARTS).  The first
 * counts the links into each node.  The second puts every link into its row: where links stay
 * near, one by one, with the lines that it needs fetched ahead; else through buckets
 * (pagerank_place.c).  It walks the rows, so that the links of a row are ascending in each part: walking
 * the nodes in the order of the file takes a quarter less here, and as much more in solving.
 *
 * Memory: 4 bytes a link for the result, and at most 25 bytes a node on the way; with buckets
 * 17 bytes a node and 2 a link.
 */
#include "graph/pagerank.h"

#include "base/mem.h"
#include "graph/pagerank_plan.h"

#define SMALL_LINKS 65536u      /* with fewer links: one cell, no threads */
#define AHEAD 16u               /* links between the fetching of a line and its use */
#define CELLS_MAX (LANES_MAX * STEPS_MAX + TAIL_CELLS)

static bool node_has_loop(const struct pagerank_plan *p, uint32_t v)
{
	return p->loops[v >> 3] >> (v & 7) & 1;
}

/* Two parts with about as many links each; a byte of `loops` belongs to one of them. */
static void cut_parts(struct pagerank_plan *p)
{
	const struct graph *g = p->g;

	p->part_begin[0] = 0;
	p->part_begin[1] = graph_middle(g) & ~7u;
	p->part_begin[2] = g->n_nodes;
}

/* The links of a part, counted by their ends.  Returns how many of its nodes have any; adds
 * to *loops. */
static uint32_t count_part(struct pagerank_plan *p, unsigned part, uint64_t *loops)
{
	const struct graph *g = p->g;
	uint32_t *count = p->slot[part], n_core = 0;

	for (uint32_t v = p->part_begin[part]; v < p->part_begin[part + 1]; v++) {
		uint64_t n;
		const uint32_t *links = graph_links(g, v, &n);
		uint64_t n_loops = 0;

		for (uint64_t i = 0; i < n; i++) {
			count[links[i]]++;
			n_loops += links[i] == v;
		}
		n_core += n > 0;
		*loops += n_loops;
		if (n_loops) {
			p->loops[v >> 3] |= (uint8_t)(1 << (v & 7));
			count[v]--;
		}
	}
	return n_core;
}

static void count_lengths(struct pagerank_plan *p)
{
	uint64_t n_loops = 0;
	uint32_t n_core = 0;

	#pragma omp parallel for schedule(static, 1) reduction(+:n_core, n_loops) if (p->threaded)
	for (unsigned part = 0; part < PARTS; part++)
		n_core += count_part(p, part, &n_loops);
	p->m->n_core = n_core;
	p->m->n_loops = n_loops;
	#pragma omp parallel for schedule(static) if (p->threaded)
	for (uint32_t v = 0; v < p->m->n; v++)
		p->length[v] = p->slot[0][v] + p->slot[1][v];
}

/* Rows of equal length in a row are a run. */
static void count_runs(const struct pagerank_plan *p, struct pagerank_cell *cell)
{
	uint32_t last = UINT32_MAX;

	cell->run_end = 0;
	cell->link_begin = 0;
	for (uint32_t r = cell->row_begin; r < cell->row_end; r++) {
		uint32_t l = p->length[p->m->node[r]];

		cell->run_end += l != last;
		cell->link_begin += l;
		last = l;
	}
}

/* Runs, and all that is known of a row: its node, the first slots of its links. */
static void fill_rows(struct pagerank_plan *p, uint32_t number)
{
	struct pagerank_matrix *m = p->m;
	struct pagerank_cell *cell = &m->cells[number];
	struct pagerank_run *run = m->runs + cell->run_begin;
	uint32_t at = 0;

	for (uint32_t r = cell->row_begin; r < cell->row_end; r++) {
		uint32_t v = m->node[r], l = p->length[v], first = p->slot[0][v];

		if (r == cell->row_begin)
			run->length = l;
		else if (run->length != l)
			(++run)->length = l;
		run->n_rows++;
		p->slot[0][v] = at;
		p->slot[1][v] = at + first;
		p->cell_of[v] = (uint8_t)number;
		at += l;
		if (r >= m->n_core)
			continue;
		m->degree[r] = (uint32_t)graph_degree(p->g, v);
		if (node_has_loop(p, v))
			m->loops[r >> 3] |= (uint8_t)(1 << (r & 7));
	}
}

static void make_rows(struct pagerank_plan *p)
{
	struct pagerank_matrix *m = p->m;
	uint32_t n_cells = m->n_steps * m->n_lanes + m->n_tails;

	#pragma omp parallel for schedule(dynamic, 1) if (p->threaded)
	for (uint32_t c = 0; c < n_cells; c++)
		count_runs(p, &m->cells[c]);
	for (uint32_t c = 0; c < n_cells; c++) {
		struct pagerank_cell *cell = &m->cells[c];
		uint64_t n_links = cell->link_begin;

		cell->link_begin = m->n_row_links;
		m->n_row_links += n_links;
		cell->run_begin = (uint32_t)m->n_runs;
		m->n_runs += cell->run_end;
		cell->run_end = (uint32_t)m->n_runs;
	}
	m->runs = mem_zalloc(m->n_runs + 1, sizeof *m->runs);
	#pragma omp parallel for schedule(dynamic, 1) if (p->threaded)
	for (uint32_t c = 0; c < n_cells; c++)
		fill_rows(p, c);
}

/* What a thread needs to place links. */
struct placing {
	const struct pagerank_plan *p;
	const uint32_t *row_of;
	uint32_t *slot;
	uint64_t cell_begin[CELLS_MAX];
	uint64_t back, all;             /* of a sample of links: those that see old values */
};

/* Does a row of cell `to` read a snapshot of a row of cell `from`? */
static bool reads_snapshot(const struct pagerank_matrix *m, uint32_t from, uint32_t to)
{
	return from != to && from / m->n_lanes == to / m->n_lanes;
}

static void sample_links(struct placing *k, uint32_t row, uint32_t cell, const uint32_t *links,
                         uint64_t n)
{
	const struct pagerank_matrix *m = k->p->m;

	for (uint64_t i = 0; i < n; i++) {
		uint32_t to = k->row_of[links[i]];

		if (to >= m->n_core)
			continue;
		k->all++;
		k->back += to != row && (to < row || reads_snapshot(m, cell, k->p->cell_of[links[i]]));
	}
}

/* Put the links of a part into their rows. */
static void place_part(struct placing *k, unsigned part)
{
	const struct pagerank_plan *p = k->p;
	struct pagerank_matrix *m = p->m;
	const struct graph *g = p->g;
	const uint8_t *cell_of = p->cell_of;
	uint32_t n_core_cells = m->n_steps * m->n_lanes, every = p->threaded ? PLACE_SAMPLE : 1;
	uint32_t begin = p->part_begin[part], end = p->part_begin[part + 1];

	for (uint32_t row = 0; row < m->n_core; row++) {
		uint32_t v = m->node[row], cell = cell_of[v], in_core = 0;
		uint32_t step_begin = cell / m->n_lanes * m->n_lanes, read = 0;
		uint64_t i, after;
		bool loop;

		if (row + 2 * ROWS_AHEAD < m->n_core) {
			uint32_t soon = m->node[row + ROWS_AHEAD];

			__builtin_prefetch(&g->offsets[m->node[row + 2 * ROWS_AHEAD]]);
			if (soon >= begin && soon < end)
				__builtin_prefetch(&g->targets[g->offsets[soon]]);
		}
		if (v < begin || v >= end)
			continue;
		i = g->offsets[v];
		after = g->offsets[v + 1];
		loop = node_has_loop(p, v);
		if (v % every == 0)
			sample_links(k, row, cell, g->targets + i, after - i);
		for (; i < after; i++) {
			uint32_t to = g->targets[i], c = cell_of[to], snapshot;
			uint32_t soon = g->targets[i + AHEAD < after ? i + AHEAD : after - 1];

			__builtin_prefetch(&m->links[k->cell_begin[cell_of[soon]] + k->slot[soon]], 1);
			in_core += c < n_core_cells;
			if (to == v && loop) {
				loop = false;
				continue;
			}
			/* no branch: nobody could foretell it */
			snapshot = (c - step_begin < m->n_lanes) & (c != cell);
			read |= snapshot;
			m->links[k->cell_begin[c] + k->slot[to]++] = row + snapshot * m->n_core;
		}
		m->core_degree[row] = in_core;
		if (read)
			__atomic_store_n(&m->snapped[row / SNAP_BLOCK], 1, __ATOMIC_RELAXED);
	}
}

static void place_links(struct pagerank_plan *p, const uint32_t *row_of)
{
	struct pagerank_matrix *m = p->m;
	uint64_t back = 0, all = 0;

	#pragma omp parallel for schedule(static, 1) reduction(+:back, all) if (p->threaded)
	for (unsigned part = 0; part < PARTS; part++) {
		struct placing k = { .p = p, .row_of = row_of, .slot = p->slot[part] };

		for (uint32_t c = 0; c < m->n_steps * m->n_lanes + m->n_tails; c++)
			k.cell_begin[c] = m->cells[c].link_begin;
		place_part(&k, part);
		back += k.back;
		all += k.all;
	}
	m->back_share = all ? (double)back / (double)all : 0;
}

void pagerank_forget_slots(struct pagerank_plan *p)
{
	for (unsigned part = 0; part < PARTS; part++) {
		mem_big_free(p->slot[part], ((size_t)p->m->n + 1) * sizeof *p->slot[part]);
		p->slot[part] = NULL;
	}
}

struct pagerank_matrix *pagerank_prepare(const struct graph *out)
{
	struct pagerank_matrix *m = mem_zalloc(1, sizeof *m);
	struct pagerank_plan p = { .g = out, .m = m, .threaded = out->n_links >= SMALL_LINKS };
	size_t rows_size = ((size_t)out->n_nodes + 1) * sizeof(uint32_t), core_size;

	m->n = out->n_nodes;
	m->node = mem_big(rows_size);
	p.length = mem_big(rows_size);
	p.loops = mem_zalloc(m->n / 8 + 1, 1);
	for (unsigned part = 0; part < PARTS; part++)
		p.slot[part] = mem_big(rows_size);
	if (m->n)
		cut_parts(&p);
	count_lengths(&p);
	pagerank_order(&p);
	core_size = ((size_t)m->n_core + 1) * sizeof(uint32_t);
	m->degree = mem_big(core_size);
	m->core_degree = mem_big(core_size);
	m->snapped = mem_zalloc(m->n_core / SNAP_BLOCK + 1, 1);
	m->loops = mem_zalloc(m->n_core / 8 + 1, 1);
	p.cell_of = mem_big((size_t)m->n + 1);
	make_rows(&p);
	/* lengths are done with: their memory holds the rows of the nodes */
	#pragma omp parallel for schedule(static) if (p.threaded)
	for (uint32_t r = 0; r < m->n; r++)
		p.length[m->node[r]] = r;
	m->links = mem_big((m->n_row_links + 1) * sizeof *m->links);
	if (m->relabelled)
		pagerank_place_far(&p, p.length);
	else
		place_links(&p, p.length);
	pagerank_forget_slots(&p);
	mem_big_free(p.length, rows_size);
	mem_big_free(p.cell_of, (size_t)m->n + 1);
	free(p.loops);
	return m;
}

void pagerank_in_degrees(const struct pagerank_matrix *m, uint32_t *ret)
{
	#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t c = 0; c < m->n_steps * m->n_lanes + m->n_tails; c++) {
		uint32_t row = m->cells[c].row_begin;

		for (uint32_t i = m->cells[c].run_begin; i < m->cells[c].run_end; i++)
			for (uint32_t k = 0; k < m->runs[i].n_rows; k++, row++)
				ret[m->node[row]] = m->runs[i].length +
					(row < m->n_core && pagerank_has_loop(m, row));
	}
}

uint64_t pagerank_loops(const struct pagerank_matrix *m)
{
	return m->n_loops;
}

void pagerank_free(struct pagerank_matrix *m)
{
	size_t core_size;

	if (!m)
		return;
	core_size = ((size_t)m->n_core + 1) * sizeof(uint32_t);
	mem_big_free(m->node, ((size_t)m->n + 1) * sizeof *m->node);
	mem_big_free(m->degree, core_size);
	mem_big_free(m->core_degree, core_size);
	mem_big_free(m->links, (m->n_row_links + 1) * sizeof *m->links);
	free(m->runs);
	free(m->loops);
	free(m->snapped);
	free(m->cells);
	free(m);
}
