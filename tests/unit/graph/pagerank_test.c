/* SPDX-License-Identifier: Apache-2.0 */
/* PageRank against Gaussian elimination on the dense matrix. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "graph/pagerank.h"

#define N_MAX 120

/* kind: how the graph is made, so that every special case turns up. */
enum kind { SPARSE, DENSE, LOCAL, SKEWED, CHAIN, LOOPS, DOUBLE_LINKS, N_KINDS };

static void make_graph(enum kind kind, uint32_t n, uint64_t seed, struct graph *ret)
{
	size_t n_links = kind == DENSE ? n * n / 4 : kind == SPARSE ? n : n * 4;
	uint32_t *from = mem_array(n_links + 1, 4), *to = mem_array(n_links + 1, 4);
	struct rng r;

	rng_init(&r, seed * 100 + kind);
	for (size_t i = 0; i < n_links; i++) {
		from[i] = (uint32_t)rng_below(&r, n);
		to[i] = (uint32_t)rng_below(&r, n);
		if (kind == LOCAL)
			to[i] = (uint32_t)(from[i] + rng_below(&r, 5)) % n;
		if (kind == SKEWED) {
			from[i] = (uint32_t)rng_below(&r, from[i] + 1);
			to[i] = (uint32_t)rng_below(&r, to[i] / 3 + 1);
		}
		if (kind == CHAIN) {    /* no cycle at all */
			from[i] = (uint32_t)(i % n);
			to[i] = from[i] + 1 < n ? from[i] + 1 : from[i];
		}
		if (kind == LOOPS && rng_below(&r, 2))
			to[i] = from[i];
	}
	assert_int_equal(graph_build(from, to, n_links, n, kind != DOUBLE_LINKS, ret, NULL), 0);
	free(from);
	free(to);
}

/* Solve a x = b in place by elimination with pivoting. */
static void solve_dense(uint32_t n, double (*a)[N_MAX], double *b)
{
	for (uint32_t c = 0; c < n; c++) {
		uint32_t p = c;

		for (uint32_t r = c + 1; r < n; r++)
			if (fabs(a[r][c]) > fabs(a[p][c]))
				p = r;
		for (uint32_t k = 0; k < n; k++) {
			double t = a[c][k];

			a[c][k] = a[p][k];
			a[p][k] = t;
		}
		double t = b[c];

		b[c] = b[p];
		b[p] = t;
		for (uint32_t r = 0; r < n; r++) {
			double f = r == c ? 0 : a[r][c] / a[c][c];

			for (uint32_t k = c; f != 0 && k < n; k++)
				a[r][k] -= f * a[c][k];
			b[r] -= f * b[c];
		}
	}
	for (uint32_t c = 0; c < n; c++)
		b[c] /= a[c][c];
}

/* The definition, as a linear system: x - d M x = (1 - d) t. */
static void exact(const struct graph *g, double d, enum pagerank_dangling dangling,
                  const double *teleport, double *ret)
{
	static double a[N_MAX][N_MAX];
	uint32_t n = g->n_nodes;

	memset(a, 0, sizeof a);
	for (uint32_t u = 0; u < n; u++) {
		uint64_t n_links;
		const uint32_t *links = graph_links(g, u, &n_links);

		for (uint64_t i = 0; i < n_links; i++)
			a[links[i]][u] -= d / (double)n_links;
		for (uint32_t v = 0; !n_links && v < n; v++) {
			double t = teleport ? teleport[v] : 1.0 / n;

			if (dangling == PAGERANK_UNIFORM)
				a[v][u] -= d / n;
			if (dangling == PAGERANK_TELEPORT)
				a[v][u] -= d * t;
		}
	}
	for (uint32_t v = 0; v < n; v++) {
		a[v][v] += 1;
		ret[v] = (1 - d) * (teleport ? teleport[v] : 1.0 / n);
	}
	solve_dense(n, a, ret);
}

static void make_teleport(double *t, uint32_t n, uint64_t seed)
{
	double sum = 0;

	for (uint32_t v = 0; v < n; v++)        /* two thirds of it zero */
		sum += t[v] = rng_draw(seed, 0, v, 1) % 3 ? 0 :
			rng_unit(rng_draw(seed, 1, v, 1));
	if (sum == 0)
		sum = t[0] = 1;
	for (uint32_t v = 0; v < n; v++)
		t[v] /= sum;
}

