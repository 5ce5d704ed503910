/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures_paper2.c - Tan, Zhuang, Mitra & Giles 2007b: cluster-level sampling.
 *
 * Figures 1 to 3 tell policies the paper's reading of changed.  Figure 4 and the
 * t-values look at what a searcher sees, and there policies are told what a
 * crawler sees: 24 cycles, 100 queries drawn from the pages, ten results.
 */
#include <stdio.h>

#include "cli/figures/figures.h"
#include "cluster/choose.h"
#include "engine/view/copies.h"

#define FOLDS 10
#define K_MOST 1000

static void curve_of(struct copies *copies, const struct view *view, enum feature_set set,
                     uint64_t seed, struct choose_point *points, uint32_t *ret_n)
{
	struct bisect_options bo = { .seed = seed, .trials = 10 };
	uint32_t grid[CHOOSE_GRID_MAX];
	struct rows rows, here;

	features_rows(&copies->features, view, set, &rows);
	features_rows_here(&rows, view, &here);
	*ret_n = choose_grid(here.n / 2 < K_MOST ? here.n / 2 + !(here.n / 2) : K_MOST, grid);
	choose_k(&here, grid, *ret_n, FOLDS, &bo, points);
	rows_release(&rows);
	rows_release(&here);
}

static int make_curves(struct figures *f, const struct figure *figure, struct plot *ret,
                       struct err *err)
{
	static const enum feature_set sets[] = { SET_URL, SET_CONTENT };
	static const char *const names[] = { "URL words", "content words" };
	struct copies copies = { 0 };
	struct pages pages;
	struct visits visits;
	struct view view = { 0 };
	uint32_t n_here = 0, knee[2] = { 0 };

	(void)figure;
	(void)err;
	copies_pages(&f->history, &pages, &visits);
	copies_from_history(&copies, &f->history, &pages);
	pages_view(&pages, &visits, &view);
	view.seed = f->ask->seed;
	view.cycle = 1;
	for (uint32_t i = 0; i < pages.n; i++)
		n_here += (view.state[i] & PAGE_HERE) != 0;
	for (int s = 0; s < 2; s++) {
		struct choose_point points[CHOOSE_GRID_MAX];
		uint32_t n;

		curve_of(&copies, &view, sets[s], f->ask->seed, points, &n);
		knee[s] = choose_knee(points, n);
		if (s == 0)
			plot_init(ret, PLOT_LINES, 2, n);
		snprintf(ret->series[s].label, PLOT_LABEL, "%s", names[s]);
		for (uint32_t i = 0; i < n; i++) {
			ret->x[i] = points[i].k;
			ret->series[s].y[i] = points[i].cosine;
			ret->series[s].se[i] = points[i].se;
		}
	}
	snprintf(ret->caption, sizeof ret->caption, "Mean cosine of pages held out to the nearest "
	         "of k centroids, %d folds (band: ± standard error over folds); %u pages that live "
	         "at the end. Farthest above the chord: k = %u by URL words, %u by content.",
	         FOLDS, n_here, knee[0], knee[1]);
	copies_release(&copies);
	visits_release(&visits);
	pages_release(&pages);
	return 0;
}

static const struct figure_line sets[] = {
	{ "URL words", "cluster:features=url", 0 },
	{ "content words", "cluster:features=content", 0 },
	{ "URL + content", "cluster:features=url+content", 0 },
	{ "static", "cluster:features=static", 0 },
	{ "dynamic", "cluster:features=dynamic", 0 },
	{ "all 48 combined", "cluster:features=combined", 0 },
	{ "SLS (site)", "site", 0 }, { "Freq (frequency)", "frequency", 0 },
	{ "Rand (random)", "random", 0 },
};
static const struct figure_line weights[] = {
	{ "CLS-nad (equal)", "cluster:weights=non", 0 },
	{ "CLS-sad (last)", "cluster:weights=short", 0 },
	{ "CLS-aad (rising)", "cluster:weights=arith", 0 },
	{ "CLS-gad (doubling)", "cluster:weights=geo", 0 },
};
static const struct figure_line compared[] = {
	{ "CLS-nad", "cluster:weights=non", 0 }, { "CLS-sad", "cluster:weights=short", 0 },
	{ "CLS-aad", "cluster:weights=arith", 0 }, { "CLS-gad", "cluster:weights=geo", 0 },
	{ "Rand", "random", 0 }, { "RR", "round-robin", 0 }, { "Freq", "frequency", 0 },
	{ "SLS", "site", 0 },
};

