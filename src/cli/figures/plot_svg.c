/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot_svg.c - a figure as SVG; see plot.h.
 *
 * The area is a fixed rectangle; the legend stands to the right of lines and of
 * grouped bars, and the caption below, wrapped by an estimate of the letters'
 * width (a renderer's fonts are not known here).  Bars of one point are drawn
 * lying, so that long names can be read.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/figures/plot.h"

#define LETTER 6.9              /* width of a letter at 13 px, about */
#define TITLE_LETTER 9.6        /* at 16 px, bold */
#define AREA_WIDTH 560.0
#define AREA_HEIGHT 320.0
#define TOP 52.0
#define LINE_HEIGHT 17.0
#define ROW_HEIGHT 26.0
#define BAR_WIDTH 440.0
#define MARKS_MOST 32           /* points; more are drawn without markers */
#define PLACES_AS_TICKS 8
#define COLOURS 10

static const char *const light[COLOURS] = { "#1f6fd6", "#d1491b", "#1a8f4c", "#8a4fd0",
	"#c2298a", "#946500", "#0e8a9a", "#5b6470", "#3b3b9e", "#6b8216" };
static const char *const dark[COLOURS] = { "#6cb0ff", "#ff8f66", "#58d68d", "#c39bff",
	"#ff85cf", "#e0b040", "#4fd3e4", "#a8b3c0", "#9fa0ff", "#b8d252" };
static const char *const dashes[] = { "", "7 4", "2 3", "9 3 2 3" };

struct svg {
	struct buf *out;
	const struct plot *p;
	struct plot_scale x, y;
	double width, height;
};

static void text(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '&')
			buf_str(out, "&amp;");
		else if (*s == '<')
			buf_str(out, "&lt;");
		else if (*s == '>')
			buf_str(out, "&gt;");
		else if (*s == '"')
			buf_str(out, "&quot;");
		else if ((unsigned char)*s >= ' ')
			buf_byte(out, *s);
	}
}