static double distance(const double *a, const double *b, uint32_t n)
{
	double sum = 0;

	for (uint32_t v = 0; v < n; v++)
		sum += fabs(a[v] - b[v]);
	return sum;
}

static int stream(const struct graph *g, size_t memory, const struct pagerank_opts *o,
                  double *rank, struct pagerank_result *ret)
{
	struct graph_pack pack;
	int rc;

	graph_pack(&pack, g, memory);
	rc = pagerank_stream(&pack, o, rank, ret, NULL);
	graph_pack_release(&pack);
	return rc;
}

static void test_equals_dense_solver(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 3, 17, 120 };
	double want[N_MAX], got[N_MAX], teleport[N_MAX];

	(void)state;
	for (unsigned i = 0; i < N_KINDS * 5 * 3 * 2 * 2; i++) {
		uint32_t n = sizes[i / N_KINDS % 5];
		struct pagerank_opts o = PAGERANK_DEFAULTS;
		struct pagerank_result res;
		struct graph g;
		double sum = 0;

		make_graph((enum kind)(i % N_KINDS), n, i, &g);
		make_teleport(teleport, n, i);
		o.dangling = (enum pagerank_dangling)(i / N_KINDS / 5 % 3);
		o.teleport = i / N_KINDS / 15 % 2 ? teleport : NULL;
		o.damping = i / N_KINDS / 30 % 2 ? 0.85 : 0.5;
		o.tolerance = 1e-14;
		o.max_iterations = 300;
		exact(&g, o.damping, o.dangling, o.teleport, want);
		assert_int_equal(pagerank(&g, &o, got, &res, NULL), 0);
		for (uint32_t v = 0; v < n; v++)
			sum += got[v];
		assert_true(distance(want, got, n) < 1e-12);
		if (o.dangling != PAGERANK_DROP)
			assert_true(fabs(sum - 1) < 1e-12);
		if (!o.teleport) {
			assert_int_equal(stream(&g, SIZE_MAX, &o, got, &res), 0);
			assert_true(distance(want, got, n) < 1e-12);
		}
		graph_release(&g);
	}
}

/* One application of the definition; the L1 norm of what it changes. */
static double residual(const struct graph *g, double d, const double *x)
{
	uint32_t n = g->n_nodes;
	double *y = mem_zalloc(n, sizeof *y), loose = 0, sum;

	for (uint32_t u = 0; u < n; u++) {
		uint64_t n_links;
		const uint32_t *links = graph_links(g, u, &n_links);

		for (uint64_t i = 0; i < n_links; i++)
			y[links[i]] += d * x[u] / (double)n_links;
		if (!n_links)
			loose += x[u];
	}
	for (uint32_t v = 0; v < n; v++)
		y[v] += d * loose / n + (1 - d) / n;
	sum = distance(x, y, n);
	free(y);
	return sum;
}

static void make_large(struct graph *ret, bool local)
{
	uint32_t n = 50000, n_links = 400000;
	uint32_t *from = mem_array(n_links, 4), *to = mem_array(n_links, 4);
	struct rng r;

	rng_init(&r, 9);
	for (uint32_t i = 0; i < n_links; i++) {
		double u = rng_next_unit(&r);

		from[i] = (uint32_t)(u * u * n);
		to[i] = local && rng_below(&r, 10) ? (from[i] + (uint32_t)rng_below(&r, 50)) % n :
			(uint32_t)rng_below(&r, n);
	}
	assert_int_equal(graph_build(from, to, n_links, n, true, ret, NULL), 0);
	free(from);
	free(to);
}

static void test_residual_below_tolerance(void **state)
{
	struct graph g;

	(void)state;
	for (int local = 0; local < 2; local++) {
		double *x = mem_array(50000, sizeof *x);

		make_large(&g, local);
		for (double tol = 1e-3; tol > 1e-13; tol /= 1000) {
			struct pagerank_opts o = PAGERANK_DEFAULTS;
			struct pagerank_result res;

			o.tolerance = tol;
			assert_int_equal(pagerank(&g, &o, x, &res, NULL), 0);
			assert_true(res.converged);
			assert_true(res.residual <= tol);
			assert_true(residual(&g, 0.85, x) < tol * 1.01 + 1e-15);
			assert_int_equal(stream(&g, SIZE_MAX, &o, x, &res), 0);
			assert_true(res.converged && res.residual <= tol);
			assert_true(fabs(residual(&g, 0.85, x) - res.residual) < tol * 0.01 + 1e-15);
		}
		free(x);
		graph_release(&g);
	}
}

