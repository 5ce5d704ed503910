/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot_pen.h - what the figures of plot_svg.c are drawn with: texts, lines, colours for light
 * and dark screens, the head of the file and the caption.  The width of a text is an estimate:
 * a renderer's fonts are not known here.
 */
#ifndef CLI_FIGURES_PLOT_PEN_H
#define CLI_FIGURES_PLOT_PEN_H

#include "cli/figures/plot.h"

#define PEN_LETTER 6.9          /* width of a letter at 13 px, about */
#define PEN_LINE 17.0           /* height of a line of text */
#define PEN_TOP 52.0            /* where the drawing begins, below the title */
#define PEN_COLOURS 10

struct pen {
	struct buf *out;
	const struct plot *p;
	struct plot_scale x, y;
	double width, height;
};

void pen_text(struct buf *out, const char *s);          /* escaped */
size_t pen_letters(const char *s);
double pen_title_width(const struct plot *p);
void pen_label(struct pen *g, double x, double y, const char *class, const char *s);
void pen_line(struct pen *g, double x1, double y1, double x2, double y2, const char *class);
/* A circle, square, diamond or triangle, by number. */
void pen_marker(struct pen *g, size_t series, double x, double y);
void pen_dash(struct pen *g, size_t series);
/* A value on an axis with this step. */
const char *pen_number(double v, double step, char buf[32]);

/* The beginning of the file, when width and height are known. */
void pen_head(struct pen *g);
/* Words on lines as wide as the drawing; only counted without `draw`.  Returns the lines. */
size_t pen_caption(struct pen *g, double y, bool draw);

#endif
