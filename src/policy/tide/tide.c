/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide.c - our policy for goal `changed`: follow the activity of directories.
 *
 * Model.  tide_model.h gives each page the chance that its copy is stale; tide_score.c
 * corrects it by what the page itself, pages of like names and the visits of this
 * cycle nearby have shown, with weights fitted to the latest visits.
 *
 * A cycle is spent in batches of 5 % of the budget.  Each is scored anew with
 * what the batches before found, so that the first downloads reveal a burst and
 * the rest follow it.  Noise on the scores, largest where a chance is near one
 * half, spreads a batch over groups we are unsure of; no directory gets more than
 * one page plus what it already yielded; 2 % of all downloads (told of the cycle
 * alone, 10 %) are the best of some drawn at random.  A council keeps the whole honest: see oldest_share().
 *
 * Under aims other than changes a page's score is what a true copy of it is worth from
 * now on (tide_worth.h), given that chance and the rate at which it will change again.
 *
 * Cost.  O(pages) a batch for noise and selection, a table lookup each; chances
 * only for the hosts that were visited since.  20 bytes a page.
 * Blind spot.  A page alone in its directory and families learns only from itself
 * and its host.
 */
#include "base/map.h"
#include "policy/tide/tide.h"

#include <math.h>

#define COUNCIL_FEW 4.0         /* longest unvisited in two weeks, if not more than ... */
#define COUNCIL_LEARN 20.0      /* of them that are wanted at first */
#define COUNCIL_SMALL 0.1       /* of the budget */
#define OLDEST_AT_ONCE 0.5      /* of a batch: fewer are taken in the first one */
#define COUNCIL_NEAR 0.75       /* of choosing's yield, from which on oldest takes over */
#define COUNCIL_MOST 0.9        /* of the budget */
#define YIELD_KEEP 0.9          /* of the yields, a unit of time */
#define DAY 86400.0
#define COUNT_LEAST 0.05f       /* of latest visits in a directory; less is none */
#define WIDTH_LEAST 1e-4        /* units of time: two minutes */
#define WIDTH_MOST 100.0
#define SHARD_TRUST 10          /* of a fleet's shard: times stronger prior of the fit */
#define EXPLORE_ALONE 5         /* times as much, told of the cycle alone */

static const struct option_spec tide_options[] = {
	OPT_DOUBLE(tide_opts, batch, 0.05, 0.001, 1, "share of the budget asked for at once"),
	OPT_DOUBLE(tide_opts, explore, 0.02, 0, 1, "share of downloads that are the best of "
	           "some drawn at random; observing the cycle, five times that"),
	OPT_DOUBLE(tide_opts, noise, 0.3, 0, 10, "noise on the scores of a batch"),
	OPT_DOUBLE(tide_opts, memory, 0.7, 0, 1, "what families keep from cycle to cycle"),
	OPT_DOUBLE(tide_opts, stale, 0.4, 0, 1, "observing the cycle: share of the score "
	           "that is the chance of a stale copy, not of a hit"),
	OPT_DOUBLE(tide_opts, voice, 3, 0.01, 1e9,
	           "visits for which a directory speaks in its parent, a cycle"),
	OPT_DOUBLE(tide_opts, voice_base, 12, 0.01, 1e9, "the same for the long-run rate"),
	OPT_DOUBLE(tide_opts, discount, 0.9, 0.01, 1, "of the long-run rate, a cycle"),
	OPT_DOUBLE(tide_opts, k_base, 15, 0.01, 1e6, "prior strength of the long-run rate"),
	OPT_DOUBLE(tide_opts, k_site, 8, 0.01, 1e6, "prior strength of a site's cycle"),
	OPT_DOUBLE(tide_opts, k_dir, 2, 0.01, 1e6, "prior strength of a directory's cycle"),
	OPT_DOUBLE(tide_opts, horizon, 45, 0.01, 1e6, "days that are planned for at most, under "
	           "aims freshness and age"),
	OPT_DOUBLE(tide_opts, reserve, 0.3, 0, 100, "under aim freshness, pages wait that are "
	           "never worth this part of the usual page, visited by turns"),
	OPT_DOUBLE(tide_opts, k_page, 0, 0, 1e6, "prior strength of a page's own rate; 0: "
	           "estimated from all pages"),
	OPT_FLAG(tide_opts, nofamily, "do without name families"),
	OPT_FLAG(tide_opts, nofit, "keep the prior weights of the logistic correction"),
	OPT_FLAG(tide_opts, nocouncil, "never compare with the longest unvisited"),
	OPT_FLAG(tide_opts, nocap, "no limit of pages from one directory in a batch"),
	OPT_CHOICE(tide_opts, weight, "none|pagerank", "none",
	           "importance that scores are multiplied by"),
	OPT_END
};

