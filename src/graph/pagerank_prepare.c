/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagerank_prepare.c - lays a graph out for PageRank; see pagerank_matrix.h.
 *
 * Order of the rows.  A crawl numbered by URL has most links between close
 * numbers; that order is kept, because the values a row needs are then in the
 * cache.  If the numbers say nothing (fewer than a third of the links stay near),
 * nodes are renumbered by out-degree, in classes of powers of two: the few that
 * are read most share a few cache lines, and a sweep that begins with them needs
 * fewer passes.  Measured in docs/graphs.md.
 *
 * Cost.  Three passes over the links; 4 bytes a link for the result and at most
 * 24 bytes a node on the way.
 */
#include "graph/pagerank.h"

#include <omp.h>

#include "base/mem.h"
#include "graph/pagerank_matrix.h"

#define WINDOW 1024u            /* rows that are sorted by length together */
#define LENGTH_CLASSES 4096u
#define CELL_ALIGN 256u         /* cells begin at multiples of so many rows */
#define SMALL_LINKS 65536u      /* with fewer links: one cell, no threads */
#define NEAR_SHARE 0.33

struct plan {
	const struct graph *g;
	struct pagerank_matrix *m;
	uint32_t *row_of;               /* node -> row */
	uint32_t *length;               /* by node: links into it, one loop left out */
	uint64_t *slot;                 /* by row: where its next link goes */
	uint8_t *cell_at;               /* by row / CELL_ALIGN: its cell; core only */
};

static unsigned log2_of(uint64_t v)
{
	return 63 - (unsigned)__builtin_clzll(v | 1);
}

/* Links into each node; threads count disjoint ranges of nodes. */
static void count_lengths(struct plan *p)
{
	const struct graph *g = p->g;

	#pragma omp parallel if (g->n_links >= SMALL_LINKS)
	{
		uint64_t t = (uint64_t)omp_get_thread_num(), n_t = (uint64_t)omp_get_num_threads();
		uint32_t low = (uint32_t)(g->n_nodes * t / n_t);
		uint32_t high = (uint32_t)(g->n_nodes * (t + 1) / n_t);

		for (uint64_t i = 0; i < g->n_links; i++)
			if (g->targets[i] >= low && g->targets[i] < high)
				p->length[g->targets[i]]++;
	}
}

static bool has_loop(const struct graph *g, uint32_t v)
{
	uint64_t low = g->offsets[v], high = g->offsets[v + 1];

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (g->targets[mid] < v)
			low = mid + 1;
		else
			high = mid;
	}
	return low < g->offsets[v + 1] && g->targets[low] == v;
}

/* Do links mostly stay near?  Every 61st node is asked. */
static bool is_local(const struct graph *g)
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

static void sort_windows(struct plan *p, uint32_t begin, uint32_t end, uint32_t window)
{
	uint32_t n_windows = (end - begin + window - 1) / window;

	#pragma omp parallel for schedule(dynamic, 16) if (n_windows > 16)
	for (uint32_t w = 0; w < n_windows; w++) {
		uint32_t spare[WINDOW], first = begin + w * window;
		uint32_t n = end - first < window ? end - first : window;

		sort_by_length(p->m->node + first, n, p->length, spare);
	}
}

/* Core nodes in classes of out-degree, high ones first, each class by length. */
static void order_by_degree(struct plan *p)
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
	for (unsigned c = 0; c < 64; c++)
		sort_by_length(m->node + borders[c], borders[c + 1] - borders[c], p->length,
		               old);
	free(old);
}

/* Core first, the dangling behind it, both in the order of their numbers. */
static void split_core(struct plan *p)
{
	struct pagerank_matrix *m = p->m;
	uint32_t tail;

	for (uint32_t v = 0; v < m->n; v++)
		if (graph_degree(p->g, v))
			m->node[m->n_core++] = v;
	tail = m->n_core;
	for (uint32_t v = 0; v < m->n; v++)
		if (!graph_degree(p->g, v))
			m->node[tail++] = v;
}

/* Cut rows begin .. end into n cells of about the same work; cells[where[i]]. */
static void cut_cells(struct plan *p, uint32_t begin, uint32_t end, uint32_t n,
                      uint32_t align, struct pagerank_cell *cells, const uint32_t *where)
{
	uint64_t work = 0, done = 0;
	uint32_t cell = 0;

	for (uint32_t i = begin; i < end; i++)
		work += p->length[p->m->node[i]] + 4;
	cells[where[0]].row_begin = begin;
	for (uint32_t i = begin; i < end; i++) {
		done += p->length[p->m->node[i]] + 4;
		if ((i + 1 - begin) % align == 0 && cell + 1 < n &&
		    done >= work / n * (cell + 1)) {
			cells[where[cell]].row_end = i + 1;
			cells[where[++cell]].row_begin = i + 1;
		}
	}
	cells[where[cell]].row_end = end;
	while (++cell < n)
		cells[where[cell]].row_begin = cells[where[cell]].row_end = end;
}

