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
 *   this cycle  hits and misses in the directory, and in all directories of its
 *               parent: a burst is seen before the hazards, drawn to the past, say it
 *   the page    age of the copy, hits against expected ones, whether it was ever
 *               visited, PageRank and out-links (hubs change more often)
 * The weights start at the prior and are fitted to the latest visits when a cycle
 * ends, so a repository in which directories or names teach nothing loses them.  What
 * only second visits can tell starts in doubt, to be dropped or raised by few of them:
 * where groups teach nothing, going back to a page before all were seen is a loss.
 *
 * Told only what changed in the cycle (`--observe cycle`), a visit to a copy that went
 * stale before is no hit, but still makes it fresh: the score is then a mean of the
 * chance of a hit and, by the hazards, that of a stale copy.
 *
 * Cost.  One table lookup a family and page; powers once a directory and last visit.
 * Blind spot.  Effects add up: no feature changes what another one means.
 */
#include "policy/tide/tide.h"

#include <math.h>

#include "graph/graph.h"

#define LINKS_USUAL 64          /* out-links, for which powers are made but once */
#define USUAL_SIZE 67.f         /* 300 words, as a size_class() */
#define ODDS_MIN 1e-5f
#define ODDS_MAX 1e4f
#define ODDS_HUGE 1e30f
#define EVER_MIN 1e-5f          /* changes in a unit of time: one in 400 years */

/* What the weights are drawn to where visits do not say; the means are the fit
 * on half of the sites of our data. */
