/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round_robin.c - every page in turn, in an order shuffled once (RR in the papers).
 *
 * The page that was visited last in its turn is remembered across cycles, so each page comes
 * every ceil(N/R) cycles.
 *
 * Cost.  O(pages) once for the order, O(R) a cycle; 8 bytes a page.
 */

#include "base/math/rng.h"
#include "policy/plan.h"

struct turn_state {
	uint32_t *order;                /* pages in turn; page memory holds each one's index */
	uint32_t n;
	uint32_t last;                  /* page visited last in its turn, + 1; 0: none */
	uint32_t ahead;                 /* index of the next to plan in this cycle */
};

static void turn_begin(struct policy *p, const struct view *v)
{
	struct turn_state *s = p->state;
	struct rng r;

	if (!s->order) {
		s->n = v->n_pages;
		s->order = mem_array(s->n, sizeof *s->order);
		for (uint32_t i = 0; i < s->n; i++)
			s->order[i] = i;
		rng_init(&r, rng_draw(v->seed, 0, 0, RNG_ORDER));
		rng_shuffle(&r, s->order, s->n);
		for (uint32_t i = 0; i < s->n; i++)
			*(uint32_t *)policy_page(p, s->order[i]) = i;
	}
	s->ahead = s->last ? *(uint32_t *)policy_page(p, s->last - 1) + 1 : 0;
	s->ahead = s->ahead < s->n ? s->ahead : 0;
}

static void turn_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	struct turn_state *s = p->state;

	(void)v;
	for (uint32_t tried = 0; tried < s->n && plan_room(plan); tried++) {
		plan_take(plan, s->order[s->ahead], 0, 1, REASON_TURN);
		s->ahead = s->ahead + 1 < s->n ? s->ahead + 1 : 0;
	}
}

static void turn_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	struct turn_state *s = p->state;

	(void)v;
	if (seen->reason == REASON_TURN)
		s->last = seen->page + 1;
}

/* The order is made again from the seed, for as many pages as there are then. */
static void turn_freeze(struct policy *p, const struct view *v, struct frozen *f)
{
	struct turn_state *s = p->state;

	frozen_value(f, &s->last);
	frozen_check(f, s->last <= v->n_pages);
}

static void turn_release(struct policy *p)
{
	struct turn_state *s = p->state;

	free(s->order);
}

const struct policy_ops policy_round_robin = {
	.name = "round-robin",
	.summary = "every page in turn, in an order shuffled once",
	.origin = "RR",
	.state_size = sizeof(struct turn_state),
	.page_size = sizeof(uint32_t),
	.begin = turn_begin,
	.ask = turn_ask,
	.tell = turn_tell,
	.release = turn_release,
	.freeze = turn_freeze,
};