static void make_cells(struct plan *p)
{
	struct pagerank_matrix *m = p->m;
	uint32_t n = m->n_steps * m->n_lanes, where[LANES_MAX * STEPS_MAX + TAIL_CELLS] = { 0 };

	m->cells = mem_zalloc(n + m->n_tails, sizeof *m->cells);
	/* a lane runs through neighbouring rows if those are linked; if not, a
	 * step takes neighbouring ranks, best first */
	for (uint32_t i = 0; i < n; i++)
		where[i] = m->relabelled ? i : i % m->n_steps * m->n_lanes + i / m->n_steps;
	cut_cells(p, 0, m->n_core, n, CELL_ALIGN, m->cells, where);
	for (uint32_t i = 0; i < m->n_tails; i++)
		where[i] = i;
	cut_cells(p, m->n_core, m->n, m->n_tails, 1, m->cells + n, where);
	p->cell_at = mem_zalloc(m->n_core / CELL_ALIGN + 1, 1);
	for (uint32_t c = 0; c < n; c++)
		for (uint32_t r = m->cells[c].row_begin; r < m->cells[c].row_end; r += CELL_ALIGN)
			p->cell_at[r / CELL_ALIGN] = (uint8_t)c;
}

/* Rows of equal length in a row are a run; gives every row its first slot. */
static void make_runs(struct plan *p, struct pagerank_cell *cell)
{
	struct pagerank_matrix *m = p->m;

	cell->run_begin = (uint32_t)m->n_runs;
	cell->link_begin = m->n_row_links;
	for (uint32_t r = cell->row_begin; r < cell->row_end; r++) {
		uint32_t l = p->length[m->node[r]];

		if (m->n_runs == cell->run_begin || m->runs[m->n_runs - 1].length != l) {
			mem_grow((void **)&m->runs, &m->runs_cap, m->n_runs + 1, sizeof *m->runs);
			m->runs[m->n_runs++] = (struct pagerank_run){ .length = l };
		}
		m->runs[m->n_runs - 1].n_rows++;
		p->slot[r] = m->n_row_links;
		m->n_row_links += l;
	}
	cell->run_end = (uint32_t)m->n_runs;
}

static bool reads_snapshot(const struct plan *p, uint32_t from, uint32_t to)
{
	uint32_t a = p->cell_at[from / CELL_ALIGN], b = p->cell_at[to / CELL_ALIGN];

	return a != b && a / p->m->n_lanes == b / p->m->n_lanes;
}

/* Links that end in the core, and which rows need a snapshot: its number, or
 * the row itself, goes to snap_at. */
static void look_at_links(struct plan *p, uint32_t *snap_at)
{
	struct pagerank_matrix *m = p->m;
	uint64_t back = 0, all = 0;
	uint32_t n = m->n_steps * m->n_lanes;

	#pragma omp parallel for schedule(dynamic, 4096) reduction(+:back, all) \
		if (p->g->n_links >= SMALL_LINKS)
	for (uint32_t r = 0; r < m->n_core; r++) {
		uint64_t n_links;
		const uint32_t *links = graph_links(p->g, m->node[r], &n_links);
		bool snap = false;
		uint32_t in_core = 0;

		for (uint64_t i = 0; i < n_links; i++) {
			uint32_t to = p->row_of[links[i]];

			if (to >= m->n_core)
				continue;
			in_core++;
			if (to == r)
				continue;
			if (reads_snapshot(p, r, to)) {
				snap = true;
				back++;
			} else {
				back += to < r;
			}
		}
		m->core_degree[r] = in_core;
		snap_at[r] = snap;
		all += in_core;
	}
	for (uint32_t c = 0; c < n; c++) {
		m->cells[c].snap_begin = m->n_snaps;
		for (uint32_t r = m->cells[c].row_begin; r < m->cells[c].row_end; r++)
			snap_at[r] = snap_at[r] ? m->n_core + m->n_snaps++ : r;
		m->cells[c].snap_end = m->n_snaps;
	}
	m->snap_row = mem_big(((size_t)m->n_snaps + 1) * sizeof *m->snap_row);
	for (uint32_t r = 0; r < m->n_core; r++)
		if (snap_at[r] != r)
			m->snap_row[snap_at[r] - m->n_core] = r;
	m->back_share = all ? (double)back / (double)all : 0;
}

