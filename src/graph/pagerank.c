/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagerank.c - PageRank, the outer part; see pagerank.h and docs/graphs.md.
 *
 * What is solved.  With the dangling mass left out, y = d A'y + scale t is linear,
 * and the wanted vector is y made to sum to 1 (dangling mass going where the
 * teleport does), y as it is (dropped), or y + g u, u being the solution for the
 * uniform teleport and g following from the mass that dangles.  So dangling
 * mass is exact at every moment and never lags a pass behind.
 *
 * How.  Gauss-Seidel sweeps over the core.  After each, `scale` is set so that
 * what the core receives equals what it gives away; that removes the slowest
 * part of the error, a wrong total, at no cost (R-MAT 18: 59 sweeps become 12).
 *
 * When it ends.  A sweep's change, times the share of links that saw old values,
 * estimates the residual.  When that is small enough, one plain pass x' = G(x)
 * is made, which also gives the dangling nodes their ranks.  It measures the
 * residual |x - G(x)| exactly; and since G shrinks every difference by d in the
 * L1 norm, x' has at most d times that.  x' is what is returned.
 */
#include "graph/pagerank.h"

#include <math.h>
#include <omp.h>

#include "base/mem.h"
#include "graph/pagerank_plan.h"

#define BLOCK 8192u             /* rows summed in one piece, so that the order is fixed */
#define K_MAX (PAGERANK_VECTORS_MAX + 1)

struct solver {
	const struct pagerank_matrix *m;
	const struct pagerank_opts *opts;
	struct pagerank_sweep sweep;
	unsigned n_vectors;             /* of the caller; sweep.n_vectors may be one more */
	double *const *ranks;
	const double *teleports[K_MAX];
	double *sums_of[K_MAX];         /* by node: sum over its links; mostly in ranks */
	double scale[K_MAX], core_teleport[K_MAX], estimate_factor[K_MAX];
	double *parts;                  /* sums by block and item */
	uint32_t n_blocks;
};

static int check_opts(uint32_t n, const struct pagerank_opts *o, unsigned n_vectors,
                      const double *const *teleports, struct err *err)
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
		for (uint32_t v = 0; v < n; v++) {
			if (!(teleports[k][v] >= 0))
				return err_set(err, E_FAIL, "teleport of node %u is %g", v,
				               teleports[k][v]);
			sum += teleports[k][v];
		}
		if (n && !(fabs(sum - 1) < 1e-6))
			return err_set(err, E_FAIL, "teleport vector sums to %g, not 1", sum);
	}
	return 0;
}

static double teleport_of(const struct solver *s, unsigned k, uint32_t row)
{
	return s->teleports[k] ? s->teleports[k][s->m->node[row]] : 1.0 / s->m->n;
}

/* Set the first shares: the teleport itself, so that nodes that it cannot reach stay 0; or
 * the caller's guess.  core_teleport: the part of the teleport that is on the core. */
static void start(struct solver *s)
{
	const struct pagerank_matrix *m = s->m;
	unsigned n = s->sweep.n_vectors;

	for (unsigned k = 0; k < n; k++) {
		s->core_teleport[k] = 0;
		s->scale[k] = 0;
		for (uint32_t r = 0; r < m->n_core; r++) {
			double t = teleport_of(s, k, r), y = t, share;

			if (s->opts->warm_start && k < s->n_vectors)
				y = s->ranks[k][m->node[r]];
			if (!(y >= 0 && y < INFINITY))
				y = t;          /* the guess is not a number */
			share = y / m->degree[r];
			s->sweep.shares[(size_t)r * n + k] = share;
			s->core_teleport[k] += t;
			s->scale[k] += share * (m->degree[r] - s->opts->damping * m->core_degree[r]);
		}
		s->scale[k] = s->core_teleport[k] > 0 ? s->scale[k] / s->core_teleport[k] : 0;
		if (!(s->scale[k] > 0))
			s->scale[k] = 1 - s->opts->damping;     /* no mass in the core */
		s->estimate_factor[k] = m->back_share * s->opts->damping;
	}
	pagerank_renew(&s->sweep);
}

/* One sweep; true if by the estimate every vector is close enough. */
static bool sweep_and_balance(struct solver *s, double *changes)
{
	const struct pagerank_matrix *m = s->m;
	unsigned n = s->sweep.n_vectors;
	bool close = true;

	pagerank_sweep(&s->sweep);
	for (unsigned k = 0; k < n; k++) {
		double change = 0, balance = 0;

		for (uint32_t c = 0; c < m->n_steps * m->n_lanes; c++) {
			change += s->sweep.sums[(size_t)c * n + k].change;
			balance += s->sweep.sums[(size_t)c * n + k].balance;
		}
		if (s->core_teleport[k] > 0 && balance > 0)
			s->scale[k] = balance / s->core_teleport[k];
		/* y is about scale / (1 - d) times a vector that sums to 1 */
		changes[k] = change * (1 - s->opts->damping) / s->scale[k];
		if (changes[k] * s->estimate_factor[k] * s->opts->damping > s->opts->tolerance)
			close = false;
	}
	return close;
}

