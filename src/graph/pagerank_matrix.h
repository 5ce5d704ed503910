/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagerank_matrix.h - the graph laid out for PageRank; private to pagerank*.c.
 *
 * Rows.  A row holds the nodes that link to one node.  Nodes with out-links, the
 * core, come first; the others (dangling) feed nobody, so their rows are read
 * once, at the end.  A link always comes from the core.
 *
 * Runs.  Within small windows rows are sorted by length, and rows of one length
 * make a run: the loop over a row then ends where the processor expects it, and
 * the work on many rows overlaps.  (Eight rows side by side, interleaved, were
 * tried: no faster, and as they cannot see each other's new values, half as many
 * passes more on cnr-2000, where pages of one template link to one another.)
 *
 * Cells.  A sweep is Gauss-Seidel: new values are used as soon as they are
 * there.  To be the same for any number of threads, the core is cut into
 * STEPS x LANES cells whatever the machine: cells of one step run at the same
 * time, steps one after the other.  Inside a cell, and from earlier steps, a row
 * sees new values; what it needs from another cell of its own step it reads
 * from a snapshot, which each cell renews one step later.
 */
#ifndef GRAPH_PAGERANK_MATRIX_H
#define GRAPH_PAGERANK_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"

#define LANES_MAX 8u
#define STEPS_MAX 8u
#define SNAP_BLOCK 64u                  /* rows whose snapshots are renewed together */
#define TAIL_CELLS 64u                  /* cells of the dangling rows */

struct pagerank_run { uint32_t length, n_rows; };

struct pagerank_cell {
	uint64_t link_begin;
	uint32_t row_begin, row_end;
	uint32_t run_begin, run_end;
};

struct pagerank_matrix {
	uint32_t n, n_core;
	uint32_t *node;                 /* row -> node */
	uint32_t *degree;               /* by core row: out-links of its node */
	uint32_t *core_degree;          /* those of them that end in the core */
	uint8_t *loops;                 /* bit per core row: links to itself */
	struct pagerank_run *runs;
	uint32_t *links;                /* rows, or snapshots (n_core + row) */
	uint8_t *snapped;               /* by row / SNAP_BLOCK: some row there has a snapshot */
	struct pagerank_cell *cells;    /* n_steps * n_lanes, then n_tails */
	uint32_t n_steps, n_lanes, n_tails;
	size_t n_runs;
	uint64_t n_row_links;           /* in links: all but loops of the core */
	uint64_t n_loops;
	double back_share;              /* share of links whose value is one sweep old */
	bool relabelled;
};

static inline bool pagerank_has_loop(const struct pagerank_matrix *m, uint32_t row)
{
	return m->loops[row >> 3] >> (row & 7) & 1;
}

/* What a cell adds up; vectors of them are added in the order of the cells. */
struct pagerank_sums {
	double change;                  /* L1, of y */
	double balance;                 /* sum of y less what links bring back */
};

/* shares: n_vectors values per core row, then of its snapshot: y / degree.
 * scale[k] * teleport is what a row gets apart from its links. */
struct pagerank_sweep {
	const struct pagerank_matrix *m;
	unsigned n_vectors;
	double damping;
	double *shares;
	const double *const *teleports; /* by node; NULL: 1 / n */
	double *scale;
	struct pagerank_sums *sums;     /* n_vectors for each cell of the matrix */
	unsigned threads;
};

void pagerank_sweep(const struct pagerank_sweep *s);
/* Bring all snapshots up to date. */
void pagerank_renew(const struct pagerank_sweep *s);
/* For every row, tails too: the sum of the shares of its links, to out[k][node]. */
void pagerank_gather(const struct pagerank_sweep *s, double *const *out);

#endif