static unsigned tide_needs(const void *opts)
{
	const struct tide_opts *o = opts;

	return (o->nofamily ? 0u : NEED_FAMILIES) | NEED_PAGERANK | NEED_LINKS | NEED_SIZES;
}

static void make_ready(struct tide_state *s, const struct tide_opts *o,
                       const struct view *v)
{
	struct tide_params par = {
		.voice = o->voice, .voice_base = o->voice_base, .discount = o->discount,
		.k_base = o->k_base, .k_site = o->k_site, .k_dir = o->k_dir,
	};
	uint32_t n = v->tree->n_dirs;

	for (int i = 0; i < TIDE_FEATURES; i++)
		s->weight[i] = tide_prior[i].mean;
	s->rows = mem_array((size_t)TIDE_ROWS * TIDE_FEATURES, sizeof *s->rows);
	s->row_hit = mem_zalloc(TIDE_ROWS, 1);
	tide_model_init(&s->model, v->tree, &par);
	for (int f = 0; f < N_FAMILIES; f++)
		if (v->family[f] && !o->nofamily)
			s->family[f] = mem_zalloc(v->n_family[f], sizeof *s->family[f]);
	s->dirty = mem_zalloc(n, sizeof *s->dirty);
	s->dirty_roots = mem_array(n, sizeof *s->dirty_roots);
	s->found = mem_zalloc(n, sizeof *s->found);
	s->near_found = mem_zalloc(n, sizeof *s->found);
	s->missed = mem_zalloc(n, sizeof *s->missed);
	s->near_missed = mem_zalloc(n, sizeof *s->missed);
	tide_batch_init(s, n, v->n_pages, v->seed);
	s->ready = true;
}

/* A council of two: what choosing yields against what the longest unvisited pages
 * yield.  Where the latter come near, groups teach nothing, and the budget goes to
 * them: tide then is round-robin, and not below it.  A few pages of either kind are
 * always taken, so that a change of mind stays possible.  The longest unvisited of today
 * may be older than those that the yield is of, and yield more by as much. */
static double oldest_share(const struct tide_state *s, double few, double age, double shards)
{
	double chosen = ((double)s->chosen.hits + 1) / ((double)s->chosen.visits + 2);
	double visits = (double)s->oldest.visits, was = (double)s->oldest.age;
	double older = was > 0 ? fmax(1, age * visits / was) : 1;
	double hits = fmin((double)s->oldest.hits * older, visits);
	double oldest = (hits + 3 * shards * chosen) / (visits + 6 * shards);
	double near = (oldest / chosen - COUNCIL_NEAR) / (1 - COUNCIL_NEAR);

	return fmax(few, fmin(near, COUNCIL_MOST));
}

static void mark_dirty(struct tide_state *s, uint32_t root)
{
	if (s->dirty[root])
		return;
	s->dirty[root] = 1;
	s->dirty_roots[s->n_dirty++] = root;
}

/* Units of time since the cycle before, or as long as cycles are meant to be. */
static double time_since(struct tide_state *s, const struct view *v)
{
	double planned = v->cycle_seconds > 0 ? (double)v->cycle_seconds : TIDE_UNIT;
	double since = s->then && v->now > s->then ? (double)(v->now - s->then) : planned;

	s->then = v->now;
	return fmin(fmax(since / TIDE_UNIT, WIDTH_LEAST), WIDTH_MOST);
}

