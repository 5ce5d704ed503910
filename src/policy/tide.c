/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide.c - our policy for goal `changed`: follow the activity of directories.
 *
 * Model.  tide_model.h gives each page the chance that its copy is stale.  Two
 * corrections: a multiplier of the page's own (hits against expected hits), and
 * on the log-odds a random effect for each of its four name families (same file
 * name, same leading word, same last directory, same directory shape in the
 * site), because index pages or release notes change together across directories.
 *
 * A cycle is spent in batches of 5 % of the budget.  Each is scored anew with
 * what the batches before found, so that the first downloads reveal a burst and
 * the rest follow it.  Noise on the scores, largest where a chance is near one
 * half, spreads a batch over groups we are unsure of; no directory gets more than
 * one page plus what it already yielded; 3 % of all downloads explore, and more
 * where exploring yields as much as choosing does.
 *
 * Cost.  O(pages) a batch for noise and selection, a table lookup each; chances
 * only for the hosts that were visited since.  12 bytes a page.
 * Blind spot.  A page alone in its directory and families learns only from itself
 * and its host.
 */
#include "policy/tide.h"

#include <math.h>


#define MULTIPLIER_MAX 20.f
#define EXPLORE_FEW 4.0         /* pages a cycle, if that is not more than ... */
#define EXPLORE_SMALL 0.15      /* of the budget */
#define YIELD_KEEP 0.9f         /* of the yields, a cycle */
#define ODDS_MIN 1e-5f
#define ODDS_MAX 1e4f

static const struct option_spec tide_options[] = {
	OPT_DOUBLE(tide_opts, batch, 0.05, 0.001, 1, "share of the budget asked for at once"),
	OPT_DOUBLE(tide_opts, explore, 0.03, 0, 1, "share of downloads drawn at random"),
	OPT_DOUBLE(tide_opts, noise, 0.3, 0, 10, "noise on the scores of a batch"),
	OPT_DOUBLE(tide_opts, family, 0.5, 0, 10, "weight of name families"),
	OPT_DOUBLE(tide_opts, memory, 0.7, 0, 1, "what families keep from cycle to cycle"),
	OPT_DOUBLE(tide_opts, voice, 3, 0.01, 1e9,
	           "visits for which a directory speaks in its parent, a cycle"),
	OPT_DOUBLE(tide_opts, voice_base, 12, 0.01, 1e9, "the same for the long-run rate"),
	OPT_DOUBLE(tide_opts, discount, 0.9, 0.01, 1, "of the long-run rate, a cycle"),
	OPT_DOUBLE(tide_opts, k_base, 15, 0.01, 1e6, "prior strength of the long-run rate"),
	OPT_DOUBLE(tide_opts, k_site, 8, 0.01, 1e6, "prior strength of a site's cycle"),
	OPT_DOUBLE(tide_opts, k_dir, 2, 0.01, 1e6, "prior strength of a directory's cycle"),
	OPT_DOUBLE(tide_opts, k_page, 1, 0.01, 1e6, "prior strength of a page's multiplier"),
	OPT_FLAG(tide_opts, nofit, "keep the prior weights of the logistic correction"),
	OPT_FLAG(tide_opts, nocap, "no limit of pages from one directory in a batch"),
	OPT_CHOICE(tide_opts, weight, "none|pagerank", "none",
	           "importance that scores are multiplied by"),
	OPT_END
};

/* What the weights are drawn to where visits do not say; the means are the fit
 * on half of the sites of our data. */
static const struct logistic_prior prior[TIDE_FEATURES] = {
	[TIDE_TREE] = { 1, 10 },
	[TIDE_FAMILY + FAMILY_NAME] = { 0.6, 10 },
	[TIDE_FAMILY + FAMILY_WORD] = { 0.6, 10 },
	[TIDE_FAMILY + FAMILY_LAST] = { 0.3, 10 },
	[TIDE_FAMILY + FAMILY_SHAPE] = { 0.6, 10 },
	[TIDE_AGE] = { 0.15, 10 },
	[TIDE_FOUND] = { 0.2, 10 },
	[TIDE_SURPRISE] = { -0.8, 10 },
	[TIDE_VISITED] = { 0.1, 10 },
	[TIDE_RANK] = { 0.2, 10 },
	[TIDE_ONE] = { -0.8, 10 },
};

