/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle.h - the one loop: a policy is asked for pages, a source delivers them,
 * the policy is told what came of each, until the budget is spent.
 *
 * Replay and the live web differ only in the source and the clock.  The engine,
 * not the policy, keeps the rules: never more than R downloads in a cycle, no
 * page twice, no page unvisited longer than the age that the user allows, no site
 * more than its part, pages that fail left alone for a while, the same seed the same plan.  It can open a cycle with a simple
 * random sample, from which the number of hits in the whole is estimated whatever the
 * policy does.
 */
#ifndef ENGINE_CYCLE_H
#define ENGINE_CYCLE_H

#include "engine/ceiling.h"
#include "engine/pages.h"
#include "engine/retry.h"
#include "policy/plan.h"
#include "policy/policy.h"

/* What a source found at one page. */
struct delivery {
	enum outcome outcome;
	bool hit;               /* by goal and observation; not for failures */
	bool first;             /* the copy we begin with: nothing to learn from */
	uint32_t extra;         /* requests beyond the first that it cost: redirects ... */
	bool kept;              /* it is known from before the cycle broke off */
	enum failure failure;   /* if it failed: what this says of page and host */
};

/* Delivers pages at the cycle's moment.  Fills one delivery for each offer, in
 * any order of work, but those that are `kept`, which must not be asked for; the
 * engine tells the policy in the order asked. */
struct source {
	void *self;
	int (*deliver)(void *self, const struct offer *offers, size_t n,
	               struct delivery *ret, struct err *err);
	/* Asked before each round: may the cycle end though budget is left?  Or NULL. */
	bool (*enough)(void *self);
};

struct engine {
	struct view view;
	struct visits visits;
	struct policy *policy;
	struct source source;
	struct plan plan;
	uint32_t max_age;               /* cycles; 0: no guarantee */
	struct ceiling ceiling;         /* .share is the caller's */
	struct retry retry;             /* .share is the caller's */
	bool no_fill;                   /* a policy that asks for no more ends the cycle */
	const struct offer *reserved;   /* the caller's: asked for before all others, in order, */
	size_t n_reserved;
	uint32_t reserved_most;         /* at most so many of them; 0: none */
	uint32_t sample_most;           /* pages of the opening sample; 0: none */
	uint32_t sample_hits;           /* it ends at so many hits, */
	uint32_t sample_least;          /* but not before so many answers */

	/* of the last cycle */
	struct seen *seen;              /* every visit, in order */
	size_t n_seen, cap_seen;
	uint32_t n_spent;               /* downloads that cost budget */
	uint32_t n_guaranteed;          /* reserved by max_age */
	bool guarantee_broken;          /* the budget cannot keep max_age */
	uint32_t *sample;               /* in the order drawn */
	uint32_t n_sample, sample_at;   /* asked up to here, this cycle or before it broke */
	uint32_t n_sample_hits, n_sample_known;
	bool sampling;                  /* it has not ended */
	const struct seen *made;        /* what it had visited when it was broken off, */
	uint32_t *made_at;              /* by page: where in it + 1; 0: nowhere, or told */
	size_t n_made, n_untold;
	uint32_t made_extra;            /* what those cost beyond a request each */
	bool other_policy;              /* made them */
	double plan_seconds, fetch_seconds;
	struct delivery *deliveries;
	size_t cap_deliveries;
};

/* The view is set up by the caller (pages, needs, goal, seed); cycle counts
 * from 0 before the first. */
void engine_init(struct engine *e, const struct pages *p, struct policy *policy,
                 int64_t start);
void engine_release(struct engine *e);

/* Processor time of this thread: only to report what planning cost, no decision depends
 * on it. */
double engine_seconds(void);
/* Run one cycle at `now` with budget R; on error what was told stays told. */
MUST_CHECK int engine_cycle(struct engine *e, int64_t now, uint32_t budget,
                            struct err *err);

/*
 * Go on with a cycle that was broken off: what it had visited (a first copy is one that
 * is not `known` but has an outcome), what this had cost, and whether this policy with
 * this seed had made it.
 *
 * The cycle is then made again from its beginning, with the answers that are known: the
 * policy asks for what it asked for, so the rest is as if the cycle had never been broken
 * off, wherever that was and whatever answers were lost.  (What was spent beyond the
 * visits is counted when the known answers end.)  What no plan asks for, because pages or
 * options changed, is told behind the first round in which a page is asked for that is not
 * known; what another policy made, before this one is asked.
 */
MUST_CHECK int engine_continue(struct engine *e, int64_t now, uint32_t budget,
                               const struct seen *visits, size_t n, uint32_t spent,
                               bool same_policy, struct err *err);

/* Tell the policy of a cycle that is past, from its stored visits in their order
 * (page, outcome, failure, hit, score, probability, reason; gaps are found anew; of a first
 * copy, marked as for engine_continue(), it is told only that the page does not fail).  A fresh
 * engine that recalls every cycle plans the next one as the first would have. */
void engine_recall(struct engine *e, int64_t now, uint32_t budget,
                   const struct seen *visits, size_t n);

/* Pages that must be visited now so that none passes max_age, at an even pace:
 * the largest over j of (pages due within j cycles) / j, rounded up. */
uint32_t guarantee_need(const struct view *v, uint32_t max_age);

/* --max-age in cycles; 0: none was asked for. */
MUST_CHECK int guarantee_cycles(int64_t max_age, int64_t cycle_seconds, uint32_t *ret,
                                struct err *err);

#endif
