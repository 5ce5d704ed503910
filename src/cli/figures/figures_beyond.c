/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures_beyond.c - our policy against those of the papers and of the crawlers that
 * people run, over the budget: what is found, and how fresh the copies are.
 *
 * Of each family the settings that did best in docs/results/beyond-tables.md; methods
 * that do as round-robin does there (lambda, stormcrawler, automaton) are left out, and
 * `cluster`, whose runs take longer than all others together.
 */
#include "cli/figures/figures.h"

static const struct figure_line all[] = {
	{ "tide", "tide", 0 }, { "Thompson sampling", "thompson:k=16", 0 },
	{ "sites (SLS)", "site", 0 },
	{ "neighbours by links (LB)", "neighbour:by=link,d=-2", 0 },
	{ "neighbours by directories (DB)", "neighbour:by=dir,d=2,cousins=1", 0 },
	{ "neighbours by clusters (CB)", "neighbour:by=cluster,k=1000", 0 },
	{ "change frequency", "frequency", 0 }, { "Nutch", "nutch", 0 },
	{ "random", "random", 0 }, { "oracle, which knows", "oracle", 0 },
};

#define OVER_BUDGETS .x_label = "budget of a cycle, % of the pages", .kind = PLOT_LINES, \
	.axis = AXIS_SETTING, .cycles = "2w", .budgets = "1%,2%,5%,8.3%", .x_log = true, \
	FIGURE_LINES(all)

static const struct figure figures[] = {
	{ .id = "fig1", .title = "Downloads that found a change",
	  .y_label = "ChangeRatio", OVER_BUDGETS,
	  FIGURE_MEASURE(change_ratio), .observe = OBSERVE_LOCAL },
	{ .id = "fig2", .title = "Copies that are true",
	  .y_label = "freshness", OVER_BUDGETS,
	  FIGURE_MEASURE(freshness), .base = 0.7, .observe = OBSERVE_LOCAL },
	{ .id = "fig3", .title = "Downloads that found a change of the cycle",
	  .y_label = "ChangeRatio of the cycle", OVER_BUDGETS,
	  FIGURE_MEASURE(change_ratio_cycle), .observe = OBSERVE_CYCLE },
	{ .id = "fig4", .title = "Copies that are true, told changes of the cycle",
	  .y_label = "freshness", OVER_BUDGETS,
	  FIGURE_MEASURE(freshness), .base = 0.7, .observe = OBSERVE_CYCLE },
};

const struct figure_paper figures_beyond = {
	.name = "beyond", .title = "tide against the rest", .detect = "bytes",
	.figures = figures, .n_figures = sizeof figures / sizeof *figures,
};