static unsigned tide_needs(const void *opts)
{
	const struct tide_opts *o = opts;

	return (o->family > 0 ? NEED_FAMILIES : 0u) | NEED_PAGERANK;
}

static void make_ready(struct tide_state *s, const struct tide_opts *o, const struct view *v)
{
	struct tide_params par = {
		.voice = o->voice, .voice_base = o->voice_base, .discount = o->discount,
		.k_base = o->k_base, .k_site = o->k_site, .k_dir = o->k_dir, .k_page = o->k_page,
	};
	uint32_t n = v->tree->n_dirs;

	for (int i = 0; i < TIDE_FEATURES; i++)
		s->weight[i] = prior[i].mean;
	s->rows = mem_array((size_t)TIDE_ROWS * TIDE_FEATURES, sizeof *s->rows);
	s->row_hit = mem_zalloc(TIDE_ROWS, 1);
	tide_model_init(&s->model, v->tree, &par);
	for (int f = 0; f < N_FAMILIES; f++)
		if (v->family[f])
			s->family[f] = mem_zalloc(v->n_family[f], sizeof *s->family[f]);
	s->dirty = mem_zalloc(n, sizeof *s->dirty);
	s->dirty_roots = mem_array(n, sizeof *s->dirty_roots);
	s->found = mem_zalloc(n, sizeof *s->found);
	tide_batch_init(s, n, v->seed);
	s->ready = true;
}

static float effect_of(const struct tide_family *g)
{
	return g->sum / (1 + g->var);
}

static void set_factor(const struct tide_state *s, int f, struct tide_family *g)
{
	g->factor = expm1f((float)s->weight[TIDE_FAMILY + f] * effect_of(g));
}

/* Odds of a page that would be unchanged with chance exp(-y). */
static float odds_of(float y)
{
	float odds = y < 0.01f ? y * (1 + y / 2) : expf(y < 30 ? y : 30) - 1;

	return odds < ODDS_MIN ? ODDS_MIN : odds > ODDS_MAX ? ODDS_MAX : odds;
}

static float multiplier(const struct tide_page *h, const struct tide_opts *o)
{
	float k = (float)o->k_page, m = (h->hits + k) / (h->expected + k);

	return m < MULTIPLIER_MAX ? m : MULTIPLIER_MAX;
}

static float surprise(const struct tide_page *h)
{
	return (h->hits - h->expected) / (1 + h->expected);
}

static void features(const struct policy *p, const struct view *v, uint32_t page,
                     float survival, float x[TIDE_FEATURES])
{
	const struct tide_state *s = p->state;
	const struct tide_page *h = policy_page((struct policy *)p, page);
	uint32_t age = view_age(v, page);

	x[TIDE_TREE] = logf(odds_of(-survival * multiplier(h, p->opts)));
	for (int f = 0; f < N_FAMILIES; f++)
		x[TIDE_FAMILY + f] = s->family[f] ? effect_of(&s->family[f][v->family[f][page]]) : 0;
	x[TIDE_AGE] = logf((float)(age ? age : 1));
	x[TIDE_FOUND] = log1pf((float)s->found[v->dir[page]]);
	x[TIDE_SURPRISE] = surprise(h);
	x[TIDE_VISITED] = h->expected > 0;
	x[TIDE_RANK] = v->pagerank ? logf((float)(v->pagerank[page] * v->n_pages) + 1e-3f) : 0;
	x[TIDE_ONE] = 1;
}

/* The chance that a visit now would be a hit, for all pages of a directory;
 * most of them share one last visit. */
