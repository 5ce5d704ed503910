/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide_rescore.c - chance and worth of all pages of hosts, by a few threads.
 *
 * The odds of a page are a product: of what its group makes expect since its last visit
 * (tide_model.h), of the latest visits nearby, of its cohort and its families, and of its own
 * record (tide_score.c).  The worth follows from the chance (tide_worth.h).
 *
 * Told only what changed in the cycle (`--observe cycle`), a visit to a copy that went
 * stale before is no hit, but still makes it fresh: the score is then a mean of the
 * chance of a hit and, by the hazards, that of a stale copy.
 *
 * Threads.  A worker has its own levels and a list of the pages that may win; pages
 * belong to one host, so no two workers write to one.  Where few hosts are to be scored,
 * directories below them are divided among the workers.
 *
 * Cost.  One table lookup a family and page; powers once for pages of the same last visit
 * that lie side by side, a level, and a rate.
 * Blind spot.  A directory that has most pages of the repository is scored by one thread.
 */
#include "policy/tide/tide.h"

#include <math.h>

#include "policy/sweep.h"

#define ODDS_HUGE 1e30f

/* What pages of one level share that were last visited in one cycle. */
struct since { uint32_t made, last; float gap, expected, stale, factor, unseen; };

/* The future of the page looked at last: most pages of a directory have the same, and many
 * the same chance. */
struct foreseen { struct tide_prices prices; float rests, part, chance, worth; };

struct worker {
	struct tide_model model;        /* ours, but for the levels */
	struct tide_level level[TIDE_DEPTH_MAX];
	uint32_t made[TIDE_DEPTH_MAX];  /* by level: which one it is; never 0 */
	uint32_t n_made;
	struct since since;
	struct foreseen foreseen;
	VEC(uint32_t) winners;          /* pages for the pool */
};

struct rescoring {
	struct policy *p;
	const struct view *v;
	bool only_pool;                 /* chances are made: pages are put into the pool */
	struct tide_unit { uint32_t dir; bool alone; } *units;  /* alone: nothing below it */
	size_t n_units;
	struct worker *workers;         /* one a block */
};

/* Factor of the odds for a number of visits, mostly 0. */
static float by_count(float n, double weight)
{
	return n > 0 ? powf(1 + n, (float)weight) : 1;
}

/* Of a page that is worth at most so much, the part of its worth that counts: see
 * tide_state.reserve.  rests: is its host known to rest at times? */
static float part_of(const struct tide_state *s, float most, float rests)
{
	float x = most / s->reserve;

	return most < s->reserve ? rests + (1 - rests) * x * x * x : 1;
}

static float worth_of(const struct tide_state *s, const struct view *v,
                      const struct tide_page *h, float rate, float gap, float rests,
                      struct foreseen *last)
{
	struct tide_future f;

	if (v->goal == GOAL_ALIVE || v->aim == AIM_CHANGES)
		return h->chance;
	f = tide_future_at(s, h, rate);
	if (v->aim == AIM_AGE)
		return tide_worth_of_age(h->chance, gap, f, s->horizon);
	if (f.shape != last->prices.of.shape || f.time != last->prices.of.time ||
	    rests != last->rests) {
		last->prices = tide_prices_of(f, s->horizon);
		last->rests = rests;
		last->part = part_of(s, tide_price(&last->prices, 1), rests);
		last->chance = NAN;
	}
	if (h->chance != last->chance) {
		last->chance = h->chance;
		last->worth = last->part * tide_price(&last->prices, h->chance);
	}
	return last->worth;
}

static void set_since(const struct rescoring *r, struct worker *k, uint32_t root, int level,
                      uint32_t last, float share)
{
	const struct tide_state *s = r->p->state;
	static const struct tide_page nothing;
	uint32_t age = r->v->cycle - last;
	struct tide_family cohort = tide_cohort(s, root, last);
	struct since x = { .made = level < 0 ? 0 : k->made[level], .last = last };

	x.gap = (float)(age ? age : 1) * s->age_unit;
	x.factor = age < TIDE_AGES ? s->by_age[age] :
	           powf(x.gap, (float)s->weight[TIDE_AGE]);
	x.factor *= tide_factor(s, TIDE_COHORT, &cohort);
	if (share > 0)
		x.stale = -expm1f(tide_model_survival_of_copy(&k->model, level, last));
	x.expected = -tide_model_survival(&k->model, level, last);
	x.unseen = powf(tide_own_odds(s, &nothing, x.expected), (float)s->weight[TIDE_TREE]);
	k->since = x;
}