/* More than 16,384 rows of a cell: those of one cell are in several buckets then. */
static void test_few_links_of_many_nodes(void **state)
{
	uint32_t n = 1200000, n_links = 100000;
	uint32_t *from = mem_array(n_links, 4), *to = mem_array(n_links, 4);
	struct pagerank_opts o = PAGERANK_DEFAULTS;
	double *x = mem_array(n, sizeof *x);
	struct pagerank_result res;
	struct graph g;
	struct rng r;

	(void)state;
	rng_init(&r, 4);
	for (uint32_t i = 0; i < n_links; i++) {
		from[i] = (uint32_t)rng_below(&r, n);
		to[i] = (uint32_t)rng_below(&r, n);
	}
	assert_int_equal(graph_build(from, to, n_links, n, true, &g, NULL), 0);
	assert_int_equal(pagerank(&g, &o, x, &res, NULL), 0);
	assert_true(res.converged && residual(&g, 0.85, x) < 1.01e-9);
	free(from);
	free(to);
	free(x);
	graph_release(&g);
}

static void test_threads_do_not_matter(void **state)
{
	struct graph g;

	(void)state;
	for (int local = 0; local < 2; local++) {
		double *x[4], *t = mem_array(50000, sizeof *t);
		const double *teleports[2] = { NULL, t };

		make_large(&g, local);
		make_teleport(t, 50000, 3);
		for (int i = 0; i < 4; i++)
			x[i] = mem_array(50000, sizeof **x);
		for (unsigned threads = 1; threads <= 2; threads++) {
			struct pagerank_opts o = PAGERANK_DEFAULTS;
			struct pagerank_result res[2];

			o.threads = threads;
			assert_int_equal(pagerank_many(&g, &o, 2, teleports,
				x + 2 * (threads - 1), res, NULL), 0);
		}
		assert_true(residual(&g, 0.85, x[0]) < 1.01e-9);
		assert_memory_equal(x[0], x[2], 50000 * sizeof **x);
		assert_memory_equal(x[1], x[3], 50000 * sizeof **x);
		for (int i = 0; i < 4; i++)
			free(x[i]);
		free(t);
		graph_release(&g);
	}
}

static void test_packed_rows_do_not_matter(void **state)
{
	(void)state;
	for (int local = 0; local < 2; local++) {
		struct pagerank_opts o = PAGERANK_DEFAULTS;
		struct pagerank_result res, all;
		double *x = mem_array(50000, sizeof *x), *y = mem_array(50000, sizeof *y);
		struct graph g;

		make_large(&g, local);
		assert_int_equal(stream(&g, SIZE_MAX, &o, x, &all), 0);
		for (size_t memory = 0; memory < 400000; memory = memory * 3 + 20000) {
			o.threads = 1 + memory % 2;
			assert_int_equal(stream(&g, memory, &o, y, &res), 0);
			assert_memory_equal(x, y, 50000 * sizeof *x);
			assert_int_equal(res.iterations, all.iterations);
		}
		free(x);
		free(y);
		graph_release(&g);
	}
}

static void test_in_degrees_are_counted(void **state)
{
	(void)state;
	for (int local = 0; local < 2; local++) {
		struct pagerank_matrix *m;
		struct graph g;
		uint32_t *ours, *right;
		uint64_t loops = 0;

		make_large(&g, local);
		ours = mem_array(g.n_nodes, sizeof *ours);
		right = mem_array(g.n_nodes, sizeof *right);
		m = pagerank_prepare(&g);
		pagerank_in_degrees(m, ours);
		graph_in_degrees(&g, right);
		assert_memory_equal(ours, right, g.n_nodes * sizeof *ours);
		for (uint32_t v = 0; v < g.n_nodes; v++)
			for (uint64_t i = g.offsets[v]; i < g.offsets[v + 1]; i++)
				loops += g.targets[i] == v;
		assert_true(loops > 0);
		assert_int_equal(pagerank_loops(m), loops);
		pagerank_free(m);
		free(ours);
		free(right);
		graph_release(&g);
	}
}

