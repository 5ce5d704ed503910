/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide_explore.c - the few pages of a batch that are drawn at random: the best of some, and
 * probes of hosts that are left alone.
 *
 * Cost.  16 draws for a page.
 */
#include "base/math/rng.h"
#include "policy/tide/tide.h"

#define EXPLORE_OF 16           /* draws for one explored page */
#define PROBE_FROM 1.5f         /* changes that are expected on a page that probes its host */
#define PROBE_RESTS 0.9f        /* no probe of a host that so surely rests at times */

/* The best of a few pages drawn at random; where few are open, the next by number. */
static uint32_t draw_page(struct policy *p, const struct view *v, uint64_t draw)
{
	uint32_t best = PAGE_NONE, page = 0;
	float most = -1;

	for (int k = 0; k < EXPLORE_OF; k++, draw = rng_mix(draw)) {
		const struct tide_page *h;

		page = (uint32_t)(draw % v->n_pages);
		h = policy_page(p, page);
		if (view_open(v, page) && h->worth > most) {
			best = page;
			most = h->worth;
		}
	}
	if (best != PAGE_NONE)
		return best;
	for (uint32_t i = 0; i < v->n_pages && !view_open(v, page); i++)
		page = page + 1 < v->n_pages ? page + 1 : 0;
	return page;
}

/* Changes of a page that its directory makes expect since the last visit. */
static float expected_since(struct tide_state *s, const struct view *v, uint32_t page,
                            uint32_t dir)
{
	int level = tide_model_refresh(&s->model, dir);

	return level < 0 ? 0 : s->model.level[level].ever * s->age_unit * (float)view_age(v, page);
}

/* A page that tells whether its host still changes as often as it did: changes are expected on it
 * since the last visit, and the host was never seen to rest.  Copies of such pages are soon
 * false, so that nobody would look again, and a host that came to rest would be left alone
 * for good.  A directory has one page for it, since two looks are needed, the first of
 * which finds what was before.  Of some drawn at random the one in most doubt, or PAGE_NONE. */
static uint32_t draw_probe(struct policy *p, const struct view *v, uint64_t draw)
{
	struct tide_state *s = p->state;
	const struct tree *t = v->tree;
	uint32_t best = PAGE_NONE;
	float least = PROBE_RESTS;

	for (int k = 0; k < EXPLORE_OF; k++, draw = rng_mix(draw)) {
		uint32_t dir = v->dir[draw % v->n_pages], page, home = tide_home(t, dir);
		float rests = tide_model_rests(&s->model, dir);

		page = t->dir_pages[t->dir_first[dir] + rng_mix(dir) % (t->dir_first[dir + 1] -
		                                                        t->dir_first[dir])];
		if (view_open(v, page) && rests < least &&
		    expected_since(s, v, page, home) >= PROBE_FROM) {
			best = page;
			least = rests;
		}
	}
	return best;
}

/* Under aim freshness every other explored page is a probe, if one is drawn. */
static uint32_t explore_page(struct policy *p, const struct view *v, uint64_t draw)
{
	bool probe = v->goal == GOAL_CHANGED && v->aim == AIM_FRESHNESS && draw & 1;
	uint32_t page = probe ? draw_probe(p, v, rng_mix(draw)) : PAGE_NONE;

	return page == PAGE_NONE ? draw_page(p, v, draw) : page;
}

void tide_explore(struct policy *p, const struct view *v, struct plan *plan, uint32_t n)
{
	for (uint32_t k = 0; k < n && v->n_pages; k++) {
		uint64_t draw = rng_draw(v->seed, v->cycle, ((uint64_t)v->round << 32) + k,
		                         RNG_EXPLORE);
		uint32_t page = explore_page(p, v, draw);
		const struct tide_page *h = policy_page(p, page);

		plan_take(plan, page, (double)h->worth, NAN, REASON_EXPLORE);
	}
}
