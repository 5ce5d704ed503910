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
 * The nodes are two halves (graph_pack.h), which two threads go through; what a half gives to
 * the other one is kept apart (`far`) and arrives after the pass.  So the result is the same
 * for any number of threads, and for any number of packed rows.
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
#define SMALL_LINKS 65536u      /* with fewer links: no threads */

struct stream {
	const struct graph_pack *pack;
	double damping;
	double *y, *r;
	double *far;                    /* for r, of links from the other half */
	uint8_t *core;                  /* by node: has links */
	uint32_t n_core;
	double scale;
	bool threaded;
};

/* Sums over the nodes of a half. */
struct sums { double core, y, r, wrong; };

/* Gives `share` to each link of a row. */
static void give(struct stream *s, const struct graph_rows *rows, double share)
{
	uint32_t begin = rows->half->begin, size = rows->half->end - begin;
	double *to[2] = { s->r, s->far };

	for (uint64_t i = 0; i < rows->n; i++) {
		uint32_t soon = rows->links[i + AHEAD < rows->n ? i + AHEAD : rows->n - 1];
		uint32_t link = rows->links[i];

		__builtin_prefetch(&to[soon - begin >= size][soon], 1);
		to[link - begin >= size][link] += share;
	}
}

static void pass(struct stream *s)
{
	#pragma omp parallel for schedule(static, 1) if (s->threaded)
	for (unsigned i = 0; i < PACK_HALVES; i++) {
		struct graph_rows rows;

		graph_rows_begin(&rows, s->pack, i);
		for (uint32_t v = rows.half->begin; v < rows.half->end; v++) {
			double each, more;

			graph_rows_next(&rows);
			if (!rows.n)
				continue;
			each = s->damping / (double)rows.n;
			/* what comes back by loops is included */
			more = s->r[v] / (1 - each * (double)rows.loops);
			s->y[v] += more;
			give(s, &rows, each * more);
			s->r[v] = 0;
		}
		graph_rows_end(&rows);
	}
}

/* What came from the other half; returns what r sums to over the core. */
static double arrive(struct stream *s)
{
	double core[PACK_HALVES] = { 0 };

	#pragma omp parallel for schedule(static, 1) if (s->threaded)
	for (unsigned i = 0; i < PACK_HALVES; i++) {
		double sum = 0;

		for (uint32_t v = s->pack->halves[i].begin; v < s->pack->halves[i].end; v++) {
			s->r[v] += s->far[v];
			s->far[v] = 0;
			sum += s->core[v] ? s->r[v] : 0;
		}
		core[i] = sum;
	}
	return core[0] + core[1];
}

/* `each` is taken from r, of all nodes alike; what dangling nodes got is theirs. */
static struct sums settle(struct stream *s, double each)
{
	struct sums halves[PACK_HALVES];

	#pragma omp parallel for schedule(static, 1) if (s->threaded)
	for (unsigned i = 0; i < PACK_HALVES; i++) {
		struct sums sums = { 0 };

		for (uint32_t v = s->pack->halves[i].begin; v < s->pack->halves[i].end; v++) {
			double r = s->r[v] - each;

			if (!s->core[v]) {
				s->y[v] += r;
				r = 0;
			}
			s->r[v] = r;
			sums.y += s->y[v];
			sums.r += r;
			sums.wrong += fabs(r);
		}
		halves[i] = sums;
	}
	return (struct sums){ .y = halves[0].y + halves[1].y, .r = halves[0].r + halves[1].r,
	                      .wrong = halves[0].wrong + halves[1].wrong };
}

/* After a pass.  Returns the residual of y made a rank by *ret_factor, or a little more. */
static double balance(struct stream *s, bool drop, double *ret_factor)
{
	uint32_t n = s->pack->g->n_nodes;
	double each = s->n_core ? arrive(s) / s->n_core : 0;
	struct sums sums;

	if (!(s->scale - each * n > 0))
		each = 0;
	s->scale -= each * n;
	sums = settle(s, each);
	*ret_factor = drop ? (1 - s->damping) / s->scale : 1 / sums.y;
	return (sums.wrong + (drop ? 0 : fabs(sums.r))) * *ret_factor;
}

static void start(struct stream *s)
{
	const struct graph *g = s->pack->g;

	for (uint32_t v = 0; v < g->n_nodes; v++) {
		s->core[v] = graph_degree(g, v) > 0;
		s->n_core += s->core[v];
		s->y[v] = 0;
		s->r[v] = 1.0 / g->n_nodes;
	}
}

int pagerank_stream(const struct graph_pack *pack, const struct pagerank_opts *opts,
                    double *rank, struct pagerank_result *ret, struct err *err)
{
	const struct graph *g = pack->g;
	struct stream s = { .pack = pack, .damping = opts->damping, .y = rank, .scale = 1,
	                    .threaded = g->n_links >= SMALL_LINKS && opts->threads != 1 };
	uint32_t n = g->n_nodes;
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
	if (g->map)             /* a hint: rows are read ahead, and dropped early */
		(void)!posix_madvise(g->map, g->map_size, POSIX_MADV_SEQUENTIAL);
	s.r = mem_big(size);
	s.far = mem_big(size);
	s.core = mem_big((size_t)n + 1);
	start(&s);
	do {
		pass(&s);
		ret->residual = balance(&s, opts->dangling == PAGERANK_DROP, &factor);
		ret->converged = ret->residual <= opts->tolerance;
	} while (++ret->iterations < opts->max_iterations && !ret->converged);
	for (uint32_t v = 0; v < n; v++)
		rank[v] *= factor;
	mem_big_free(s.r, size);
	mem_big_free(s.far, size);
	mem_big_free(s.core, (size_t)n + 1);
	return 0;
}