/* Items are added up over all rows, block by block: the sums are those of any number of threads. */
static uint32_t block_end(const struct solver *s, uint32_t b)
{
	return b + 1 < s->n_blocks ? (b + 1) * BLOCK : s->m->n;
}

static double total(const struct solver *s, unsigned item)
{
	double sum = 0;

	for (uint32_t b = 0; b < s->n_blocks; b++)
		sum += s->parts[(size_t)b * K_MAX + item];
	return sum;
}

/* What y holds of mass: on dangling nodes, and in all. */
static void weigh(struct solver *s, unsigned k, double *ret_dangling, double *ret_all)
{
	const struct pagerank_matrix *m = s->m;
	unsigned n = s->sweep.n_vectors;
	double d = s->opts->damping;

	memset(s->parts, 0, (size_t)s->n_blocks * K_MAX * sizeof *s->parts);
	#pragma omp parallel for schedule(static) num_threads((int)s->sweep.threads)
	for (uint32_t b = 0; b < s->n_blocks; b++) {
		double *part = s->parts + (size_t)b * K_MAX;

		for (uint32_t r = b * BLOCK, end = block_end(s, b); r < end; r++) {
			if (r < m->n_core)
				part[0] += s->sweep.shares[(size_t)r * n + k] * m->degree[r];
			else
				part[1] += d * s->sums_of[k][m->node[r]] +
					s->scale[k] * teleport_of(s, k, r);
		}
	}
	*ret_dangling = total(s, 1);
	*ret_all = total(s, 0) + *ret_dangling;
}

/*
 * The result of vector k: x' = factor (d S + to_teleport t) + more (d S_u) +
 * to_uniform / n, where S are the sums over links and u is vector `other`.
 * Returns |x - x'|, x being the same combination of the shares.
 */
static double finish_vector(struct solver *s, unsigned k, double factor, double to_teleport,
                            unsigned other, double more, double to_uniform)
{
	const struct pagerank_matrix *m = s->m;
	unsigned n = s->sweep.n_vectors;
	double d = s->opts->damping, uniform = to_uniform / m->n;
	double lag = fabs(to_teleport - s->scale[k]) * factor;

	memset(s->parts, 0, (size_t)s->n_blocks * K_MAX * sizeof *s->parts);
	#pragma omp parallel for schedule(static) num_threads((int)s->sweep.threads)
	for (uint32_t b = 0; b < s->n_blocks; b++) {
		double *part = s->parts + (size_t)b * K_MAX;

		for (uint32_t r = b * BLOCK, end = block_end(s, b); r < end; r++) {
			const double *shares = s->sweep.shares + (size_t)r * n;
			double t = teleport_of(s, k, r), x;

			x = factor * (d * s->sums_of[k][m->node[r]] + to_teleport * t) + uniform;
			if (more != 0)
				x += more * d * s->sums_of[other][m->node[r]];
			s->ranks[k][m->node[r]] = x;
			if (r >= m->n_core) {
				*part += lag * t;
				continue;
			}
			x -= factor * shares[k] * m->degree[r];
			if (more != 0)
				x -= more * shares[other] * m->degree[r];
			*part += fabs(x);
		}
	}
	return total(s, 0);
}

/* The plain pass; fills ranks and residuals. */
static void finish(struct solver *s, struct pagerank_result *results)
{
	double d = s->opts->damping, dangling, all, other_dangling = 0;
	unsigned other = s->sweep.n_vectors - 1;

	pagerank_gather(&s->sweep, s->sums_of);
	if (other == s->n_vectors) {            /* the last vector is the uniform one */
		weigh(s, other, &other_dangling, &all);
		other_dangling *= (1 - d) / s->scale[other];
	}
	for (unsigned k = 0; k < s->n_vectors; k++) {
		double plain = (1 - d) / s->scale[k], r;

		weigh(s, k, &dangling, &all);
		if (s->opts->dangling == PAGERANK_DROP) {
			r = finish_vector(s, k, plain, s->scale[k], k, 0, 0);
		} else if (s->opts->dangling == PAGERANK_UNIFORM && s->teleports[k]) {
			double loose = dangling * plain / (1 - d * other_dangling / (1 - d));
			double g = d * loose / (1 - d);

			r = finish_vector(s, k, plain, s->scale[k], other,
			                  g * (1 - d) / s->scale[other], d * loose);
		} else {
			r = finish_vector(s, k, 1 / all, (1 - d) * all + d * dangling, k, 0, 0);
		}
		results[k].residual = r * d;
		results[k].converged = r * d <= s->opts->tolerance;
	}
}

