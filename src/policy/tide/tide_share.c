/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide_share.c - tide in a shard of a fleet: what all shards learn together (policy/shared.h).
 *
 * Four numbers are of the whole repository and not of a site or page: the mean and the usual
 * rate of hosts, by which hosts and directories are judged that were hardly visited; how much
 * pages are like their groups; and the worth below which pages wait, which follows from the
 * usual rate, the open pages and the budget.  All come of sums, so the sums of all shards give
 * what one plan for the whole fleet would have.  Scores are made with them.  What visits teach
 * is not: see policy/shared.h.
 */
#include "policy/tide/tide.h"

enum {                                  /* places of the sums */
	SHARED_RATES = 0, SHARED_K = 4, SHARED_TURN = SHARED_K + TIDE_K_GRID,
	SHARED_CHOSEN = SHARED_TURN + 2, SHARED_OLDEST = SHARED_CHOSEN + 3,
};

_Static_assert(SHARED_OLDEST + 3 <= SHARED_SUMS, "the sums have places");

static void say_yield(double *sum, const struct tide_yield *y)
{
	sum[0] = (double)y->hits;
	sum[1] = (double)y->visits;
	sum[2] = (double)y->age;
}

static struct tide_yield take_yield(const double *sum)
{
	return (struct tide_yield){ (float)sum[0], (float)sum[1], (float)sum[2] };
}

struct tide_council tide_share_council(const struct tide_state *s, const struct view *v)
{
	const double *sum = v->shared.sum;

	if (!v->shared.any)
		return (struct tide_council){ s->chosen, s->oldest, tide_shards_of(v) };
	return (struct tide_council){ take_yield(sum + SHARED_CHOSEN),
	                              take_yield(sum + SHARED_OLDEST), 1 };
}

void tide_share_say(const struct tide_state *s, const struct view *v, struct shared *ret)
{
	struct tide_sums rates = { 0 };

	tide_model_sum(&s->model, &rates);
	ret->any = true;
	ret->sum[SHARED_RATES] = rates.events;
	ret->sum[SHARED_RATES + 1] = rates.exposure;
	ret->sum[SHARED_RATES + 2] = rates.logs;
	ret->sum[SHARED_RATES + 3] = rates.voices;
	for (int i = 0; i < TIDE_K_GRID; i++)
		ret->sum[SHARED_K + i] = s->k_fit[i];
	say_yield(ret->sum + SHARED_CHOSEN, &s->chosen);
	say_yield(ret->sum + SHARED_OLDEST, &s->oldest);
	ret->sum[SHARED_TURN] = s->n_open;
	ret->sum[SHARED_TURN + 1] = v->budget;
}

void tide_share_take(struct tide_state *s, const struct tide_opts *o, const struct view *v)
{
	const double *sum = v->shared.sum;
	struct tide_sums rates = tide_sums_first();

	s->own = (struct tide_own){ s->model.base, s->model.usual, s->k_page, s->reserve };
	if (!v->shared.any)
		return;
	rates.events += sum[SHARED_RATES];
	rates.exposure += sum[SHARED_RATES + 1];
	rates.logs += sum[SHARED_RATES + 2];
	rates.voices += sum[SHARED_RATES + 3];
	tide_model_set_rates(&s->model, &rates);
	if (!(o->k_page > 0))
		s->k_page = tide_estimate_k(sum + SHARED_K);
	if (sum[SHARED_TURN + 1] > 0)
		s->reserve = tide_reserve(s, o, v, sum[SHARED_TURN] / sum[SHARED_TURN + 1]);
}

void tide_share_leave(struct tide_state *s, const struct view *v)
{
	if (!v->shared.any)
		return;
	s->model.base = s->own.base;
	s->model.usual = s->own.usual;
	s->model.path = PAGE_NONE;
	s->k_page = s->own.k_page;
	s->reserve = s->own.reserve;
}
