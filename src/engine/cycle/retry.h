/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry.h - what the engine does with pages that fail, whatever the policy.
 *
 * Pages that rest (engine/cycle/backoff.h) are closed, so no policy is offered them, and they
 * leave the guarantee of age.  Pages back from a rest are open, but all of them together
 * get at most a share of the budget, one request at least: then they are closed as well,
 * and the policy is asked again for what is left.  So pages that fail for ever cost a
 * known part of every cycle, and pages that recover are found.
 *
 * A host is a site of the view.  Under goal alive a page that fails is dead and is not
 * asked again: there is no rest.
 *
 * Cost.  O(what fails, and pages of hosts that rest) a cycle.
 */
#ifndef ENGINE_CYCLE_RETRY_H
#define ENGINE_CYCLE_RETRY_H

#include "base/cause.h"
#include "base/when.h"
#include "engine/cycle/backoff.h"
#include "policy/plan.h"

#define RETRY_PERCENT 5         /* of a budget, unless the caller says otherwise */

struct retry {                  /* zeroed: the usual share, nothing fails */
	struct share share;             /* of the budget; value 0: RETRY_PERCENT */
	struct backoff backoff;
	/* of the last cycle */
	uint32_t most, had;             /* requests for pages back from rest */
	bool full;                      /* those that are left are closed */
	uint32_t n_resting;             /* pages here that rested when it began, */
	uint32_t n_tried;               /* and pages back from a rest that were asked for */
	VEC(uint32_t) closed;           /* pages, some of them more than once */
};

/* What a visit says that is kept with this cause and status (0: there was none). */
enum failure retry_judge(enum outcome o, enum cause cause, int32_t status);

void retry_begin(struct retry *r, const struct view *v, uint8_t *state);
/* While the guarantee of age is looked at, pages back from a rest are not there. */
void retry_hide(struct retry *r, const struct view *v, uint8_t *state);
void retry_show(struct retry *r, const struct view *v, uint8_t *state);
/* Take out of a plan what is more than the share. */
void retry_plan(struct retry *r, const struct view *v, uint8_t *state, struct plan *p);
/* What came of a page, and how many requests it cost. */
void retry_told(struct retry *r, const struct view *v, uint8_t *state, uint32_t page,
                enum failure f, uint32_t requests);
void retry_end(struct retry *r, const struct view *v, uint8_t *state);
void retry_release(struct retry *r);

#endif
