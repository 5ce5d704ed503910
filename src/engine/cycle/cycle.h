/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle.h - the open cycle: pages are asked for and told about in any order.
 *
 *   begin          a budget, a moment
 *     ask          pages to fetch now: offers, "wait", or "done"
 *     tell         what came of one offer
 *     release      it was not fetched: page and budget come back
 *     lapse        nobody knows what came of it: its request stays spent
 *   end
 *
 * Everybody who fetches uses it: replay (which answers at once), the live crawl, tests of
 * life, other crawlers through the command line and the library.
 *
 * Rounds.  A round is what the policy is asked for at a time.  Its pages wait in a queue
 * and are offered in its order.  The next round is planned when the queue is empty and a
 * part of the last round (`patience` of the policy) is told, released or lapsed, or when
 * whoever asks will not wait any longer.  So one slow page delays nobody.  Answers that
 * come later are told when they come.
 *
 *         plan           ask            tell
 *   (page) ----> QUEUED ----> OFFERED ----> TOLD
 *                   ^            |  \  lapse
 *                   |            |   `------> LAPSED ----> TOLD (late: it costs no more)
 *                   |    release |
 *                   `-- (page) <-'            (the page may be planned again)
 *
 * Rules.  The engine, not the policy, keeps them: never more requests than the budget, no
 * page offered twice in a cycle unless it was released, no page unvisited longer than the
 * user allows (guarantee.h), no owner more than its part (ceiling.h), pages that fail left
 * alone for a while (retry.h), the same seed and the same order the same plan.
 *
 * Going on.  What a cycle did is a list of events in their order, and after how many of
 * them each round was planned.  engine_continue() makes the same cycle again from these.
 */
#ifndef ENGINE_CYCLE_CYCLE_H
#define ENGINE_CYCLE_CYCLE_H

#include "base/map.h"
#include "base/mem.h"
#include "engine/cycle/ceiling.h"
#include "engine/cycle/guarantee.h"
#include "engine/cycle/retry.h"
#include "engine/cycle/sample.h"
#include "engine/view/pages.h"
#include "policy/plan.h"
#include "policy/policy.h"

/* What came of one page. */
struct delivery {
	enum outcome outcome;
	bool hit;               /* by goal and observation; not for failures */
	bool first;             /* the copy we begin with: nothing to learn from */
	uint32_t extra;         /* requests beyond the first that it cost (redirects ...); of
	                         * BLOCKED all */
	enum failure failure;   /* if it failed: what this says of page and host */
};

/* Fetches pages that are known at once, such as those of a recorded history: fills one
 * delivery for each offer.  See engine_cycle(). */
struct source {
	void *self;
	int (*deliver)(void *self, const struct offer *offers, size_t n,
	               struct delivery *ret, struct err *err);
	/* Asked before each round: may the cycle end though budget is left?  Or NULL. */
	bool (*enough)(void *self);
};

/* What the caller wants of every cycle; set before it begins.  The ceiling's, the
 * retries' and the sample's rules are theirs: ceiling.share, retry.share, sample.rule. */
struct engine_rules {
	uint32_t max_age;               /* cycles; 0: no guarantee */
	bool no_fill;                   /* a policy that asks for no more ends the cycle */
	const struct offer *reserved;   /* offered before all others, in order, */
	size_t n_reserved;
	uint32_t reserved_most;         /* at most so many of them; 0: none */
};

/* What the pages of the next round are taken from. */
enum cycle_phase {
	PHASE_RESERVED,                 /* the caller's own */
	PHASE_GUARANTEE,
	PHASE_SAMPLE,
	PHASE_POLICY,
	PHASE_DRY,                      /* the policy asked for nothing, there is nothing to fill
	                                 * up with; answers may change that */
};

enum lease_state { LEASE_QUEUED, LEASE_OFFERED, LEASE_TOLD, LEASE_RELEASED, LEASE_LAPSED };

/* One page that was planned in this cycle.  Its number is its place in the plan, from 1. */
struct lease {
	struct offer offer;
	uint32_t round;                 /* of the policy; 0: planned before it was asked */
	uint32_t plan;                  /* which plan it is of, from 1; 0: it was not planned */
	uint32_t next;                  /* in the queue; 0: it is the last */
	uint32_t requests;              /* granted to it so far */
	uint8_t state;                  /* enum lease_state */
	bool sampled;                   /* it is of the opening sample */
};

