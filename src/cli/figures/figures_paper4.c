/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures_paper4.c - Huynh, Mathieu & Viennot 2014: LiveRank, out of graphs whose
 * living pages are known (`url TAB alive TAB links`).
 *
 * The paper's sample is 100,000 of 18.5 million pages; here the default of the
 * orders, max(100, 1 %), since real crawls of this size need that much.
 */
#include <math.h>
#include <stdio.h>

#include "cli/figures/figures.h"
#include "cli/rank/rank_orders.h"

#define TENTHS 10

int figure_graph_open(struct figure_graph *g, int n_args, char **args, struct err *err)
{
	struct pagerank_opts po = { .damping = 0.85, .tolerance = 1e-9, .max_iterations = 300 };
	const double *teleport = NULL;
	struct pagerank_result result;
	int rc = rank_load(&g->g, n_args, args, err);

	if (rc < 0)
		return rc;
	if (!g->g.text.alive || !g->g.n_alive)
		return err_set(err, E_USAGE, "%s: does not say which pages are alive: paper4 wants "
		               "lines `url TAB 0|1 TAB links`", args[0]);
	g->matrix = pagerank_prepare(&g->g.text.graph);
	g->rank = mem_big(((size_t)g->g.text.graph.n_nodes + 1) * sizeof *g->rank);
	return pagerank_solve(g->matrix, &po, 1, &teleport, &g->rank, &result, err);
}

void figure_graph_close(struct figure_graph *g)
{
	if (g->rank)
		mem_big_free(g->rank, ((size_t)g->g.text.graph.n_nodes + 1) * sizeof *g->rank);
	if (g->matrix)
		pagerank_free(g->matrix);
	rank_release(&g->g);
}

static void describe_graph(struct plot *p, const struct figures *f, const char *note)
{
	const struct rank_graph *g = &f->graph.g;

	snprintf(p->caption, sizeof p->caption, "%s%u pages of %u sites, %.0f %% of them alive, "
	         "%llu links.", note, g->text.graph.n_nodes, g->n_sites,
	         100.0 * (double)g->n_alive / g->text.graph.n_nodes,
	         (unsigned long long)g->text.graph.n_links);
}

struct keyed { double key; uint32_t node; };

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* Share alive in each tenth of the pages, highest key first. */
static void tenths(const struct rank_graph *g, struct keyed *all, struct plot_series *s)
{
	uint32_t n = g->text.graph.n_nodes;

	qsort(all, n, sizeof *all, by_key);
	for (uint32_t t = 0; t < TENTHS; t++) {
		uint64_t from = (uint64_t)n * t / TENTHS, to = (uint64_t)n * (t + 1) / TENTHS;
		double alive = 0;

		for (uint64_t i = from; i < to; i++)
			alive += g->text.alive[all[i].node] != 0;
		if (to > from)
			s->y[t] = alive / (double)(to - from);
	}
}

static int make_tenths(struct figures *f, const struct figure *figure, struct plot *ret,
                       struct err *err)
{
	const struct rank_graph *g = &f->graph.g;
	uint32_t n = g->text.graph.n_nodes, *in = mem_array(n + 1ul, sizeof *in);
	struct keyed *all = mem_array(n + 1ul, sizeof *all);

	(void)figure;
	(void)err;
	graph_in_degrees(&g->text.graph, in);
	plot_init(ret, PLOT_LINES, 2, TENTHS);
	for (uint32_t t = 0; t < TENTHS; t++)
		ret->x[t] = t + 1;
	for (int s = 0; s < 2; s++) {
		for (uint32_t v = 0; v < n; v++)
			all[v] = (struct keyed){ s ? in[v] : f->graph.rank[v], v };
		tenths(g, all, &ret->series[s]);
		snprintf(ret->series[s].label, PLOT_LABEL, "%s", s ? "by links in" : "by PageRank");
	}
	describe_graph(ret, f, "Share of pages alive in each tenth, the most linked first. ");
	free(all);
	free(in);
	return 0;
}

