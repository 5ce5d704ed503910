/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.c - sample every site, then download sites in order of what the samples
 * found (Cho & Ntoulas 2002; GSB, greedy site-based, in paper 1, SLS, site-level sampling,
 * in paper 2).
 *
 * Sample size.  k = max(1, round(sqrt(N_mean * r))), N_mean the mean site size
 * and r = R/N, or a number.  If k samples of every site pass the budget, a
 * random subset of the sites is sampled.
 *
 * Variants, after the samples:
 *   greedy        whole sites in descending ratio of changed samples (optimal
 *                 given only the samples), ties by chance; the last site partly
 *   proportional  the rest of the budget split in proportion to the changed samples
 *   adaptive      a site's sample grows by k while the 95 % interval of its ratio
 *                 still holds the ratio at which the budget would run out
 * The ratio, not the count, decides: small sites have fewer samples.
 *
 * Cost.  O(pages + sites log sites) a cycle; 32 bytes a site, 4 a page.
 */
#include <math.h>

#include "base/math/rng.h"
#include "base/math/stat.h"
#include "policy/plan.h"

#define SAMPLE_MAX 1000000000

enum variant { GREEDY, PROPORTIONAL, ADAPTIVE };

struct site_opts { const char *sample; int variant; };

struct site_sample {
	uint32_t drawn;         /* pages of its shuffled list that were passed */
	uint32_t told, hits;    /* samples: visited, changed */
	uint32_t open;          /* pages left to take */
};

struct site_state {
	struct site_sample *sites;
	struct offer *order;            /* page: the site, score: its ratio */
	uint32_t *shuffled;             /* pages of each site in random order */
	uint32_t n_sites, n_open;       /* all; those with a page to take */
	uint32_t k;
	bool sampling;
};

static const struct option_spec site_options[] = {
	OPT_TEXT(site_opts, sample, "sqrt", "sqrt|N", "samples of each site"),
	OPT_CHOICE(site_opts, variant, "greedy|proportional|adaptive", "greedy",
	           "what follows the samples"),
	OPT_END
};

static int site_check(const void *opts, struct err *err)
{
	const struct site_opts *o = opts;
	char *end;
	long k = strtol(o->sample, &end, 10);

	if (strcmp(o->sample, "sqrt") && (end == o->sample || *end || k < 1 || k > SAMPLE_MAX))
		return err_set(err, E_USAGE, "sample: '%s' is neither sqrt nor a number 1..%d",
		               o->sample, SAMPLE_MAX);
	return 0;
}

/* sqrt(N_mean * R/N) = sqrt(R / sites); sites without an open page do not count. */
static uint32_t sample_size(const struct site_opts *o, const struct view *v, uint32_t n_sites)
{
	double k = strtod(o->sample, NULL);

	if (!strcmp(o->sample, "sqrt") && n_sites)
		k = round(sqrt((double)v->budget / n_sites));
	return k < 1 ? 1 : (uint32_t)k;
}

static void site_begin(struct policy *p, const struct view *v)
{
	struct site_state *s = p->state;
	const struct tree *t = v->tree;

	if (s->n_sites != t->n_sites || !s->sites) {
		free(s->sites);
		free(s->order);
		free(s->shuffled);
		s->n_sites = t->n_sites;
		s->sites = mem_array(s->n_sites, sizeof *s->sites);
		s->order = mem_array(s->n_sites, sizeof *s->order);
		s->shuffled = mem_array(v->n_pages, sizeof *s->shuffled);
	}
	memset(s->sites, 0, s->n_sites * sizeof *s->sites);
	memcpy(s->shuffled, t->site_pages, v->n_pages * sizeof *s->shuffled);
	for (uint32_t i = 0; i < s->n_sites; i++) {
		struct rng r;

		rng_init(&r, rng_draw(v->seed, v->cycle, i, RNG_SAMPLE));
		rng_shuffle(&r, s->shuffled + t->site_first[i],
		            t->site_first[i + 1] - t->site_first[i]);
	}
	for (uint32_t i = 0; i < v->n_pages; i++)
		s->sites[v->site[i]].open += view_open(v, i);
	s->n_open = 0;
	for (uint32_t i = 0; i < s->n_sites; i++)
		s->n_open += s->sites[i].open > 0;
	s->k = sample_size(p->opts, v, s->n_open);
	s->sampling = true;
}

/* A first sample is k of the site's open pages.  The chance has no simple formula when
 * not all sites can be sampled, nor for later pages. */
static double sample_chance(const struct site_state *s, const struct view *v, uint32_t site)
{
	if (v->round || (uint64_t)s->k * s->n_open > v->room)
		return NAN;
	return fmin(1, (double)s->k / s->sites[site].open);
}

