/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - where ask() puts pages.
 *
 * Two ways, which may be mixed: plan_take() asks for a page now, in order;
 * plan_offer() proposes it with a score, and the best of the round are taken
 * behind the others when ask() returns.  Pages that are not open (gone, already
 * asked for in this cycle) are ignored by both, and nothing passes the budget,
 * so a policy need not count.  Equal scores are ordered by chance, drawn from
 * (seed, cycle, page).
 *
 * plan_offer() over all pages costs O(pages) whatever the budget: a buffer of
 * twice the limit is halved by quickselect whenever it is full.
 */
#ifndef POLICY_PLAN_H
#define POLICY_PLAN_H

#include "policy/policy.h"

struct plan {
	struct offer *taken;            /* in the order asked */
	size_t n_taken, cap_taken;
	struct offer *best;             /* candidates of plan_offer() */
	size_t n_best, cap_best;
	uint32_t limit;                 /* at most so many in this round */
	struct offer floor;             /* offers that are not better cannot win */
	bool has_floor;
	uint8_t *state;
	uint64_t seed, cycle;
};

/* Start a round over the engine's page states. */
void plan_begin(struct plan *p, const struct view *v, uint8_t *state);
/* Take the best offers; the round's pages are then in taken[]. */
void plan_finish(struct plan *p);
void plan_release(struct plan *p);

/* Lower the number of pages of this round (never raises it); call it before
 * the first offer. */
void plan_limit(struct plan *p, uint32_t n);
uint32_t plan_room(const struct plan *p);       /* left of the limit */
/* False if there is no room left; true also for a page that was ignored. */
bool plan_take(struct plan *p, uint32_t page, double score, double probability,
               enum reason reason);
void plan_offer(struct plan *p, uint32_t page, double score, double probability,
                enum reason reason);

/* Put the k best of n offers first, in descending order; O(n + k log k). */
void offers_select(struct offer *v, size_t n, size_t k, uint64_t seed, uint64_t cycle);

/* Pages in random order without repetition: O(1) a draw after O(pages). */
struct sampler { uint32_t *pages; uint32_t n, cap; uint32_t next; uint64_t draw; };

void sampler_begin(struct sampler *s, const struct view *v, unsigned purpose);
/* The next open page, or PAGE_NONE. */
uint32_t sampler_next(struct sampler *s, const struct view *v);
void sampler_release(struct sampler *s);

#endif