static void rescore_dir(struct policy *p, const struct view *v, uint32_t dir, uint32_t node)
{
	const struct tide_state *s = p->state;
	const struct tree *t = v->tree;
	const double *w = s->weight;
	uint32_t last = PAGE_NONE;
	float here = powf(1 + (float)s->found[dir], (float)w[TIDE_FOUND]) *
	             expf((float)w[TIDE_ONE]);
	float survival = 0, odds = 0, common = 0, by_age = 0;

	for (uint32_t i = t->dir_first[dir]; i < t->dir_first[dir + 1]; i++) {
		uint32_t page = t->dir_pages[i];
		struct tide_page *h = policy_page(p, page);

		if (!view_open(v, page))
			continue;
		if (v->last_cycle[page] != last) {
			uint32_t age = view_age(v, page);

			last = v->last_cycle[page];
			survival = tide_model_survival(&s->model, node, last);
			by_age = here * powf((float)(age ? age : 1), (float)w[TIDE_AGE]);
			common = by_age * powf(odds_of(-survival), (float)w[TIDE_TREE]);
		}
		odds = common;
		if (h->expected > 0)
			odds = by_age * expf((float)w[TIDE_TREE] *
			        logf(odds_of(-survival * multiplier(h, p->opts))) +
			        (float)w[TIDE_SURPRISE] * surprise(h) + (float)w[TIDE_VISITED]);
		odds *= h->fixed;
		for (int f = 0; f < N_FAMILIES; f++)
			if (s->family[f])
				odds *= 1 + s->family[f][v->family[f][page]].factor;
		h->chance = odds / (1 + odds);
	}
}

/* Every directory below and including `dir`; node: of the nearest above. */
static void rescore_below(struct policy *p, const struct view *v, uint32_t dir,
                          uint32_t node)
{
	struct tide_state *s = p->state;
	const struct tree *t = v->tree;

	if (s->model.node[dir]) {
		uint32_t own = s->model.node[dir] - 1;

		tide_node_refresh(&s->model, own, node);
		node = own;
	}
	rescore_dir(p, v, dir, node);
	for (uint32_t i = t->child_first[dir]; i < t->child_first[dir + 1]; i++)
		rescore_below(p, v, t->child_dirs[i], node);
}

/* Where pages drawn at random yield nearly what the chosen ones yield, the groups
 * teach nothing, and exploring takes over, oldest first: tide then is round-robin,
 * and never much below it. */
static double explore_share(const struct tide_state *s, double least)
{
	double chosen = (double)(s->chosen.hits + 1) / (double)(s->chosen.visits + 2);
	double explored = ((double)s->explored.hits + 3 * chosen) /
	                  ((double)s->explored.visits + 6);
	double near = (explored / chosen - 0.75) / 0.2;

	return fmin(1, fmax(least, near));
}

static void mark_dirty(struct tide_state *s, uint32_t root)
{
	if (s->dirty[root])
		return;
	s->dirty[root] = 1;
	s->dirty_roots[s->n_dirty++] = root;
}

static void tide_begin(struct policy *p, const struct view *v)
{
	struct tide_state *s = p->state;
	const struct tide_opts *o = p->opts;

	if (!s->ready)
		make_ready(s, o, v);
	s->model.alone = v->observe == OBSERVE_CYCLE;
	tide_model_begin(&s->model, v->goal == GOAL_ALIVE ? 1 : v->cycle);
	for (int f = 0; f < N_FAMILIES; f++)
		for (uint32_t i = 0; s->family[f] && i < v->n_family[f]; i++) {
			struct tide_family *g = &s->family[f][i];

			if (g->var <= 0)
				continue;
			g->sum *= (float)o->memory;
			g->var *= (float)o->memory;
			set_factor(s, f, g);
		}
	for (uint32_t i = 0; i < v->n_pages; i++) {
		struct tide_page *h = policy_page(p, i);

		h->fixed = v->pagerank ? powf((float)(v->pagerank[i] * v->n_pages) + 1e-3f,
		                              (float)s->weight[TIDE_RANK]) : 1;
	}
	memset(s->found, 0, v->tree->n_dirs * sizeof *s->found);
	for (uint32_t d = 0; d < v->tree->n_dirs; d++)
		if (v->tree->dir_parent[d] == DIR_NONE)
			mark_dirty(s, d);
	s->chosen.hits *= YIELD_KEEP;
	s->chosen.visits *= YIELD_KEEP;
	s->explored.hits *= YIELD_KEEP;
	s->explored.visits *= YIELD_KEEP;
	/* a small budget needs some of it to compare at all */
	s->explore = o->explore > 0 ? explore_share(s, fmax(o->explore,
	             fmin(EXPLORE_SMALL, EXPLORE_FEW / v->budget))) : 0;
	/* a fraction of a page is owed from cycle to cycle */
	s->carry = fmod((v->cycle - 1) * s->explore * v->budget, 1);
}

