/* SPDX-License-Identifier: Apache-2.0 */
/* tide_worth.c - prices of downloads; see tide_worth.h. */
#include "policy/tide/tide_worth.h"

#include <math.h>

#define SMALL 0.03f             /* chance over shape: below it two terms of a series do */
#define KNOWN 300.f             /* changes from which on a rate is known */
#define CHANCE_MAX 0.9999f
#define STEPS 12                /* of Newton; it mostly needs three */

/* Integral from 0 to p of b ((1 - x)^(-1/a) - 1). */
static float up_to(const struct tide_prices *l, float p)
{
	float a = l->of.shape, b = l->of.time, s;

	if (p < SMALL * (a < 1 ? a : 1))
		return l->slope * p * p * (0.5f + (1 + l->each) * p / 6);
	if (a > KNOWN)
		return l->slope * (p + (1 - p) * log1pf(-p));
	if (fabsf(l->power) < 1e-3f)
		return b * (-log1pf(-p) - p);
	s = -expm1f(l->power * log1pf(-p)) / l->power;
	return b * (s - p);
}

static float at_most(float p)
{
	return p < CHANCE_MAX ? p : CHANCE_MAX;
}

struct tide_prices tide_prices_of(struct tide_future f, float horizon)
{
	struct tide_prices l = { .of = f, .horizon = horizon, .each = 1 / f.shape,
	                         .slope = f.time / f.shape, .power = 1 - 1 / f.shape };

	l.false_by = -expm1f(-f.shape * log1pf(horizon / f.time));
	l.up_to_it = up_to(&l, at_most(l.false_by));
	return l;
}

float tide_price(const struct tide_prices *l, float chance)
{
	float p = at_most(chance);

	return p <= l->false_by ? up_to(l, p) : l->up_to_it + l->horizon * (p - l->false_by);
}

float tide_worth_of_truth(float p, struct tide_future f, float horizon)
{
	struct tide_prices l = tide_prices_of(f, horizon);

	return tide_price(&l, p);
}

/* Mean age t after a download, and its integral. */
static double age_at(double t, double d)
{
	double x = d * t;

	return x < 1e-3 ? x * t * (0.5 - x / 6) : t + expm1(-x) / d;
}

static double ages_up_to(double t, double d)
{
	double x = d * t;

	return x < 1e-2 ? x * t * t * (1 / 6.0 - x / 24) : t * t / 2 - t / d - expm1(-x) / (d * d);
}

float tide_worth_of_age(float chance, float gap, struct tide_future f, float horizon)
{
	double d = (double)f.shape / (double)f.time, h = (double)horizon, t;
	double p = fmin((double)chance, (double)CHANCE_MAX), age;

	if (!(p > 1e-9))
		return 0;
	/* 1 - p is e^(-r gap) for some rate r: the mean age is gap - p / r */
	age = p < 1e-4 ? (double)gap * p / 2 : (double)gap * (1 + p / log1p(-p));
	if (age_at(h, d) <= age)
		return (float)(age * h - ages_up_to(h, d));
	/* A is convex: from above Newton comes down to the root */
	t = fmin(h, age + sqrt(2 * age / d) + 1 / d);
	for (int i = 0; i < STEPS; i++) {
		double slope = -expm1(-d * t), step = (age_at(t, d) - age) / fmax(slope, 1e-12);

		t -= step;
		if (step < 1e-6 * t)
			break;
	}
	return (float)(age * t - ages_up_to(t, d));
}
