/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide_score.c - the chance that a visit to a page would be a hit.
 *
 * A logistic regression on the log-odds that the tree gives (tide_model.h).  What it
 * adds:
 *   families    pages of one site with the same file name, leading word, last
 *               directory or directory shape: a random effect each, hits less
 *               expected ones, because index pages or release notes change together
 *               across directories
 *   cohorts     pages of one host that were last visited at the same time: the same, for the
 *               cycle (tide_cohort.c)
 *   this cycle  hits and misses in the directory, and in all directories of its
 *               parent: a burst is seen before the hazards, drawn to the past, say it
 *   the page    age of the copy, hits against expected ones, whether it was ever
 *               visited, PageRank and out-links (hubs change more often)
 * The weights start at the prior and are fitted to the latest visits when a cycle
 * ends, so a repository in which directories or names teach nothing loses them.  What
 * only second visits can tell starts in doubt, to be dropped or raised by few of them:
 * where groups teach nothing, going back to a page before all were seen is a loss.
 *
 * tide_rescore.c makes the product for all pages of a host.
 *
 * Cost.  O(pages) once a cycle, for what stays the same in it.
 * Blind spot.  Effects add up: no feature changes what another one means.
 */
#include "policy/tide/tide.h"

#include <math.h>

#include "graph/graph.h"
#include "policy/sweep.h"

#define LINKS_USUAL 64          /* out-links, for which powers are made but once */
#define USUAL_SIZE 67.f         /* 300 words, as a size_class() */
#define ODDS_MIN 1e-5f
#define ODDS_MAX 1e4f
#define RATE_MIN 1e-5f          /* changes in a unit of time: one in 400 years */

/* What the weights are drawn to where visits do not say; the means are the fit
 * on half of the sites of our data. */
const struct logistic_prior tide_prior[TIDE_FEATURES] = {
	[TIDE_TREE] = { 0.9, 10 },
	[TIDE_FAMILY + FAMILY_NAME] = { 1.2, 10 },
	[TIDE_FAMILY + FAMILY_WORD] = { 1.2, 10 },
	[TIDE_FAMILY + FAMILY_LAST] = { 0.5, 10 },
	[TIDE_FAMILY + FAMILY_SHAPE] = { 0.9, 10 },
	[TIDE_COHORT] = { 1.0, 10 },
	[TIDE_AGE] = { -0.1, 10 },
	[TIDE_FOUND] = { 0.1, 10 },
	[TIDE_MISSED] = { 0.3, 10 },
	[TIDE_NEAR_FOUND] = { 0.4, 10 },
	[TIDE_NEAR_MISSED] = { -0.6, 10 },
	[TIDE_OUT] = { 0.2, 10 },
	[TIDE_SIZE] = { 0.3, 10 },
	[TIDE_HISTORY] = { 0.0, 1 },
	[TIDE_VISITED] = { -0.5, 1 },
	[TIDE_RANK] = { 0.1, 10 },
	[TIDE_ONE] = { -1.7, 10 },
};

static float effect_of(const struct tide_family *g)
{
	return g->sum / (1 + g->var);
}

float tide_factor(const struct tide_state *s, int feature, const struct tide_family *g)
{
	return 1 + (g->sum == 0 ? 0 : expm1f((float)s->weight[feature] * effect_of(g)));
}

/* Odds of a page that would be unchanged with chance exp(-y). */
static float odds_of(float y)
{
	float odds = y < 0.01f ? y * (1 + y / 2) : expf(y < 30 ? y : 30) - 1;

	return odds < ODDS_MIN ? ODDS_MIN : odds > ODDS_MAX ? ODDS_MAX : odds;
}

float tide_own_odds(const struct tide_state *s, const struct tide_page *h, float y)
{
	return odds_of((s->k_page + h->hits) * log1pf(y / (s->k_page + h->expected)));
}

/* The parent, which stands for all its directories; a root for itself. */
uint32_t tide_near(const struct view *v, uint32_t dir)
{
	uint32_t up = v->tree->dir_parent[dir];

	return up == DIR_NONE ? dir : up;
}

static float out_links(const struct view *v, uint32_t page)
{
	uint64_t n;

	if (!v->links || !v->links->n_links)
		return 0;
	graph_links(v->links, page, &n);
	return (float)n;
}

/* Long pages are edited more often than short ones. */
static float log_of_class(unsigned size)
{
	return size ? ((float)size - USUAL_SIZE) * (float)M_LN2 / 8 : 0;
}

static float log_size(const struct view *v, uint32_t page)
{
	return v->size ? log_of_class(v->size[page]) : 0;
}

static float history(const struct tide_page *h)
{
	return (h->hits + 1) / (h->expected + 1);
}

/* Powers that many pages share. */
struct powers {
	struct tide_state *s;
	const struct view *v;
	struct tide_page *pages;
	float links[LINKS_USUAL], size[UINT8_MAX + 1], visited;
	int family;
};

static void set_factors(void *arg, unsigned block, size_t from, size_t to)
{
	const struct powers *k = arg;
	int f = k->family;

	(void)block;
	for (size_t i = from; i < to; i++)
		k->s->factor[f][i] = tide_factor(k->s, TIDE_FAMILY + f, &k->s->family[f][i]);
}

