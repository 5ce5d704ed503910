/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle.h - the open cycle: pages are offered, and answers are told, in any order.
 *
 *   engine_begin        opens a cycle with a budget and a time
 *     engine_ask        returns pages to fetch now, or "wait", or "done"
 *     engine_tell       reports the answer of one offered page
 *     engine_give_back  the page was not fetched: page and budget are free again
 *     engine_lapse      the answer is unknown: the request stays spent
 *     engine_drop       the page was refused and must not be in this cycle
 *     engine_put_off    the same, until the next start of the program
 *   engine_end          closes the cycle
 *
 * Budget in parts.  A shard of a fleet does not know at the start what it may spend.  With
 * rules.metered, the budget of engine_begin() is what the shard expects (the policy's
 * view.budget), and it may spend what engine_grant() gave it so far.  engine_demand() is its
 * bid for more (engine/market/market.h).
 *
 * All callers that fetch use it: replay (which answers at once), the live crawl, tests of
 * life, and other crawlers through the command line and the library.  See also README.md
 * in this folder: the life of an offer, with an example.
 *
 * Rounds.  A round is one plan: the pages of one call of the policy's ask() (or reserved,
 * guaranteed or sampled pages, see enum cycle_phase).  Its pages wait in a queue and are
 * offered in that order.  The next round is planned when the queue is empty and
 * `patience` of the last round (a share that the policy sets) is answered, given back or
 * lapsed.  A caller that sets `impatient` gets the next round at once.  So one slow page
 * delays no other page.  A late answer is told when it comes.
 *
 *         plan           ask            tell
 *   (page) ----> QUEUED ----> OFFERED ----> TOLD
 *                   ^            |  \  lapse
 *                   |            |   `------> LAPSED ----> TOLD (late: it costs no more)
 *                   |  give_back |
 *                   `-- (page) <-'            (GIVEN_BACK: the page may be planned again)
 *
 * drop and put_off end an offer as DROPPED: the page is not planned again in this cycle.
 *
 * Rules.  The engine enforces them, not the policy.  A cycle grants no more requests than
 * its budget.  No page is offered twice in a cycle, unless it was given back.  No page
 * stays unvisited longer than the user allows (guarantee.h).  A page that the user takes out
 * while the cycle is open is not offered any more (engine.out).  No owner gets more than its
 * share (ceiling.h).  Pages that fail rest for a while (retry.h).  The same seed and the
 * same order of events give the same plan.
 *
 * Restart.  The record of a cycle is its list of events, in order, and for each round the
 * number of events before it.  engine_continue() rebuilds the open cycle from this
 * record.
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

/* The answer of one page. */
struct delivery {
	enum outcome outcome;
	bool hit;               /* by goal and observation; not for failures */
	bool first;             /* our first copy of the page: the policy is not told */
	uint32_t extra;         /* requests after the first (redirects, retries); for BLOCKED
	                         * all requests */
	enum failure failure;   /* of a failed visit: what it says of page and host */
};

/* A source that answers at once, such as a recorded history.  deliver() fills one
 * delivery for each offer.  See engine_cycle(). */
struct source {
	void *self;
	int (*deliver)(void *self, const struct offer *offers, size_t n,
	               struct delivery *ret, struct err *err);
	/* Called before each ask: true ends the cycle though budget is left.  May be
	 * NULL. */
	bool (*enough)(void *self);
};

/* The caller's rules for every cycle, set before engine_begin().  The rules of ceiling,
 * retry and sample are in their own structs: ceiling.share, retry.share, sample.rule. */
struct engine_rules {
	uint32_t max_age;               /* cycles; 0: no guarantee */
	const uint32_t *site_max_age;   /* by site: its own, in cycles; 0: it has none; or NULL */
	bool no_fill;                   /* end the cycle when the policy asks for no page */
	const struct offer *reserved;   /* offered before all other pages, in this order */
	size_t n_reserved;
	uint32_t reserved_most;         /* pages of reserved[] to offer at most; 0: none */
	bool metered;                   /* the budget is granted in parts: engine_grant() */
	/* For engine_continue() of a metered cycle: what was granted in all when each of the
	 * stored rounds was planned (cycle.planned_with); NULL: everything at once. */
	const uint32_t *planned_with;
};

/* Where the pages of the next round come from. */
enum cycle_phase {
	PHASE_RESERVED,                 /* engine_rules.reserved */
	PHASE_GUARANTEE,
	PHASE_SAMPLE,
	PHASE_POLICY,
	PHASE_DRY,                      /* the policy asked for no page and no page is left to
	                                 * fill up with; a new answer may change that */
};

enum lease_state { LEASE_QUEUED, LEASE_OFFERED, LEASE_TOLD, LEASE_GIVEN_BACK, LEASE_LAPSED,
                   LEASE_DROPPED };

/* One page that was planned in this cycle.  Leases are numbered from 1, in the order
 * planned: the number is the page's place in the plan. */
struct lease {
	struct offer offer;
	uint32_t round;                 /* calls of the policy's ask() so far */
	uint32_t plan;                  /* number of its plan, from 1; 0: adopted, not planned */
	uint32_t next;                  /* number of the next lease in the queue; 0: last */
	uint32_t requests;              /* granted so far */
	uint8_t state;                  /* enum lease_state */
	bool sampled;                   /* is part of the opening sample */
};

