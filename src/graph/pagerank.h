/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagerank.h - PageRank of a graph of out-links.
 *
 *   rank = d * sum over links into v of rank(u) / outdegree(u)
 *        + d * (rank of dangling nodes) * dangling(v) + (1 - d) * teleport(v)
 *
 * The ranks of the result sum to 1, except with PAGERANK_DROP, where what
 * dangling nodes hold goes nowhere (LiveRank's form).  The result does not
 * depend on the number of threads, to the last bit.
 *
 *   struct pagerank_opts o = PAGERANK_DEFAULTS;
 *   pagerank(&g, &o, rank, &result);
 *
 * Where several vectors of one graph are wanted, one after the other or side by
 * side, pagerank_prepare() does once what depends on the graph only.
 */
#ifndef GRAPH_PAGERANK_H
#define GRAPH_PAGERANK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "graph/graph.h"
#include "graph/graph_pack.h"

enum pagerank_dangling {
	PAGERANK_UNIFORM,       /* dangling mass goes to every node alike */
	PAGERANK_TELEPORT,      /* ... where the teleport vector says */
	PAGERANK_DROP,          /* ... nowhere: ranks sum to less than 1 */
};

struct pagerank_opts {
	double damping;                 /* 0 <= d < 1 */
	double tolerance;               /* L1 norm of the residual */
	unsigned max_iterations;
	enum pagerank_dangling dangling;
	const double *teleport;         /* sums to 1, none negative; NULL: uniform */
	bool warm_start;                /* rank holds a first guess */
	unsigned threads;               /* 0: as OpenMP has it */
};
#define PAGERANK_DEFAULTS \
	{ .damping = 0.85, .tolerance = 1e-9, .max_iterations = 300 }

struct pagerank_result {
	unsigned iterations;            /* passes over the links */
	double residual;                /* L1, of the vector returned */
	bool converged;
};

#define PAGERANK_VECTORS_MAX 8

/* E_USAGE: an option out of range; E_FAIL: a teleport vector that is not one. */
MUST_CHECK int pagerank(const struct graph *out, const struct pagerank_opts *opts,
                        double *rank, struct pagerank_result *ret, struct err *err);
/* n_vectors at once: teleports[k] (NULL: uniform) gives ranks[k]; opts->teleport
 * is not used.  results: n_vectors of them. */
MUST_CHECK int pagerank_many(const struct graph *out, const struct pagerank_opts *opts,
                             unsigned n_vectors, const double *const *teleports,
                             double *const *ranks, struct pagerank_result *results,
                             struct err *err);

/* The same in the order of the file: the graph is not laid out anew, which takes
 * pagerank_memory() bytes, but its rows are read once a pass, from `pack` or behind that from
 * the graph.  PAGERANK_STREAM_NODE bytes a node are needed, `rank` included.  For a mapped
 * graph larger than memory.  opts->teleport must be NULL. */
#define PAGERANK_STREAM_NODE 25u
MUST_CHECK int pagerank_stream(const struct graph_pack *pack, const struct pagerank_opts *opts,
                               double *rank, struct pagerank_result *ret, struct err *err);
/* What pagerank() allocates for one vector, its result included. */
uint64_t pagerank_memory(const struct graph *out);

struct pagerank_matrix;

struct pagerank_matrix *pagerank_prepare(const struct graph *out);
/* Links into each node of the graph, n_nodes numbers. */
void pagerank_in_degrees(const struct pagerank_matrix *m, uint32_t *ret);
/* Links of nodes to themselves. */
uint64_t pagerank_loops(const struct pagerank_matrix *m);
void pagerank_free(struct pagerank_matrix *m);          /* NULL is fine */
MUST_CHECK int pagerank_solve(const struct pagerank_matrix *m,
                              const struct pagerank_opts *opts, unsigned n_vectors,
                              const double *const *teleports, double *const *ranks,
                              struct pagerank_result *results, struct err *err);

#endif