/* Take up to n more pages of a site in its random order. */
static uint32_t take(struct site_state *s, const struct view *v, struct plan *plan,
                     uint32_t site, uint32_t n, double score, enum reason reason)
{
	const struct tree *t = v->tree;
	uint32_t size = t->site_first[site + 1] - t->site_first[site], taken = 0;
	double chance = reason == REASON_SAMPLE ? sample_chance(s, v, site) : NAN;

	while (taken < n && s->sites[site].drawn < size && plan_room(plan)) {
		uint32_t page = s->shuffled[t->site_first[site] + s->sites[site].drawn++];

		if (!view_open(v, page))
			continue;
		plan_take(plan, page, score, chance, reason);
		s->sites[site].open--;
		taken++;
	}
	return taken;
}

static double ratio(const struct site_sample *s)
{
	return s->told ? (double)s->hits / s->told : 0;
}

static void rank_sites(struct site_state *s, const struct view *v)
{
	for (uint32_t i = 0; i < s->n_sites; i++)
		s->order[i] = (struct offer){ .page = i, .score = (float)ratio(&s->sites[i]) };
	offers_select(s->order, s->n_sites, s->n_sites, v->seed ^ 1, v->cycle);
}

/* The ratio of the site in which the budget would run out. */
static double threshold(const struct site_state *s, const struct view *v)
{
	uint64_t room = v->room;

	for (uint32_t i = 0; i < s->n_sites; i++) {
		uint32_t left = s->sites[s->order[i].page].open;

		if (left >= room)
			return s->order[i].score;
		room -= left;
	}
	return 0;
}

/* Is the threshold inside the 95 % Wilson interval of the site's ratio? */
static bool undecided(const struct site_sample *s, double at)
{
	double middle, half;

	if (!s->told)
		return false;
	stat_wilson(ratio(s), s->told, STAT_Z95, &middle, &half);
	return fabs(at - middle) <= half;
}

static bool extend_samples(struct site_state *s, const struct view *v, struct plan *plan)
{
	double at = threshold(s, v);
	bool any = false;

	for (uint32_t i = 0; i < s->n_sites; i++)
		if (undecided(&s->sites[i], at))
			any |= take(s, v, plan, i, s->k, 0, REASON_SAMPLE) > 0;
	return any;
}

static void take_proportional(struct site_state *s, const struct view *v, struct plan *plan)
{
	double hits = 0, room = plan_room(plan);

	for (uint32_t i = 0; i < s->n_sites; i++)
		hits += s->sites[i].hits;
	for (uint32_t i = 0; i < s->n_sites && hits > 0; i++) {
		uint32_t site = s->order[i].page;
		double share = room * s->sites[site].hits / hits;

		take(s, v, plan, site, (uint32_t)(share + 0.5), s->order[i].score, REASON_GROUP);
	}
}

static void site_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	const struct site_opts *o = p->opts;
	struct site_state *s = p->state;

	if (v->round == 0) {
		struct rng r;
		uint32_t *sites = mem_array(s->n_sites, sizeof *sites);

		for (uint32_t i = 0; i < s->n_sites; i++)
			sites[i] = i;
		rng_init(&r, rng_draw(v->seed, v->cycle, 0, RNG_ORDER));
		rng_shuffle(&r, sites, s->n_sites);
		for (uint32_t i = 0; i < s->n_sites && plan_room(plan); i++)
			take(s, v, plan, sites[i], s->k, 0, REASON_SAMPLE);
		free(sites);
		return;
	}
	rank_sites(s, v);
	if (s->sampling && o->variant == ADAPTIVE && extend_samples(s, v, plan))
		return;
	s->sampling = false;
	if (o->variant == PROPORTIONAL && v->round == 1)
		take_proportional(s, v, plan);
	for (uint32_t i = 0; i < s->n_sites && plan_room(plan); i++)
		take(s, v, plan, s->order[i].page, UINT32_MAX, s->order[i].score, REASON_GROUP);
}

static void site_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	struct site_state *s = p->state;
	struct site_sample *site = &s->sites[v->site[seen->page]];

	if (seen->reason != REASON_SAMPLE || !seen->known)
		return;
	site->told++;
	site->hits += seen->hit;
}

static void site_release(struct policy *p)
{
	struct site_state *s = p->state;

	free(s->sites);
	free(s->order);
	free(s->shuffled);
}

const struct policy_ops policy_site = {
	.name = "site",
	.summary = "sample each site, then sites in order of changed samples",
	.origin = "GSB, SLS; Cho & Ntoulas 2002",
	.patience = .9,
	.options = site_options,
	.opts_size = sizeof(struct site_opts),
	.state_size = sizeof(struct site_state),
	.check = site_check,
	.begin = site_begin,
	.ask = site_ask,
	.tell = site_tell,
	.release = site_release,
	/* Samples are told of in their cycle: nothing is remembered beyond it. */
	.freeze = policy_freeze_nothing,
};