/* Latest visits count for two weeks, less and less. */
static void fade_counts(struct tide_state *s, uint32_t n, float keep)
{
	float *counts[] = { s->found, s->missed, s->near_found, s->near_missed };

	for (int k = 0; k < 4; k++)
		for (uint32_t i = 0; i < n; i++)
			counts[k][i] = counts[k][i] * keep > COUNT_LEAST ? counts[k][i] * keep : 0;
}

static void fade_yield(struct tide_yield *y, float keep)
{
	y->hits *= keep;
	y->visits *= keep;
	y->age *= keep;
}

/* Cycles for which a page has not been visited, at most. */
static uint32_t oldest_age(const struct view *v)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < v->n_pages; i++)
		if (view_open(v, i) && view_age(v, i) > most)
			most = view_age(v, i);
	return most;
}

static uint32_t open_pages(const struct view *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_pages; i++)
		n += view_open(v, i);
	return n;
}

/* What a download of the usual page is worth where all are visited by turns. */
static float price_by_turns(const struct tide_state *s, const struct view *v)
{
	double turn = (double)open_pages(v) / fmax(v->budget, 1) * (double)s->age_unit;
	float known = 1000, rate = (float)s->model.usual;

	return tide_worth_of_truth(-expm1f(-rate * (float)turn),
	                           (struct tide_future){ known, known / rate }, s->horizon);
}

/* Worth below which pages wait.  Shards compare their scores and must not differ in it: none. */
static float reserve_of(const struct tide_state *s, const struct view *v, double part)
{
	return v->aim == AIM_FRESHNESS && v->n_shards <= 1 && part > 0 ?
	       (float)part * price_by_turns(s, v) : 0;
}

/* Shards that share the work: what all of them learn together, one has to learn but a part of. */
static double shards_of(const struct view *v)
{
	return v->n_shards ? v->n_shards : 1;
}

static void tide_begin(struct policy *p, const struct view *v)
{
	struct tide_state *s = p->state;
	const struct tide_opts *o = p->opts;
	double width, few;
	float memory, keep;

	if (!s->ready)
		make_ready(s, o, v);
	width = time_since(s, v);
	memory = (float)pow(o->memory, width);
	keep = (float)pow(YIELD_KEEP, width);
	s->model.alone = v->observe == OBSERVE_CYCLE;
	tide_model_begin(&s->model, v->goal == GOAL_ALIVE ? 1 : v->cycle, width);
	for (int f = 0; f < N_FAMILIES; f++)
		for (uint32_t i = 0; s->family[f] && i < v->n_family[f]; i++) {
			struct tide_family *g = &s->family[f][i];

			g->sum *= memory;
			g->var *= memory;
		}
	s->fixed_ready = false;
	s->scored = (struct tide_stamp){ 0 };
	s->age_unit = (float)fmin(fmax((double)v->cycle_seconds / TIDE_UNIT, WIDTH_LEAST),
	                          WIDTH_MOST);
	if (v->cycle_seconds <= 0)
		s->age_unit = 1;
	s->horizon = (float)(o->horizon * DAY / TIDE_UNIT);
	s->reserve = reserve_of(s, v, o->reserve);
	s->k_page = o->k_page > 0 ? (float)o->k_page : tide_estimate_k(s->k_fit);
	fade_counts(s, v->tree->n_dirs, (float)fmax(0, 1 - width));
	for (uint32_t d = 0; d < v->tree->n_dirs; d++)
		if (v->tree->dir_parent[d] == DIR_NONE)
			mark_dirty(s, d);
	fade_yield(&s->chosen, keep);
	fade_yield(&s->oldest, keep);
	few = fmax(COUNCIL_FEW * fmin(width, 1), COUNCIL_LEARN -
	           shards_of(v) * (double)s->oldest.visits) / shards_of(v);
	s->oldest_share = o->nocouncil ? 0 :
	                  oldest_share(s, fmin(COUNCIL_SMALL, few / v->budget),
	                               (double)oldest_age(v) * (double)s->age_unit, shards_of(v));
	/* a fraction of a page is owed from cycle to cycle */
	s->owed_oldest = fmod((v->cycle - 1) * s->oldest_share * v->budget, 1);
	/* a visit that tells of one cycle teaches nothing about the others */
	s->explore = fmin(1, s->model.alone ? EXPLORE_ALONE * o->explore : o->explore);
	s->noise = (float)o->noise;
	s->batch = o->batch;
	s->n_pool = 0;
	s->pool_least = INFINITY;       /* none is in the pool, and none comes */
	s->floor = 0;
	s->owed = fmod((v->cycle - 1) * s->explore * v->budget, 1);
}