#define SEARCH .cycles = "2w", .budgets = "8.3%", FIGURE_LINES(compared), .search = true, \
	.cycles_most = 24, .observe = OBSERVE_LOCAL
#define QUERIES "100 queries drawn from the pages, ten results each; the ideal is 1."

static const struct figure figures[] = {
	{ .id = "fig1", .title = "Figure 1: how many clusters", .x_label = "k, number of clusters",
	  .y_label = "mean cosine of held-out pages", .x_log = true, .make = make_curves },
	{ .id = "fig2", .title = "Figure 2: what pages are clustered by",
	  .x_label = "budget of a cycle", .y_label = "ChangeRatio, cycle reading",
	  .kind = PLOT_BARS, .axis = AXIS_SETTING, .cycles = "4w", .budgets = "8.3%,16.7%,33%",
	  FIGURE_LINES(sets), FIGURE_MEASURE(change_ratio_cycle), .observe = OBSERVE_CYCLE },
	{ .id = "fig3", .title = "Figure 3: weights of past cycles", .x_label = "cycle",
	  .y_label = "ChangeRatio, cycle reading", .kind = PLOT_LINES, .axis = AXIS_CYCLES,
	  .cycles = "2w", .budgets = "8.3%", FIGURE_LINES(weights),
	  FIGURE_MEASURE(change_ratio_cycle), .observe = OBSERVE_CYCLE, .cycles_most = 24 },
	{ .id = "fig4a", .title = "Figure 4 (a): ChangeRatio over the cycles",
	  .x_label = "cycle", .y_label = "ChangeRatio, local reading", .kind = PLOT_LINES,
	  .axis = AXIS_CYCLES, SEARCH, FIGURE_MEASURE(change_ratio) },
	{ .id = "fig4b", .title = "Figure 4 (b): freshness@10 of searches", .note = QUERIES,
	  .x_label = "cycle", .y_label = "freshness@10", .kind = PLOT_LINES,
	  .axis = AXIS_CYCLES, SEARCH, FIGURE_MEASURE(freshness_at_k) },
	{ .id = "fig4c", .title = "Figure 4 (c): MAP@10 of searches", .note = QUERIES,
	  .x_label = "cycle", .y_label = "MAP@10", .kind = PLOT_LINES,
	  .axis = AXIS_CYCLES, SEARCH, FIGURE_MEASURE(map_at_k) },
	{ .id = "table2", .title = "Table 2: t-values of freshness@10, row against column",
	  .note = "Two-sample t over queries, cycles and seeds; beyond ±1.96 the difference is "
	  "significant at 0.05.", .x_label = "", .y_label = "", .axis = AXIS_TEST, SEARCH,
	  .n_against = 4, .test = SEARCH_FRESHNESS },
	{ .id = "table3", .title = "Table 3: t-values of MAP@10, row against column",
	  .note = "Two-sample t over queries, cycles and seeds; beyond ±1.96 the difference is "
	  "significant at 0.05.", .x_label = "", .y_label = "", .axis = AXIS_TEST, SEARCH,
	  .n_against = 4, .test = SEARCH_MAP },
};

const struct figure_paper figures_paper2 = {
	.name = "paper2", .title = "cluster-level sampling", .detect = "bytes",
	.figures = figures, .n_figures = sizeof figures / sizeof *figures,
};
