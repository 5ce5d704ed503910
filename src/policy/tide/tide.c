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
 * alone, 10 %) are the best of some drawn at random, or probes of hosts that are left
 * alone (tide_explore.c).  A council keeps the whole honest: see tide_begin.c.
 *
 * Under aims other than changes a page's score is what a true copy of it is worth from
 * now on (tide_worth.h), given that chance and the rate at which it will change again.
 *
 * Cost.  O(pages) a batch for noise and selection, a table lookup each; chances
 * only for the hosts that were visited since.  21 bytes a page.
 * Blind spot.  A page alone in its directory and families learns only from itself
 * and its host.
 */
#include "base/map.h"
#include "graph/graph.h"
#include "policy/tide/tide.h"

#include <math.h>

#define OLDEST_AT_ONCE 0.5      /* of a batch: fewer are taken in the first one */
#define SHARD_TRUST 10          /* of a fleet's shard: times stronger prior of the fit */

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
	tide_rescore(p, v, scored);
	while (s->n_dirty)
		s->dirty[s->dirty_roots[--s->n_dirty]] = 0;
	tide_share_leave(s, v);
	oldest = oldest_now(s, v, b);
	s->owed += s->explore * (b - oldest);
	explore = (uint32_t)fmin(s->owed, b - oldest);  /* sums of shares are rounded */
	s->owed -= explore;
	tide_batch(p, v, plan, b - oldest - explore, explore);
	if (oldest)
		tide_batch_oldest(s, v, plan);
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
	tide_rescore(p, v, false);
	tide_share_leave(s, v);
	s->pool_least = least;
	s->fixed_ready = fixed;
	s->scored = stamp_of(s, v);
	tide_batch_demand(p, v, ret);
	tide_share_say(s, v, &ret->shared);
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
	s->failed[seen->page] = seen->outcome >= OUTCOME_FAILED;
	if (!seen->known)
		return;
	level = tide_model_refresh(&s->model, dir);
	if (v->goal == GOAL_CHANGED && v->aim != AIM_CHANGES)
		gain = tide_worth_of_truth(1, tide_future_of(s, h, dir, level), s->horizon) /
		       s->horizon;
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
	tide_cohort_learn(s, s->model.root[dir], last, seen->hit, c);
	for (int f = 0; f < N_FAMILIES; f++)
		if (s->family[f]) {
			uint32_t group = v->family[f][seen->page];
			struct tide_family *g = &s->family[f][group];

			tide_surprise(g, seen->hit, c);
			if (s->fixed_ready)
				s->factor[f][group] = tide_factor(s, TIDE_FAMILY + f, g);
		}
	if (seen->reason == REASON_CHANCE || seen->reason == REASON_OLDEST) {
		struct tide_yield *y = seen->reason == REASON_CHANCE ? &s->chosen : &s->oldest;

		y->hits += seen->hit ? gain : 0.f;
		y->visits += 1;
		y->age += (float)view_age(v, seen->page) * s->age_unit;
	}
	*(seen->hit ? &s->found[dir] : &s->missed[dir]) += 1;
	*(seen->hit ? &s->near_found[tide_near(v, dir)] : &s->near_missed[tide_near(v, dir)]) += 1;
	tide_mark_dirty(s, s->model.root[dir]);
}

/* Of a large repository a visit finds nearly all of this in main memory, where it would wait
 * for one after another. */
static void tide_soon(const struct policy *p, const struct view *v, uint32_t page, bool near)
{
	const struct tide_state *s = p->state;
	uint32_t dir;

	if (!near) {
		__builtin_prefetch((char *)p->page_mem + page * sizeof(struct tide_page), 1);
		for (int f = 0; f < N_FAMILIES; f++)
			if (s->family[f])
				__builtin_prefetch(&v->family[f][page]);
		if (v->links && v->links->n_links)
			__builtin_prefetch(&v->links->offsets[page]);
		if (v->pagerank)
			__builtin_prefetch(&v->pagerank[page]);
		if (v->size)
			__builtin_prefetch(&v->size[page]);
		return;
	}
	dir = tide_home(v->tree, v->dir[page]);
	for (int f = 0; f < N_FAMILIES; f++)
		if (s->family[f])
			__builtin_prefetch(&s->family[f][v->family[f][page]], 1);
	__builtin_prefetch(&s->found[dir], 1);
	__builtin_prefetch(&s->missed[dir], 1);
	tide_model_soon(&s->model, dir);
}

static void tide_end(struct policy *p, const struct view *v)
{
	struct tide_state *s = p->state;
	const struct tide_opts *o = p->opts;
	size_t n = s->n_rows < TIDE_ROWS ? s->n_rows : TIDE_ROWS;
	struct logistic_prior prior[TIDE_FEATURES];
	double trust = v->n_shards > 1 ? SHARD_TRUST * tide_shards_of(v) : 1;

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
		tide_make_ready(s, p->opts, v);
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
	frozen_rows(f, s->failed, v->n_pages, sizeof *s->failed);
	tide_model_freeze(&s->model, f);
}

static void tide_release(struct policy *p)
{
	struct tide_state *s = p->state;

	if (!s->ready)
		return;
	tide_model_release(&s->model);
	for (int f = 0; f < N_FAMILIES; f++) {
		free(s->family[f]);
		free(s->factor[f]);
	}
	vec_release(&s->cohorts);
	free(s->cohorts_of);
	free(s->failed);
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
	.soon = tide_soon,
	.demand = tide_demand,
	.end = tide_end,
	.release = tide_release,
	.freeze = tide_freeze,
};
