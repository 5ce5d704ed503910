/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbour.c - sample pages one by one and follow them to their neighbours:
 * LB (by links), DB (by directories) and CB (by clusters) of Tan et al. 2007 ("Efficiently
 * detecting webpage updates using samples", Algorithms 1 and 2), with every download
 * probability phi.
 *
 * A random page is downloaded.  With probability phi its neighbours within
 * distance d follow; they do not trigger others.  Then the next sample.
 *   never     0: random sampling            always    1: after every sample
 *   changed   1 if the sample changed (what LB, DB, CB mean unqualified)
 *   history   1 - exp(-lambda), lambda = mean of I_i over the cycles so far (HA)
 *   weighted  the same with weights 2i/(n(n+1)), later cycles counting more (WHA)
 *   pagerank  (PR10 + 1)/11, PR10 = PageRank as 0..10, whether or not the sample changed (PRA)
 * I_i = 1 if a change of that page was seen in cycle i; cycles without a visit
 * count as 0 (count=cycles, the papers' letter) or not at all (count=visits).
 * trigger=changed asks in addition that the sample changed.
 *
 * Neighbours go out in one batch with the next sample, so a round costs O(its
 * pages).  Where they pass the budget, chance decides which are left out.
 *
 * Cost.  O(pages) at the start of a cycle, then O(downloads) and the walks of
 * the neighbourhoods; 12 bytes a page.
 */
#include <math.h>

#include "base/math/rng.h"
#include "base/math/stat.h"
#include "policy/model/neighbourhood.h"
#include "policy/plan.h"

enum phi { PHI_CHANGED, PHI_ALWAYS, PHI_NEVER, PHI_HISTORY, PHI_WEIGHTED, PHI_PAGERANK };

struct neighbour_opts {
	int by;
	int64_t d, k;
	int phi, trigger, count;
	bool cousins;
};

struct memory {                 /* of one page */
	struct stat_history seen;       /* weights by phi */
	uint32_t visits;
};

struct neighbour_state {
	struct sampler sampler;
	struct neighbourhood near;
	uint32_t sample;        /* last one told, or PAGE_NONE */
	bool sample_hit;
};

static const struct option_spec neighbour_options[] = {
	OPT_CHOICE(neighbour_opts, by, "link|dir|cluster", "dir", "what makes pages neighbours"),
	OPT_INT(neighbour_opts, d, 0, -6, 8,
	        "largest distance; > 0 out-links or upper directories, < 0 the other way"),
	OPT_CHOICE(neighbour_opts, phi, "changed|always|never|history|weighted|pagerank",
	           "changed", "probability with which a sample's neighbours follow"),
	OPT_CHOICE(neighbour_opts, trigger, "any|changed", "any",
	           "whether history, weighted and pagerank need a changed sample"),
	OPT_CHOICE(neighbour_opts, count, "cycles|visits", "cycles",
	           "what history and weighted count: every cycle, or visits only"),
	OPT_INT(neighbour_opts, k, 100, 1, 100000, "by=cluster: clusters"),
	OPT_FLAG(neighbour_opts, cousins, "by=dir: pages of sibling directories count too"),
	OPT_END
};

static int neighbour_check(const void *opts, struct err *err)
{
	const struct neighbour_opts *o = opts;

	if (o->by == NEAR_CLUSTER && o->d < 0)
		return err_set(err, E_USAGE, "d: by=cluster has no negative distances");
	return 0;
}

static unsigned neighbour_needs(const void *opts)
{
	const struct neighbour_opts *o = opts;

	return (o->by == NEAR_LINK ? NEED_LINKS : 0u) |
	       (o->by == NEAR_CLUSTER ? NEED_CLUSTERS | NEED_WORDS : 0u) |
	       (o->phi == PHI_PAGERANK ? NEED_PAGERANK : 0u);
}

static void neighbour_begin(struct policy *p, const struct view *v)
{
	struct neighbour_state *s = p->state;

	sampler_begin(&s->sampler, v, RNG_SAMPLE);
	s->sample = PAGE_NONE;
}

static enum stat_weights history_weights(const struct neighbour_opts *o)
{
	return o->phi == PHI_WEIGHTED ? STAT_ARITH : STAT_NON;
}

static double download_probability(const struct neighbour_opts *o, const struct view *v,
                                   const struct memory *m, uint32_t page, bool hit)
{
	uint32_t n = o->count ? m->visits : v->cycle;

	if (o->phi >= PHI_HISTORY && o->trigger && !hit)
		return 0;
	switch ((enum phi)o->phi) {
	case PHI_CHANGED:
		return hit;
	case PHI_ALWAYS:
		return 1;
	case PHI_NEVER:
		return 0;
	case PHI_HISTORY:
	case PHI_WEIGHTED:
		return -expm1(-stat_share(&m->seen, history_weights(o), n));
	case PHI_PAGERANK:
		return (v->pagerank10[page] + 1) / 11.0;
	}
	return 0;
}

static void follow(struct policy *p, const struct view *v, struct plan *plan)
{
	const struct neighbour_opts *o = p->opts;
	struct neighbour_state *s = p->state;
	double phi = download_probability(o, v, policy_page(p, s->sample), s->sample,
	                                  s->sample_hit);
	size_t room = plan_room(plan);
	struct rng r;

	if (rng_unit(rng_draw(v->seed, v->cycle, s->sample, RNG_TRIGGER)) >= phi)
		return;
	neighbourhood_find(&s->near, v, s->sample, (enum near_by)o->by, (int)o->d, o->cousins,
	                   o->by == NEAR_LINK ? room : SIZE_MAX);
	if (s->near.pages.n > room) {
		rng_init(&r, rng_draw(v->seed, v->cycle, s->sample, RNG_ORDER));
		rng_shuffle(&r, s->near.pages.v, s->near.pages.n);
	}
	for (size_t i = 0; i < s->near.pages.n; i++)
		if (!plan_take(plan, s->near.pages.v[i], phi, NAN, REASON_NEIGHBOUR))
			break;
}

static void neighbour_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	struct neighbour_state *s = p->state;
	const struct neighbour_opts *o = p->opts;
	uint32_t page;

	/* features of one copy, as in the paper; the clusters stay from cycle to cycle */
	if (o->by == NEAR_CLUSTER && v->round == 0 && grouping_is_stale(&s->near.groups, v))
		grouping_make(&s->near.groups, v, SET_FIRST_COPY, (uint32_t)o->k);
	if (s->sample != PAGE_NONE)
		follow(p, v, plan);
	s->sample = PAGE_NONE;
	page = plan_room(plan) ? sampler_next(&s->sampler, v) : PAGE_NONE;
	if (page != PAGE_NONE)
		plan_take(plan, page, 0, NAN, REASON_SAMPLE);
}

static void neighbour_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	const struct neighbour_opts *o = p->opts;
	struct neighbour_state *s = p->state;
	struct memory *m = policy_page(p, seen->page);

	if (!seen->known)
		return;
	m->visits++;
	stat_note(&m->seen, history_weights(o), o->count ? m->visits : v->cycle, seen->hit);
	if (seen->reason == REASON_SAMPLE) {
		s->sample = seen->page;
		s->sample_hit = seen->hit;
	}
}

static void neighbour_release(struct policy *p)
{
	struct neighbour_state *s = p->state;

	sampler_release(&s->sampler);
	neighbourhood_release(&s->near);
}

const struct policy_ops policy_neighbour = {
	.name = "neighbour",
	.summary = "sample pages; follow them to neighbours by links, directories or clusters",
	.origin = "LB, DB, CB with HA, WHA, PRA; Tan et al. 2007a",
	.patience = .8,
	.options = neighbour_options,
	.opts_size = sizeof(struct neighbour_opts),
	.state_size = sizeof(struct neighbour_state),
	.page_size = sizeof(struct memory),
	.needs = neighbour_needs,
	.check = neighbour_check,
	.begin = neighbour_begin,
	.ask = neighbour_ask,
	.tell = neighbour_tell,
	.release = neighbour_release,
	/* Page memory is all that is learnt.  Clusters are made when a process first asks. */
	.freeze = policy_freeze_nothing,
};
