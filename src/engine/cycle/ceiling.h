/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ceiling.h - how many requests of a cycle the pages of one owner may cost.
 *
 * A site whose pages change whenever they are looked at (a clock, an ad, malice) is the
 * best of all sites to a policy that is rewarded for changes.  So an owner has a ceiling.
 *
 * Owner.  A host name costs nothing to whoever has a domain, so all hosts of a registrable
 * domain are one owner (url_domain()).  The policy still sees hosts.
 *
 * How high.  A share that the caller gives: so much of the budget, or as much as is the
 * owner's share of the pages, if that is more.  The usual ceiling, with w for the owner's
 * share of the pages: w and half of the rest, (1 + w) / 2 of the budget.  So all others
 * together keep at least half of what their number of pages would give them, whether there
 * are two owners or a million; and one owner alone has everything.  It is lifted when no
 * page of others is left to be asked for (they rest, or a server forbids them): a budget
 * that helps nobody else may be spent.  A share that the caller gives stays.
 *
 * What counts.  Requests: the first one of a page and every redirect hop and retry, whoever
 * is asked by them, for the owner of the page.  That of the redirect's target is not
 * charged, else strangers could use up its part by links to it.
 *
 * A policy need not know: pages of an owner that has had its part are closed for the rest
 * of the cycle, and the policy is asked again for what is left.  What a page will cost is
 * not known when it is planned.  So a plan promises one request to each page, and a source
 * whose pages can cost more asks before each request (ceiling_left()).
 *
 * Pages that the guarantee of age asks for are counted, but never given up.
 * Cost.  O(pages) when a cycle begins, O(pages of the owner) when one is full.
 */
#ifndef ENGINE_CYCLE_CEILING_H
#define ENGINE_CYCLE_CEILING_H

#include <stdint.h>

#include "base/buf.h"
#include "base/when.h"
#include "policy/plan.h"
#include "policy/view.h"

#define CEILING_PERCENT 50      /* the usual one: of what the pages of others would get */

struct ceiling {                /* zeroed: none */
	struct share share;     /* of the budget; 100 %: no ceiling */
	bool usual;             /* with share.value 0: the usual one, else none */
	/* who owns what, found once */
	uint32_t *owner;        /* by site */
	uint32_t n_owners;
	uint32_t *first, *sites;        /* n_owners + 1: into sites, grouped by owner */
	/* of the last cycle, by owner */
	uint32_t *most;         /* requests; NULL while there is no ceiling */
	uint32_t *had;          /* of pages that were planned: promised, then real */
	uint32_t *sent;         /* of them counted by ceiling_spent() */
	uint32_t *excess;       /* pages that others were asked for instead */
	uint32_t n_excess;      /* of all owners */
	uint32_t worst;         /* the owner that gave up most of them */
};

void ceiling_begin(struct ceiling *c, const struct view *v, uint8_t *state);
/* Promise a request to each page of a plan; with `give_up`, take out those that are too
 * many. */
void ceiling_plan(struct ceiling *c, const struct view *v, uint8_t *state, struct plan *p,
                  bool give_up);
/* A page that the cycle had planned before it was broken off. */
void ceiling_recall(struct ceiling *c, const struct view *v, uint8_t *state, uint32_t page);
/* What a page cost that was planned: 0 if nobody was asked for it. */
void ceiling_told(struct ceiling *c, const struct view *v, uint8_t *state, uint32_t page,
                  uint32_t requests);
/* May one more request be made for this page?  So many were made, or are; one was not
 * made after all. */
bool ceiling_left(const struct ceiling *c, const struct view *v, uint32_t page);
void ceiling_spent(struct ceiling *c, const struct view *v, uint32_t page, uint32_t n);
void ceiling_return(struct ceiling *c, const struct view *v, uint32_t page);
/* A page of an owner that has had its part is left out. */
void ceiling_give_up(struct ceiling *c, const struct view *v, uint32_t page);
/* Nobody else has a page that could be asked for: open the pages of all again, if it is the
 * usual ceiling that closes them.  False: none was closed by it. */
bool ceiling_lift(struct ceiling *c, const struct view *v, uint8_t *state);
/* Append the name of the owner that gave up most. */
void ceiling_worst(const struct ceiling *c, const struct view *v, struct buf *out);
void ceiling_end(struct ceiling *c, const struct view *v, uint8_t *state);
void ceiling_release(struct ceiling *c);

#endif
