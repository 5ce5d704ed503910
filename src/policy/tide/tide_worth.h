/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide_worth.h - what a download is worth under an aim, given what is believed of a page.
 *
 * The price rule.  Downloads cost; a page is fetched when waiting any longer would lose
 * more than it saves.  For a page whose copy, t after a download, is false with chance
 * F(t), the price at which fetching now is just right is
 *     W = integral from 0 to p of T(x) dx,    T(x): the time at which F reaches x,
 * p being the chance that the copy is false now, however that came about.  (Fetching
 * whenever the chance reaches x costs one download for each T(x); the derivative of the
 * price by x is T.)  Pages with the largest W go first.  With a constant rate d this is
 * (p + (1 - p) log(1 - p)) / d: small while a change is only suspected, and for a page
 * that changes all the time; large for one that will stay as it is.
 *
 * Rates are not known: that of a page is drawn from a gamma distribution of shape a and
 * scale 1 / b (a changes in a time b), so F(t) = 1 - (1 + t / b)^-a.  Nobody plans for
 * years: T is at most a horizon.
 *
 * Age.  The same with A, the mean time for which the copy has been false, for p, and
 * A(t) = t - (1 - e^(-dt)) / d for F.
 */
#ifndef POLICY_TIDE_TIDE_WORTH_H
#define POLICY_TIDE_TIDE_WORTH_H

/* The gamma distribution of a page's rate: its shape a, and b, the time it was learnt in;
 * the mean rate is a / b.  All times are in one unit. */
struct tide_future { float shape, time; };

float tide_worth_of_truth(float chance, struct tide_future f, float horizon);
/* The same in two steps: pages of one future share the first, a price list. */
struct tide_prices {
	struct tide_future of;
	float horizon;
	float each, slope, power;       /* 1 / a, b / a, 1 - 1 / a */
	float false_by, up_to_it;       /* F(horizon); W of that chance */
};
struct tide_prices tide_prices_of(struct tide_future f, float horizon);
float tide_price(const struct tide_prices *l, float chance);
/* gap: time since the last visit, over which the chance built up evenly. */
float tide_worth_of_age(float chance, float gap, struct tide_future f, float horizon);

#endif