static size_t letters(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void label(struct svg *g, double x, double y, const char *class, const char *s)
{
	buf_printf(g->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	text(g->out, s);
	buf_str(g->out, "</text>\n");
}

static void line(struct svg *g, double x1, double y1, double x2, double y2,
                 const char *class)
{
	buf_printf(g->out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", class, x1, y1, x2,
	           y2);
}

static void colours(struct svg *g, const char *const *set)
{
	for (size_t i = 0; i < COLOURS && i < g->p->n_series; i++)
		buf_printf(g->out, ".s%zu{stroke:%s}.f%zu{fill:%s}", i, set[i], i, set[i]);
	buf_str(g->out, "\n");
}

static double title_width(const struct plot *p)
{
	return 32 + TITLE_LETTER * (double)letters(p->title);
}

static void head(struct svg *g)
{
	buf_printf(g->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
	           "width=\"%.0f\" height=\"%.0f\" role=\"img\" aria-labelledby=\"t d\">\n"
	           "<title id=\"t\">", g->width, g->height, g->width, g->height);
	text(g->out, g->p->title);
	buf_str(g->out, "</title>\n<desc id=\"d\">");
	text(g->out, g->p->caption);
	buf_str(g->out, "</desc>\n<style>\n"
	        "text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
	        "fill:#1b1f24}\n.h{font-size:16px;font-weight:600}.e{text-anchor:end}"
	        ".m{text-anchor:middle}.n{font-size:12px;fill:#57606a}.b{font-weight:600}\n"
	        ".bg{fill:#fff}.g{stroke:#d8dee4;fill:none}.a{stroke:#57606a;fill:none}"
	        ".l{fill:none;stroke-width:2;stroke-linejoin:round}"
	        ".r{stroke:none;fill-opacity:.18}.w{stroke:#1b1f24;fill:none}\n");
	colours(g, light);
	buf_str(g->out, "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.n{fill:#9da7b3}"
	        ".bg{fill:#0d1117}.g{stroke:#30363d}.a{stroke:#9da7b3}.w{stroke:#e6edf3}\n");
	colours(g, dark);
	buf_printf(g->out, "}\n</style>\n<rect class=\"bg\" width=\"%.0f\" height=\"%.0f\"/>\n",
	           g->width, g->height);
	label(g, 16, 28, "h", g->p->title);
}

/* Words on lines as wide as the drawing; only counted without a drawing. */
static size_t caption(struct svg *g, double y, bool draw)
{
	size_t most = (size_t)((g->width - 32) / (LETTER * 12 / 13)), n = 0;
	const char *s = g->p->caption;

	while (*s) {
		size_t size = 0, end = 0;
		char row[sizeof g->p->caption];

		while (s[size] && letters(s) - letters(s + size) < most) {
			size++;
			if (!s[size] || s[size] == ' ')
				end = size;
		}
		if (!end)
			end = size;
		snprintf(row, sizeof row, "%.*s", (int)end, s);
		if (draw)
			label(g, 16, y + LINE_HEIGHT * (double)n, "n", row);
		n++;
		s += end;
		s += strspn(s, " ");
	}
	return n;
}

static const char *number(double v, double step, char buf[32])
{
	int digits = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);

	snprintf(buf, 32, "%.*f", digits, fabs(v) < step / 1e6 ? 0 : v);
	return buf;
}

static void y_axis(struct svg *g)
{
	double ticks[PLOT_TICKS_MAX];
	size_t n = plot_ticks(&g->y, 6, ticks);

	for (size_t i = 0; i < n; i++) {
		double y = plot_at(&g->y, ticks[i]);
		char s[32];

		line(g, g->x.from, y, g->x.to, y, "g");
		label(g, g->x.from - 8, y + 4, "n e",
		      number(ticks[i], n > 1 ? ticks[1] - ticks[0] : 1, s));
	}
	buf_printf(g->out, "<text class=\"m\" transform=\"translate(18 %.1f) rotate(-90)\">",
	           (g->y.from + g->y.to) / 2);
	text(g->out, g->p->y_label);
	buf_str(g->out, "</text>\n");
}

/* On a logarithmic axis a few points are the ticks: 1, 2, 5 and 10 would miss some. */
static size_t x_ticks(const struct svg *g, double ret[PLOT_TICKS_MAX])
{
	if (!g->x.log || g->p->n_x > PLACES_AS_TICKS)
		return plot_ticks(&g->x, 12, ret);
	memcpy(ret, g->p->x, g->p->n_x * sizeof *ret);
	return g->p->n_x;
}

static void x_axis(struct svg *g)
{
	double ticks[PLOT_TICKS_MAX];
	size_t n = x_ticks(g, ticks);

	line(g, g->x.from, g->y.from, g->x.to, g->y.from, "a");
	for (size_t i = 0; i < n; i++) {
		double x = plot_at(&g->x, ticks[i]);
		char s[32];

		line(g, x, g->y.from, x, g->y.from + 5, "a");
		if (g->x.log)
			snprintf(s, sizeof s, "%g", ticks[i]);
		else
			number(ticks[i], n > 1 ? ticks[1] - ticks[0] : 1, s);
		label(g, x, g->y.from + 20, "n m", s);
	}
}

/* A circle, square, diamond or triangle, by number. */
static void marker(struct svg *g, size_t series, double x, double y)
{
	static const char *const shapes[] = {
		"m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0",
		"m-3.2 -3.2h6.4v6.4h-6.4z", "m0 -4.6l4.6 4.6l-4.6 4.6l-4.6 -4.6z",
		"m0 -4.4l4.4 7.4h-8.8z" };

	buf_printf(g->out, "<path class=\"f%zu\" d=\"M%.1f %.1f%s\"/>\n", series % COLOURS, x, y,
	           shapes[series % 4]);
}

/* mean - se .. mean + se, where known: there along the top, back at the bottom. */
static void band(struct svg *g, size_t series)
{
	const struct plot_series *s = &g->p->series[series];
	size_t n = 0;

	for (size_t i = 0; i < g->p->n_x; i++)
		n += !isnan(s->y[i]) && s->se[i] > 0;
	if (n < 2)
		return;
	buf_printf(g->out, "<path class=\"r f%zu\" d=\"", series % COLOURS);
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

static void dash(struct svg *g, size_t series)
{
	const char *d = dashes[series / 4 % 4];

	if (*d)
		buf_printf(g->out, " stroke-dasharray=\"%s\"", d);
}

static void curve(struct svg *g, size_t series)
{
	const struct plot_series *s = &g->p->series[series];
	bool drawn = false;

	buf_printf(g->out, "<path class=\"l s%zu\"", series % COLOURS);
	dash(g, series);
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
			marker(g, series, plot_at(&g->x, g->p->x[i]), plot_at(&g->y, s->y[i]));
}

static void legend(struct svg *g)
{
	double x = g->x.to + 20, y = g->y.to + 8;

	for (size_t i = 0; i < g->p->n_series; i++, y += 22) {
		if (g->p->kind == PLOT_BARS) {
			buf_printf(g->out, "<rect class=\"f%zu\" x=\"%.1f\" y=\"%.1f\" width=\"14\" "
			           "height=\"12\"/>\n", i % COLOURS, x + 4, y - 6);
		} else {
			buf_printf(g->out, "<path class=\"l s%zu\"", i % COLOURS);
			dash(g, i);
			buf_printf(g->out, " d=\"M%.1f %.1fh24\"/>\n", x, y);
			if (g->p->n_x <= MARKS_MOST)
				marker(g, i, x + 12, y);
		}
		label(g, x + 32, y + 4.5, "", g->p->series[i].label);
	}
}

static double legend_width(const struct plot *p)
{
	size_t most = 0;

	for (size_t i = 0; i < p->n_series; i++)
		if (letters(p->series[i].label) > most)
			most = letters(p->series[i].label);
	return 60 + LETTER * (double)most;
}

/* An upright bar or a lying one, with its error. */
static void bar(struct svg *g, size_t series, double at, double thick, double value,
                double se, bool lying)
{
	const struct plot_scale *s = lying ? &g->x : &g->y;
	double a = plot_at(s, fmin(0, value)), b = plot_at(s, fmax(0, value));
	double lo = plot_at(s, value - se), hi = plot_at(s, value + se), mid = at + thick / 2;

	buf_printf(g->out, "<rect class=\"f%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
	           "height=\"%.1f\"/>\n", series % COLOURS, lying ? a : at, lying ? at : b,
	           lying ? b - a : thick, lying ? thick : a - b);
	if (se > 0 && lying)
		buf_printf(g->out, "<path class=\"w\" d=\"M%.1f %.1fH%.1fM%.1f %.1fv6M%.1f %.1fv6\"/>\n",
		           lo, mid, hi, lo, mid - 3, hi, mid - 3);
	else if (se > 0)
		buf_printf(g->out, "<path class=\"w\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh6M%.1f %.1fh6\"/>\n",
		           mid, lo, hi, mid - 3, lo, mid - 3, hi);
}

static void grouped_bars(struct svg *g)
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
		label(g, x + group * 0.42, g->y.from + 20, "n m", plot_name(g->p, k, s));
	}
	line(g, g->x.from, g->y.from, g->x.to, g->y.from, "a");
}