static int make_costs(struct figures *f, const struct figure *figure, struct plot *ret,
                      struct err *err)
{
	struct option_list specs = { 0 };
	struct rank_order_result *results = NULL;
	struct plot_series *s;
	char note[300];
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < figure->n_lines; i++) {
		if (!strncmp(figure->lines[i].spec, "site", 4) && !f->graph.g.sites)
			continue;               /* nodes without URLs have none */
		mem_grow((void **)&specs.v, &specs.cap, specs.n + 1, sizeof *specs.v);
		specs.v[specs.n++] = figure->lines[i].spec;
	}
	rc = rank_orders_run(&f->graph.g, f->graph.matrix, f->graph.rank, &specs, f->ask->seed,
	                     f->ask->n_seeds, f->ask->threads, &results, &n, err);
	free(specs.v);
	if (rc < 0)
		return rc;
	plot_init(ret, PLOT_LINES, n, RANK_ALPHAS);
	ret->base = 1;
	for (unsigned a = 0; a < RANK_ALPHAS; a++)
		ret->x[a] = rank_alpha(a);
	for (size_t i = 0; i < n; i++) {
		s = &ret->series[i];
		for (size_t k = 0; k < figure->n_lines; k++)
			if (!strcmp(figure->lines[k].spec, results[i].spec))
				snprintf(s->label, sizeof s->label, "%s", figure->lines[k].label);
		for (unsigned a = 0; a < RANK_ALPHAS; a++) {
			s->y[a] = results[i].cost[a].mean;
			s->se[a] = f->ask->n_seeds > 1 ? stat_se(&results[i].cost[a]) : NAN;
		}
	}
	snprintf(note, sizeof note, "%sTests made for each living page found (1 is perfect), %u "
	         "seed%s (band: ± standard error). ", figure->note ? figure->note : "",
	         f->ask->n_seeds, f->ask->n_seeds == 1 ? "" : "s");
	describe_graph(ret, f, note);
	free(results);
	return 0;
}

static const struct figure_line main_lines[] = {
	{ "R (random)", "random", 0 }, { "I (links in)", "indegree", 0 },
	{ "P (PageRank)", "pagerank", 0 }, { "Pa", "alive", 0 }, { "Pa+/-", "alive-dead", 0 },
};
static const struct figure_line sizes[] = {
	{ "0.1 %", "alive-dead:sample=0.1%", 0 }, { "0.5 %", "alive-dead:sample=0.5%", 0 },
	{ "1 %", "alive-dead:sample=1%", 0 }, { "2 %", "alive-dead:sample=2%", 0 },
	{ "5 %", "alive-dead:sample=5%", 0 }, { "10 %", "alive-dead:sample=10%", 0 },
};
static const struct figure_line choices[] = {
	{ "random", "alive-dead:by=random", 0 }, { "PageRank", "alive-dead:by=pagerank", 0 },
	{ "links in", "alive-dead:by=indegree", 0 },
	{ "systematic", "alive-dead:by=systematic", 0 },
	{ "PageRank, spread", "alive-dead:by=pagerank,spread=1", 0 },
	{ "links in, spread", "alive-dead:by=indegree,spread=1", 0 },
};
static const struct figure_line dynamic[] = {
	{ "R (random)", "random", 0 }, { "Pa+/-", "alive-dead", 0 }, { "BFS", "bfs", 0 },
	{ "BFS, PageRank sample", "bfs:by=pagerank", 0 }, { "AI", "alive-indegree", 0 },
	{ "AI, PageRank sample", "alive-indegree:by=pagerank", 0 },
};
static const struct figure_line by_site[] = {
	{ "R (random)", "random", 0 }, { "ASF, 1 %", "site", 0 },
	{ "ASF, 5 %", "site:sample=5%", 0 }, { "Pa+/-, 1 %", "alive-dead", 0 },
	{ "Pa+/-, 5 %", "alive-dead:sample=5%", 0 }, { "BFS", "bfs", 0 },
};

#define COST .x_label = "share of the living pages found", .y_label = "cost", \
	.kind = PLOT_LINES, .make = make_costs

static const struct figure figures[] = {
	{ .id = "fig1", .title = "Figure 1: what is still alive",
	  .x_label = "tenth of the pages", .y_label = "share alive", .make = make_tenths },
	{ .id = "fig2", .title = "Figure 2: static and sample-based orders",
	  FIGURE_LINES(main_lines), COST },
	{ .id = "fig3", .title = "Figure 3: size of the training set (Pa+/-)",
	  FIGURE_LINES(sizes), COST },
	{ .id = "fig4", .title = "Figure 4: choice of the training set (Pa+/-)",
	  FIGURE_LINES(choices), COST },
	{ .id = "fig5", .title = "Figure 5: dynamic orders", FIGURE_LINES(dynamic), COST },
	{ .id = "fig6", .title = "Figure 6: against sampling by site (ASF)",
	  FIGURE_LINES(by_site), COST },
};

const struct figure_paper figures_paper4 = {
	.name = "paper4", .title = "LiveRank", .graph = true,
	.figures = figures, .n_figures = sizeof figures / sizeof *figures,
};
