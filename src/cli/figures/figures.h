/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.h - the papers' tables and figures, and ours, regenerated from data.
 *
 * A figure is a description: which policies under which settings, which measure,
 * over which axis.  figures_paperN.c hold one table of descriptions each (and figures_beyond.c);
 * figures.c runs them, every setting once for all figures that want it;
 * figures_print.c prints, writes JSON and draws.  What is no replay (counts of
 * the data, the curve over k, LiveRank) has a function of its own.
 */
#ifndef CLI_FIGURES_FIGURES_H
#define CLI_FIGURES_FIGURES_H

#include "cli/figures/plot.h"
#include "cli/frame/command.h"
#include "cli/rank/rank_load.h"
#include "engine/replay/experiment.h"

struct figure_line { const char *label, *spec; int first; };    /* first value of a range */

enum figure_axis {
	AXIS_SETTING,           /* a point for each cycle length and budget; with lines
	                         * x is the budget */
	AXIS_RANGE,             /* x is the parameter of a range; a series for each line
	                         * and setting */
	AXIS_CYCLES,            /* x is the cycle; a series for each line and setting */
	AXIS_TEST,              /* t-values, the first lines against the last n_against */
};

struct figures;

struct figure {
	const char *id, *title, *note, *x_label, *y_label;
	enum plot_kind kind;
	enum figure_axis axis;
	const char *cycles, *budgets;           /* "2w,4w": every pair is a setting */
	const struct figure_line *lines;
	size_t n_lines, n_against;
	size_t measure;                         /* offset in struct cycle_measure */
	enum search_kind test;
	uint32_t cycles_most;                   /* cycles at most; 0: all */
	enum observe observe;
	enum replay_weights weights;
	double base;                            /* start of the y axis, if possible */
	bool search, x_log;
	/* makes the plot of a figure that is no replay */
	int (*make)(struct figures *f, const struct figure *figure, struct plot *ret,
	            struct err *err);
};

#define FIGURE_LINES(array) .lines = array, .n_lines = sizeof array / sizeof *array
#define FIGURE_MEASURE(field) .measure = offsetof(struct cycle_measure, field)

struct figure_paper {
	const char *name, *title, *detect;
	const struct figure *figures;
	size_t n_figures;
	bool graph;             /* its data are graphs with known life, not histories */
};

extern const struct figure_paper figures_paper1, figures_paper2, figures_paper3,
                                 figures_paper4, figures_beyond;

/* Options of the command line; 0 or NULL: not given. */
struct figure_request {
	const char *which;              /* "paper1", or "paper1:fig5,fig6" */
	const char *svg;                /* folder, or NULL */
	const char *detect;             /* NULL: as the paper */
	int64_t start, end;
	bool observe_given;
	enum observe observe;
	bool nearest, join, site_by_domain;
	uint32_t n_seeds;
	uint64_t seed;
	unsigned threads;
};

/* A graph whose living pages are known, with its PageRank. */
struct figure_graph {
	struct rank_graph g;
	struct pagerank_matrix *matrix;
	double *rank;
};

struct figures {                /* one call of the command */
	const struct figure_paper *paper;
	const struct figure_request *ask;
	struct history history;
	struct figure_graph graph;
	const struct figure **chosen;
	struct plot *plots;             /* one for each of `chosen` */
	size_t n;
};

MUST_CHECK int figures_run(struct cli *cli, const struct figure_request *ask, int n_args,
                           char **args, struct err *err);

/* Fills the plots of all chosen figures that are replays. */
MUST_CHECK int figures_replay(struct figures *f, struct err *err);

/* All figures as text, as JSON, and as SVG files in a folder. */
void figures_print(const struct figures *f, FILE *out);
void figures_print_json(const struct figures *f);
MUST_CHECK int figures_draw(const struct figures *f, const char *folder, struct err *err);

/* Data of paper 4; in figures_paper4.c. */
MUST_CHECK int figure_graph_open(struct figure_graph *g, int n_args, char **args,
                                 struct err *err);
void figure_graph_close(struct figure_graph *g);

#endif
