/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scales, ticks and drawings of figures, against coordinates worked out by hand.
 * The area of a drawing is 560 x 320 pixels, its corner at (76, 52).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cli/figures/plot.h"

#define near(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static void scales(void **state)
{
	struct plot_scale s = { 0, 10, 50, 450, false };
	struct plot_scale up = { 0, 4, 320, 0, false }; /* pixels grow downwards */
	struct plot_scale log = { 1, 1000, 0, 300, true };

	(void)state;
	near(plot_at(&s, 0), 50);
	near(plot_at(&s, 5), 250);
	near(plot_at(&s, 10), 450);
	near(plot_at(&up, 1), 240);
	near(plot_at(&log, 1), 0);
	near(plot_at(&log, 10), 100);
	near(plot_at(&log, 1000), 300);
}

static void steps_and_ticks(void **state)
{
	static const struct { double span; unsigned n; double step; } cases[] = {
		{ 10, 10, 1 }, { 10, 6, 2 }, { 0.47, 6, 0.1 }, { 0.3, 6, 0.05 }, { 14, 12, 2 },
		{ 13, 6, 5 }, { 99, 12, 10 }, { 0, 6, 1 }, { 1, 3, 0.5 },
	};
	struct plot_scale s = { -6, 8, 0, 1, false };
	double t[PLOT_TICKS_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		near(plot_step(cases[i].span, cases[i].n), cases[i].step);
	assert_int_equal(plot_ticks(&s, 12, t), 8);     /* -6 -4 ... 8 */
	near(t[0], -6);
	near(t[3], 0);
	near(t[7], 8);
	s = (struct plot_scale){ 1, 52, 0, 1, false };
	assert_int_equal(plot_ticks(&s, 12, t), 10);    /* 5 10 ... 50 */
	near(t[0], 5);
	s = (struct plot_scale){ 0, 0.3, 0, 1, false };
	assert_int_equal(plot_ticks(&s, 3, t), 4);      /* 0.3 / 0.1 is 3, not 2.99 */
	s = (struct plot_scale){ 1, 1000, 0, 1, true };
	assert_int_equal(plot_ticks(&s, 12, t), 4);     /* 1 10 100 1000 */
	near(t[2], 100);
	s = (struct plot_scale){ 1, 16, 0, 1, true };
	assert_int_equal(plot_ticks(&s, 12, t), 4);     /* 1 2 5 10 */
	near(t[1], 2);
}

static void ranges(void **state)
{
	struct plot p;
	double lo, hi;

	(void)state;
	plot_init(&p, PLOT_LINES, 1, 3);
	plot_range(&p, &lo, &hi);               /* nothing known */
	near(lo, 0);
	near(hi, 1);
	p.series[0].y[0] = 0.1;
	p.series[0].y[2] = 0.4;
	p.series[0].se[2] = 0.05;
	plot_range(&p, &lo, &hi);               /* 0 .. 0.45 by 0.1 */
	near(lo, 0);
	near(hi, 0.5);
	p.series[0].y[0] = 0.4;
	plot_range(&p, &lo, &hi);               /* .35 .. .45, out to whole steps of .02 */
	near(lo, 0.34);
	near(hi, 0.46);
	p.base = 0.3;                           /* .35 is near to it: steps of .05 */
	plot_range(&p, &lo, &hi);
	near(lo, 0.3);
	p.base = 0;
	p.kind = PLOT_BARS;
	plot_range(&p, &lo, &hi);
	near(lo, 0);
	plot_release(&p);
}

/* Elements that open and close in order, quotes and entities whole. */
static void check_xml(const char *s)
{
	char stack[32][16];
	int depth = 0;

	for (; *s; s++) {
		if (*s == '&') {
			assert_true(!strncmp(s, "&amp;", 5) || !strncmp(s, "&lt;", 4) ||
			            !strncmp(s, "&gt;", 4) || !strncmp(s, "&quot;", 6));
		} else if (*s == '<') {
			const char *end = strchr(s, '>');
			size_t n = strcspn(s + 1, " >/");
			int quotes = 0;

			assert_non_null(end);
			for (const char *q = s; q < end; q++)
				quotes += *q == '"';
			assert_int_equal(quotes % 2, 0);
			if (s[1] == '/') {
				assert_true(depth > 0);
				n = (size_t)(end - s - 2);
				assert_int_equal(strlen(stack[--depth]), n);
				assert_memory_equal(stack[depth], s + 2, n);
			} else if (end[-1] != '/') {
				assert_true(depth < 32 && n < 16);
				snprintf(stack[depth++], 16, "%.*s", (int)n, s + 1);
			}
			s = end;
		}
	}
	assert_int_equal(depth, 0);
}

static void lines(void **state)
{
	struct buf out;
	struct plot p;

	(void)state;
	plot_init(&p, PLOT_LINES, 2, 3);
	p.title = "a < b & \"c\"";
	snprintf(p.caption, sizeof p.caption, "%0*d", 300, 7);  /* a word that cannot be broken */
	for (int i = 0; i < 3; i++)
		p.x[i] = i * 5;
	memcpy(p.series[0].y, (double[]){ 0, 2, 4 }, 3 * sizeof(double));
	memcpy(p.series[0].se, (double[]){ 1, 1, 1 }, 3 * sizeof(double));
	p.series[1].y[1] = 1;                   /* the others are not known */
	snprintf(p.series[1].label, PLOT_LABEL, "<one>");
	buf_init(&out, PLOT_SVG_MAX);
	plot_svg(&p, &out);
	check_xml(buf_text(&out));
	/* y runs from -1 to 5: a unit is 320 / 6 pixels, 0 lies at 372 - 53.3 */
	assert_non_null(strstr(out.data, "d=\"M76.0 318.7L356.0 212.0L636.0 105.3\""));
	/* the band: there along y + 1, back along y - 1 */
	assert_non_null(strstr(out.data, "d=\"M76.0 265.3L356.0 158.7L636.0 52.0"
	                                 "L636.0 158.7L356.0 265.3L76.0 372.0z\""));
	assert_non_null(strstr(out.data, "d=\"M356.0 265.3\""));
	assert_non_null(strstr(out.data, "&lt;one&gt;"));
	assert_non_null(strstr(out.data, "a &lt; b &amp; &quot;c&quot;</title>"));
	assert_non_null(strstr(out.data, "prefers-color-scheme:dark"));
	assert_null(strstr(out.data, "nan"));
	buf_release(&out);
	plot_release(&p);
}

static void bars(void **state)
{
	struct buf out;
	struct plot p;

	(void)state;
	plot_init(&p, PLOT_BARS, 2, 2);         /* groups of 280, bars of 117.6 */
	snprintf(p.names[0], PLOT_LABEL, "first");
	snprintf(p.names[1], PLOT_LABEL, "second");
	memcpy(p.series[0].y, (double[]){ 1, 2 }, 2 * sizeof(double));
	p.series[1].y[0] = 4;
	buf_init(&out, PLOT_SVG_MAX);
	plot_svg(&p, &out);
	check_xml(buf_text(&out));
	/* 0 .. 4 over 320: 1 is 80 high and ends at 372; 8 % of a group before it */
	assert_non_null(strstr(out.data, "class=\"f0\" x=\"98.4\" y=\"292.0\" width=\"110.5\" "
	                                 "height=\"80.0\""));
	assert_non_null(strstr(out.data, "class=\"f1\" x=\"216.0\" y=\"52.0\" width=\"110.5\" "
	                                 "height=\"320.0\""));
	assert_null(strstr(out.data, "nan"));   /* the bar that is not known */
	buf_release(&out);
	plot_release(&p);

	plot_init(&p, PLOT_BARS, 1, 1);         /* one place: lying, 440 long */
	snprintf(p.series[0].label, PLOT_LABEL, "x");
	p.series[0].y[0] = 0.5;
	p.decimals = 2;
	buf_init(&out, PLOT_SVG_MAX);
	plot_svg(&p, &out);
	check_xml(buf_text(&out));
	assert_non_null(strstr(out.data, "width=\"440.0\""));
	assert_non_null(strstr(out.data, ">0.50</text>"));
	buf_release(&out);
	plot_release(&p);
}

static void tables(void **state)
{
	struct buf out;
	struct plot p;

	(void)state;
	plot_init(&p, PLOT_TABLE, 2, 1);
	p.decimals = 0;
	snprintf(p.names[0], PLOT_LABEL, ".org");
	p.series[0].y[0] = 1234567;
	buf_init(&out, PLOT_SVG_MAX);
	plot_svg(&p, &out);
	check_xml(buf_text(&out));
	assert_non_null(strstr(out.data, ">1234567</text>"));
	assert_non_null(strstr(out.data, ">.org</text>"));
	assert_null(strstr(out.data, "nan"));
	buf_release(&out);
	plot_release(&p);
}

/* A line through 0, 1, 2 at three places of a logarithmic axis. */
static void draw_on_logarithm(const double at[3], struct buf *ret_svg)
{
	struct plot p;

	plot_init(&p, PLOT_LINES, 1, 3);
	p.x_log = true;
	for (size_t i = 0; i < 3; i++)
		p.x[i] = at[i], p.series[0].y[i] = (double)i;
	buf_init(ret_svg, PLOT_SVG_MAX);
	plot_svg(&p, ret_svg);
	buf_byte(ret_svg, 0);
	plot_release(&p);
}

/* A logarithmic axis cannot begin at 0: it is drawn evenly, and ends. */
static void no_logarithm_of_zero(void **state)
{
	struct buf svg;

	(void)state;
	draw_on_logarithm((const double[]){ 0, 1, 2 }, &svg);
	assert_non_null(strstr(svg.data, "M76.0 372.0L356.0 212.0L636.0 52.0"));
	buf_release(&svg);
}

/* Few places of a logarithmic axis are all named, the last one, too. */
static void places_of_a_logarithm(void **state)
{
	struct buf svg;

	(void)state;
	draw_on_logarithm((const double[]){ 0.5, 2, 8.3 }, &svg);
	assert_non_null(strstr(svg.data, "76.0\" y=\"392.0\" class=\"n m\">0.5<"));
	assert_non_null(strstr(svg.data, "636.0\" y=\"392.0\" class=\"n m\">8.3<"));
	buf_release(&svg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scales), cmocka_unit_test(steps_and_ticks), cmocka_unit_test(ranges),
		cmocka_unit_test(no_logarithm_of_zero), cmocka_unit_test(places_of_a_logarithm),
		cmocka_unit_test(lines), cmocka_unit_test(bars), cmocka_unit_test(tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