static void tide_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	struct tide_state *s = p->state;
	const struct tide_opts *o = p->opts;
	uint32_t b = (uint32_t)(o->batch * v->budget), random;

	plan_limit(plan, b > 8 ? b : 8);
	b = plan_room(plan);
	while (s->n_dirty) {
		uint32_t root = s->dirty_roots[--s->n_dirty];

		s->dirty[root] = 0;
		rescore_below(p, v, root, PAGE_NONE);
	}
	s->carry += s->explore * b;
	random = (uint32_t)s->carry;
	s->carry -= random;
	tide_batch(p, v, plan, b - random, random);
}

static void tide_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	struct tide_state *s = p->state;
	struct tide_page *h = policy_page(p, seen->page);
	uint32_t dir = v->dir[seen->page], last = v->last_cycle[seen->page], node;
	uint64_t at = s->n_rows % TIDE_ROWS;
	float survival, *x = s->rows + at * TIDE_FEATURES;
	double c = 0;

	if (!seen->known)
		return;
	node = tide_model_refresh(&s->model, dir);
	survival = tide_model_survival(&s->model, node, last);
	features(p, v, seen->page, survival, x);
	s->row_hit[at] = seen->hit;
	s->n_rows++;
	for (int i = 0; i < TIDE_FEATURES; i++)
		c += s->weight[i] * (double)x[i];
	c = fmin(fmax(1 / (1 + exp(-c)), 0.001), 0.999);
	tide_model_learn(&s->model, dir, last, seen->hit);
	h->hits += seen->hit ? 1.f : 0.f;
	h->expected += seen->hit ? fminf(-survival, 1) : -survival;
	for (int f = 0; f < N_FAMILIES; f++)
		if (s->family[f]) {
			struct tide_family *g = &s->family[f][v->family[f][seen->page]];

			g->sum += (float)((seen->hit ? 1 : 0) - c);
			g->var += (float)(c * (1 - c));
			set_factor(s, f, g);
		}
	if (seen->reason == REASON_CHANCE || seen->reason == REASON_EXPLORE) {
		struct tide_yield *y = seen->reason == REASON_CHANCE ? &s->chosen : &s->explored;

		y->hits += seen->hit ? 1.f : 0.f;
		y->visits += 1;
	}
	s->found[dir] += seen->hit;
	mark_dirty(s, s->model.root[dir]);
}

static void tide_end(struct policy *p, const struct view *v)
{
	struct tide_state *s = p->state;
	const struct tide_opts *o = p->opts;
	size_t n = s->n_rows < TIDE_ROWS ? s->n_rows : TIDE_ROWS;

	(void)v;
	if (!o->nofit)
		logistic_fit(s->rows, s->row_hit, n, TIDE_FEATURES, prior, s->weight);
}

static void tide_release(struct policy *p)
{
	struct tide_state *s = p->state;

	if (!s->ready)
		return;
	tide_model_release(&s->model);
	for (int f = 0; f < N_FAMILIES; f++)
		free(s->family[f]);
	free(s->dirty);
	free(s->dirty_roots);
	free(s->found);
	tide_batch_release(s);
	free(s->rows);
	free(s->row_hit);
}

const struct policy_ops policy_tide = {
	.name = "tide",
	.summary = "follows the activity of directories: our policy for goal changed",
	.origin = "ours",
	.options = tide_options,
	.opts_size = sizeof(struct tide_opts),
	.state_size = sizeof(struct tide_state),
	.page_size = sizeof(struct tide_page),
	.needs = tide_needs,
	.begin = tide_begin,
	.ask = tide_ask,
	.tell = tide_tell,
	.end = tide_end,
	.release = tide_release,
};
