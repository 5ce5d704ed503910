/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round_robin.c - every page in turn (RR), in an order shuffled once.
 *
 * The pointer persists across cycles, so each page comes every ceil(N/R) cycles.
 * tell() moves it behind the last page that was visited for its turn.  So replaying the
 * stored visits restores it.
 *
 * Cost.  O(pages) once for the order, O(R) a cycle; 8 bytes a page.
 */

#include "base/math/rng.h"
#include "policy/plan.h"

struct turn_state {
	uint32_t *order;                /* pages in turn; page memory holds each one's index */
	uint32_t n, pointer, ahead;     /* ahead: the pointer after this cycle's plan */
};

static void turn_begin(struct policy *p, const struct view *v)
{
	struct turn_state *s = p->state;
	struct rng r;

	s->ahead = s->pointer;
	if (s->order)
		return;
	s->n = v->n_pages;
	s->order = mem_array(s->n, sizeof *s->order);
	for (uint32_t i = 0; i < s->n; i++)
		s->order[i] = i;
	rng_init(&r, rng_draw(v->seed, 0, 0, RNG_ORDER));
	rng_shuffle(&r, s->order, s->n);
	for (uint32_t i = 0; i < s->n; i++)
		*(uint32_t *)policy_page(p, s->order[i]) = i;
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
	uint32_t place;

	(void)v;
	if (seen->reason != REASON_TURN)
		return;
	place = *(uint32_t *)policy_page(p, seen->page);
	s->pointer = place + 1 < s->n ? place + 1 : 0;
}

/* The order is made again from the seed. */
static void turn_freeze(struct policy *p, const struct view *v, struct frozen *f)
{
	struct turn_state *s = p->state;

	frozen_value(f, &s->pointer);
	frozen_check(f, s->pointer < v->n_pages || !s->pointer);
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