static void run(struct solver *s, struct pagerank_result *results)
{
	double changes[K_MAX];
	unsigned passes = 0;
	bool done = false;

	start(s);
	while (!done) {
		bool close = sweep_and_balance(s, changes);

		if (!close && ++passes < s->opts->max_iterations)
			continue;
		finish(s, results);
		passes++;
		done = true;
		for (unsigned k = 0; k < s->n_vectors; k++) {
			results[k].iterations = passes;
			if (results[k].converged)
				continue;
			/* the estimate was too low: correct its factor */
			done = false;
			s->estimate_factor[k] = results[k].residual / s->opts->damping /
				(changes[k] > 0 ? changes[k] : 1);
		}
		done = done || passes >= s->opts->max_iterations;
	}
}

/* PAGERANK_UNIFORM with another teleport needs the uniform vector as well. */
static bool needs_helper(const struct pagerank_opts *o, unsigned n_vectors,
                         const double *const *teleports)
{
	for (unsigned k = 0; o->dangling == PAGERANK_UNIFORM && k < n_vectors; k++)
		if (teleports[k])
			return true;
	return false;
}

int pagerank_solve(const struct pagerank_matrix *m, const struct pagerank_opts *opts,
                   unsigned n_vectors, const double *const *teleports,
                   double *const *ranks, struct pagerank_result *results, struct err *err)
{
	struct solver s = { .m = m, .opts = opts, .n_vectors = n_vectors, .ranks = ranks };
	int r = check_opts(m->n, opts, n_vectors, teleports, err);
	double *helper = NULL;
	size_t shares_size;
	unsigned n = n_vectors;

	if (r)
		return r;
	for (unsigned k = 0; k < n_vectors; k++) {
		results[k] = (struct pagerank_result){ .converged = true };
		s.teleports[k] = teleports[k];
		s.sums_of[k] = ranks[k];
	}
	if (!m->n)
		return 0;
	if (needs_helper(opts, n_vectors, teleports))
		s.sums_of[n++] = helper = mem_big((size_t)m->n * sizeof *helper);
	shares_size = ((size_t)m->n_core * 2 + 1) * n * sizeof(double);
	s.n_blocks = (m->n + BLOCK - 1) / BLOCK;
	s.parts = mem_array(s.n_blocks, K_MAX * sizeof *s.parts);
	s.sweep = (struct pagerank_sweep){
		.m = m, .n_vectors = n, .damping = opts->damping, .teleports = s.teleports,
		.scale = s.scale, .shares = mem_big(shares_size),
		.sums = mem_zalloc((size_t)m->n_steps * m->n_lanes * n, sizeof *s.sweep.sums),
		.threads = m->n_lanes == 1 ? 1 :        /* too small for threads */
			opts->threads ? opts->threads : (unsigned)omp_get_max_threads(),
	};
	run(&s, results);
	mem_big_free(s.sweep.shares, shares_size);
	mem_big_free(helper, (size_t)m->n * sizeof *helper);
	free(s.sweep.sums);
	free(s.parts);
	return 0;
}

int pagerank_many(const struct graph *out, const struct pagerank_opts *opts,
                  unsigned n_vectors, const double *const *teleports,
                  double *const *ranks, struct pagerank_result *results, struct err *err)
{
	struct pagerank_matrix *m;
	int r = check_opts(out->n_nodes, opts, n_vectors, teleports, err);

	if (r)
		return r;
	m = pagerank_prepare(out);
	r = pagerank_solve(m, opts, n_vectors, teleports, ranks, results, err);
	pagerank_free(m);
	return r;
}

int pagerank(const struct graph *out, const struct pagerank_opts *opts, double *rank,
             struct pagerank_result *ret, struct err *err)
{
	return pagerank_many(out, opts, 1, &opts->teleport, &rank, ret, err);
}

uint64_t pagerank_memory(const struct graph *out)
{
	/* by node: row, degrees; in the end ranks, shares and snapshots, while links are placed
	 * what places them */
	uint64_t solving = (uint64_t)out->n_nodes * (8 + 16), placing = 0;

	if (!pagerank_is_local(out))
		placing = out->n_links * PLACE_LINK + (uint64_t)out->n_nodes * 5;
	return out->n_links * 4 + (uint64_t)out->n_nodes * (4 + 8) +
		(placing > solving ? placing : solving);
}
