/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.c - CLS: sample clusters of pages that look alike, then download
 * clusters in order of what the samples say (Tan, Zhuang, Mitra & Giles 2007,
 * "A clustering-based sampling approach for refreshing search engine's database").
 *
 * Groups.  Repeated bisection into k clusters by one of six feature sets.  Where
 * the set has features that only a second copy shows (dynamic, combined), pages
 * are clustered anew in cycle 3 and then every `recluster` cycles.
 *
 * Samples.  Pages nearest to the centroid (the same every cycle, so their
 * histories are long) or random ones.  At least 5 of a cluster, then one more at a
 * time until their mean change frequency is known to +-delta at the confidence
 * asked (t-test); at most cap * R / k.  The cap wins over the 5.  If it would be below 5,
 * fewer clusters are made: those higher up in the bisection tree, as if bisection had
 * stopped earlier.
 *
 * Score.  The mean over the samples of 1 - exp(-lambda), lambda the weighted share
 * of cycles in which the page was seen changed, weights non, short, arith or geo
 * (nad, sad, aad, gad).  Cycles without a visit count as no change, or not at all
 * (count=visits).
 *
 * Download.  All pages of the clusters in descending score, ties by chance, the
 * last cluster partly and at random.  With cap=1 clusters that stay uncertain
 * take all of R for samples, as in the paper; cap=0.5 keeps half for use.
 *
 * Cost.  A clustering now and then, O(pages) a cycle, 12 bytes a page.
 * Blind spot.  Clusters with low scores starve, as the authors say.
 */
#include <math.h>

#include "base/math/rng.h"
#include "base/math/stat.h"
#include "policy/model/grouping.h"
#include "policy/plan.h"

#define LEAST 5                 /* samples before the t-test is asked */
#define FIRST_RECLUSTER 3       /* cycle */

enum { SAMPLES_CENTROID, SAMPLES_RANDOM };

struct cluster_opts {
	int64_t k;
	int features, weights, samples, count;
	double confidence, delta, cap;
	int64_t recluster;
};

struct memory {                 /* of one page */
	struct stat_history seen;
	uint32_t visits;
};

struct group {                  /* in this cycle */
	struct stat_mean frequency, chance;
	uint32_t taken, next;   /* samples planned; next index in the list */
	bool enough;
};

struct cluster_state {
	struct grouping grouping;
	struct group *groups;
	uint32_t *pages;        /* of each group, in random order */
	struct offer *order;    /* page: the group, score: its score */
	uint32_t cycle;         /* for which groups[] is; 0: none */
	uint32_t k, cap;
	bool sampling;
};

static const struct option_spec cluster_options[] = {
	OPT_INT(cluster_opts, k, 100, 1, 100000, "clusters"),
	OPT_CHOICE(cluster_opts, features, SET_CHOICES, "combined", "what pages are clustered by"),
	OPT_CHOICE(cluster_opts, weights, "non|short|arith|geo", "non",
	           "weights of the cycles in a sample's history"),
	OPT_DOUBLE(cluster_opts, confidence, 0.8, 0.01, 0.9999, "of the t-test that ends sampling"),
	OPT_DOUBLE(cluster_opts, delta, 0.1, 0.0001, 1,
	           "how well a cluster's mean change frequency must be known"),
	OPT_DOUBLE(cluster_opts, cap, 1, 0.001, 1, "share of the budget that samples may take"),
	OPT_CHOICE(cluster_opts, samples, "centroid|random", "centroid",
	           "samples nearest to the centroid, or drawn at random"),
	OPT_CHOICE(cluster_opts, count, "cycles|visits", "cycles",
	           "what histories count: every cycle, or visits only"),
	OPT_INT(cluster_opts, recluster, 4, 0, 1000000,
	        "cycles between clusterings by what changed; 0: never anew"),
	OPT_END
};

static unsigned cluster_needs(const void *opts)
{
	const struct cluster_opts *o = opts;
	bool words = o->features != SET_URL && o->features != SET_STATIC;

	return NEED_CLUSTERS | (words ? NEED_WORDS : 0u);
}

static enum stat_weights weights_of(const struct cluster_opts *o)
{
	return (enum stat_weights)o->weights;
}

static void cluster_begin(struct policy *p, const struct view *v)
{
	struct cluster_state *s = p->state;

	(void)v;
	s->cycle = 0;
}

/* As many clusters, up to k, as can have LEAST samples each. */
static void size_up(struct cluster_state *s, const struct cluster_opts *o, uint32_t budget)
{
	double most = o->cap * budget;

	s->k = most / LEAST < (double)o->k ? (uint32_t)(most / LEAST) : (uint32_t)o->k;
	s->k = s->k ? s->k : 1;
	s->cap = (uint32_t)(most / s->k);
	s->cap = s->cap ? s->cap : 1;
}

static bool is_due(const struct cluster_state *s, const struct cluster_opts *o,
                   const struct view *v, uint32_t k_before)
{
	bool dynamic = o->features == SET_DYNAMIC || o->features == SET_COMBINED;

	if (k_before != s->k || grouping_is_stale(&s->grouping, v))
		return true;
	return dynamic && o->recluster && v->cycle >= FIRST_RECLUSTER &&
	       s->grouping.cycle != v->cycle &&
	       (v->cycle - FIRST_RECLUSTER) % (uint64_t)o->recluster == 0;
}

