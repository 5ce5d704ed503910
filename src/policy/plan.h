/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - the plan of one round, which ask() fills with pages.
 *
 * There are two ways, which may be mixed.  plan_take() adds a page at once, in order.
 * plan_offer() proposes a page with a score; when ask() returns, the best proposals are
 * added after the taken pages.  Both ignore pages that are not open (gone, resting,
 * closed, already planned in this cycle), and both stop at the budget.  So a policy need
 * not count. Equal scores are ordered by chance, drawn from (seed, cycle, page).
 *
 * plan_offer() over all pages costs O(pages), whatever the budget: the buffer holds twice
 * the limit, and quickselect halves it when it is full.
 */
#ifndef POLICY_PLAN_H
#define POLICY_PLAN_H

#include "policy/policy.h"

struct plan {
	struct offer *taken;            /* the plan, in order */
	size_t n_taken, cap_taken;
	struct offer *best;             /* candidates of plan_offer() */
	size_t n_best, cap_best;
	uint32_t limit;                 /* pages of this round, at most */
	struct offer floor;             /* proposals that are not better than this are ignored */
	bool has_floor;
	uint8_t *state;                 /* the engine's: enum page_state by page */
	uint64_t seed, cycle;
};

/* Start a round.  Pages taken are marked PAGE_TAKEN in state[]. */
void plan_begin(struct plan *p, const struct view *v, uint8_t *state);
/* Take the best proposals; taken[] then has all pages of the round. */
void plan_finish(struct plan *p);
void plan_release(struct plan *p);

/* Lower the limit to n (it is never raised); call it before the first plan_offer(). */
void plan_limit(struct plan *p, uint32_t n);
uint32_t plan_room(const struct plan *p);       /* limit - n_taken */
/* False: the plan is full.  True also for a page that was ignored. */
bool plan_take(struct plan *p, uint32_t page, double score, double probability,
               enum reason reason);
void plan_offer(struct plan *p, uint32_t page, double score, double probability,
                enum reason reason);

/* Put the k best of n offers first, in descending order.  Cost: O(n + k log k). */
void offers_select(struct offer *v, size_t n, size_t k, uint64_t seed, uint64_t cycle);

/* Open pages in random order, without repetition.  Cost: O(pages), then O(1) a draw. */
struct sampler { uint32_t *pages; uint32_t n, cap; uint32_t next; uint64_t draw; };

void sampler_begin(struct sampler *s, const struct view *v, unsigned purpose);
/* The next open page, or PAGE_NONE. */
uint32_t sampler_next(struct sampler *s, const struct view *v);
void sampler_release(struct sampler *s);

#endif