/* The open cycle, or the last one. */
struct cycle {
	enum cycle_phase phase;
	VEC(struct lease) leases;       /* index: number - 1 */
	struct map by_page;             /* page to lease number, filled by engine_find() */
	uint32_t n_indexed;             /* leases that by_page holds already */
	uint32_t queue_first, queue_last;       /* lease numbers; 0: the queue is empty */
	uint32_t n_queued, n_offered;
	uint32_t n_plans;               /* rounds planned so far */
	uint32_t plan_size, plan_open;  /* of the last round: pages, and those without answer */
	uint32_t n_events;              /* answers told, offers given back, lapsed or dropped */
	uint32_t n_given_back;
	uint64_t dry_since;             /* what could open pages, at the last attempt to plan */
	VEC(uint32_t) planned_after;    /* by round: events before it */
	VEC(uint32_t) planned_with;     /* by round of a metered cycle: granted before it */
	uint32_t granted;               /* what a metered cycle may spend so far */
	uint32_t n_spent;               /* requests of told and lapsed pages */
	uint32_t n_granted;             /* requests granted to offered pages */
	uint32_t n_waiting;             /* offered pages without a granted request */
	uint32_t n_reserved;            /* pages planned of rules.reserved */
	uint32_t n_guaranteed;          /* pages planned because of max_age */
	uint32_t guarantee_left;        /* pages of these that wait for a grant */
	bool guarantee_broken;          /* the budget is too small for max_age */
	struct seen *seen;              /* all visits, in the order told */
	size_t n_seen, cap_seen;
	uint32_t n_first;               /* visits that the policy was not told of: first copies */
	uint32_t extras, answers;       /* sums over told offers: extra requests, offers */
	double plan_seconds;
	/* a round that is being planned in steps: cycle_plan_begin() */
	bool thinks;
	enum cycle_phase phase_thought;
	uint32_t round_before;
	double think_seconds;           /* that are not in plan_seconds yet */
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
	struct map out;                 /* pages (value 1) that the user took out after the cycle
	                                 * began: they stay in its plan, and are not offered */
	struct plan plan;
	struct cycle cycle;
};

/* The caller sets up the rest of the view afterwards (needs, goal, seed).  view.cycle is
 * 0 before the first cycle.  Without a policy (NULL) an engine can recall, and cannot
 * plan. */
void engine_init(struct engine *e, const struct pages *p, struct policy *policy,
                 int64_t start);
void engine_release(struct engine *e);

/* Processor time of this thread, to report the cost of planning.  No decision depends on
 * it. */
double engine_seconds(void);

void engine_begin(struct engine *e, int64_t now, uint32_t budget);
void engine_end(struct engine *e);

/* ASK_GRANT, only in a metered cycle: what was granted is spent. */
enum ask { ASK_OFFERS, ASK_WAIT, ASK_DONE, ASK_GRANT };

struct asking {
	size_t want;                    /* pages, at most */
	bool hops;                      /* pages may be redirected: hold back some budget for
	                                 * the pages that are offered now */
	bool queue_only;                /* offer queued pages, plan no new round; WAIT, if one is due
	                                 * or being planned */
	bool impatient;                 /* do not wait for answers: plan the next round now */
	/* May this page be offered now?  NULL: any page.  Pages refused stay in the
	 * queue. */
	bool (*fits)(void *arg, const struct offer *o);
	void *arg;
};

/* Offer up to a->want pages; their lease numbers go to ret[], which has room for want. */
enum ask engine_ask(struct engine *e, const struct asking *a, uint32_t *ret, size_t *ret_n);
/* Is it time to plan the next round in steps?  As engine_ask() would, but while so many pages wait
 * in the queue still. */
bool engine_is_due(const struct engine *e, uint32_t queued, bool impatient);
/* The steps of it; engine_plan_end(): true if there is a new round, or no more to plan; false:
 * begin once more. */
bool engine_plan_begin(struct engine *e);
bool engine_plan_end(struct engine *e);
/* Would a page that waits in the queue get its first request? */
bool engine_has_room(const struct engine *e, const struct offer *o);
/* Ask for one more request for an offered page: the first, a redirect, a retry.  False:
 * the budget of the cycle, or of the page's owner, is used up. */
bool engine_spend(struct engine *e, uint32_t lease);
/* So many requests were granted to an offered page before a restart: they are again,
 * whatever is left. */
void engine_hold(struct engine *e, uint32_t lease, uint32_t n);
/* Would engine_spend() grant a request now? */
bool engine_may_spend(const struct engine *e, uint32_t lease);
/* Requests of the budget that are neither spent nor granted to a page. */
uint32_t engine_left(const struct engine *e);
/* In cycle_grant.c.  A metered cycle may spend n more requests; at any moment. */
void engine_grant(struct engine *e, uint32_t n);
/* A metered cycle can offer no more with what it was granted, as long as nothing is told.  With
 * a->hops some requests may be left: they are held back for redirects. */
