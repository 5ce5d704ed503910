/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot_svg.c - a figure as SVG: lines, bars, rows and tables, by plot_pen.h; see plot.h.
 *
 * The area is a fixed rectangle; the legend stands to the right of lines and of
 * grouped bars, and the caption below.  Bars of one point are drawn lying, so that long names
 * can be read.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/figures/plot_pen.h"

#define AREA_WIDTH 560.0
#define AREA_HEIGHT 320.0
#define ROW_HEIGHT 26.0
#define BAR_WIDTH 440.0
#define MARKS_MOST 32           /* points; more are drawn without markers */
#define PLACES_AS_TICKS 8

static void y_axis(struct pen *g)
{
	double ticks[PLOT_TICKS_MAX];
	size_t n = plot_ticks(&g->y, 6, ticks);

	for (size_t i = 0; i < n; i++) {
		double y = plot_at(&g->y, ticks[i]);
		char s[32];

		pen_line(g, g->x.from, y, g->x.to, y, "g");
		pen_label(g, g->x.from - 8, y + 4, "n e",
		      pen_number(ticks[i], n > 1 ? ticks[1] - ticks[0] : 1, s));
	}
	buf_printf(g->out, "<text class=\"m\" transform=\"translate(18 %.1f) rotate(-90)\">",
	           (g->y.from + g->y.to) / 2);
	pen_text(g->out, g->p->y_label);
	buf_str(g->out, "</text>\n");
}

/* On a logarithmic axis a few points are the ticks: 1, 2, 5 and 10 would miss some. */
static size_t x_ticks(const struct pen *g, double ret[PLOT_TICKS_MAX])
{
	if (!g->x.log || g->p->n_x > PLACES_AS_TICKS)
		return plot_ticks(&g->x, 12, ret);
	memcpy(ret, g->p->x, g->p->n_x * sizeof *ret);
	return g->p->n_x;
}

static void x_axis(struct pen *g)
{
	double ticks[PLOT_TICKS_MAX];
	size_t n = x_ticks(g, ticks);

	pen_line(g, g->x.from, g->y.from, g->x.to, g->y.from, "a");
	for (size_t i = 0; i < n; i++) {
		double x = plot_at(&g->x, ticks[i]);
		char s[32];

		pen_line(g, x, g->y.from, x, g->y.from + 5, "a");
		if (g->x.log)
			snprintf(s, sizeof s, "%g", ticks[i]);
		else
			pen_number(ticks[i], n > 1 ? ticks[1] - ticks[0] : 1, s);
		pen_label(g, x, g->y.from + 20, "n m", s);
	}
}

/* mean - se .. mean + se, where known: there along the top, back at the bottom. */
static void band(struct pen *g, size_t series)
{
	const struct plot_series *s = &g->p->series[series];
	size_t n = 0;

	for (size_t i = 0; i < g->p->n_x; i++)
		n += !isnan(s->y[i]) && s->se[i] > 0;
	if (n < 2)
		return;
	buf_printf(g->out, "<path class=\"r f%zu\" d=\"", series % PEN_COLOURS);
	for (size_t pass = 0, drawn = 0; pass < 2; pass++) {
		for (size_t k = 0; k < g->p->n_x; k++) {
			size_t i = pass ? g->p->n_x - 1 - k : k;
			double se = isnan(s->se[i]) ? 0 : s->se[i];

			if (!isnan(s->y[i]))
				buf_printf(g->out, "%c%.1f %.1f", drawn++ ? 'L' : 'M',
				           plot_at(&g->x, g->p->x[i]),
				           plot_at(&g->y, s->y[i] + (pass ? -se : se)));
		}
	}
	buf_str(g->out, "z\"/>\n");
}

static void curve(struct pen *g, size_t series)
{
	const struct plot_series *s = &g->p->series[series];
	bool drawn = false;

	buf_printf(g->out, "<path class=\"l s%zu\"", series % PEN_COLOURS);
	pen_dash(g, series);
	buf_str(g->out, " d=\"");
	for (size_t i = 0; i < g->p->n_x; i++) {
		if (isnan(s->y[i]))
			continue;
		buf_printf(g->out, "%c%.1f %.1f", drawn ? 'L' : 'M', plot_at(&g->x, g->p->x[i]),
		           plot_at(&g->y, s->y[i]));
		drawn = true;
	}
	buf_str(g->out, drawn ? "\"/>\n" : "M0 0\"/>\n");
	for (size_t i = 0; i < g->p->n_x && g->p->n_x <= MARKS_MOST; i++)
		if (!isnan(s->y[i]))
			pen_marker(g, series, plot_at(&g->x, g->p->x[i]), plot_at(&g->y, s->y[i]));
}