/* Of the longest unvisited pages, how many go into a batch of b.  A few are looked for
 * once and not in every batch. */
static uint32_t oldest_now(struct tide_state *s, const struct view *v, uint32_t b)
{
	double batch = ceil(s->batch * v->budget), all = s->oldest_share * v->budget;
	uint32_t n;

	if (all <= OLDEST_AT_ONCE * batch) {
		n = v->round ? 0 : (uint32_t)(s->owed_oldest + all);
	} else {
		s->owed_oldest += s->oldest_share * b;
		n = (uint32_t)s->owed_oldest;
		s->owed_oldest -= n;
	}
	return n < b ? n : b;
}

/* What chances depend on within a cycle: visits, and which pages are open. */
static struct tide_stamp stamp_of(const struct tide_state *s, const struct view *v)
{
	return (struct tide_stamp){ s->n_told + 1, hash_bytes(v->state, v->n_pages, 1) };
}

static void tide_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	struct tide_state *s = p->state;
	const struct tide_opts *o = p->opts;
	struct tide_stamp now = stamp_of(s, v);
	bool scored = s->scored.told == now.told && s->scored.open == now.open;
	uint32_t b, explore, oldest;

	if (!s->fixed_ready)            /* cycles that are only recalled can do without */
		tide_set_fixed(p, v);
	plan_limit(plan, (uint32_t)ceil(o->batch * v->budget));
	b = plan_room(plan);
	tide_share_take(s, o, v);
	while (s->n_dirty) {
		uint32_t root = s->dirty_roots[--s->n_dirty];

		s->dirty[root] = 0;
		if (scored)
			tide_repool(p, v, root);
		else
			tide_rescore(p, v, root, -1);
	}
	tide_share_leave(s, v);
	oldest = oldest_now(s, v, b);
	s->owed += s->explore * (b - oldest);
	explore = (uint32_t)fmin(s->owed, b - oldest);  /* sums of shares are rounded */
	s->owed -= explore;
	tide_batch(p, v, plan, b - oldest - explore, explore);
	if (oldest)
		tide_batch_oldest(v, plan);
}

/* Chances are made for it as ask() will make them, and everything that says that they still
 * have to be made stays as it is; no page comes into the pool.  An ask() that follows at once
 * finds them made. */
static bool tide_demand(struct policy *p, const struct view *v, struct demand *ret)
{
	struct tide_state *s = p->state;
	bool fixed = s->fixed_ready;
	float least = s->pool_least;

	if (!fixed)
		tide_set_fixed(p, v);
	s->pool_least = INFINITY;
	tide_share_take(s, p->opts, v);
	for (uint32_t i = 0; i < s->n_dirty; i++)
		tide_rescore(p, v, s->dirty_roots[i], -1);
	tide_share_leave(s, v);
	s->pool_least = least;
	s->fixed_ready = fixed;
	s->scored = stamp_of(s, v);
	tide_batch_demand(p, v, ret);
	tide_share_say(s, &ret->shared);
	return true;
}

