/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_orders.c - LiveRank orders on a graph whose living pages are known.
 *
 * A spec is NAME or NAME:key=value,...  Each seed gives one permutation of the
 * pages by asking and telling, and its cost at every alpha.
 */
#include "cli/rank/rank_orders.h"

#include <string.h>

#include "base/mem.h"
#include "cli/rank/rank_evidence.h"
#include "graph/liverank.h"

#define SAMPLE_LEAST 100                /* default: this, or 1 % if that is more */

struct order_opts {
	struct share sample;
	int by, ties;
	bool spread;
};

static const struct option_spec order_options[] = {
	OPT_SHARE(order_opts, sample, NULL, "pages of the training set"),
	OPT_CHOICE(order_opts, by, LIVERANK_SAMPLES, "random", "how the training set is chosen"),
	OPT_FLAG(order_opts, spread, "no two pages of the training set are linked"),
	OPT_CHOICE(order_opts, ties, "pagerank|random", "pagerank", "how ties are broken"),
	OPT_END
};

/* Index of a name in "a|b|c", or -1. */
static int index_in(const char *list, const char *name, size_t size)
{
	for (int i = 0; *list; i++) {
		size_t n = strcspn(list, "|");

		if (n == size && !memcmp(list, name, n))
			return i;
		list += n + (list[n] == '|');
	}
	return -1;
}

static int parse_spec(const char *spec, uint32_t n_nodes, struct liverank_opts *ret,
                      struct err *err)
{
	size_t name = strcspn(spec, ":");
	int order = index_in(LIVERANK_ORDERS, spec, name), rc;
	struct order_opts o = { 0 };
	struct arena keep = { 0 };

	if (order < 0)
		return err_set(err, E_USAGE, "order `%s`: must be one of %s|evidence", spec,
		               LIVERANK_ORDERS);
	option_defaults(order_options, &o);
	rc = option_parse_spec(order_options, &o, spec[name] ? spec + name + 1 : "", &keep, err);
	arena_release(&keep);
	if (rc < 0)
		return err_prefix(err, "order `%s`", spec);
	*ret = (struct liverank_opts){ .order = (enum liverank_order)order,
		.by = (enum liverank_by)o.by, .spread = o.spread, .random_ties = o.ties == 1 };
	if (o.sample.value > 0)
		ret->sample = (uint32_t)share_of(o.sample, n_nodes);
	else
		ret->sample = n_nodes / 100 > SAMPLE_LEAST ? n_nodes / 100 : SAMPLE_LEAST;
	return 0;
}

static int run_seed(const struct liverank_world *w, const struct liverank_opts *o,
                    uint32_t *order, struct rank_order_result *result, struct err *err)
{
	double alphas[RANK_ALPHAS], costs[RANK_ALPHAS];
	struct liverank *l;
	uint32_t page, n = 0;
	int rc = liverank_new(&l, w, o, err);

	if (rc < 0)
		return rc;
	while ((page = liverank_next(l)) != GRAPH_NONE) {
		order[n++] = page;
		liverank_tell(l, page, w->truth[page]);
	}
	liverank_free(l);
	for (unsigned a = 0; a < RANK_ALPHAS; a++)
		alphas[a] = rank_alpha(a);
	liverank_cost(order, n, w->truth, alphas, RANK_ALPHAS, costs);
	for (unsigned a = 0; a < RANK_ALPHAS; a++)
		stat_add(&result->cost[a], costs[a]);
	return 0;
}

static int run_liverank(const struct liverank_world *w, const char *spec, uint64_t seed,
                        unsigned n_seeds, uint32_t *order, struct rank_order_result *result,
                        struct err *err)
{
	struct liverank_opts o;
	int rc = parse_spec(spec, w->out->n_nodes, &o, err);

	for (unsigned s = 0; rc == 0 && s < n_seeds; s++) {
		o.seed = seed + s;
		rc = run_seed(w, &o, order, result, err);
		if (rc < 0)
			return err_prefix(err, "order `%s`", spec);
	}
	return rc;
}

int rank_orders_run(const struct rank_graph *g, const struct pagerank_matrix *m,
                    const double *pagerank, const struct option_list *specs, uint64_t seed,
                    unsigned n_seeds, unsigned threads, struct rank_order_result **ret,
                    size_t *ret_n, struct err *err)
{
	static const char *const all[] = { "random", "indegree", "pagerank", "alive",
		"alive-dead", "bfs", "alive-indegree", "oracle", "site" };
	uint32_t n = g->text.graph.n_nodes, *degrees = mem_array(n + 1ul, sizeof *degrees);
	uint32_t *order = mem_array(n + 1ul, sizeof *order);
	size_t n_specs = specs->n ? specs->n : g->sites ? 9 : 8;
	struct rank_order_result *results = mem_zalloc(n_specs, sizeof *results);
	struct liverank_world w = { .out = &g->text.graph, .matrix = m, .pagerank = pagerank,
		.in_degree = degrees, .sites = g->sites, .n_sites = g->n_sites,
		.truth = g->text.alive };
	int rc = 0;

	graph_in_degrees(&g->text.graph, degrees);
	for (size_t i = 0; rc == 0 && i < n_specs; i++) {
		const char *spec = specs->n ? specs->v[i] : all[i];

		results[i].spec = spec;
		if (rank_is_evidence(spec))
			rc = rank_evidence_run(g, spec, seed, n_seeds, threads, &results[i], err);
		else
			rc = run_liverank(&w, spec, seed, n_seeds, order, &results[i], err);
	}
	free(degrees);
	free(order);
	if (rc < 0) {
		free(results);
		return rc;
	}
	*ret = results;
	*ret_n = n_specs;
	return 0;
}