/* Start a cycle.  Called by ask(), not begin(): cycles that are only recalled need no
 * clusters. */
static void prepare_cycle(struct policy *p, const struct view *v)
{
	struct cluster_state *s = p->state;
	const struct cluster_opts *o = p->opts;
	struct grouping *g = &s->grouping;
	uint32_t k_before = s->k;

	size_up(s, o, v->budget);
	if (is_due(s, o, v, k_before)) {
		grouping_make(g, v, (enum feature_set)o->features, s->k);
		free(s->groups);
		free(s->pages);
		free(s->order);
		s->groups = mem_array(g->n_groups, sizeof *s->groups);
		s->pages = mem_array(g->first[g->n_groups], sizeof *s->pages);
		s->order = mem_array(g->n_groups, sizeof *s->order);
	}
	memset(s->groups, 0, g->n_groups * sizeof *s->groups);
	memcpy(s->pages, g->pages, g->first[g->n_groups] * sizeof *s->pages);
	for (uint32_t i = 0; i < g->n_groups; i++) {
		struct rng r;

		rng_init(&r, rng_draw(v->seed, v->cycle, i, RNG_ORDER));
		rng_shuffle(&r, s->pages + g->first[i], g->first[i + 1] - g->first[i]);
	}
	s->sampling = true;
	s->cycle = v->cycle;
}

/* The next samples of a group: LEAST at first, then one by one. */
static void sample_group(const struct cluster_opts *o, struct cluster_state *s, uint32_t i,
                         const struct view *v, struct plan *plan)
{
	const struct grouping *g = &s->grouping;
	const uint32_t *list = o->samples == SAMPLES_RANDOM ? s->pages : g->pages;
	struct group *group = &s->groups[i];
	uint32_t n = g->first[i + 1] - g->first[i];
	uint32_t upto = group->taken < LEAST ? LEAST : group->taken + 1;

	if (group->enough || stat_enough(&group->frequency, o->confidence, o->delta, LEAST)) {
		group->enough = true;
		return;
	}
	upto = upto < s->cap ? upto : s->cap;
	while (group->taken < upto && group->next < n && plan_room(plan)) {
		uint32_t page = list[g->first[i] + group->next++];

		if (!view_open(v, page))
			continue;
		plan_take(plan, page, 0, NAN, REASON_SAMPLE);
		group->taken++;
	}
}

static void download_groups(struct cluster_state *s, const struct view *v, struct plan *plan)
{
	const struct grouping *g = &s->grouping;

	for (uint32_t i = 0; i < g->n_groups; i++)
		s->order[i] = (struct offer){ .page = i,
		                              .score = (float)s->groups[i].chance.mean };
	offers_select(s->order, g->n_groups, g->n_groups, v->seed, v->cycle);
	for (uint32_t i = 0; i < g->n_groups; i++) {
		uint32_t group = s->order[i].page;

		for (uint32_t j = g->first[group]; j < g->first[group + 1]; j++)
			if (!plan_take(plan, s->pages[j], (double)s->order[i].score, NAN, REASON_GROUP))
				return;
	}
}

static void cluster_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	struct cluster_state *s = p->state;

	if (s->cycle != v->cycle)
		prepare_cycle(p, v);
	for (uint32_t i = 0; s->sampling && i < s->grouping.n_groups; i++)
		sample_group(p->opts, s, i, v, plan);
	if (s->sampling && plan->n_taken)
		return;
	s->sampling = false;
	download_groups(s, v, plan);
}

static void cluster_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	struct cluster_state *s = p->state;
	const struct cluster_opts *o = p->opts;
	struct memory *m = policy_page(p, seen->page);
	double lambda;

	if (!seen->known)
		return;
	m->visits++;
	stat_note(&m->seen, weights_of(o), o->count ? m->visits : v->cycle, seen->hit);
	if (seen->reason != REASON_SAMPLE || s->cycle != v->cycle)
		return;
	lambda = stat_share(&m->seen, weights_of(o), o->count ? m->visits : v->cycle);
	stat_add(&s->groups[s->grouping.of[seen->page]].frequency, lambda);
	stat_add(&s->groups[s->grouping.of[seen->page]].chance, -expm1(-lambda));
}

static void cluster_release(struct policy *p)
{
	struct cluster_state *s = p->state;

	grouping_release(&s->grouping);
	free(s->groups);
	free(s->pages);
	free(s->order);
}

const struct policy_ops policy_cluster = {
	.name = "cluster",
	.summary = "sample clusters of pages that look alike, download clusters in order",
	.origin = "CLS; Tan et al. 2007b",
	.patience = .9,
	.options = cluster_options,
	.opts_size = sizeof(struct cluster_opts),
	.state_size = sizeof(struct cluster_state),
	.page_size = sizeof(struct memory),
	.needs = cluster_needs,
	.begin = cluster_begin,
	.ask = cluster_ask,
	.tell = cluster_tell,
	.release = cluster_release,
	/* Page memory is all that is learnt.  Clusters are made when a process first asks. */
	.freeze = policy_freeze_nothing,
};
