/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagerank_stream.c - PageRank in the order of the file, for graphs larger than memory.
 *
 * The system is that of pagerank.c: y = d A'y + scale t, t uniform.  What is wrong with y is
 * kept beside it: r = d A'y + scale t - y.  A pass goes through the nodes in order.  It adds
 * r(v) to y(v) and gives d r(v) to the nodes that v links to, in equal shares.  So every row
 * of out-links is read once, one after the other; only y and r are visited at random.  This
 * is Gauss-Seidel, too: a node passes on what it got in the same pass, and what it gives to
 * itself is reckoned with.
 *
 * After a pass `scale` is set so that r sums to 0 over the core, as pagerank.c does.  Nodes
 * without links pass nothing on, so what they got is taken at once.
 *
 * The end needs no pass of its own.  With R the sum of r and Y that of y, x = y / Y has
 * G(x) - x = (r - R t) / Y, dangling mass going everywhere; where it is dropped,
 * x = (1 - d) y / scale has the residual (1 - d) r / scale.
 */
#include <math.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "graph/pagerank.h"

#define AHEAD 16u               /* links between the fetching of a line and its use */

struct stream {
	const struct graph *g;
	double damping;
	double *y, *r;
	double scale;
};

static void pass(struct stream *s)
{
	const struct graph *g = s->g;
	double *r = s->r;

	for (uint32_t v = 0; v < g->n_nodes; v++) {
		uint64_t i = g->offsets[v], end = g->offsets[v + 1];
		double each, more, share;
		uint32_t loops = 0;

		if (i == end)
			continue;
		for (uint64_t k = i; k < end; k++)
			loops += g->targets[k] == v;
		each = s->damping / (double)(end - i);
		more = r[v] / (1 - each * loops);       /* what comes back by loops is included */
		s->y[v] += more;
		share = each * more;
		for (; i < end; i++) {
			if (i + AHEAD < g->n_links)
				__builtin_prefetch(&r[g->targets[i + AHEAD]], 1);
			r[g->targets[i]] += share;
		}
		r[v] = 0;
	}
}

/* What r sums to over the core is taken from the teleport, of all nodes alike. */
static void balance(struct stream *s)
{
	const struct graph *g = s->g;
	double sum = 0, each;
	uint32_t n_core = 0;

	for (uint32_t v = 0; v < g->n_nodes; v++) {
		if (!graph_degree(g, v))
			continue;
		sum += s->r[v];
		n_core++;
	}
	each = n_core ? sum / n_core : 0;
	if (!(s->scale - each * g->n_nodes > 0))
		each = 0;
	s->scale -= each * g->n_nodes;
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		s->r[v] -= each;
		if (!graph_degree(g, v)) {
			s->y[v] += s->r[v];
			s->r[v] = 0;
		}
	}
}

/* The residual of y made a rank by *ret_factor. */
static double residual(const struct stream *s, bool drop, double *ret_factor)
{
	double wrong = 0, all = 0, sum = 0, each;
	uint32_t n = s->g->n_nodes;

	for (uint32_t v = 0; v < n; v++) {
		all += s->y[v];
		sum += s->r[v];
	}
	each = drop ? 0 : sum / n;
	for (uint32_t v = 0; v < n; v++)
		wrong += fabs(s->r[v] - each);
	*ret_factor = drop ? (1 - s->damping) / s->scale : 1 / all;
	return wrong * *ret_factor;
}

int pagerank_stream(const struct graph *out, const struct pagerank_opts *opts, double *rank,
                    struct pagerank_result *ret, struct err *err)
{
	struct stream s = { .g = out, .damping = opts->damping, .y = rank, .scale = 1 };
	uint32_t n = out->n_nodes;
	size_t size = ((size_t)n + 1) * sizeof *s.r;
	double factor = 1;

	if (opts->teleport || opts->warm_start)
		return err_set(err, E_USAGE, "a graph in the order of its file is ranked from and with "
		               "a uniform teleport only");
	if (!(opts->damping >= 0 && opts->damping < 1) || !(opts->tolerance > 0))
		return err_set(err, E_USAGE, "damping %g: must be in [0, 1); tolerance %g: must be above "
		               "0", opts->damping, opts->tolerance);
	*ret = (struct pagerank_result){ .converged = true };
	if (!n)
		return 0;
	if (out->map)           /* a hint: rows are read ahead, and dropped early */
		(void)!posix_madvise(out->map, out->map_size, POSIX_MADV_SEQUENTIAL);
	s.r = mem_big(size);
	for (uint32_t v = 0; v < n; v++) {
		s.y[v] = 0;
		s.r[v] = 1.0 / n;
	}
	do {
		pass(&s);
		balance(&s);
		ret->residual = residual(&s, opts->dangling == PAGERANK_DROP, &factor);
		ret->converged = ret->residual <= opts->tolerance;
	} while (++ret->iterations < opts->max_iterations && !ret->converged);
	for (uint32_t v = 0; v < n; v++)
		rank[v] *= factor;
	mem_big_free(s.r, size);
	return 0;
}