/* All pages of a directory; most of them share one last visit. */
static void rescore_dir(const struct rescoring *r, struct worker *k, uint32_t dir, int level)
{
	const struct tide_state *s = r->p->state;
	const struct tide_opts *o = r->p->opts;
	const struct view *v = r->v;
	const struct tree *t = v->tree;
	struct tide_page *pages = r->p->page_mem;
	const double *w = s->weight;
	uint32_t home = tide_home(t, dir), near = tide_near(v, home);
	float here = by_count(s->found[home], w[TIDE_FOUND]) *
	             by_count(s->missed[home], w[TIDE_MISSED]) *
	             by_count(s->near_found[near], w[TIDE_NEAR_FOUND]) *
	             by_count(s->near_missed[near], w[TIDE_NEAR_MISSED]) * s->by_one;
	bool ranked = o->weight && v->pagerank;
	uint32_t made = level < 0 ? 0 : k->made[level];
	float rate = tide_model_rate(&k->model, dir, level);
	float share = s->model.alone ? (float)o->stale : 0;
	float rests = tide_model_rests(&s->model, dir);
	float odds;

	for (uint32_t i = t->dir_first[dir]; i < t->dir_first[dir + 1]; i++) {
		uint32_t page = t->dir_pages[i];
		struct tide_page *h = &pages[page];

		if (!view_open(v, page))
			continue;
		if (v->last_cycle[page] != k->since.last || made != k->since.made)
			set_since(r, k, s->model.root[dir], level, v->last_cycle[page], share);
		odds = here * k->since.factor * h->fixed * (h->expected > 0 ?
		       powf(tide_own_odds(s, h, k->since.expected), (float)w[TIDE_TREE]) :
		       k->since.unseen);
		for (int f = 0; f < N_FAMILIES; f++)
			if (s->family[f])
				odds *= s->factor[f][v->family[f][page]];
		/* weights that ran away must not make inf / inf */
		odds = odds < ODDS_HUGE ? odds : ODDS_HUGE;
		h->chance = (1 - share) * odds / (1 + odds) + share * k->since.stale;
		h->worth = worth_of(s, v, h, rate, k->since.gap, rests, &k->foreseen);
		if (v->weight)
			h->worth *= v->weight[page];
		if (ranked)
			h->worth *= (float)(v->pagerank[page] * v->n_settled);
		if (tide_may_win(s, h) && !tide_is_pooled(s, page))
			vec_push(&k->winners, page);
	}
}

static void repool_dir(const struct rescoring *r, struct worker *k, uint32_t dir)
{
	const struct tide_state *s = r->p->state;
	const struct tree *t = r->v->tree;

	for (uint32_t i = t->dir_first[dir]; i < t->dir_first[dir + 1]; i++) {
		uint32_t page = t->dir_pages[i];

		if (view_open(r->v, page) && tide_may_win(s, policy_page(r->p, page)) &&
		    !tide_is_pooled(s, page))
			vec_push(&k->winners, page);
	}
}

static int make_level(struct worker *k, uint32_t dir, int above)
{
	if (!k->model.node[dir])
		return above;
	above = tide_level_refresh(&k->model, k->model.node[dir] - 1, above);
	tide_level_survive(&k->model, above);
	k->made[above] = ++k->n_made;
	return above;
}

/* `dir` and what is below it; level: of the nearest directory above. */
static void visit(const struct rescoring *r, struct worker *k, struct tide_unit u, int level)
{
	const struct tree *t = r->v->tree;

	if (r->only_pool) {
		repool_dir(r, k, u.dir);
	} else {
		level = make_level(k, u.dir, level);
		rescore_dir(r, k, u.dir, level);
	}
	for (uint32_t i = t->child_first[u.dir]; !u.alone && i < t->child_first[u.dir + 1]; i++)
		visit(r, k, (struct tide_unit){ t->child_dirs[i], false }, level);
}

static int make_levels_above(const struct rescoring *r, struct worker *k, uint32_t dir)
{
	uint32_t up = r->v->tree->dir_parent[dir];
	int level = -1;

	if (up != DIR_NONE && !r->only_pool)
		level = make_level(k, up, make_levels_above(r, k, up));
	return level;
}

static void visit_units(void *arg, unsigned block, size_t from, size_t to)
{
	const struct rescoring *r = arg;
	const struct tide_state *s = r->p->state;
	struct worker *k = &r->workers[block];

	memset(&k->winners, 0, sizeof k->winners);
	k->model = s->model;
	k->model.level = k->level;
	k->n_made = 0;
	k->since = (struct since){ .last = PAGE_NONE };
	k->foreseen = (struct foreseen){ .part = 0 };
	for (size_t i = from; i < to; i++)
		visit(r, k, r->units[i], make_levels_above(r, k, r->units[i].dir));
}

/* Directories below are units, too; false: there are none. */
static bool divide(struct rescoring *r)
{
	const struct tree *t = r->v->tree;
	VEC(struct tide_unit) all = { 0 };
	size_t before = r->n_units;

	for (size_t i = 0; i < before; i++) {
		struct tide_unit u = r->units[i];

		for (uint32_t c = t->child_first[u.dir]; !u.alone && c < t->child_first[u.dir + 1]; c++)
			vec_push(&all, ((struct tide_unit){ t->child_dirs[c], false }));
		vec_push(&all, ((struct tide_unit){ u.dir, true }));
	}
	free(r->units);
	r->units = all.v;
	r->n_units = all.n;
	return r->n_units > before;
}

void tide_rescore(struct policy *p, const struct view *v, bool only_pool)
{
	struct tide_state *s = p->state;
	struct rescoring r = { .p = p, .v = v, .only_pool = only_pool, .n_units = s->n_dirty };
	unsigned n_blocks = sweep_blocks(v->n_pages);

	if (!s->n_dirty)
		return;
	r.units = mem_array(s->n_dirty, sizeof *r.units);
	for (uint32_t i = 0; i < s->n_dirty; i++)
		r.units[i] = (struct tide_unit){ s->model.root_dir[s->dirty_roots[i]], false };
	while (n_blocks > 1 && r.n_units < 4 * SWEEP_BLOCKS && divide(&r))
		;
	n_blocks = n_blocks < r.n_units ? n_blocks : (unsigned)r.n_units;
	r.workers = mem_array(n_blocks, sizeof *r.workers);
	sweep(v, r.n_units, n_blocks, visit_units, &r);
	for (unsigned i = 0; i < n_blocks; i++) {
		for (size_t k = 0; k < r.workers[i].winners.n; k++)
			tide_pool_put(s, r.workers[i].winners.v[k]);
		vec_release(&r.workers[i].winners);
	}
	free(r.workers);
	free(r.units);
}
