/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot.h - a figure: series of numbers over a common axis, and its drawing.
 *
 * One structure holds what a line chart, a bar chart and a table need, so that
 * every figure can be printed, written as JSON and drawn from the same numbers.
 * A number that is not known is NAN and is left out everywhere.
 *
 * The drawing is SVG without scripts: colours by class with a dark set behind
 * prefers-color-scheme, title and desc for those who do not see it, and beside
 * colour a marker or dash that tells series apart in print.
 */
#ifndef CLI_FIGURES_PLOT_H
#define CLI_FIGURES_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define PLOT_LABEL 80
#define PLOT_SVG_MAX ((size_t)4 << 20)
#define PLOT_TICKS_MAX 32

enum plot_kind { PLOT_LINES, PLOT_BARS, PLOT_TABLE };

struct plot_series {
	char label[PLOT_LABEL];
	double *y, *se;                 /* n_x each; NAN: not known */
};

struct plot {
	const char *id, *title, *x_label, *y_label;
	enum plot_kind kind;
	bool x_log;
	int decimals;                   /* of values in tables */
	double base;                    /* where the y axis starts, if that is possible */
	char caption[640];
	size_t n_x, n_series;
	double *x;                      /* points on the x axis; NAN: it has only a name */
	char (*names)[PLOT_LABEL];      /* names of the points; "": x is its name */
	struct plot_series *series;
};

/* All values NAN, all labels empty. */
void plot_init(struct plot *p, enum plot_kind kind, size_t n_series, size_t n_x);
void plot_release(struct plot *p);
/* The name of a point: its own, or its x. */
const char *plot_name(const struct plot *p, size_t i, char buf[PLOT_LABEL]);

/* Data to pixels: lo is drawn at `from`, hi at `to`. */
struct plot_scale { double lo, hi, from, to; bool log; };
double plot_at(const struct plot_scale *s, double value);
/* A step of 1, 2 or 5 times a power of ten; at most n steps make the span. */
double plot_step(double span, unsigned n);
/* Multiples of the step inside lo .. hi; on a log scale 1, 10, 100 ..., with 2 and
 * 5 between them if it spans less than two decades.  Returns how many. */
size_t plot_ticks(const struct plot_scale *s, unsigned n, double ret[PLOT_TICKS_MAX]);
/* The range of all values and their errors, out to whole steps; bars start at the
 * base, and so do lines unless all of them stay close to the largest value. */
void plot_range(const struct plot *p, double *ret_lo, double *ret_hi);

/* The drawing, appended to out. */
void plot_svg(const struct plot *p, struct buf *out);

#endif