static void fix_pages(void *arg, unsigned block, size_t from, size_t to)
{
	const struct powers *k = arg;
	const struct view *v = k->v;
	const double *w = k->s->weight;

	(void)block;
	for (size_t i = from; i < to; i++) {
		struct tide_page *h = &k->pages[i];
		float links = out_links(v, (uint32_t)i);

		h->fixed = links < LINKS_USUAL ? k->links[(int)links] :
		           powf(1 + links, (float)w[TIDE_OUT]);
		if (v->size)
			h->fixed *= k->size[v->size[i]];
		if (v->pagerank)
			h->fixed *= powf((float)(v->pagerank[i] * v->n_settled) + 1e-3f,
			                 (float)w[TIDE_RANK]);
		if (h->expected > 0)
			h->fixed *= powf(history(h), (float)w[TIDE_HISTORY]) * k->visited;
	}
}

/* What does not change within a cycle (no page is visited twice in it), and the factors of
 * families, which tell() keeps up from now on. */
void tide_set_fixed(struct policy *p, const struct view *v)
{
	struct tide_state *s = p->state;
	const double *w = s->weight;
	struct powers k = { .s = s, .v = v, .pages = p->page_mem,
	                    .visited = expf((float)w[TIDE_VISITED]) };

	for (uint32_t i = 0; i < LINKS_USUAL; i++)
		k.links[i] = powf(1 + (float)i, (float)w[TIDE_OUT]);
	for (unsigned i = 0; i <= UINT8_MAX; i++)
		k.size[i] = expf(log_of_class(i) * (float)w[TIDE_SIZE]);
	for (uint32_t i = 0; i < TIDE_AGES; i++)
		s->by_age[i] = powf((float)(i ? i : 1) * s->age_unit, (float)w[TIDE_AGE]);
	s->by_one = expf((float)w[TIDE_ONE]);
	for (k.family = 0; k.family < N_FAMILIES; k.family++)
		if (s->family[k.family])
			sweep(v, v->n_family[k.family], sweep_blocks(v->n_family[k.family]),
			      set_factors, &k);
	sweep(v, v->n_pages, sweep_blocks(v->n_pages), fix_pages, &k);
	s->fixed_ready = true;
}

void tide_features(const struct policy *p, const struct view *v, uint32_t page,
                     float survival, float x[TIDE_FEATURES])
{
	const struct tide_state *s = p->state;
	const struct tide_page *h = policy_page((struct policy *)p, page);
	uint32_t age = view_age(v, page), home = tide_home(v->tree, v->dir[page]);
	struct tide_family cohort = tide_cohort(s, s->model.root[home], v->last_cycle[page]);

	x[TIDE_TREE] = logf(tide_own_odds(s, h, -survival));
	for (int f = 0; f < N_FAMILIES; f++)
		x[TIDE_FAMILY + f] = s->family[f] ? effect_of(&s->family[f][v->family[f][page]]) : 0;
	x[TIDE_COHORT] = effect_of(&cohort);
	x[TIDE_AGE] = logf((float)(age ? age : 1) * s->age_unit);
	x[TIDE_FOUND] = log1pf(s->found[home]);
	x[TIDE_MISSED] = log1pf(s->missed[home]);
	x[TIDE_NEAR_FOUND] = log1pf(s->near_found[tide_near(v, home)]);
	x[TIDE_NEAR_MISSED] = log1pf(s->near_missed[tide_near(v, home)]);
	x[TIDE_OUT] = log1pf(out_links(v, page));
	x[TIDE_SIZE] = log_size(v, page);
	x[TIDE_HISTORY] = logf(history(h));
	x[TIDE_VISITED] = h->expected > 0;
	x[TIDE_RANK] = v->pagerank ? logf((float)(v->pagerank[page] * v->n_settled) + 1e-3f) : 0;
	x[TIDE_ONE] = 1;
}

struct tide_future tide_future_at(const struct tide_state *s, const struct tide_page *h,
                                  float rate)
{
	return (struct tide_future){ s->k_page + h->hits, (s->k_page + h->expected) /
	                             (rate > RATE_MIN ? rate : RATE_MIN) };
}

struct tide_future tide_future_of(const struct tide_state *s, const struct tide_page *h,
                                  uint32_t dir, int level)
{
	return tide_future_at(s, h, tide_model_rate(&s->model, dir, level));
}

/* Pages change r times as often as their groups make expect, r being drawn from a gamma
 * distribution of mean 1 and variance 1/k.  Each k of a grid foretells every visit; the
 * mean of their logarithms, by how well they did, is ours. */
static const float k_grid[TIDE_K_GRID] = { 0.15f, 0.3f, 0.6f, 1.2f, 2.5f, 5, 10, 20 };

void tide_learn_k(struct tide_state *s, const struct tide_page *h, float y, bool hit)
{
	for (int i = 0; i < TIDE_K_GRID; i++) {
		float k = k_grid[i];
		float z = (k + h->hits) * log1pf(y / (k + h->expected));

		s->k_fit[i] += hit ? logf(fmaxf(-expm1f(-z), 1e-6f)) : -z;
	}
}

float tide_estimate_k(const double fit[TIDE_K_GRID])
{
	double best = fit[0], sum = 0, logs = 0;

	for (int i = 1; i < TIDE_K_GRID; i++)
		best = fmax(best, fit[i]);
	for (int i = 0; i < TIDE_K_GRID; i++) {
		double w = exp(fit[i] - best);

		sum += w;
		logs += w * log((double)k_grid[i]);
	}
	return (float)exp(logs / sum);
}