static void tide_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	struct tide_state *s = p->state;
	struct tide_page *h = policy_page(p, seen->page);
	uint32_t dir = tide_home(v->tree, v->dir[seen->page]), last = v->last_cycle[seen->page];
	uint64_t at = s->n_rows % TIDE_ROWS;
	float survival, *x = s->rows + at * TIDE_FEATURES;
	double c = 0;
	float gain = 1;
	int level;

	s->n_told++;
	if (!seen->known)
		return;
	level = tide_model_refresh(&s->model, dir);
	if (v->goal == GOAL_CHANGED && v->aim != AIM_CHANGES)
		gain = tide_worth_of_truth(1, tide_future_of(s, h, level), s->horizon) / s->horizon;
	survival = tide_model_survival(&s->model, level, last);
	tide_features(p, v, seen->page, survival, x);
	tide_learn_k(s, h, -survival, seen->hit);
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
			if (s->fixed_ready)
				tide_set_factor(s, f, g);
		}
	if (seen->reason == REASON_CHANCE || seen->reason == REASON_OLDEST) {
		struct tide_yield *y = seen->reason == REASON_CHANCE ? &s->chosen : &s->oldest;

		y->hits += seen->hit ? gain : 0.f;
		y->visits += 1;
		y->age += (float)view_age(v, seen->page) * s->age_unit;
	}
	*(seen->hit ? &s->found[dir] : &s->missed[dir]) += 1;
	*(seen->hit ? &s->near_found[tide_near(v, dir)] : &s->near_missed[tide_near(v, dir)]) += 1;
	mark_dirty(s, s->model.root[dir]);
}

static void tide_end(struct policy *p, const struct view *v)
{
	struct tide_state *s = p->state;
	const struct tide_opts *o = p->opts;
	size_t n = s->n_rows < TIDE_ROWS ? s->n_rows : TIDE_ROWS;
	struct logistic_prior prior[TIDE_FEATURES];
	double trust = v->n_shards > 1 ? SHARD_TRUST * shards_of(v) : 1;

	/* Shards compare their scores.  Each fits to its own visits, those of a burst or of few
	 * sites; what it takes for a better fit would make its scores another currency. */
	for (int i = 0; i < TIDE_FEATURES; i++) {
		prior[i] = tide_prior[i];
		prior[i].precision *= trust;
	}
	if (!o->nofit)
		logistic_fit(s->rows, s->row_hit, n, TIDE_FEATURES, prior, s->weight);
}

/* What is not made anew in tide_begin(). */
static void tide_freeze(struct policy *p, const struct view *v, struct frozen *f)
{
	struct tide_state *s = p->state;
	uint32_t n = v->tree->n_dirs;
	size_t n_rows;

	if (!s->ready)
		make_ready(s, p->opts, v);
	frozen_value(f, &s->chosen);
	frozen_value(f, &s->oldest);
	frozen_value(f, &s->then);
	frozen_value(f, &s->weight);
	frozen_value(f, &s->k_fit);
	frozen_value(f, &s->n_rows);
	n_rows = s->n_rows < TIDE_ROWS ? (size_t)s->n_rows : TIDE_ROWS;
	frozen_bytes(f, s->rows, n_rows * TIDE_FEATURES * sizeof *s->rows);
	frozen_bytes(f, s->row_hit, n_rows);
	for (int k = 0; k < N_FAMILIES; k++)
		if (s->family[k])
			frozen_rows(f, s->family[k], v->n_family[k], sizeof *s->family[k]);
	frozen_rows(f, s->found, n, sizeof *s->found);
	frozen_rows(f, s->missed, n, sizeof *s->missed);
	frozen_rows(f, s->near_found, n, sizeof *s->near_found);
	frozen_rows(f, s->near_missed, n, sizeof *s->near_missed);
	tide_model_freeze(&s->model, f);
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
	free(s->near_found);
	free(s->missed);
	free(s->near_missed);
	tide_batch_release(s);
	free(s->rows);
	free(s->row_hit);
}

const struct policy_ops policy_tide = {
	.name = "tide",
	.summary = "follows the activity of directories: our policy for goal changed",
	.origin = "ours",
	.patience = .8,
	.comparable = true,
	.options = tide_options,
	.opts_size = sizeof(struct tide_opts),
	.state_size = sizeof(struct tide_state),
	.page_size = sizeof(struct tide_page),
	.needs = tide_needs,
	.begin = tide_begin,
	.ask = tide_ask,
	.tell = tide_tell,
	.demand = tide_demand,
	.end = tide_end,
	.release = tide_release,
	.freeze = tide_freeze,
};
