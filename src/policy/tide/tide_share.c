/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide_share.c - tide in a shard of a fleet: what all shards learn together (policy/shared.h).
 *
 * Three numbers are of the whole repository and not of a site or page: the mean and the usual
 * rate of hosts, by which hosts and directories are judged that were hardly visited, and how
 * much pages are like their groups.  All three come of sums over visits, so the sums of all
 * shards give what one plan for the whole fleet would have.  Scores are made with them.  What
 * visits teach is not: see policy/shared.h.
 */
#include "policy/tide/tide.h"

enum { SHARED_RATES = 0, SHARED_K = 4 };        /* places of the sums */

_Static_assert(SHARED_K + TIDE_K_GRID <= SHARED_SUMS, "the sums have places");

void tide_share_say(const struct tide_state *s, struct shared *ret)
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
}

void tide_share_take(struct tide_state *s, const struct tide_opts *o, const struct view *v)
{
	const double *sum = v->shared.sum;
	struct tide_sums rates = tide_sums_first();

	s->own = (struct tide_own){ s->model.base, s->model.usual, s->k_page };
	if (!v->shared.any)
		return;
	rates.events += sum[SHARED_RATES];
	rates.exposure += sum[SHARED_RATES + 1];
	rates.logs += sum[SHARED_RATES + 2];
	rates.voices += sum[SHARED_RATES + 3];
	tide_model_set_rates(&s->model, &rates);
	if (!(o->k_page > 0))
		s->k_page = tide_estimate_k(sum + SHARED_K);
}

void tide_share_leave(struct tide_state *s, const struct view *v)
{
	if (!v->shared.any)
		return;
	s->model.base = s->own.base;
	s->model.usual = s->own.usual;
	s->model.path = PAGE_NONE;
	s->k_page = s->own.k_page;
}
