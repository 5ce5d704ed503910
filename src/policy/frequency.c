/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frequency.c - each page by its own estimated change rate (Freq).
 *
 * Model.  A page changes as a Poisson process of rate r; our copy of age a is
 * stale with probability 1 - exp(-r a).  Ranking by it is ranking by r a, the
 * score, the changes to expect since the last visit; it is long-run optimal for
 * ChangeRatio (at the optimum r a is equal for all), not only greedy.
 *
 * Estimate.  n visits, X of which found a change, mean interval I:
 *   cho    -log((n - X + 0.5) / (n + 0.5)) / I   (Cho & Garcia-Molina, bias reduced)
 *   naive  X / (n I)
 *   mle    root of  sum over changed of t/(e^{rt}-1) = sum over unchanged of t,
 *          for uneven intervals t; RATE_MAX if no interval was unchanged
 *   em     the same in O(1) memory: a changed interval counts as exposure only
 *          until its expected first change, by the rate known at that visit
 * A page without visits takes the rate of all visits together, so that nothing
 * is starved from the start; a page whose estimate is 0 keeps its place by age.
 *
 * Cost.  O(pages) a cycle, one product each; O(1) a visit, 20 bytes a page.  mle:
 * O(changed visits of the page) a visit, and 8 bytes for each of them.
 * Blind spot.  Pages are taken as independent: a rebuilt site surprises us once
 * a page.
 */
#include <math.h>

#include "policy/plan.h"

#define RATE_MAX 20.0           /* changes a cycle: certainty */
#define MLE_STEPS 60

enum estimator { CHO, NAIVE, MLE, EM };

struct frequency_opts { int estimator; };

struct page_history {
	float visits, changes;
	float exposure;                 /* cycles, summed over intervals */
	float rate;                     /* changes a cycle, from the three above */
	uint32_t changed;               /* mle: newest of its changed intervals, or 0 */
};

struct interval { float cycles; uint32_t before; };

struct frequency_state {
	double visits, changes, exposure;
	VEC(struct interval) intervals; /* entry 0 ends every chain */
};

static const struct option_spec frequency_options[] = {
	OPT_CHOICE(frequency_opts, estimator, "cho|naive|mle|em", "cho",
	           "how a page's rate is estimated from its visits"),
	OPT_END
};

static double cho_rate(double visits, double changes, double exposure)
{
	return -log((visits - changes + 0.5) / (visits + 0.5)) * visits / exposure;
}

/* Newton's steps for sum t/(e^{rt}-1) = exposure (of the unchanged intervals) from
 * the rate before; the left side falls as r grows, so each step also narrows the
 * bracket, and one that leaves it is replaced by its middle. */
static double mle_rate(const struct frequency_state *s, const struct page_history *h)
{
	double low = 0, high = RATE_MAX, r = h->rate > 0 ? (double)h->rate : 0.1;

	if (!h->changed)
		return 0;
	if (h->exposure <= 0)
		return RATE_MAX;
	for (int step = 0; step < MLE_STEPS; step++) {
		double sum = 0, slope = 0, next;

		for (uint32_t k = h->changed; k; k = s->intervals.v[k].before) {
			double t = s->intervals.v[k].cycles, e = expm1(r * t);

			sum += t / e;
			slope -= t * t * (e + 1) / (e * e);
		}
		if (sum > h->exposure)
			low = r;
		else
			high = r;
		next = r - (sum - h->exposure) / slope;
		if (!(next > low && next < high))
			next = (low + high) / 2;
		if (fabs(next - r) < 1e-7 * r)
			return next;
		r = next;
	}
	return r;
}

static double page_rate(const struct frequency_state *s, const struct page_history *h,
                        enum estimator e)
{
	switch (e) {
	case CHO:
		return cho_rate(h->visits, h->changes, h->exposure);
	case MLE:
		return mle_rate(s, h);
	default:
		return h->changes / h->exposure;
	}
}

static void frequency_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	const struct frequency_state *s = p->state;
	const struct page_history *h = p->page_mem;
	double unknown = s->visits > 0 ? cho_rate(s->visits, s->changes, s->exposure) : 0;

	for (uint32_t i = 0; i < v->n_pages; i++) {
		double rate = h[i].visits > 0 ? (double)h[i].rate : unknown;

		if (view_open(v, i))
			plan_offer(plan, i, (rate + 1e-9) * view_age(v, i), NAN, REASON_RATE);
	}
}

/* Expected time to the first change in an interval known to hold one. */
static double censored(double rate, double gap)
{
	if (rate * gap < 1e-6)
		return gap / 2;
	return 1 / rate - gap * exp(-rate * gap) / -expm1(-rate * gap);
}

static void note_changed(struct frequency_state *s, struct page_history *h, double gap)
{
	struct interval i = { (float)gap, h->changed };

	if (!s->intervals.n)
		vec_push(&s->intervals, (struct interval){ 0 });
	h->changed = (uint32_t)s->intervals.n;
	vec_push(&s->intervals, i);
}

static void frequency_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	const struct frequency_opts *o = p->opts;
	struct frequency_state *s = p->state;
	struct page_history *h = policy_page(p, seen->page);
	double gap = seen->gap, exposure = gap;

	/* under cycle observation a visit speaks of one cycle only */
	if (v->observe == OBSERVE_CYCLE)
		gap = exposure = 1;
	if (!seen->known || gap <= 0)
		return;
	if (o->estimator == EM && seen->hit) {
		double prior = (s->changes + 0.5) / (s->exposure + 0.5);
		double rate = (h->changes + 1 + prior) / (h->exposure + gap / 2 + 1);

		exposure = censored(rate, gap);
	}
	h->visits += 1;
	h->changes += seen->hit ? 1.f : 0.f;
	if (o->estimator == MLE && seen->hit)
		note_changed(s, h, gap);
	else
		h->exposure += (float)exposure;
	h->rate = (float)page_rate(s, h, (enum estimator)o->estimator);
	s->visits += 1;
	s->changes += seen->hit;
	s->exposure += exposure;
}

static void frequency_release(struct policy *p)
{
	struct frequency_state *s = p->state;

	vec_release(&s->intervals);
}

const struct policy_ops policy_frequency = {
	.name = "frequency",
	.summary = "each page by its own estimated change rate",
	.origin = "Freq; Cho & Garcia-Molina 2003",
	.options = frequency_options,
	.opts_size = sizeof(struct frequency_opts),
	.state_size = sizeof(struct frequency_state),
	.page_size = sizeof(struct page_history),
	.ask = frequency_ask,
	.tell = frequency_tell,
	.release = frequency_release,
};
