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
 *   mle    the most likely rate, for uneven intervals (censored.h)
 *   em     the same in O(1) memory: a changed interval counts as exposure only
 *          until its expected first change, by the rate known at that visit
 * A page without visits takes the rate of all visits together, so that nothing
 * is starved from the start; a page whose estimate is 0 keeps its place by age.
 *
 * Cost.  O(pages) a cycle, one product each; O(1) a visit, 24 bytes a page.  mle: as
 * censored.h says.
 * Blind spot.  Pages are taken as independent: a rebuilt site surprises us once
 * a page.
 */
#include <math.h>

#include "policy/model/censored.h"
#include "policy/plan.h"

#define DAY 86400.0

enum estimator { CHO, NAIVE, MLE, EM };

struct frequency_opts { int estimator; };

struct page_history {
	float visits, changes;
	float exposure;                 /* cycles, summed over intervals */
	float rate;                     /* changes a cycle, from the three above */
	struct censored_page seen;      /* mle */
};

struct frequency_state {
	double visits, changes, exposure;
	struct censored intervals;      /* mle */
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

static double page_rate(const struct frequency_state *s, const struct page_history *h,
                        enum estimator e, const struct view *v)
{
	switch (e) {
	case CHO:
		return cho_rate(h->visits, h->changes, h->exposure);
	case MLE:
		return censored_rate(&s->intervals, &h->seen, 0, DAY / (double)v->cycle_seconds);
	default:
		return h->changes / h->exposure;
	}
}

/* The rate of all visits together, for a page without any; the exposure of em ends
 * with the changes. */
static double rate_of_all(const struct frequency_state *s, enum estimator e)
{
	if (!(s->visits > 0))
		return 0;
	return e == EM ? s->changes / s->exposure : cho_rate(s->visits, s->changes, s->exposure);
}

/* Changes to expect since the last visit; unknown: the rate of a page without visits. */
static double score(const struct policy *p, const struct view *v, uint32_t page, double unknown)
{
	const struct page_history *h = (const struct page_history *)p->page_mem + page;
	double rate = h->visits > 0 ? (double)h->rate : unknown;

	return (rate + 1e-9) * view_age(v, page);
}

static double rate_unknown(const struct policy *p)
{
	const struct frequency_opts *o = p->opts;

	return rate_of_all(p->state, (enum estimator)o->estimator);
}

static void frequency_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	double unknown = rate_unknown(p);

	for (uint32_t i = 0; i < v->n_pages; i++)
		if (view_open(v, i))
			plan_offer(plan, i, score(p, v, i, unknown), NAN, REASON_RATE);
}

static bool frequency_demand(struct policy *p, const struct view *v, struct demand *ret)
{
	double unknown = rate_unknown(p);

	for (uint32_t i = 0; i < v->n_pages; i++)
		if (view_open(v, i))
			demand_page(ret, v->site[i], score(p, v, i, unknown));
	return true;
}

/* Expected time to the first change in an interval known to hold one. */
static double time_to_change(double rate, double gap)
{
	if (rate * gap < 1e-6)
		return gap / 2;
	return 1 / rate - gap * exp(-rate * gap) / -expm1(-rate * gap);
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

		exposure = time_to_change(rate, gap);
	}
	h->visits += 1;
	h->changes += seen->hit ? 1.f : 0.f;
	h->exposure += (float)exposure;
	if (o->estimator == MLE)
		censored_note(&s->intervals, &h->seen, gap, seen->hit);
	h->rate = (float)page_rate(s, h, (enum estimator)o->estimator, v);
	s->visits += 1;
	s->changes += seen->hit;
	s->exposure += exposure;
}

static void frequency_freeze(struct policy *p, const struct view *v, struct frozen *f)
{
	const struct page_history *h = p->page_mem;
	struct frequency_state *s = p->state;

	frozen_value(f, &s->visits);
	frozen_value(f, &s->changes);
	frozen_value(f, &s->exposure);
	censored_freeze(&s->intervals, f);
	for (uint32_t i = 0; f->thaw && !f->bad && i < v->n_pages; i++)
		censored_check(&s->intervals, &h[i].seen, f);
}

static void frequency_release(struct policy *p)
{
	struct frequency_state *s = p->state;

	censored_release(&s->intervals);
}

const struct policy_ops policy_frequency = {
	.name = "frequency",
	.summary = "each page by its own estimated change rate",
	.origin = "Freq; Cho & Garcia-Molina 2003",
	.comparable = true,
	.options = frequency_options,
	.opts_size = sizeof(struct frequency_opts),
	.state_size = sizeof(struct frequency_state),
	.page_size = sizeof(struct page_history),
	.ask = frequency_ask,
	.demand = frequency_demand,
	.tell = frequency_tell,
	.release = frequency_release,
	.freeze = frequency_freeze,
};