/* Lines, or bars of several points. */
static void draw_area(struct svg *g)
{
	const struct plot *p = g->p;
	double lo, hi, left = 76;
	size_t n;

	plot_range(p, &lo, &hi);
	g->x = (struct plot_scale){ 0, 1, left, left + AREA_WIDTH, p->x_log };
	g->y = (struct plot_scale){ lo, hi, TOP + AREA_HEIGHT, TOP, false };
	if (p->kind == PLOT_LINES) {
		g->x.lo = INFINITY, g->x.hi = -INFINITY;
		for (size_t i = 0; i < p->n_x; i++)
			g->x.lo = fmin(g->x.lo, p->x[i]), g->x.hi = fmax(g->x.hi, p->x[i]);
		if (!(g->x.hi > g->x.lo))
			g->x.hi = g->x.lo + 1;
		g->x.log = p->x_log && g->x.lo > 0;     /* 0 has no logarithm */
	}
	g->width = fmax(title_width(p), left + AREA_WIDTH + 20 + legend_width(p));
	n = caption(g, 0, false);
	g->height = TOP + AREA_HEIGHT + 72 + LINE_HEIGHT * (double)n;
	head(g);
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
	label(g, left + AREA_WIDTH / 2, g->y.from + 42, "m", p->x_label);
	legend(g);
	caption(g, g->y.from + 70, true);
}

