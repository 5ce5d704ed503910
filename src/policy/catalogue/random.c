/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.c - uniformly random pages: the baseline that knows nothing (RNS in paper 1,
 * Rand in paper 2).  Each of n pages has the chance R/n in every cycle; after a guarantee took
 * some pages, R and n are what is left.
 *
 * Cost.  O(pages) a cycle for the list of open pages, O(1) a draw.
 */
#include <math.h>

#include "base/math/rng.h"
#include "policy/plan.h"

struct random_state {
	struct sampler sampler;
	double chance;
};

static void random_begin(struct policy *p, const struct view *v)
{
	struct random_state *s = p->state;

	sampler_begin(&s->sampler, v, RNG_SAMPLE);
}

static void random_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	struct random_state *s = p->state;
	uint32_t page;

	if (v->round == 0)
		s->chance = fmin(1, v->room / fmax(1, (double)s->sampler.n - (v->budget - v->room)));
	while (plan_room(plan) && (page = sampler_next(&s->sampler, v)) != PAGE_NONE)
		plan_take(plan, page, 0, s->chance, REASON_RANDOM);
}

static void random_release(struct policy *p)
{
	struct random_state *s = p->state;

	sampler_release(&s->sampler);
}

const struct policy_ops policy_random = {
	.name = "random",
	.summary = "uniformly random pages: the baseline that knows nothing",
	.origin = "RNS, Rand",
	.state_size = sizeof(struct random_state),
	.begin = random_begin,
	.ask = random_ask,
	.release = random_release,
	.freeze = policy_freeze_nothing,
};
