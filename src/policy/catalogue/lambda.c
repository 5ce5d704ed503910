/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lambda.c - LambdaCrawl: rates from censored visits, then the optimal split.
 *
 * Rates.  Each page keeps its visits as (interval, changed?).  Its rate is the
 * maximum likelihood estimate for interval-censored changes (censored.h), with one
 * imaginary interval of half a day of each kind, on [0.0005, 7] a day, as the
 * authors do.  Without visits that is ln 2 / 0.5 a day.
 *
 * Allocation.  Harmonic penalty, J = sum w log((r + f) / f), under sum f = R:
 *     f = (-r + sqrt(r^2 + 4 w r / mu)) / 2,  mu by bisection;
 * binary, J = sum w r / (r + f): f = max(0, sqrt(w r / mu) - r).
 * Every cycle a page's credit grows by its f (in visits a cycle); the R largest
 * credits are visited and pay 1.
 *
 * Cost.  O(pages * 60) a cycle for mu; 16 bytes a page, and what censored.h says.
 * Blind spot.  Pages are independent; harmonic gives every page some visits.
 */
#include <math.h>

#include "policy/model/censored.h"
#include "policy/plan.h"

#define DAY 86400.0
#define SMOOTH 0.5              /* days: one imaginary interval of each kind */

enum cost { HARMONIC, BINARY };

struct lambda_opts { int cost, weight; };

struct lambda_page {
	float rate;                     /* changes a day; 0: no visit yet */
	float credit;
	struct censored_page seen;      /* intervals in days */
};

static const struct option_spec lambda_options[] = {
	OPT_CHOICE(lambda_opts, cost, "harmonic|binary", "harmonic",
	           "price of a stale copy: 1 + 1/2 + ... for each missed change, or 1"),
	OPT_CHOICE(lambda_opts, weight, "none|pagerank", "none", "importance of pages"),
	OPT_END
};

static unsigned lambda_needs(const void *opts)
{
	return ((const struct lambda_opts *)opts)->weight ? NEED_PAGERANK : 0;
}

static void lambda_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	struct censored *intervals = p->state;
	struct lambda_page *h = policy_page(p, seen->page);
	double days = (double)(v->observe == OBSERVE_CYCLE ? v->cycle_seconds :
	                       seen->gap_seconds) / DAY;

	h->credit -= 1;
	if (!seen->known || days <= 0)
		return;
	censored_note(intervals, &h->seen, days, seen->hit);
	h->rate = (float)censored_rate(intervals, &h->seen, SMOOTH, 1);
}

/* Rate and importance of a page, in changes a cycle. */
static double rate_of(struct policy *p, const struct view *v, uint32_t i, double *ret_w)
{
	const struct lambda_opts *o = p->opts;
	const struct lambda_page *h = policy_page(p, i);
	double rate = h->rate > 0 ? (double)h->rate : M_LN2 / SMOOTH;

	*ret_w = o->weight ? v->pagerank[i] * v->n_settled : 1;
	return rate * (double)v->cycle_seconds / DAY;
}

static double visits_for(enum cost cost, double w, double rate, double mu)
{
	if (cost == BINARY)
		return fmax(0, sqrt(w * rate / mu) - rate);
	/* (-r + sqrt(r^2 + 4c)) / 2 without cancellation */
	return 2 * w * rate / mu / (rate + sqrt(rate * rate + 4 * w * rate / mu));
}

/* The multiplier at which all visits together are the budget. */
static double find_price(struct policy *p, const struct view *v)
{
	const struct lambda_opts *o = p->opts;
	double lo = 1e-12, hi = 1e12;

	for (int k = 0; k < 60; k++) {
		double mu = sqrt(lo * hi), sum = 0, w;

		for (uint32_t i = 0; i < v->n_pages; i++) {
			double rate;

			if (!(v->state[i] & PAGE_HERE))
				continue;
			rate = rate_of(p, v, i, &w);
			sum += visits_for((enum cost)o->cost, w, rate, mu);
		}
		if (sum > v->budget)
			lo = mu;
		else
			hi = mu;
		if (hi / lo < 1 + 1e-6)
			break;
	}
	return sqrt(lo * hi);
}

static void lambda_begin(struct policy *p, const struct view *v)
{
	const struct lambda_opts *o = p->opts;
	double mu = find_price(p, v), w;

	for (uint32_t i = 0; i < v->n_pages; i++) {
		struct lambda_page *h = policy_page(p, i);
		double rate = rate_of(p, v, i, &w);

		h->credit += (float)visits_for((enum cost)o->cost, w, rate, mu);
	}
}

static void lambda_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	for (uint32_t i = 0; i < v->n_pages; i++)
		plan_offer(plan, i, ((const struct lambda_page *)policy_page(p, i))->credit,
		           NAN, REASON_DUE);
}

/* Every page has its part of the price, and gets credit: none may have come. */
static void lambda_freeze(struct policy *p, const struct view *v, struct frozen *f)
{
	frozen_same(f, v->n_pages);
	censored_freeze(p->state, f);
	for (uint32_t i = 0; f->thaw && !f->bad && i < v->n_pages; i++)
		censored_check(p->state, &((const struct lambda_page *)policy_page(p, i))->seen, f);
}

static void lambda_release(struct policy *p)
{
	censored_release(p->state);
}

const struct policy_ops policy_lambda = {
	.name = "lambda",
	.summary = "LambdaCrawl: rates from censored visits, optimal split of the budget",
	.origin = "Kolobov et al. 2019; Azar et al. 2018 (cost=binary)",
	.options = lambda_options,
	.opts_size = sizeof(struct lambda_opts),
	.state_size = sizeof(struct censored),
	.page_size = sizeof(struct lambda_page),
	.needs = lambda_needs,
	.begin = lambda_begin,
	.ask = lambda_ask,
	.tell = lambda_tell,
	.release = lambda_release,
	.freeze = lambda_freeze,
};