const struct logistic_prior tide_prior[TIDE_FEATURES] = {
	[TIDE_TREE] = { 0.9, 10 },
	[TIDE_FAMILY + FAMILY_NAME] = { 1.2, 10 },
	[TIDE_FAMILY + FAMILY_WORD] = { 1.2, 10 },
	[TIDE_FAMILY + FAMILY_LAST] = { 0.5, 10 },
	[TIDE_FAMILY + FAMILY_SHAPE] = { 0.9, 10 },
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

void tide_set_factor(const struct tide_state *s, int f, struct tide_family *g)
{
	g->factor = g->sum == 0 ? 0 : expm1f((float)s->weight[TIDE_FAMILY + f] * effect_of(g));
}

/* Odds of a page that would be unchanged with chance exp(-y). */
static float odds_of(float y)
{
	float odds = y < 0.01f ? y * (1 + y / 2) : expf(y < 30 ? y : 30) - 1;

	return odds < ODDS_MIN ? ODDS_MIN : odds > ODDS_MAX ? ODDS_MAX : odds;
}

/* What a page's own record makes of the changes that its groups make expect: the chance
 * to be unchanged is that of a rate drawn from a gamma distribution of mean
 * (k + hits) / (k + expected), times y. */
static float own_odds(const struct tide_state *s, const struct tide_page *h, float y)
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
static float log_size(const struct view *v, uint32_t page)
{
	return v->size && v->size[page] ? ((float)v->size[page] - USUAL_SIZE) * (float)M_LN2 / 8 :
	       0;
}

static float history(const struct tide_page *h)
{
	return (h->hits + 1) / (h->expected + 1);
}

/* What does not change within a cycle (no page is visited twice in it), and the factors of
 * families, which tell() keeps up from now on. */
void tide_set_fixed(struct policy *p, const struct view *v)
{
	struct tide_state *s = p->state;
	float visited = expf((float)s->weight[TIDE_VISITED]), by_links[LINKS_USUAL];

	for (uint32_t i = 0; i < LINKS_USUAL; i++)
		by_links[i] = powf(1 + (float)i, (float)s->weight[TIDE_OUT]);
	for (int f = 0; f < N_FAMILIES; f++)
		for (uint32_t i = 0; s->family[f] && i < v->n_family[f]; i++)
			tide_set_factor(s, f, &s->family[f][i]);
	for (uint32_t i = 0; i < v->n_pages; i++) {
		struct tide_page *h = policy_page(p, i);
		float links = out_links(v, i);

		h->fixed = links < LINKS_USUAL ? by_links[(int)links] :
		           powf(1 + links, (float)s->weight[TIDE_OUT]);
		h->fixed *= expf(log_size(v, i) * (float)s->weight[TIDE_SIZE]);
		if (v->pagerank)
			h->fixed *= powf((float)(v->pagerank[i] * v->n_settled) + 1e-3f,
			                 (float)s->weight[TIDE_RANK]);
		if (h->expected > 0)
			h->fixed *= powf(history(h), (float)s->weight[TIDE_HISTORY]) * visited;
	}
	s->fixed_ready = true;
}

void tide_features(const struct policy *p, const struct view *v, uint32_t page,
                     float survival, float x[TIDE_FEATURES])
{
	const struct tide_state *s = p->state;
	const struct tide_page *h = policy_page((struct policy *)p, page);
	uint32_t age = view_age(v, page), home = tide_home(v->tree, v->dir[page]);

	x[TIDE_TREE] = logf(own_odds(s, h, -survival));
	for (int f = 0; f < N_FAMILIES; f++)
		x[TIDE_FAMILY + f] = s->family[f] ? effect_of(&s->family[f][v->family[f][page]]) : 0;
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

/* Factor of the odds for a number of visits, mostly 0. */
static float by_count(float n, double weight)
{
	return n > 0 ? powf(1 + n, (float)weight) : 1;
}

static struct tide_future future(const struct tide_state *s, const struct tide_page *h,
                                 float ever)
{
	return (struct tide_future){ s->k_page + h->hits, (s->k_page + h->expected) /
	                             (ever > EVER_MIN ? ever : EVER_MIN) };
}

struct tide_future tide_future_of(const struct tide_state *s, const struct tide_page *h,
                                  int level)
{
	return future(s, h, level < 0 ? (float)s->model.usual : s->model.level[level].ever);
}

/* The future of the page looked at last: most pages of a directory have the same. */
struct foreseen { struct tide_future of; float false_by, part; };

/* Of a page that is worth at most so much, the part of its worth that counts: see
 * tide_state.reserve.  rests: is its host known to rest at times? */
static float part_of(const struct tide_state *s, float most, float rests)
{
	float x = most / s->reserve;

	return most < s->reserve ? rests + (1 - rests) * x * x * x : 1;
}

static float worth_of(const struct tide_state *s, const struct view *v,
                      const struct tide_page *h, float ever, float gap, float rests,
                      struct foreseen *last)
{
	struct tide_future f;

	if (v->goal == GOAL_ALIVE || v->aim == AIM_CHANGES)
		return h->chance;
	f = future(s, h, ever);
	if (v->aim == AIM_AGE)
		return tide_worth_of_age(h->chance, gap, f, s->horizon);
	if (f.shape != last->of.shape || f.time != last->of.time) {
		float at = tide_false_by(f, s->horizon);

		*last = (struct foreseen){ f, at, part_of(s, tide_worth_by(1, f, s->horizon, at),
		                                          rests) };
	}
	return last->part * tide_worth_by(h->chance, f, s->horizon, last->false_by);
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

/* The chance that a visit now would be a hit, for all pages of a directory;
 * most of them share one last visit. */
static void rescore_dir(struct policy *p, const struct view *v, uint32_t dir, int level)
{
	const struct tide_state *s = p->state;
	const struct tree *t = v->tree;
	const double *w = s->weight;
	uint32_t last = PAGE_NONE, home = tide_home(t, dir), near = tide_near(v, home);
	float here = by_count(s->found[home], w[TIDE_FOUND]) *
	             by_count(s->missed[home], w[TIDE_MISSED]) *
	             by_count(s->near_found[near], w[TIDE_NEAR_FOUND]) *
	             by_count(s->near_missed[near], w[TIDE_NEAR_MISSED]) *
	             expf((float)w[TIDE_ONE]);
	float odds, common = 0, stale = 0, expected = 0, unseen = 0;
	static const struct tide_page nothing;
	bool ranked = ((const struct tide_opts *)p->opts)->weight && v->pagerank;
	float ever = level < 0 ? (float)s->model.usual : s->model.level[level].ever, gap = 0;
	float share = s->model.alone ? (float)((const struct tide_opts *)p->opts)->stale : 0;
	float rests = (float)-expm1(-s->model.roots[s->model.root[dir]].calm);
	struct foreseen foreseen = { 0 };

	for (uint32_t i = t->dir_first[dir]; i < t->dir_first[dir + 1]; i++) {
		uint32_t page = t->dir_pages[i];
		struct tide_page *h = policy_page(p, page);

		if (!view_open(v, page))
			continue;
		if (v->last_cycle[page] != last) {
			uint32_t age = view_age(v, page);

			last = v->last_cycle[page];
			gap = (float)(age ? age : 1) * s->age_unit;
			if (share > 0)
				stale = -expm1f(tide_model_survival_of_copy(&s->model, level, last));
			common = here * powf(gap, (float)w[TIDE_AGE]);
			expected = -tide_model_survival(&s->model, level, last);
			unseen = powf(own_odds(s, &nothing, expected), (float)w[TIDE_TREE]);
		}
		odds = common * h->fixed * (h->expected > 0 ?
		       powf(own_odds(s, h, expected), (float)w[TIDE_TREE]) : unseen);
		for (int f = 0; f < N_FAMILIES; f++)
			if (s->family[f])
				odds *= 1 + s->family[f][v->family[f][page]].factor;
		/* weights that ran away must not make inf / inf */
		odds = odds < ODDS_HUGE ? odds : ODDS_HUGE;
		h->chance = (1 - share) * odds / (1 + odds) + share * stale;
		h->worth = worth_of(s, v, h, ever, gap, rests, &foreseen);
		if (v->weight)
			h->worth *= v->weight[page];
		if (ranked)
			h->worth *= (float)(v->pagerank[page] * v->n_settled);
		if (tide_may_win(s, h))
			tide_pool_put(p->state, page);
	}
}

void tide_repool(struct policy *p, const struct view *v, uint32_t dir)
{
	const struct tree *t = v->tree;

	for (uint32_t i = t->dir_first[dir]; i < t->dir_first[dir + 1]; i++) {
		uint32_t page = t->dir_pages[i];

		if (view_open(v, page) && tide_may_win(p->state, policy_page(p, page)))
			tide_pool_put(p->state, page);
	}
	for (uint32_t i = t->child_first[dir]; i < t->child_first[dir + 1]; i++)
		tide_repool(p, v, t->child_dirs[i]);
}

/* Every directory below and including `dir`; level: of the nearest above. */
void tide_rescore(struct policy *p, const struct view *v, uint32_t dir, int level)
{
	struct tide_state *s = p->state;
	const struct tree *t = v->tree;

	if (s->model.node[dir])
		level = tide_level_refresh(&s->model, s->model.node[dir] - 1, level);
	rescore_dir(p, v, dir, level);
	for (uint32_t i = t->child_first[dir]; i < t->child_first[dir + 1]; i++)
		tide_rescore(p, v, t->child_dirs[i], level);
}
