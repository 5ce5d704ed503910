/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oldest.c - the pages not visited for the longest time, as YaCy recrawls.
 *
 * Differs from round-robin when pages are visited out of turn (a guarantee, a
 * fill-up, another policy before) or join later.  Ties fall by chance.
 *
 * Probability.  Pages older than the age in which the budget runs out are taken
 * for sure, those of that age with the share that still fits.
 *
 * Cost.  O(pages) a round, 4 bytes for each cycle so far.
 */
#include "policy/plan.h"

struct oldest_state { VEC(uint32_t) n_of_age; };

/* The age in which the room runs out, and the share of its pages that fit. */
static uint32_t last_age(struct oldest_state *s, const struct view *v, uint32_t room,
                         double *ret_share)
{
	s->n_of_age.n = 0;
	vec_reserve(&s->n_of_age, (size_t)v->cycle + 1);
	memset(s->n_of_age.v, 0, ((size_t)v->cycle + 1) * sizeof *s->n_of_age.v);
	for (uint32_t i = 0; i < v->n_pages; i++)
		if (view_open(v, i))
			s->n_of_age.v[view_age(v, i)]++;
	for (uint32_t age = v->cycle; age > 0; age--) {
		uint32_t n = s->n_of_age.v[age];

		if (n >= room) {
			*ret_share = n ? (double)room / n : 1;
			return age;
		}
		room -= n;
	}
	*ret_share = 1;
	return 0;
}

static void oldest_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	double share;
	uint32_t last = last_age(p->state, v, plan_room(plan), &share);

	for (uint32_t i = 0; i < v->n_pages; i++) {
		uint32_t age = view_age(v, i);

		if (view_open(v, i) && age >= last)
			plan_offer(plan, i, age, age > last ? 1 : share, REASON_OLDEST);
	}
}

static void oldest_release(struct policy *p)
{
	struct oldest_state *s = p->state;

	vec_release(&s->n_of_age);
}

const struct policy_ops policy_oldest = {
	.name = "oldest",
	.summary = "longest unvisited first",
	.origin = "YaCy's recrawl; round-robin by age",
	.state_size = sizeof(struct oldest_state),
	.ask = oldest_ask,
	.release = oldest_release,
	.freeze = policy_freeze_nothing,
};