/* Bars of one point: a row each, its name to the left, its value to the right. */
static void draw_rows(struct svg *g)
{
	const struct plot *p = g->p;
	double lo, hi, left = legend_width(p) - 24, y = TOP;
	size_t n;

	plot_range(p, &lo, &hi);
	g->x = (struct plot_scale){ lo, hi, left, left + BAR_WIDTH, false };
	g->width = fmax(title_width(p), left + BAR_WIDTH + 140);
	n = caption(g, 0, false);
	g->height = TOP + ROW_HEIGHT * (double)p->n_series + 50 + LINE_HEIGHT * (double)n;
	head(g);
	for (size_t i = 0; i < p->n_series; i++, y += ROW_HEIGHT) {
		double v = p->series[i].y[0], se = p->series[i].se[0];
		char s[64];

		label(g, left - 8, y + 16, "e", p->series[i].label);
		if (isnan(v))
			continue;
		bar(g, 0, y + 3, ROW_HEIGHT - 7, v, isnan(se) ? 0 : se, true);
		snprintf(s, sizeof s, isnan(se) ? "%.*f" : "%.*f ± %.*f", p->decimals, v,
		         p->decimals, se);
		label(g, plot_at(&g->x, v + (isnan(se) ? 0 : se)) + 8, y + 16, "n", s);
	}
	line(g, left, TOP, left, y, "a");
	label(g, left, y + 20, "n", p->y_label);
	caption(g, y + 46, true);
}

static void draw_table(struct svg *g)
{
	const struct plot *p = g->p;
	double left = 60, column = 90, y = TOP + 6;
	char s[PLOT_LABEL];
	size_t n;

	for (size_t k = 0; k < p->n_x; k++)
		left = fmax(left, 40 + LETTER * (double)letters(plot_name(p, k, s)));
	for (size_t i = 0; i < p->n_series; i++)
		column = fmax(column, 24 + LETTER * (double)letters(p->series[i].label));
	g->width = fmax(title_width(p), left + column * (double)p->n_series + 24);
	n = caption(g, 0, false);
	g->height = y + ROW_HEIGHT * (double)(p->n_x + 1) + 24 + LINE_HEIGHT * (double)n;
	head(g);
	label(g, 16, y + 10, "b", p->x_label);
	for (size_t i = 0; i < p->n_series; i++)
		label(g, left + column * (double)(i + 1), y + 10, "b e", p->series[i].label);
	for (size_t k = 0; k < p->n_x; k++) {
		y += ROW_HEIGHT;
		line(g, 16, y - 8, g->width - 16, y - 8, "g");
		label(g, 16, y + 10, "", plot_name(p, k, s));
		for (size_t i = 0; i < p->n_series; i++) {
			if (isnan(p->series[i].y[k]))
				continue;
			snprintf(s, sizeof s, "%.*f", p->decimals, p->series[i].y[k]);
			label(g, left + column * (double)(i + 1), y + 10, "e", s);
		}
	}
	caption(g, y + 46, true);
}

void plot_svg(const struct plot *p, struct buf *out)
{
	struct svg g = { .out = out, .p = p };

	if (p->kind == PLOT_TABLE)
		draw_table(&g);
	else if (p->kind == PLOT_BARS && p->n_x == 1)
		draw_rows(&g);
	else
		draw_area(&g);
	buf_str(out, "</svg>\n");
}
