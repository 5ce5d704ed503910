/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide_begin.c - the start of a cycle: what is remembered fades, and the shares of the
 * cycle are set: the longest unvisited (a council decides), pages to explore, and the
 * worth below which pages wait.
 */
#include "policy/tide/tide.h"

#include <math.h>

#include "policy/sweep.h"

#define COUNCIL_FEW 4.0         /* longest unvisited in two weeks, if not more than ... */
#define COUNCIL_LEARN 20.0      /* of them that are wanted at first */
#define COUNCIL_SMALL 0.1       /* of the budget */
#define COUNCIL_NEAR 0.75       /* of choosing's yield, from which on oldest takes over */
#define COUNCIL_MOST 0.9        /* of the budget */
#define YIELD_KEEP 0.9          /* of the yields, a unit of time */
#define DAY 86400.0
#define COUNT_LEAST 0.05f       /* of latest visits in a directory; less is none */
#define WIDTH_LEAST 1e-4        /* units of time: two minutes */
#define WIDTH_MOST 100.0
#define EXPLORE_ALONE 5         /* times as much, told of the cycle alone */
#define ROUNDING 1e-6           /* more than the error of a sum of shares */
#define TIME_DOUBT 0.3f         /* of the noise: how long a page stays true is never sure */

void tide_make_ready(struct tide_state *s, const struct tide_opts *o,
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
		if (v->family[f] && !o->nofamily) {
			s->family[f] = mem_zalloc(v->n_family[f], sizeof *s->family[f]);
			s->factor[f] = mem_array(v->n_family[f], sizeof *s->factor[f]);
		}
	s->failed = mem_zalloc(v->n_pages, sizeof *s->failed);
	s->cohorts_of = mem_zalloc(s->model.n_roots, sizeof *s->cohorts_of);
	s->dirty = mem_zalloc(s->model.n_roots, sizeof *s->dirty);
	s->dirty_roots = mem_array(s->model.n_roots, sizeof *s->dirty_roots);
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
static double oldest_share(const struct tide_council *c, double few, double age)
{
	double chosen = ((double)c->chosen.hits + 1) / ((double)c->chosen.visits + 2);
	double visits = (double)c->oldest.visits, was = (double)c->oldest.age;
	double older = was > 0 ? fmax(1, age * visits / was) : 1;
	double hits = fmin((double)c->oldest.hits * older, visits);
	double oldest = (hits + 3 * c->shards * chosen) / (visits + 6 * c->shards);
	double near = (oldest / chosen - COUNCIL_NEAR) / (1 - COUNCIL_NEAR);

	return fmax(few, fmin(near, COUNCIL_MOST));
}

void tide_mark_dirty(struct tide_state *s, uint32_t root)
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

struct fading { struct tide_family *family; float keep; };

static void fade_families(void *arg, unsigned block, size_t from, size_t to)
{
	const struct fading *k = arg;

	(void)block;
	for (size_t i = from; i < to; i++) {
		k->family[i].sum *= k->keep;
		k->family[i].var *= k->keep;
	}
}

static void fade_yield(struct tide_yield *y, float keep)
{
	y->hits *= keep;
	y->visits *= keep;
	y->age *= keep;
}

/* Open pages, and the cycles for which one of them has not been visited, at most.  A page that
 * fails grows older for ever and says nothing of the others. */
struct census { uint32_t open, oldest; };
struct counting { const struct view *v; const uint8_t *failed; struct census of[SWEEP_BLOCKS]; };

static void count_open(void *arg, unsigned block, size_t from, size_t to)
{
	struct counting *k = arg;
	struct census c = { 0 };

	for (size_t i = from; i < to; i++)
		if (view_open(k->v, (uint32_t)i)) {
			uint32_t age = k->failed[i] ? 0 : view_age(k->v, (uint32_t)i);

			c.open++;
			c.oldest = age > c.oldest ? age : c.oldest;
		}
	k->of[block] = c;
}

static struct census count_pages(const struct tide_state *s, const struct view *v)
{
	struct counting k = { .v = v, .failed = s->failed };
	unsigned n = sweep_blocks(v->n_pages);
	struct census all = { 0 };

	sweep(v, v->n_pages, n, count_open, &k);
	for (unsigned i = 0; i < n; i++) {
		all.open += k.of[i].open;
		all.oldest = k.of[i].oldest > all.oldest ? k.of[i].oldest : all.oldest;
	}
	return all;
}

/* What a download of the usual page is worth where `cycles` take all pages by turns. */
static float price_by_turns(const struct tide_state *s, double cycles)
{
	double turn = cycles * (double)s->age_unit;
	float known = 1000, rate = (float)s->model.usual;

	return tide_worth_of_truth(-expm1f(-rate * (float)turn),
	                           (struct tide_future){ known, known / rate }, s->horizon);
}

float tide_reserve(const struct tide_state *s, const struct tide_opts *o, const struct view *v,
                   double cycles)
{
	return v->aim == AIM_FRESHNESS && o->reserve > 0 ?
	       (float)o->reserve * price_by_turns(s, cycles) : 0;
}

double tide_shards_of(const struct view *v)
{
	return v->n_shards ? v->n_shards : 1;
}

void tide_begin(struct policy *p, const struct view *v)
{
	struct tide_state *s = p->state;
	const struct tide_opts *o = p->opts;
	struct tide_council council;
	struct census pages;
	double width, few;
	float memory, keep;

	if (!s->ready)
		tide_make_ready(s, o, v);
	width = time_since(s, v);
	memory = (float)pow(o->memory, width);
	keep = (float)pow(YIELD_KEEP, width);
	s->model.alone = v->observe == OBSERVE_CYCLE;
	tide_model_begin(&s->model, v->goal == GOAL_ALIVE ? 1 : v->cycle, width);
	for (int f = 0; f < N_FAMILIES; f++)
		if (s->family[f])
			sweep(v, v->n_family[f], sweep_blocks(v->n_family[f]), fade_families,
			      &(struct fading){ s->family[f], memory });
	tide_cohort_begin(s);
	s->fixed_ready = false;
	s->scored = (struct tide_stamp){ 0 };
	s->age_unit = (float)fmin(fmax((double)v->cycle_seconds / TIDE_UNIT, WIDTH_LEAST),
	                          WIDTH_MOST);
	if (v->cycle_seconds <= 0)
		s->age_unit = 1;
	s->horizon = (float)(o->horizon * DAY / TIDE_UNIT);
	pages = count_pages(s, v);
	s->n_open = pages.open;
	/* shards compare their scores and must not differ in it: see tide_share.c */
	s->reserve = v->n_shards > 1 ? 0 : tide_reserve(s, o, v, pages.open / fmax(v->budget, 1));
	s->k_page = o->k_page > 0 ? (float)o->k_page : tide_estimate_k(s->k_fit);
	fade_counts(s, v->tree->n_dirs, (float)fmax(0, 1 - width));
	for (uint32_t r = 0; r < s->model.n_roots; r++)
		tide_mark_dirty(s, r);
	fade_yield(&s->chosen, keep);
	fade_yield(&s->oldest, keep);
	council = tide_share_council(s, v);
	few = fmax(COUNCIL_FEW * fmin(width, 1), COUNCIL_LEARN -
	           council.shards * (double)council.oldest.visits) / tide_shards_of(v);
	s->oldest_share = o->nocouncil ? 0 :
	                  oldest_share(&council, fmin(COUNCIL_SMALL, few / v->budget),
	                               (double)pages.oldest * (double)s->age_unit);
	/* a fraction of a page is owed from cycle to cycle */
	s->owed_oldest = fmod((v->cycle - 1) * s->oldest_share * v->budget + ROUNDING, 1);
	/* a visit that tells of one cycle teaches nothing about the others */
	s->explore = fmin(1, s->model.alone ? EXPLORE_ALONE * o->explore : o->explore);
	s->noise = (float)o->noise;
	s->doubt = v->goal == GOAL_CHANGED && v->aim != AIM_CHANGES ? TIME_DOUBT : 0;
	s->batch = o->batch;
	s->n_pool = 0;
	s->pool_wide = false;
	s->pool_least = INFINITY;       /* none is in the pool, and none comes */
	s->floor = 0;
	s->owed = fmod((v->cycle - 1) * s->explore * v->budget + ROUNDING, 1);
}