static void test_several_vectors_equal_one_by_one(void **state)
{
	double t[3][N_MAX], x[5][N_MAX], want[N_MAX];
	const double *teleports[5] = { t[0], NULL, t[1], t[2], NULL };
	double *ranks[5] = { x[0], x[1], x[2], x[3], x[4] };
	struct pagerank_opts o = PAGERANK_DEFAULTS;
	struct pagerank_result res[5];
	struct graph g;

	(void)state;
	make_graph(SKEWED, N_MAX, 5, &g);
	for (int k = 0; k < 3; k++)
		make_teleport(t[k], N_MAX, 50 + (uint64_t)k);
	o.tolerance = 1e-13;
	for (int dangling = 0; dangling < 3; dangling++)
		for (unsigned n = 1; n <= 5; n++) {
			o.dangling = (enum pagerank_dangling)dangling;
			assert_int_equal(pagerank_many(&g, &o, n, teleports, ranks, res, NULL), 0);
			for (unsigned k = 0; k < n; k++) {
				exact(&g, 0.85, o.dangling, teleports[k], want);
				assert_true(distance(want, x[k], N_MAX) < 1e-11);
				assert_true(res[k].residual <= 1e-13);
			}
		}
	graph_release(&g);
}

static void test_warm_start_is_shorter(void **state)
{
	struct pagerank_opts o = PAGERANK_DEFAULTS;
	struct pagerank_result cold, warm;
	double *x = mem_array(50000, sizeof *x);
	struct graph g;

	(void)state;
	make_large(&g, true);
	assert_int_equal(pagerank(&g, &o, x, &cold, NULL), 0);
	for (uint32_t v = 0; v < 50; v++)
		x[v] *= 1.001;
	o.warm_start = true;
	assert_int_equal(pagerank(&g, &o, x, &warm, NULL), 0);
	assert_true(warm.iterations * 3 < cold.iterations * 2);
	assert_true(residual(&g, 0.85, x) < 1.01e-9);
	for (uint32_t v = 0; v < 50000; v++)    /* a guess that is worth nothing */
		x[v] = v % 3 == 0 ? NAN : v % 3 == 1 ? -1 : INFINITY;
	assert_int_equal(pagerank(&g, &o, x, &warm, NULL), 0);
	assert_true(residual(&g, 0.85, x) < 1.01e-9);
	free(x);
	graph_release(&g);
}

static void test_bad_options_are_refused(void **state)
{
	double x[3], bad[3] = { 0.5, 0.1, 0.1 }, negative[3] = { 2, -1, 0 };
	struct pagerank_opts o = PAGERANK_DEFAULTS;
	uint32_t from[] = { 0 }, to[] = { 1 };
	struct pagerank_result res;
	struct graph g;

	(void)state;
	assert_int_equal(graph_build(from, to, 1, 3, true, &g, NULL), 0);
	o.damping = 1;
	assert_int_equal(pagerank(&g, &o, x, &res, NULL), E_USAGE);
	o.damping = NAN;
	assert_int_equal(pagerank(&g, &o, x, &res, NULL), E_USAGE);
	o.damping = 0.85;
	o.tolerance = 0;
	assert_int_equal(pagerank(&g, &o, x, &res, NULL), E_USAGE);
	o.tolerance = 1e-9;
	o.teleport = bad;
	assert_int_equal(pagerank(&g, &o, x, &res, NULL), E_FAIL);
	o.teleport = negative;
	assert_int_equal(pagerank(&g, &o, x, &res, NULL), E_FAIL);
	assert_int_equal(stream(&g, SIZE_MAX, &o, x, &res), E_USAGE);
	o.teleport = NULL;
	o.max_iterations = 1;           /* an honest "not yet" */
	o.tolerance = 1e-15;
	assert_int_equal(pagerank(&g, &o, x, &res, NULL), 0);
	graph_release(&g);
	assert_int_equal(graph_build(NULL, NULL, 0, 0, true, &g, NULL), 0);
	assert_int_equal(pagerank(&g, &o, x, &res, NULL), 0);
	assert_int_equal(stream(&g, SIZE_MAX, &o, x, &res), 0);
	graph_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equals_dense_solver),
		cmocka_unit_test(test_residual_below_tolerance),
		cmocka_unit_test(test_few_links_of_many_nodes),
		cmocka_unit_test(test_threads_do_not_matter),
		cmocka_unit_test(test_packed_rows_do_not_matter),
		cmocka_unit_test(test_in_degrees_are_counted),
		cmocka_unit_test(test_several_vectors_equal_one_by_one),
		cmocka_unit_test(test_warm_start_is_shorter),
		cmocka_unit_test(test_bad_options_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
