/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagerank_place.c - puts links into rows through buckets; see pagerank_plan.h.
 *
 * For a graph whose numbers say nothing, where a link's row may be anywhere: written at once,
 * each link would bring in a line of memory of its own.  So links go into buckets first; a
 * bucket is up to 16,384 neighbouring rows.  Buckets lie where their rows will, in the
 * array of links, and grow from their beginnings, one growing end for each part; beside each
 * link stands the row that it belongs to, in 2 bytes.  Then each bucket, which the cache
 * holds, is sorted by row: what came first stays first.
 */
#include "base/mem.h"
#include "graph/pagerank_plan.h"

#define BUCKET_ROWS 16384u      /* a power of two */
#define AHEAD 24u               /* links between the asking for a row's number and its use */

struct bucket {
	uint64_t begin, end;            /* in the array of links */
	uint32_t first_row, cell;
};

struct buckets {
	struct bucket *all;
	uint32_t n;
	uint32_t *of_block;             /* by CELL_ALIGN rows, counted by block_of() */
	uint64_t *heads[PARTS];         /* by bucket: where the part's next link goes */
	uint16_t *row;                  /* by link: its row % BUCKET_ROWS */
	uint32_t pad;                   /* so that the dangling rows begin a block, too */
};

static inline uint32_t block_of(const struct buckets *b, uint32_t n_core, uint32_t row)
{
	return (row + (row >= n_core ? b->pad : 0)) / CELL_ALIGN;
}

/* The buckets of a cell, and how much of each is of the first part. */
static void add_cell(struct buckets *b, const struct pagerank_plan *p, uint32_t number)
{
	const struct pagerank_matrix *m = p->m;
	const struct pagerank_cell *cell = &m->cells[number];

	for (uint32_t r = cell->row_begin, end; r < cell->row_end; r = end) {
		struct bucket *now = &b->all[b->n];
		uint64_t of_first = 0;

		end = cell->row_end - r < BUCKET_ROWS ? cell->row_end : r + BUCKET_ROWS;
		*now = (struct bucket){ .begin = cell->link_begin + p->slot[0][m->node[r]],
		                        .first_row = r, .cell = number };
		for (uint32_t i = r; i < end; i++)
			of_first += p->slot[1][m->node[i]] - p->slot[0][m->node[i]];
		for (uint32_t i = r; i < end; i += CELL_ALIGN)
			b->of_block[block_of(b, m->n_core, i)] = b->n;
		b->heads[0][b->n] = now->begin;
		b->heads[1][b->n] = now->begin + of_first;
		b->n++;
	}
}

static void make_buckets(struct buckets *b, const struct pagerank_plan *p)
{
	const struct pagerank_matrix *m = p->m;
	uint32_t n_cells = m->n_steps * m->n_lanes + m->n_tails;
	uint32_t most = n_cells + m->n / BUCKET_ROWS + 1;

	*b = (struct buckets){ .pad = -m->n_core % CELL_ALIGN };
	b->all = mem_array(most + 1, sizeof *b->all);
	b->of_block = mem_array(m->n / CELL_ALIGN + 3, sizeof *b->of_block);
	for (unsigned part = 0; part < PARTS; part++)
		b->heads[part] = mem_array(most, sizeof *b->heads[part]);
	for (uint32_t c = 0; c < n_cells; c++)
		add_cell(b, p, c);
	for (uint32_t i = 0; i < b->n; i++)
		b->all[i].end = i + 1 < b->n ? b->all[i + 1].begin : m->n_row_links;
	b->row = mem_big((m->n_row_links + 1) * sizeof *b->row);
}

struct filling {
	const struct pagerank_plan *p;
	const struct buckets *b;
	const uint32_t *row_of;
	uint64_t *heads;
	uint64_t back, all;
};

