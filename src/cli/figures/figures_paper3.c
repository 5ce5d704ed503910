/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures_paper3.c - the sampling-frequency tuning tool: learning automata that
 * watch the tag structure of pages, against round-robin.
 *
 * The work printed runs and no comparison; these are the comparisons it asked
 * for.  Its live experiment is scripts/trial-automaton.
 */
#include "cli/figures/figures.h"

static const struct figure_line automata[] = {
	{ "round-robin", "round-robin", 0 }, { "random", "random", 0 },
	{ "four-case rule", "automaton", 0 },
	{ "two-case rule", "automaton:rule=two-case", 0 },
	{ "four-case, step 8", "automaton:step=8", 0 },
	{ "one automaton a site", "automaton:unit=site", 0 },
	{ "H-TRAA", "automaton:kind=htraa", 0 },
	{ "H-TRAA, 50 states", "automaton:kind=htraa,states=50", 0 },
	{ "tide", "tide", 0 },
};
static const struct figure_line over_time[] = {
	{ "round-robin", "round-robin", 0 }, { "random", "random", 0 },
	{ "four-case rule", "automaton", 0 },
	{ "one automaton a site", "automaton:unit=site", 0 },
	{ "H-TRAA, 50 states", "automaton:kind=htraa,states=50", 0 },
};

#define LOCAL .observe = OBSERVE_LOCAL

static const struct figure figures[] = {
	{ .id = "fig1", .title = "Automata against round-robin: changes found",
	  .x_label = "budget of a cycle", .y_label = "ChangeRatio, local reading",
	  .kind = PLOT_BARS, .axis = AXIS_SETTING, .cycles = "2w", .budgets = "2%,8.3%",
	  FIGURE_LINES(automata), FIGURE_MEASURE(change_ratio), LOCAL },
	{ .id = "fig2", .title = "Automata against round-robin: freshness",
	  .x_label = "cycle", .y_label = "share of copies that are true", .kind = PLOT_LINES,
	  .axis = AXIS_CYCLES, .cycles = "2w", .budgets = "2%", FIGURE_LINES(over_time),
	  FIGURE_MEASURE(freshness), LOCAL },
	{ .id = "fig3", .title = "Automata learn: changes found over the cycles",
	  .x_label = "cycle", .y_label = "ChangeRatio, local reading", .kind = PLOT_LINES,
	  .axis = AXIS_CYCLES, .cycles = "2w", .budgets = "8.3%", FIGURE_LINES(over_time),
	  FIGURE_MEASURE(change_ratio), LOCAL },
};

const struct figure_paper figures_paper3 = {
	.name = "paper3", .title = "automata against round-robin", .detect = "tags",
	.figures = figures, .n_figures = sizeof figures / sizeof *figures,
};
