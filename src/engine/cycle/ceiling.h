/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ceiling.h - how many requests of a cycle the pages of one owner may cost.
 *
 * A policy that is rewarded for changes prefers a site whose pages change at every visit
 * (a clock, an ad, malice).  So each owner has a ceiling.
 *
 * Owner.  New host names of a domain cost nothing.  So all hosts of a registrable domain
 * have one owner (url_domain()).  The policy still sees hosts.
 *
 * How high.  Let w be the owner's share of the pages.  If the caller sets a share, the
 * ceiling is the larger of that share and w.  The usual ceiling is (1 + w) / 2 of the
 * budget: all other owners together keep at least half of what their number of pages
 * would give them, whether there are two owners or a million, and a single owner has
 * everything. The usual ceiling is lifted when no page of another owner can be asked for
 * (they rest, or a server forbids them).  A share set by the caller is never lifted.
 *
 * What counts.  All requests of a page count for the owner of the page: the first, every
 * redirect hop and every retry, whichever host they go to.  The owner of a redirect's
 * target is not charged; otherwise strangers could use up its share by linking to it.
 *
 * A policy need not know.  Pages of an owner that reached its ceiling are closed for the
 * rest of the cycle, and the policy is asked for other pages.  The cost of a page is not
 * known when it is planned.  So a plan counts one request for each page, and a source
 * whose pages can cost more asks before each request (ceiling_left()).
 *
 * A shard of a fleet counts with the budget and the pages of the whole fleet (ceiling_fleet), and
 * lifts no ceiling: other shards have pages of other owners.
 *
 * A site for which the user has set a budget is, with its subdomains, an owner of its own.  Its
 * ceiling is that budget, if it is lower, and is never lifted.
 *
 * Pages of the guarantee of age are counted, but never left out.
 * Cost.  O(pages) when a cycle begins, O(pages of the owner) when an owner becomes full.
 */
#ifndef ENGINE_CYCLE_CEILING_H
#define ENGINE_CYCLE_CEILING_H

#include <stdint.h>

#include "base/buf.h"
#include "base/when.h"
#include "policy/demand.h"
#include "policy/plan.h"
#include "policy/view.h"

#define CEILING_PERCENT 50      /* the usual ceiling: percent of the other owners' share */

/* Sites with a budget of their own: those of a group share it. */
struct ceiling_budgets {
	const uint32_t *group;  /* by site; UINT32_MAX: it has none.  NULL: no site has one */
	const uint32_t *most;   /* requests of a cycle, by group */
};

/* A shard's ceilings are parts of the fleet's budget; all pages of an owner are in one shard.
 * Zeroed: these are all pages there are. */
struct ceiling_fleet { uint32_t budget, pages; };

struct ceiling {                /* zeroed: no ceiling */
	struct ceiling_budgets budgets;
	struct ceiling_fleet fleet;
	struct share share;     /* of the budget; 100 %: no ceiling */
	bool usual;             /* with share.value 0: true the usual ceiling, false none */
	/* owners, computed once */
	uint32_t *owner;        /* by site */
	uint32_t n_owners;
	uint32_t *first, *sites;        /* first: n_owners + 1 indexes into sites, by owner */
	/* requests of the last cycle, by owner */
	uint32_t *most;         /* the ceiling; NULL: there is none */
	uint32_t *had;          /* of planned pages: one each, then the real cost */
	uint32_t *sent;         /* counted by ceiling_spent() */
	uint32_t *excess;       /* pages left out because of the ceiling */
	uint32_t n_opened;      /* times that pages were opened again */
	uint32_t n_excess;      /* sum of excess */
	uint32_t worst;         /* the owner with the largest excess */
};

void ceiling_begin(struct ceiling *c, const struct view *v, uint8_t *state);
/* Count one request for each page of a plan.  With `give_up`, take pages above the
 * ceiling out of the plan. */
void ceiling_plan(struct ceiling *c, const struct view *v, uint8_t *state, struct plan *p,
                  bool give_up);
/* Count one request for a page of a stored cycle. */
void ceiling_recall(struct ceiling *c, const struct view *v, uint8_t *state, uint32_t page);
/* What owners have room for, beside what is planned; the caller frees ret->room.  False: for all
 * their pages.  O(sites). */
bool ceiling_limits(const struct ceiling *c, const struct view *v, struct demand_limits *ret);
/* The real cost of a planned page; 0 if no request was sent. */
void ceiling_told(struct ceiling *c, const struct view *v, uint8_t *state, uint32_t page,
                  uint32_t requests);
/* May one more request be sent for this page?  Then: n requests were sent; one request
 * was not sent after all. */
bool ceiling_left(const struct ceiling *c, const struct view *v, uint32_t page);
void ceiling_spent(struct ceiling *c, const struct view *v, uint32_t page, uint32_t n);
void ceiling_return(struct ceiling *c, const struct view *v, uint32_t page);
/* Count a page that is left out because its owner is full. */
void ceiling_give_up(struct ceiling *c, const struct view *v, uint32_t page);
/* No other page can be asked for: lift the usual ceiling and open all pages.  False: the
 * ceiling was not the usual one, or had closed no page. */
bool ceiling_lift(struct ceiling *c, const struct view *v, uint8_t *state);
/* Append the name of the owner with the largest excess. */
void ceiling_worst(const struct ceiling *c, const struct view *v, struct buf *out);
void ceiling_end(struct ceiling *c, const struct view *v, uint8_t *state);
void ceiling_release(struct ceiling *c);

#endif