static void legend(struct pen *g)
{
	double x = g->x.to + 20;

	for (size_t i = 0; i < g->p->n_series; i++) {
		double y = g->y.to + 8 + 22 * (double)i;

		if (g->p->kind == PLOT_BARS) {
			buf_printf(g->out, "<rect class=\"f%zu\" x=\"%.1f\" y=\"%.1f\" width=\"14\" "
			           "height=\"12\"/>\n", i % PEN_COLOURS, x + 4, y - 6);
		} else {
			buf_printf(g->out, "<path class=\"l s%zu\"", i % PEN_COLOURS);
			pen_dash(g, i);
			buf_printf(g->out, " d=\"M%.1f %.1fh24\"/>\n", x, y);
			if (g->p->n_x <= MARKS_MOST)
				pen_marker(g, i, x + 12, y);
		}
		pen_label(g, x + 32, y + 4.5, "", g->p->series[i].label);
	}
}

static double legend_width(const struct plot *p)
{
	size_t most = 0;

	for (size_t i = 0; i < p->n_series; i++)
		if (pen_letters(p->series[i].label) > most)
			most = pen_letters(p->series[i].label);
	return 60 + PEN_LETTER * (double)most;
}

/* An upright bar or a lying one, with its error. */
static void bar(struct pen *g, size_t series, double at, double thick, double value,
                double se, bool lying)
{
	const struct plot_scale *s = lying ? &g->x : &g->y;
	double a = plot_at(s, fmin(0, value)), b = plot_at(s, fmax(0, value));
	double lo = plot_at(s, value - se), hi = plot_at(s, value + se), mid = at + thick / 2;

	buf_printf(g->out, "<rect class=\"f%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
	           "height=\"%.1f\"/>\n", series % PEN_COLOURS, lying ? a : at, lying ? at : b,
	           lying ? b - a : thick, lying ? thick : a - b);
	if (se > 0 && lying)
		buf_printf(g->out, "<path class=\"w\" d=\"M%.1f %.1fH%.1fM%.1f %.1fv6M%.1f %.1fv6\"/>\n",
		           lo, mid, hi, lo, mid - 3, hi, mid - 3);
	else if (se > 0)
		buf_printf(g->out, "<path class=\"w\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh6M%.1f %.1fh6\"/>\n",
		           mid, lo, hi, mid - 3, lo, mid - 3, hi);
}

static void grouped_bars(struct pen *g)
{
	double group = (g->x.to - g->x.from) / (double)g->p->n_x;
	double thick = group * 0.84 / (double)g->p->n_series;

	for (size_t k = 0; k < g->p->n_x; k++) {
		double x = g->x.from + group * ((double)k + 0.08);
		char s[PLOT_LABEL];

		for (size_t i = 0; i < g->p->n_series; i++) {
			const struct plot_series *one = &g->p->series[i];

			if (!isnan(one->y[k]))
				bar(g, i, x + thick * (double)i, thick * 0.94, one->y[k],
				    isnan(one->se[k]) ? 0 : one->se[k], false);
		}
		pen_label(g, x + group * 0.42, g->y.from + 20, "n m", plot_name(g->p, k, s));
	}
	pen_line(g, g->x.from, g->y.from, g->x.to, g->y.from, "a");
}

/* Lines, or bars of several points. */
static void draw_area(struct pen *g)
{
	const struct plot *p = g->p;
	double lo, hi, left = 76;
	size_t n;

	plot_range(p, &lo, &hi);
	g->x = (struct plot_scale){ 0, 1, left, left + AREA_WIDTH, p->x_log };
	g->y = (struct plot_scale){ lo, hi, PEN_TOP + AREA_HEIGHT, PEN_TOP, false };
	if (p->kind == PLOT_LINES) {
		g->x.lo = INFINITY, g->x.hi = -INFINITY;
		for (size_t i = 0; i < p->n_x; i++)
			g->x.lo = fmin(g->x.lo, p->x[i]), g->x.hi = fmax(g->x.hi, p->x[i]);
		if (!(g->x.hi > g->x.lo))
			g->x.hi = g->x.lo + 1;
		g->x.log = p->x_log && g->x.lo > 0;     /* 0 has no logarithm */
	}
	g->width = fmax(pen_title_width(p), left + AREA_WIDTH + 20 + legend_width(p));
	n = pen_caption(g, 0, false);
	g->height = PEN_TOP + AREA_HEIGHT + 72 + PEN_LINE * (double)n;
	pen_head(g);
	y_axis(g);
	if (p->kind == PLOT_LINES) {
		x_axis(g);
		for (size_t i = 0; i < p->n_series; i++)
			band(g, i);
		for (size_t i = 0; i < p->n_series; i++)
			curve(g, i);
	} else {
		grouped_bars(g);
	}
	pen_label(g, left + AREA_WIDTH / 2, g->y.from + 42, "m", p->x_label);
	legend(g);
	pen_caption(g, g->y.from + 70, true);
}

