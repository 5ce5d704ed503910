/* SPDX-License-Identifier: Apache-2.0 */
/* censored.c - rates from visits; see censored.h. */
#include "policy/model/censored.h"

#include <math.h>

#define STEPS_MAX 60

void censored_note(struct censored *c, struct censored_page *p, double length,
                   bool changed)
{
	struct censored_interval i = { (float)length, 1, p->changed };

	if (!changed) {
		p->quiet += (float)length;
		return;
	}
	if (!c->intervals.n)
		vec_push(&c->intervals, (struct censored_interval){ 0 });
	for (uint32_t k = p->changed; k; k = c->intervals.v[k].before) {
		if (c->intervals.v[k].length == i.length) {
			c->intervals.v[k].count++;
			return;
		}
	}
	p->changed = (uint32_t)c->intervals.n;
	vec_push(&c->intervals, i);
}

/* t/(e^{rt} - 1); adds its derivative to *slope. */
static double expect(double r, double t, double *slope)
{
	double e = expm1(r * t);

	*slope -= t / e * (t / e) * (e + 1);
	return t / e;
}

/* Left side minus right side of the equation in censored.h, at r. */
static double excess(const struct censored *c, const struct censored_page *p, double smooth,
                     double r, double *ret_slope)
{
	double sum = -(double)p->quiet, slope = 0, all = 0;

	if (smooth > 0)
		sum += expect(r, smooth, &all) - smooth;
	for (uint32_t k = p->changed; k; k = c->intervals.v[k].before) {
		const struct censored_interval *i = &c->intervals.v[k];

		slope = 0;
		sum += i->count * expect(r, (double)i->length, &slope);
		all += i->count * slope;
	}
	*ret_slope = all;
	return sum;
}

/* Newton's steps; each also narrows the bracket, and one that leaves it is replaced
 * by the middle. */
double censored_rate(const struct censored *c, const struct censored_page *p,
                     double smooth, double day)
{
	double low = CENSORED_MIN / day, high = CENSORED_MAX / day, r = sqrt(low * high), slope;

	if (!(excess(c, p, smooth, low, &slope) > 0))
		return low;
	if (!(excess(c, p, smooth, high, &slope) < 0))
		return high;
	for (int step = 0; step < STEPS_MAX; step++) {
		double over = excess(c, p, smooth, r, &slope), next;

		if (over > 0)
			low = r;
		else
			high = r;
		/* Newton on log r, where the left side is closest to a line */
		next = r * exp(fmin(fmax(-over / (slope * r), -3), 3));
		if (!(next > low && next < high))
			next = sqrt(low * high);
		if (fabs(next - r) < 1e-7 * r)
			return next;
		r = next;
	}
	return r;
}

/* A chain leads down to entry 0. */
void censored_freeze(struct censored *c, struct frozen *f)
{
	frozen_vec(f, &c->intervals);
	for (size_t i = 0; f->thaw && i < c->intervals.n; i++)
		frozen_check(f, i ? c->intervals.v[i].before < i : !c->intervals.v[i].before);
}

void censored_check(const struct censored *c, const struct censored_page *p,
                    struct frozen *f)
{
	frozen_check(f, !p->changed || p->changed < c->intervals.n);
}

void censored_release(struct censored *c)
{
	vec_release(&c->intervals);
}