bool engine_wants_grant(const struct engine *e, const struct asking *a);
/* Give back what is neither planned nor spent of the grants.  Returns how much that is. */
uint32_t engine_ungrant(struct engine *e);
/* What the cycle would ask for next, and how much it wants it: the policy's demand, within the
 * ceilings of owners; reserved pages, the guarantee of age and retries within their share at any
 * price.  It changes nothing.  False: the policy's scores cannot be compared; ret->first is set all
 * the same. */
bool engine_demand(struct engine *e, struct demand *ret);
/* The budget, or what was granted so far. */
uint32_t engine_budget(const struct engine *e);
/* So many requests that were granted to an offered page were not made: they are free again. */
void engine_return(struct engine *e, uint32_t lease, uint32_t n);
/* Requests that were made for no page that is told: they are spent. */
void engine_charge(struct engine *e, uint32_t n);
/* These end an offer.  False: the lease was not offered, so nothing was done (a
 * lapsed lease may still be told). */
bool engine_tell(struct engine *e, uint32_t lease, const struct delivery *d);
bool engine_give_back(struct engine *e, uint32_t lease);
bool engine_lapse(struct engine *e, uint32_t lease);
/* The page was not fetched and must not be in this cycle.  Requests that were granted and
 * not returned stay spent. */
bool engine_drop(struct engine *e, uint32_t lease);
/* The same because of a stop.  It is no event: after a restart the page is offered again. */
bool engine_put_off(struct engine *e, uint32_t lease);
/* A lease, in state OFFERED, for a page that was visited without an offer.  Returns its
 * number; the page's present lease if it has one that was neither given back nor dropped. */
uint32_t engine_adopt(struct engine *e, const struct offer *o);

/* The newest lease of a page in this cycle; 0: none. */
uint32_t engine_find(struct engine *e, uint32_t page);

static inline const struct lease *engine_lease(const struct engine *e, uint32_t lease)
{
	return &e->cycle.leases.v[lease - 1];
}

/* Run one cycle on e->source.  Answers are told in the order offered.  After an error,
 * answers told before it remain. */
MUST_CHECK int engine_cycle(struct engine *e, int64_t now, uint32_t budget,
                            struct err *err);
/* Run an open cycle on e->source, and leave it open, until no page can be asked for: why says
 * ASK_DONE or, in a metered cycle, ASK_GRANT. */
MUST_CHECK int engine_work(struct engine *e, enum ask *ret_why, struct err *err);
/* Run the rest of an open cycle on e->source, and end it. */
MUST_CHECK int engine_finish(struct engine *e, struct err *err);

/* An event of a stored cycle.  delivery.extra of an offer that lapsed or was dropped: requests
 * beyond those that engine_lapse() and engine_drop() count. */
enum event_kind { EVENT_TOLD, EVENT_GIVEN_BACK, EVENT_LAPSED, EVENT_DROPPED };
struct event { struct offer offer; struct delivery delivery; uint8_t kind; };

/* Rebuild an interrupted cycle from its events and from planned_after[] (events before
 * each round).  n_plans 0: no such record; each round is then planned when the queue is
 * empty and the next event is of an unplanned page.  The caller goes on with
 * engine_ask().  With another policy (same_policy false) the events are told, and no
 * round is planned again. */
void engine_continue(struct engine *e, int64_t now, uint32_t budget,
                     const struct event *events, size_t n, const uint32_t *planned_after,
                     size_t n_plans, bool same_policy);

/* Tell the policy about a finished cycle, from its stored visits in the order told.  Used
 * of a visit: page, outcome, failure, hit, score, probability, reason, extra; gaps are
 * computed again.  A first copy (outcome below FAILED, `known` false) only says that the
 * page does not fail.  A fresh engine that recalls every cycle plans the next one exactly
 * as the first engine would have. */
void engine_recall(struct engine *e, int64_t now, uint32_t budget,
                   const struct seen *visits, size_t n);

/* What is remembered between two cycles, written, or read back into a fresh engine that has
 * the same policy, and the same view but for pages that came later (policy/frozen.h). */
void engine_freeze(struct engine *e, struct frozen *f);

/* In cycle_plan.c: plan the next round into the queue.  False: no page to plan. */
bool cycle_plan(struct engine *e);
/* The same in steps, for a caller that has pages to hand out meanwhile.  While another thread is
 * in cycle_plan_think(), which is nearly all of the work, engine_ask() may be called with
 * queue_only, and engine_spend(), and what only reads leases; nothing else.  Events wait until
 * the round has ended, and so a restart makes the same plan.
 * begin: false: there is nothing to plan.  end: PLANNED_AGAIN: begin once more. */
enum planned { PLANNED_ROUND, PLANNED_NONE, PLANNED_AGAIN };
bool cycle_plan_begin(struct engine *e);
void cycle_plan_think(struct engine *e);
enum planned cycle_plan_end(struct engine *e);
/* Requests for which no page is planned.  A page without an answer counts as one. */
uint32_t cycle_room(const struct engine *e);
/* Pages that the guarantee of age asks for, if it was not planned yet. */
uint32_t cycle_guarantee(struct engine *e);

#endif
