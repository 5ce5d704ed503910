/* SPDX-License-Identifier: Apache-2.0 */
/* plot.c - the numbers of a figure, and how an axis is cut; see plot.h. */
#include "cli/figures/plot.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"

#define ROUNDING 1e-9           /* error of a quotient of steps: 0.3 / 0.1 is 3 */
#define BASE_BELOW 0.75         /* share of the largest value; if values go below it, the axis
                                 * starts at the base */

static double *unknown(size_t n)
{
	double *v = mem_array(n, sizeof *v);

	for (size_t i = 0; i < n; i++)
		v[i] = NAN;
	return v;
}

void plot_init(struct plot *p, enum plot_kind kind, size_t n_series, size_t n_x)
{
	*p = (struct plot){ .id = "", .title = "", .x_label = "", .y_label = "", .kind = kind,
	                    .decimals = 4, .n_x = n_x, .n_series = n_series };
	p->x = unknown(n_x);
	p->names = mem_zalloc(n_x, sizeof *p->names);
	p->series = mem_zalloc(n_series, sizeof *p->series);
	for (size_t i = 0; i < n_series; i++) {
		p->series[i].y = unknown(n_x);
		p->series[i].se = unknown(n_x);
	}
}

void plot_release(struct plot *p)
{
	for (size_t i = 0; i < p->n_series; i++) {
		free(p->series[i].y);
		free(p->series[i].se);
	}
	free(p->series);
	free(p->names);
	free(p->x);
	*p = (struct plot){ 0 };
}

const char *plot_name(const struct plot *p, size_t i, char buf[PLOT_LABEL])
{
	if (p->names[i][0])
		return p->names[i];
	snprintf(buf, PLOT_LABEL, "%g", p->x[i]);
	return buf;
}

double plot_at(const struct plot_scale *s, double value)
{
	double share;

	if (s->log)
		share = log(value / s->lo) / log(s->hi / s->lo);
	else
		share = (value - s->lo) / (s->hi - s->lo);
	return s->from + share * (s->to - s->from);
}

double plot_step(double span, unsigned n)
{
	double least = span / n, power, m;

	if (!(least > 0))
		return 1;
	power = pow(10, floor(log10(least)));
	m = least / power - ROUNDING;
	return power * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

static size_t log_ticks(const struct plot_scale *s, double ret[PLOT_TICKS_MAX])
{
	static const double parts[] = { 1, 2, 5 };
	size_t every = s->hi / s->lo < 100 ? 1 : 3, n = 0;

	for (int e = (int)floor(log10(s->lo)); pow(10, e) <= s->hi; e++)
		for (size_t k = 0; k < 3; k += every) {
			double tick = pow(10, e) * parts[k];

			if (tick >= s->lo * (1 - ROUNDING) && tick <= s->hi * (1 + ROUNDING) &&
			    n < PLOT_TICKS_MAX)
				ret[n++] = tick;
		}
	return n;
}

size_t plot_ticks(const struct plot_scale *s, unsigned most, double ret[PLOT_TICKS_MAX])
{
	double step, first;
	size_t n = 0;

	if (s->log)
		return log_ticks(s, ret);
	step = plot_step(s->hi - s->lo, most);
	first = ceil(s->lo / step - ROUNDING);
	while (n < PLOT_TICKS_MAX && (first + (double)n) * step <= s->hi + step * ROUNDING) {
		ret[n] = (first + (double)n) * step;
		n++;
	}
	return n;
}

void plot_range(const struct plot *p, double *ret_lo, double *ret_hi)
{
	double lo = INFINITY, hi = -INFINITY, step;

	for (size_t i = 0; i < p->n_series; i++) {
		for (size_t k = 0; k < p->n_x; k++) {
			double y = p->series[i].y[k], se = p->series[i].se[k];

			if (isnan(y))
				continue;
			lo = fmin(lo, y - (isnan(se) ? 0 : se));
			hi = fmax(hi, y + (isnan(se) ? 0 : se));
		}
	}
	if (lo > hi)
		lo = 0, hi = 1;
	if (p->kind == PLOT_BARS || lo - p->base < (hi - p->base) * BASE_BELOW)
		lo = fmin(lo, p->base);
	if (hi <= lo)
		hi = lo + 1;
	step = plot_step(hi - lo, 6);
	*ret_lo = floor(lo / step + ROUNDING) * step;
	*ret_hi = ceil(hi / step - ROUNDING) * step;
}
