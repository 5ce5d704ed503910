/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry.h - pages that fail: when they rest, and how much of a cycle retries may cost.
 *
 * Pages that rest (engine/cycle/backoff.h) are closed: no policy can plan them, and the
 * guarantee of age ignores them.  Pages back from a rest are open.  All of them together
 * get at most a share of the budget, but at least one request.  When that is used up they
 * are closed, too, and the policy is asked for other pages.  So pages that fail for ever
 * cost a fixed part of every cycle, and pages that recover are found.
 *
 * A host is a site of the view.  Under goal alive nothing rests: a page that fails is
 * dead and is not fetched again.
 *
 * Cost of a cycle.  O(failing pages + pages of failing hosts).
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
	uint32_t most, had;             /* requests for pages back from a rest: limit, used */
	uint32_t under_way;             /* such pages planned and not told: a request each */
	uint32_t n_opened;              /* times that the pages of a host were looked at again */
	bool full;                      /* the limit was reached: such pages are closed */
	uint32_t n_resting;             /* pages of the repository that rested at its start */
	uint32_t n_tried;               /* visits to pages back from a rest */
	VEC(uint32_t) closed;           /* pages; a page may be listed twice */
};

/* What a visit with this outcome, cause and status (0: no answer) says. */
enum failure retry_judge(enum outcome o, enum cause cause, int32_t status);

void retry_begin(struct retry *r, const struct view *v, uint8_t *state);
/* Close pages back from a rest while the guarantee of age is computed; open them again.
 * */
void retry_hide(struct retry *r, const struct view *v, uint8_t *state);
void retry_show(struct retry *r, const struct view *v, uint8_t *state);
/* Take pages back from a rest out of a plan when they are more than the share.  Then,
 * when the plan is final, mark such pages that are in it. */
void retry_plan(struct retry *r, const struct view *v, uint8_t *state, struct plan *p);
void retry_planned(struct retry *r, const struct view *v, uint8_t *state, const struct plan *p);
/* A planned page was given back or dropped. */
void retry_undo(struct retry *r, uint8_t *state, uint32_t page);
/* The answer of a page, and the requests it cost. */
void retry_told(struct retry *r, const struct view *v, uint8_t *state, uint32_t page,
                enum failure f, uint32_t requests);
void retry_end(struct retry *r, const struct view *v, uint8_t *state);
void retry_release(struct retry *r);

#endif