/* Bars of one point: a row each, its name to the left, its value to the right. */
static void draw_rows(struct pen *g)
{
	const struct plot *p = g->p;
	double lo, hi, left = legend_width(p) - 24;
	double bottom = PEN_TOP + ROW_HEIGHT * (double)p->n_series;
	size_t n;

	plot_range(p, &lo, &hi);
	g->x = (struct plot_scale){ lo, hi, left, left + BAR_WIDTH, false };
	g->width = fmax(pen_title_width(p), left + BAR_WIDTH + 140);
	n = pen_caption(g, 0, false);
	g->height = bottom + 50 + PEN_LINE * (double)n;
	pen_head(g);
	for (size_t i = 0; i < p->n_series; i++) {
		double v = p->series[i].y[0], se = p->series[i].se[0];
		double y = PEN_TOP + ROW_HEIGHT * (double)i;
		char s[64];

		pen_label(g, left - 8, y + 16, "e", p->series[i].label);
		if (isnan(v))
			continue;
		bar(g, 0, y + 3, ROW_HEIGHT - 7, v, isnan(se) ? 0 : se, true);
		snprintf(s, sizeof s, isnan(se) ? "%.*f" : "%.*f ± %.*f", p->decimals, v,
		         p->decimals, se);
		pen_label(g, plot_at(&g->x, v + (isnan(se) ? 0 : se)) + 8, y + 16, "n", s);
	}
	pen_line(g, left, PEN_TOP, left, bottom, "a");
	pen_label(g, left, bottom + 20, "n", p->y_label);
	pen_caption(g, bottom + 46, true);
}

static void draw_table(struct pen *g)
{
	const struct plot *p = g->p;
	double left = 60, column = 90, y = PEN_TOP + 6;
	char s[PLOT_LABEL];
	size_t n;

	for (size_t k = 0; k < p->n_x; k++)
		left = fmax(left, 40 + PEN_LETTER * (double)pen_letters(plot_name(p, k, s)));
	for (size_t i = 0; i < p->n_series; i++)
		column = fmax(column, 24 + PEN_LETTER * (double)pen_letters(p->series[i].label));
	g->width = fmax(pen_title_width(p), left + column * (double)p->n_series + 24);
	n = pen_caption(g, 0, false);
	g->height = y + ROW_HEIGHT * (double)(p->n_x + 1) + 24 + PEN_LINE * (double)n;
	pen_head(g);
	pen_label(g, 16, y + 10, "b", p->x_label);
	for (size_t i = 0; i < p->n_series; i++)
		pen_label(g, left + column * (double)(i + 1), y + 10, "b e", p->series[i].label);
	for (size_t k = 0; k < p->n_x; k++) {
		y += ROW_HEIGHT;
		pen_line(g, 16, y - 8, g->width - 16, y - 8, "g");
		pen_label(g, 16, y + 10, "", plot_name(p, k, s));
		for (size_t i = 0; i < p->n_series; i++) {
			if (isnan(p->series[i].y[k]))
				continue;
			snprintf(s, sizeof s, "%.*f", p->decimals, p->series[i].y[k]);
			pen_label(g, left + column * (double)(i + 1), y + 10, "e", s);
		}
	}
	pen_caption(g, y + 46, true);
}

void plot_svg(const struct plot *p, struct buf *out)
{
	struct pen g = { .out = out, .p = p };

	if (p->kind == PLOT_TABLE)
		draw_table(&g);
	else if (p->kind == PLOT_BARS && p->n_x == 1)
		draw_rows(&g);
	else
		draw_area(&g);
	buf_str(out, "</svg>\n");
}
