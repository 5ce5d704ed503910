/* SPDX-License-Identifier: Apache-2.0 */
/* plot_pen.c - see plot_pen.h. */
#include "cli/figures/plot_pen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TITLE_LETTER 9.6        /* width of a letter at 16 px, bold */

static const char *const light[PEN_COLOURS] = { "#1f6fd6", "#d1491b", "#1a8f4c", "#8a4fd0",
	"#c2298a", "#946500", "#0e8a9a", "#5b6470", "#3b3b9e", "#6b8216" };
static const char *const dark[PEN_COLOURS] = { "#6cb0ff", "#ff8f66", "#58d68d", "#c39bff",
	"#ff85cf", "#e0b040", "#4fd3e4", "#a8b3c0", "#9fa0ff", "#b8d252" };
static const char *const dashes[] = { "", "7 4", "2 3", "9 3 2 3" };

void pen_text(struct buf *out, const char *s)
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

size_t pen_letters(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

void pen_label(struct pen *g, double x, double y, const char *class, const char *s)
{
	buf_printf(g->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	pen_text(g->out, s);
	buf_str(g->out, "</text>\n");
}

void pen_line(struct pen *g, double x1, double y1, double x2, double y2,
              const char *class)
{
	buf_printf(g->out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", class, x1, y1, x2,
	           y2);
}

static void colours(struct pen *g, const char *const *set)
{
	for (size_t i = 0; i < PEN_COLOURS && i < g->p->n_series; i++)
		buf_printf(g->out, ".s%zu{stroke:%s}.f%zu{fill:%s}", i, set[i], i, set[i]);
	buf_str(g->out, "\n");
}

double pen_title_width(const struct plot *p)
{
	return 32 + TITLE_LETTER * (double)pen_letters(p->title);
}

void pen_head(struct pen *g)
{
	buf_printf(g->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
	           "width=\"%.0f\" height=\"%.0f\" role=\"img\" aria-labelledby=\"t d\">\n"
	           "<title id=\"t\">", g->width, g->height, g->width, g->height);
	pen_text(g->out, g->p->title);
	buf_str(g->out, "</title>\n<desc id=\"d\">");
	pen_text(g->out, g->p->caption);
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
	pen_label(g, 16, 28, "h", g->p->title);
}

size_t pen_caption(struct pen *g, double y, bool draw)
{
	size_t most = (size_t)((g->width - 32) / (PEN_LETTER * 12 / 13)), n = 0;
	const char *s = g->p->caption;

	while (*s) {
		size_t size = 0, end = 0;
		char row[sizeof g->p->caption];

		while (s[size] && pen_letters(s) - pen_letters(s + size) < most) {
			size++;
			if (!s[size] || s[size] == ' ')
				end = size;
		}
		if (!end)
			end = size;
		snprintf(row, sizeof row, "%.*s", (int)end, s);
		if (draw)
			pen_label(g, 16, y + PEN_LINE * (double)n, "n", row);
		n++;
		s += end;
		s += strspn(s, " ");
	}
	return n;
}

const char *pen_number(double v, double step, char buf[32])
{
	int digits = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);

	snprintf(buf, 32, "%.*f", digits, fabs(v) < step / 1e6 ? 0 : v);
	return buf;
}

void pen_marker(struct pen *g, size_t series, double x, double y)
{
	static const char *const shapes[] = {
		"m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0",
		"m-3.2 -3.2h6.4v6.4h-6.4z", "m0 -4.6l4.6 4.6l-4.6 4.6l-4.6 -4.6z",
		"m0 -4.4l4.4 7.4h-8.8z" };

	buf_printf(g->out, "<path class=\"f%zu\" d=\"M%.1f %.1f%s\"/>\n", series % PEN_COLOURS, x, y,
	           shapes[series % 4]);
}

void pen_dash(struct pen *g, size_t series)
{
	const char *d = dashes[series / 4 % 4];

	if (*d)
		buf_printf(g->out, " stroke-dasharray=\"%s\"", d);
}