/* Put the links of a node into buckets.  True if a row there reads the node's snapshot. */
static bool fill_from(struct filling *f, uint32_t row, uint32_t v)
{
	struct pagerank_matrix *m = f->p->m;
	const struct buckets b = *f->b;
	const uint32_t *row_of = f->row_of, n_core = m->n_core, n_lanes = m->n_lanes;
	uint32_t cell = b.all[b.of_block[block_of(&b, n_core, row)]].cell;
	uint32_t step_begin = cell / n_lanes * n_lanes, read = 0, in_core = 0;
	uint32_t *to_links = m->links;
	uint64_t n, *heads = f->heads;
	bool loop = pagerank_has_loop(m, row), sampled = v % PLACE_SAMPLE == 0;
	const uint32_t *links = graph_links(f->p->g, v, &n);

	for (uint64_t i = 0; i < n; i++) {
		uint32_t to = row_of[links[i]], bucket = b.of_block[block_of(&b, n_core, to)];
		uint32_t its_cell = b.all[bucket].cell, snapshot;
		uint64_t at;

		__builtin_prefetch(&row_of[links[i + AHEAD < n ? i + AHEAD : n - 1]]);
		in_core += to < n_core;
		snapshot = (its_cell - step_begin < n_lanes) & (its_cell != cell);
		if (sampled && to < n_core) {
			f->all++;
			f->back += to != row && (to < row || snapshot);
		}
		if (to == row && loop) {
			loop = false;
			continue;
		}
		read |= snapshot;
		at = heads[bucket]++;
		to_links[at] = row + snapshot * n_core;
		b.row[at] = (uint16_t)(to % BUCKET_ROWS);
	}
	m->core_degree[row] = in_core;
	return read;
}

static void fill_part(struct filling *f, unsigned part)
{
	const struct pagerank_plan *p = f->p;
	struct pagerank_matrix *m = p->m;

	for (uint32_t row = 0; row < m->n_core; row++) {
		uint32_t v = m->node[row];

		if (row + 2 * ROWS_AHEAD < m->n_core) {
			__builtin_prefetch(&p->g->offsets[m->node[row + 2 * ROWS_AHEAD]]);
			__builtin_prefetch(&p->g->targets[p->g->offsets[m->node[row + ROWS_AHEAD]]]);
		}
		if (v >= p->part_begin[part] && v < p->part_begin[part + 1] && fill_from(f, row, v))
			__atomic_store_n(&m->snapped[row / SNAP_BLOCK], 1, __ATOMIC_RELAXED);
	}
}

/* By row, first come first. */
static void sort_bucket(const struct buckets *b, uint32_t number, uint32_t *links, uint32_t *at,
                        uint32_t *spare)
{
	const struct bucket *bucket = &b->all[number];
	const uint16_t *row = b->row + bucket->begin;
	size_t n = bucket->end - bucket->begin;
	uint32_t sum = 0;

	memset(at, 0, BUCKET_ROWS * sizeof *at);
	for (size_t i = 0; i < n; i++)
		at[row[i]]++;
	for (uint32_t r = 0; r < BUCKET_ROWS; r++) {
		uint32_t *head = &at[(bucket->first_row + r) % BUCKET_ROWS], count = *head;

		*head = sum;
		sum += count;
	}
	links += bucket->begin;
	memcpy(spare, links, n * sizeof *links);
	for (size_t i = 0; i < n; i++)
		links[at[row[i]]++] = spare[i];
}

static void sort_buckets(const struct buckets *b, uint32_t *links)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < b->n; i++)
		if (b->all[i].end - b->all[i].begin > most)
			most = b->all[i].end - b->all[i].begin;
	#pragma omp parallel
	{
		uint32_t *at = mem_array(BUCKET_ROWS, sizeof *at);
		uint32_t *spare = mem_big((most + 1) * sizeof *spare);

		#pragma omp for schedule(dynamic, 1)
		for (uint32_t i = 0; i < b->n; i++)
			sort_bucket(b, i, links, at, spare);
		mem_big_free(spare, (most + 1) * sizeof *spare);
		free(at);
	}
}

void pagerank_place_far(struct pagerank_plan *p, const uint32_t *row_of)
{
	struct pagerank_matrix *m = p->m;
	uint64_t back = 0, all = 0;
	struct buckets b;

	make_buckets(&b, p);
	pagerank_forget_slots(p);
	#pragma omp parallel for schedule(static, 1) reduction(+:back, all)
	for (unsigned part = 0; part < PARTS; part++) {
		struct filling f = { .p = p, .b = &b, .row_of = row_of, .heads = b.heads[part] };

		fill_part(&f, part);
		back += f.back;
		all += f.all;
	}
	m->back_share = all ? (double)back / (double)all : 0;
	sort_buckets(&b, m->links);
	mem_big_free(b.row, (m->n_row_links + 1) * sizeof *b.row);
	for (unsigned part = 0; part < PARTS; part++)
		free(b.heads[part]);
	free(b.of_block);
	free(b.all);
}