/* Put every link into its row; each thread fills its own range of rows. */
static void place_links(struct plan *p, const uint32_t *snap_at)
{
	struct pagerank_matrix *m = p->m;

	#pragma omp parallel if (p->g->n_links >= SMALL_LINKS)
	{
		uint64_t t = (uint64_t)omp_get_thread_num(), n_t = (uint64_t)omp_get_num_threads();
		uint32_t low = (uint32_t)(m->n * t / n_t), high = (uint32_t)(m->n * (t + 1) / n_t);

		for (uint32_t r = 0; r < m->n_core; r++) {
			uint64_t n_links;
			const uint32_t *links = graph_links(p->g, m->node[r], &n_links);
			bool loop = pagerank_has_loop(m, r);

			for (uint64_t i = 0; i < n_links; i++) {
				uint32_t to = p->row_of[links[i]];

				if (to < low || to >= high)
					continue;
				if (to == r && loop) {
					loop = false;
					continue;
				}
				m->links[p->slot[to]++] = to < m->n_core &&
					reads_snapshot(p, r, to) ? snap_at[r] : r;
			}
		}
	}
}

static void fill_links(struct plan *p)
{
	struct pagerank_matrix *m = p->m;

	look_at_links(p, m->degree);            /* first used as snap_at */
	m->links = mem_big((m->n_row_links + 1) * sizeof *m->links);
	place_links(p, m->degree);
	#pragma omp parallel for schedule(static) if (p->g->n_links >= SMALL_LINKS)
	for (uint32_t r = 0; r < m->n_core; r++)
		m->degree[r] = (uint32_t)graph_degree(p->g, m->node[r]);
}

static void order_rows(struct plan *p)
{
	struct pagerank_matrix *m = p->m;
	uint32_t n_cells;

	split_core(p);
	if (p->g->n_links < SMALL_LINKS) {
		m->n_steps = m->n_lanes = m->n_tails = 1;
	} else {
		m->relabelled = !is_local(p->g);
		m->n_steps = m->relabelled ? STEPS_MAX : 2;
		/* snapshots are numbered behind the core, in 32 bits */
		m->n_lanes = m->n_core > UINT32_MAX / 2 ? 1 : LANES_MAX;
		m->n_tails = TAIL_CELLS;
	}
	if (m->relabelled)
		order_by_degree(p);
	make_cells(p);
	n_cells = m->n_steps * m->n_lanes + m->n_tails;
	for (uint32_t c = 0; c < n_cells; c++)
		if (!m->relabelled || c >= n_cells - m->n_tails)
			sort_windows(p, m->cells[c].row_begin, m->cells[c].row_end, WINDOW);
	for (uint32_t c = 0; c < n_cells; c++)
		make_runs(p, &m->cells[c]);
}

struct pagerank_matrix *pagerank_prepare(const struct graph *out)
{
	struct pagerank_matrix *m = mem_zalloc(1, sizeof *m);
	struct plan p = { .g = out, .m = m };
	size_t rows_size = ((size_t)out->n_nodes + 1) * sizeof(uint32_t);

	m->n = out->n_nodes;
	m->node = mem_big(rows_size);
	p.length = mem_big(rows_size);
	p.slot = mem_big(rows_size * 2);
	count_lengths(&p);
	#pragma omp parallel for schedule(static) if (out->n_links >= SMALL_LINKS)
	for (uint32_t v = 0; v < m->n; v++)
		if (has_loop(out, v))
			p.length[v]--;
	order_rows(&p);
	mem_big_free(p.length, rows_size);
	p.row_of = mem_big(rows_size);
	#pragma omp parallel for schedule(static) if (out->n_links >= SMALL_LINKS)
	for (uint32_t r = 0; r < m->n; r++)
		p.row_of[m->node[r]] = r;
	m->degree = mem_big(((size_t)m->n_core + 1) * sizeof *m->degree);
	m->core_degree = mem_big(((size_t)m->n_core + 1) * sizeof *m->core_degree);
	m->loops = mem_zalloc(m->n_core / 8 + 1, 1);
	for (uint32_t r = 0; r < m->n_core; r++)
		if (has_loop(out, m->node[r]))
			m->loops[r >> 3] |= (uint8_t)(1 << (r & 7));
	fill_links(&p);
	mem_big_free(p.row_of, rows_size);
	mem_big_free(p.slot, rows_size * 2);
	free(p.cell_at);
	return m;
}

void pagerank_free(struct pagerank_matrix *m)
{
	if (!m)
		return;
	mem_big_free(m->node, ((size_t)m->n + 1) * sizeof *m->node);
	mem_big_free(m->degree, ((size_t)m->n_core + 1) * sizeof *m->degree);
	mem_big_free(m->core_degree, ((size_t)m->n_core + 1) * sizeof *m->core_degree);
	mem_big_free(m->links, (m->n_row_links + 1) * sizeof *m->links);
	mem_big_free(m->snap_row, ((size_t)m->n_snaps + 1) * sizeof *m->snap_row);
	free(m->runs);
	free(m->loops);
	free(m->cells);
	free(m);
}
