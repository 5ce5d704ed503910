/* SPDX-License-Identifier: Apache-2.0 */
/*
 * market.h - one budget, many shards: who may spend the next requests of a cycle.
 *
 * Within a cycle a policy learns: its first downloads reveal where changes are.  So a budget
 * that is dealt out to the shards at the start is far from the best.  Here it is granted in
 * tranches while the cycle runs.  A shard bids with a curve (policy/demand.h): how many pages
 * it would ask for next, at which score.
 *
 *   price    the score at which all shards together want as many pages as are granted next,
 *            the horizon: MARKET_HORIZON_PERCENT of the budget, and never more than what is left
 *   tranche  what a shard wants at that price, one request at least for the shard that has the
 *            best page of all; at most MARKET_TRANCHE_PERCENT of what it expects in the cycle,
 *            or what it wants at any price (guarantee of age, retries, reserved pages)
 *   expects  view.budget of its cycle: what it was granted in the last cycle; in the first one
 *            its part of the budget by pages
 *
 * A shard below the price is granted nothing; it asks again when the price has moved.  Where
 * requests take time, one that has waited too long while others were slow is offered what it
 * wants at the price for all that is left: as far as is known now, it would be granted that
 * before the cycle ends (MARKET_NOW).  One
 * that was not loaded yet counts with the first curve of its last cycle (after the last one its
 * best pages were fetched, and time has passed since), or, if it never had one, with its part by
 * pages, which is kept for it.  A shard whose scores cannot be compared gets its part by pages
 * at once, and of what is left when no other shard wants more.  A single shard is granted
 * everything at once.
 *
 * A shard's engine is set up for it with rules.metered, view.n_shards and ceiling.fleet
 * (engine/cycle/README.md, "Budget in parts").
 *
 * All of this is a function of the numbers in struct market, which a ledger keeps, or replay
 * in memory.  A grant is never larger than what is left, so the sum of grants never passes
 * the budget.  Several callers that grant at the same time need a ledger that adds a grant
 * only where the sum allows it.
 *
 * Cost.  O(shards) a grant, some microseconds for 64 of them.
 */
#ifndef ENGINE_MARKET_MARKET_H
#define ENGINE_MARKET_MARKET_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/demand.h"

#define MARKET_HORIZON_PERCENT 5        /* of the budget: pages that a price is made for */
#define MARKET_TRANCHE_PERCENT 5        /* of what a shard expects */

struct market_shard {
	struct demand demand;           /* what it would ask for next: its last curve, less
	                                 * the pages granted since */
	struct demand opening;          /* the first curve of the latest cycle that it bid in */
	bool opened;                    /* it has bid in this cycle */
	uint32_t pages;                 /* under care */
	uint32_t last;                  /* granted in the last cycle, and spent */
	uint32_t granted;               /* in this cycle so far, less what was returned */
	bool known;                     /* it has a curve */
	bool not_comparable;            /* it gets its part by pages */
	bool done;                      /* it has no page left to ask for in this cycle */
};

struct market {
	uint32_t budget;                /* of the fleet, in this cycle */
	uint32_t n;
	struct market_shard *shards;
};

/* What a shard should expect to be granted in this cycle; at least 1. */
uint32_t market_expect(const struct market *m, uint32_t shard);
/* Requests that are not granted yet. */
uint32_t market_left(const struct market *m);
/* The score that a page must have to be granted a request now; 0: every page is. */
double market_price(const struct market *m);
/* What a shard that has spent its grants may have now; 0: nothing, it is below the price. */
enum market_patience { MARKET_WAITS, MARKET_NOW };
uint32_t market_offer(const struct market *m, uint32_t shard, enum market_patience p);
/* Note that it was granted, or (what it cannot use) returned. */
void market_grant(struct market *m, uint32_t shard, uint32_t n);
void market_return(struct market *m, uint32_t shard, uint32_t n);
/* What all shards have learnt together, by their last bids. */
struct shared market_shared(const struct market *m);
/* A shard's new bid. */
void market_bid(struct market *m, uint32_t shard, const struct demand *d, bool comparable);
/* The next cycle: what was granted in this one becomes what is expected in the next. */
void market_next(struct market *m, uint32_t budget);

#endif
