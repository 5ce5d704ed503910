/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frequency.c - each page by its own estimated change rate (Freq).
 *
 * Model.  A page changes as a Poisson process of rate r; our copy of age a is
 * stale with probability 1 - exp(-r a), the score.  Ranking by it is long-run
 * optimal for ChangeRatio (ALGORITHMS: equal r a), not only greedy.
 *
 * Estimate.  n visits, X of which found a change, mean interval I:
 *   cho    -log((n - X + 0.5) / (n + 0.5)) / I   (Cho & Garcia-Molina, bias reduced)
 *   naive  X / (n I)
 *   mle    root of  sum over changed of t/(e^{rt}-1) = sum over unchanged of t,
 *          for uneven intervals, held as its EM fixed point: a changed interval
 *          counts as exposure only until its expected first change.
 * A page without visits takes the rate of all visits together, so that nothing
 * is starved from the start; a page whose estimate is 0 keeps its place by age.
 *
 * Cost.  O(pages) a cycle, O(1) a visit, 12 bytes a page.
 * Blind spot.  Pages are taken as independent: a rebuilt site surprises us once
 * a page.
 */
#include <math.h>

#include "policy/plan.h"

enum estimator { CHO, NAIVE, MLE };

struct frequency_opts { int estimator; };

struct page_history {
	float visits, changes;
	float exposure;                 /* cycles, summed over intervals */
};

struct frequency_state { double visits, changes, exposure; };

static const struct option_spec frequency_options[] = {
	OPT_CHOICE(frequency_opts, estimator, "cho|naive|mle", "cho",
	           "how a page's rate is estimated from its visits"),
	OPT_END
};

static double cho_rate(double visits, double changes, double exposure)
{
	return -log((visits - changes + 0.5) / (visits + 0.5)) * visits / exposure;
}

/* Changes per cycle. */
static double page_rate(const struct page_history *h, enum estimator e)
{
	switch (e) {
	case CHO:
		return cho_rate(h->visits, h->changes, h->exposure);
	default:
		return h->changes / h->exposure;
	}
}

static void frequency_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	const struct frequency_opts *o = p->opts;
	const struct frequency_state *s = p->state;
	double unknown = s->visits > 0 ? cho_rate(s->visits, s->changes, s->exposure) : 0;

	for (uint32_t i = 0; i < v->n_pages; i++) {
		const struct page_history *h = policy_page(p, i);
		double rate = h->visits > 0 ? page_rate(h, (enum estimator)o->estimator) : unknown;
		double age = view_age(v, i);

		plan_offer(plan, i, -expm1(-rate * age) + 1e-9 * age, NAN, REASON_RATE);
	}
}

/* Expected time to the first change in an interval known to hold one. */
static double censored(double rate, double gap)
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
	if (o->estimator == MLE && seen->hit) {
		double prior = (s->changes + 0.5) / (s->exposure + 0.5);
		double rate = (h->changes + 1 + prior) / (h->exposure + gap / 2 + 1);

		exposure = censored(rate, gap);
	}
	h->visits += 1;
	h->changes += seen->hit ? 1.f : 0.f;
	h->exposure += (float)exposure;
	s->visits += 1;
	s->changes += seen->hit;
	s->exposure += exposure;
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
};