/* The cycle that is open, or the last one. */
struct cycle {
	enum cycle_phase phase;
	VEC(struct lease) leases;       /* by number - 1 */
	struct map by_page;             /* their numbers, */
	uint32_t n_indexed;             /* of the first so many: see engine_find() */
	uint32_t queue_first, queue_last;       /* numbers; 0: none */
	uint32_t n_queued, n_offered;
	uint32_t n_plans;               /* made so far */
	uint32_t plan_size, plan_open;  /* pages of the last one, and those not yet answered */
	uint32_t n_events;              /* told, released, lapsed */
	uint32_t dry_since;             /* events when the policy asked for nothing */
	VEC(uint32_t) planned_after;    /* by plan: events before it */
	uint32_t n_spent;               /* requests of pages that are told or lapsed */
	uint32_t n_granted;             /* requests for pages that are offered, */
	uint32_t n_waiting;             /* and such pages that have none yet */
	uint32_t n_guaranteed;          /* reserved by max_age */
	bool guarantee_broken;          /* the budget cannot keep max_age */
	struct seen *seen;              /* every visit, in the order told */
	size_t n_seen, cap_seen;
	uint32_t extras, answers;       /* redirect hops so far, and pages that could have some */
	double plan_seconds;
};

struct engine {
	struct view view;
	struct visits visits;
	struct policy *policy;
	struct engine_rules rules;
	struct ceiling ceiling;
	struct retry retry;
	struct sample sample;
	struct source source;           /* for engine_cycle() */
	struct plan plan;
	struct cycle cycle;
};

/* The view is set up by the caller (pages, needs, goal, seed); its cycle counts from 0
 * before the first. */
void engine_init(struct engine *e, const struct pages *p, struct policy *policy,
                 int64_t start);
void engine_release(struct engine *e);

/* Processor time of this thread: only to report what planning cost, no decision depends
 * on it. */
double engine_seconds(void);

void engine_begin(struct engine *e, int64_t now, uint32_t budget);
void engine_end(struct engine *e);

enum ask { ASK_OFFERS, ASK_WAIT, ASK_DONE };

struct asking {
	size_t want;                    /* pages, at most */
	bool hops;                      /* a page may cost more than one request: a little of
	                                 * the budget is held back while some are under way */
	bool queue_only;                /* plan nothing: what is planned is enough for now */
	bool impatient;                 /* will not wait for answers: plan the next round now */
	/* May this page be offered now?  NULL: any.  Others keep their places. */
	bool (*fits)(void *arg, const struct offer *o);
	void *arg;
};

/* Offer up to want pages; their numbers are in ret[] (room for want). */
enum ask engine_ask(struct engine *e, const struct asking *a, uint32_t *ret, size_t *ret_n);
/* One more request for an offered page: its first, a redirect, a retry.  False: the budget
 * is used up, or its owner's part of it. */
bool engine_spend(struct engine *e, uint32_t lease);
/* Would it be granted? */
bool engine_may_spend(const struct engine *e, uint32_t lease);
/* What came of an offered page; false: it was told before, or is not offered. */
bool engine_tell(struct engine *e, uint32_t lease, const struct delivery *d);
bool engine_give_back(struct engine *e, uint32_t lease);
bool engine_lapse(struct engine *e, uint32_t lease);
/* It was not fetched, and must not be in this cycle: the budget comes back.  This is no
 * event: a cycle that goes on offers the page again. */
bool engine_drop(struct engine *e, uint32_t lease);
/* A page that somebody visited though it was not offered: it counts as spent.  The number of
 * the lease that it has now. */
uint32_t engine_adopt(struct engine *e, const struct offer *o);

/* The newest lease of a page in this cycle; 0: it has none. */
uint32_t engine_find(struct engine *e, uint32_t page);

static inline const struct lease *engine_lease(const struct engine *e, uint32_t lease)
{
	return &e->cycle.leases.v[lease - 1];
}

/* Run one cycle on e->source, telling the answers in the order asked; on error what was told
 * stays told. */
MUST_CHECK int engine_cycle(struct engine *e, int64_t now, uint32_t budget,
                            struct err *err);
/* The same for the rest of a cycle that is open. */
MUST_CHECK int engine_finish(struct engine *e, struct err *err);

/* An event of a cycle that broke off. */
enum event_kind { EVENT_TOLD, EVENT_RELEASED, EVENT_LAPSED };
struct event { struct offer offer; struct delivery delivery; uint8_t kind; };

/* Make a cycle that broke off again, up to where it was: its events in their order, and after
 * how many of them each of its rounds was planned (none known: each when the one before was
 * answered).  Then ask goes on.  Another policy than made it is told all of it first. */
void engine_continue(struct engine *e, int64_t now, uint32_t budget,
                     const struct event *events, size_t n, const uint32_t *planned_after,
                     size_t n_plans, bool same_policy);

/* Tell the policy of a cycle that is past, from its stored visits in the order told
 * (page, outcome, failure, hit, score, probability, reason; gaps are found anew; of a first
 * copy, which has an outcome and is not `known`, it is told only that the page does not
 * fail).  A fresh engine that recalls every cycle plans the next one as the first would
 * have. */
void engine_recall(struct engine *e, int64_t now, uint32_t budget,
                   const struct seen *visits, size_t n);

/* In cycle_plan.c: plan the next round into the queue; false: there is nothing to plan. */
bool cycle_plan(struct engine *e);

#endif
