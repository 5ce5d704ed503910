/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagerank.c - PageRank by power iteration over in-links; see pagerank.h.
 *
 * Sums are taken over fixed blocks of nodes and the blocks added in order, so
 * that the result is the same for any number of threads.
 */
#include "graph/pagerank.h"

#include <math.h>

#include "base/mem.h"

#define BLOCK 4096u

struct pagerank_matrix {
	const struct graph *out;
	struct graph in;
};

struct pagerank_matrix *pagerank_prepare(const struct graph *out)
{
	struct pagerank_matrix *m = mem_zalloc(1, sizeof *m);

	m->out = out;
	graph_transpose(out, &m->in);
	return m;
}

void pagerank_free(struct pagerank_matrix *m)
{
	if (!m)
		return;
	graph_release(&m->in);
	free(m);
}

static int check_opts(const struct pagerank_matrix *m, const struct pagerank_opts *o,
                      unsigned n_vectors, const double *const *teleports, struct err *err)
{
	if (!(o->damping >= 0 && o->damping < 1))
		return err_set(err, E_USAGE, "damping %g: must be in [0, 1)", o->damping);
	if (!(o->tolerance > 0))
		return err_set(err, E_USAGE, "tolerance %g: must be above 0", o->tolerance);
	if (n_vectors < 1 || n_vectors > PAGERANK_VECTORS_MAX)
		return err_set(err, E_USAGE, "%u vectors: 1 to %d at once", n_vectors,
		               PAGERANK_VECTORS_MAX);
	for (unsigned k = 0; k < n_vectors; k++) {
		double sum = 0;

		if (!teleports[k])
			continue;
		for (uint32_t v = 0; v < m->in.n_nodes; v++) {
			if (!(teleports[k][v] >= 0))
				return err_set(err, E_FAIL, "teleport of node %u is %g", v,
				               teleports[k][v]);
			sum += teleports[k][v];
		}
		if (m->in.n_nodes && fabs(sum - 1) > 1e-6)
			return err_set(err, E_FAIL, "teleport vector sums to %g, not 1", sum);
	}
	return 0;
}

struct sums { double change, dangling; };

/* One block of nodes: new ranks from the shares; its part of the sums. */
static struct sums iterate_block(const struct pagerank_matrix *m, double d, uint32_t begin,
                                 uint32_t end, const double *teleport, double spread,
                                 double spread_by_teleport, const double *share,
                                 double *rank)
{
	struct sums s = { 0, 0 };

	for (uint32_t v = begin; v < end; v++) {
		double t = teleport ? teleport[v] : 1.0 / m->in.n_nodes, sum = 0, r;

		for (uint64_t i = m->in.offsets[v]; i < m->in.offsets[v + 1]; i++)
			sum += share[m->in.targets[i]];
		r = d * sum + spread + spread_by_teleport * t;
		s.change += fabs(r - rank[v]);
		rank[v] = r;
		if (graph_degree(m->out, v) == 0)
			s.dangling += r;
	}
	return s;
}

static void make_shares(const struct pagerank_matrix *m, const double *rank, double *share)
{
	#pragma omp parallel for schedule(static)
	for (uint32_t v = 0; v < m->in.n_nodes; v++) {
		uint64_t degree = graph_degree(m->out, v);

		share[v] = degree ? rank[v] / (double)degree : 0;
	}
}

static void solve_one(const struct pagerank_matrix *m, const struct pagerank_opts *o,
                      const double *teleport, double *rank, struct pagerank_result *ret)
{
	uint32_t n = m->in.n_nodes, n_blocks = n / BLOCK + 1;
	double *share = mem_array(n + 1, sizeof *share);
	struct sums *parts = mem_zalloc(n_blocks, sizeof *parts);
	double dangling = 0, d = o->damping;

	*ret = (struct pagerank_result){ .residual = INFINITY };
	for (uint32_t v = 0; v < n; v++) {
		if (!o->warm_start)
			rank[v] = teleport ? teleport[v] : 1.0 / n;
		if (graph_degree(m->out, v) == 0)
			dangling += rank[v];
	}
	while (!ret->converged && ret->iterations < o->max_iterations) {
		double uniform = o->dangling == PAGERANK_UNIFORM ? d * dangling / n : 0;
		double by_teleport = 1 - d + (o->dangling == PAGERANK_TELEPORT ? d * dangling : 0);

		make_shares(m, rank, share);
		#pragma omp parallel for schedule(dynamic, 1)
		for (uint32_t b = 0; b < n_blocks; b++)
			parts[b] = iterate_block(m, d, b * BLOCK,
				b + 1 < n_blocks ? (b + 1) * BLOCK : n, teleport,
				uniform, by_teleport, share, rank);
		ret->residual = dangling = 0;
		for (uint32_t b = 0; b < n_blocks; b++) {
			ret->residual += parts[b].change;
			dangling += parts[b].dangling;
		}
		ret->iterations++;
		ret->converged = ret->residual <= o->tolerance;
	}
	free(share);
	free(parts);
}

int pagerank_solve(const struct pagerank_matrix *m, const struct pagerank_opts *opts,
                   unsigned n_vectors, const double *const *teleports,
                   double *const *ranks, struct pagerank_result *results, struct err *err)
{
	int r = check_opts(m, opts, n_vectors, teleports, err);

	for (unsigned k = 0; !r && k < n_vectors; k++)
		solve_one(m, opts, teleports[k], ranks[k], &results[k]);
	return r;
}

int pagerank_many(const struct graph *out, const struct pagerank_opts *opts,
                  unsigned n_vectors, const double *const *teleports,
                  double *const *ranks, struct pagerank_result *results, struct err *err)
{
	struct pagerank_matrix *m = pagerank_prepare(out);
	int r = pagerank_solve(m, opts, n_vectors, teleports, ranks, results, err);

	pagerank_free(m);
	return r;
}

int pagerank(const struct graph *out, const struct pagerank_opts *opts, double *rank,
             struct pagerank_result *ret, struct err *err)
{
	return pagerank_many(out, opts, 1, &opts->teleport, &rank, ret, err);
}
