/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liverank.c - LiveRank as questions and answers; see liverank.h.
 *
 * Ties.  Every page has a place: its position by PageRank, pages of equal rank
 * in random order, or with random_ties its position in a random permutation.
 * All orders break ties by place, so a seed fixes the order completely.  Scores of a
 * sample are rounded first: pages with the same one page linking to them have its
 * Y+/Y- exactly, and what the solver leaves behind the tenth digit must not choose.
 *
 * Cost.  Static and sample-based orders: a sort, and for Pa and Pa+/- one solve
 * for one or two vectors.  BFS: O(links).  AI: O(links log pages), a heap of the
 * pages that some living page links to; key = that number + a fraction by place.
 */
#include "graph/liverank.h"

#include <math.h>

#include "base/heap.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "graph/liverank_order.h"

#define TOLERANCE 1e-9
#define SCORE_BITS 20           /* binary digits that the solver computes exactly */

enum { ASKED = 1, ALIVE = 2, DEAD = 4, QUEUED = 8 };

struct liverank {
	struct liverank_world world;
	struct liverank_opts opts;
	uint32_t n;
	uint8_t *state;
	uint32_t *place;                /* by page: see "Ties" above */
	uint32_t *by_place;             /* pages, best place first */
	uint32_t *order;                /* the sample, then the fixed part of the order */
	uint32_t n_order, at, n_sample;
	bool ranked;                    /* the order after the sample is made */
	VEC(uint32_t) queue;            /* BFS */
	size_t queue_at;
	struct heap heap;               /* AI */
	uint32_t rest_at;               /* in by_place: next page when queue or heap is empty */
};

static int check(const struct liverank_world *w, const struct liverank_opts *o,
                 struct err *err)
{
	bool sampled = o->order >= LIVERANK_ALIVE && o->order <= LIVERANK_ALIVE_INDEGREE;
	bool by_rank = sampled && o->by == LIVERANK_BY_PAGERANK && o->order != LIVERANK_SITE;
	bool by_degree = sampled && o->by == LIVERANK_BY_INDEGREE && o->order != LIVERANK_SITE;

	if (!w->pagerank && (by_rank || (o->order != LIVERANK_RANDOM &&
	                                 o->order != LIVERANK_SITE &&
	                                 o->order != LIVERANK_ORACLE)))
		return err_set(err, E_USAGE, "this order needs PageRank");
	if (!w->in_degree && (by_degree || o->order == LIVERANK_INDEGREE))
		return err_set(err, E_USAGE, "this order needs in-degrees");
	if (!w->matrix && (o->order == LIVERANK_ALIVE || o->order == LIVERANK_ALIVE_DEAD))
		return err_set(err, E_USAGE, "this order needs the PageRank matrix");
	if (!w->sites && o->order == LIVERANK_SITE)
		return err_set(err, E_USAGE, "order site needs to know the site of each page");
	if (!w->truth && o->order == LIVERANK_ORACLE)
		return err_set(err, E_USAGE, "order oracle needs the truth");
	return 0;
}

/* Fill place and by_place.  dice: a random permutation of the pages. */
static void make_places(struct liverank *l, const uint32_t *dice)
{
	for (uint32_t i = 0; i < l->n; i++) {
		l->by_place[i] = dice[i];
		l->place[dice[i]] = i;
	}
	if (!l->world.pagerank)
		return;
	liverank_sort(l->by_place, l->n, l->world.pagerank, NULL, l->place);
	/* ASF has random ties by definition */
	for (uint32_t i = 0; !l->opts.random_ties && l->opts.order != LIVERANK_SITE &&
	     i < l->n; i++)
		l->place[l->by_place[i]] = i;
}

/* The order in which pages are taken for the sample, or the whole order. */
static void fill_static(struct liverank *l, const uint32_t *dice)
{
	enum liverank_order order = l->opts.order;
	bool sampled = order >= LIVERANK_ALIVE && order <= LIVERANK_ALIVE_INDEGREE;
	enum liverank_by by = l->opts.by;

	for (uint32_t i = 0; i < l->n; i++)
		l->order[i] = dice[i];
	if (order == LIVERANK_ORACLE)
		liverank_sort(l->order, l->n, NULL, l->world.truth, l->place);
	else if (order == LIVERANK_INDEGREE || (sampled && by == LIVERANK_BY_INDEGREE))
		liverank_sort_degrees(l->order, l->n, l->world.in_degree, l->place);
	else if (order == LIVERANK_PAGERANK || (sampled && by == LIVERANK_BY_PAGERANK))
		liverank_sort(l->order, l->n, l->world.pagerank, NULL, l->place);
}

static void fill_sample(struct liverank *l, struct rng *r)
{
	uint32_t z = l->opts.sample < l->n ? l->opts.sample : l->n;

	if (l->opts.order == LIVERANK_SITE) {
		l->n_sample = liverank_sample_sites(l->order, l->n, l->world.sites,
		                                    l->world.n_sites, z, r);
		return;
	}
	if (l->opts.by == LIVERANK_BY_SYSTEMATIC)
		liverank_systematic(l->order, l->n, z, r);
	if (l->opts.spread)
		liverank_spread(l->order, l->n, z, l->world.out);
	l->n_sample = z;
}

int liverank_new(struct liverank **ret, const struct liverank_world *world,
                 const struct liverank_opts *opts, struct err *err)
{
	enum liverank_order order = opts->order;
	int failed = check(world, opts, err);
	struct liverank *l;
	uint32_t *dice;
	struct rng r;

	if (failed)
		return failed;
	l = mem_zalloc(1, sizeof *l);
	l->world = *world;
	l->opts = *opts;
	l->n = world->out->n_nodes;
	l->state = mem_zalloc(l->n + 1ul, 1);
	l->place = mem_array(l->n + 1ul, sizeof *l->place);
	l->by_place = mem_array(l->n + 1ul, sizeof *l->by_place);
	l->order = mem_array(l->n + 1ul, sizeof *l->order);
	dice = mem_array(l->n + 1ul, sizeof *dice);
	rng_init(&r, rng_draw(opts->seed, 0, 0, RNG_ORDER));
	for (uint32_t i = 0; i < l->n; i++)
		dice[i] = i;
	rng_shuffle(&r, dice, l->n);
	make_places(l, dice);
	/* shuffle again: the sample must not depend on how ties are broken */
	rng_shuffle(&r, dice, l->n);
	fill_static(l, dice);
	free(dice);
	if (order >= LIVERANK_ALIVE && order <= LIVERANK_ALIVE_INDEGREE) {
		fill_sample(l, &r);
		l->n_order = l->n_sample;
	} else {
		l->n_order = l->n;
		l->ranked = true;
	}
	if (order == LIVERANK_ALIVE_INDEGREE)
		heap_init(&l->heap, l->n);
	*ret = l;
	return 0;
}

void liverank_free(struct liverank *l)
{
	if (!l)
		return;
	free(l->state);
	free(l->place);
	free(l->by_place);
	free(l->order);
	vec_release(&l->queue);
	heap_release(&l->heap);
	free(l);
}

/* Teleport uniform on the pages known to be in this state, which are those of
 * the sample; false if there are none. */
static bool make_teleport(const struct liverank *l, uint8_t state, double *ret)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < l->n; v++)
		n += (l->state[v] & state) != 0;
	for (uint32_t v = 0; n && v < l->n; v++)
		if (l->state[v] & state)
			ret[v] = 1.0 / n;
	return n > 0;
}

/* scores[k]: PageRank from the living (0) and from the dead (1) of the sample. */
static unsigned rank_from_sample(const struct liverank *l, unsigned n, double **scores)
{
	struct pagerank_opts o = PAGERANK_DEFAULTS;
	struct pagerank_result results[2];
	double *teleports[2] = { 0 };

	o.dangling = PAGERANK_DROP;
	o.tolerance = TOLERANCE;
	for (unsigned k = 0; k < n; k++) {
		teleports[k] = mem_zalloc(l->n + 1ul, sizeof **teleports);
		if (!make_teleport(l, k ? DEAD : ALIVE, teleports[k])) {
			free(teleports[k]);
			n = k;
		}
	}
	for (unsigned k = 0; k < n; k++)
		scores[k] = mem_array(l->n + 1ul, sizeof **scores);
	if (n && pagerank_solve(l->world.matrix, &o, n, (const double *const *)teleports,
	                        scores, results, NULL))
		n = 0;                  /* cannot happen: the vectors are ours */
	for (unsigned k = 0; k < n; k++)
		free(teleports[k]);
	return n;
}

/* To SCORE_BITS binary digits. */
static double rounded(double x)
{
	int exponent;
	double part = frexp(x, &exponent);

	return ldexp(rint(ldexp(part, SCORE_BITS)), exponent - SCORE_BITS);
}

/* Behind the sample: what is untested, by score, then by place. */
static void rank_rest(struct liverank *l)
{
	double *scores[2] = { 0 }, *score = NULL, *activity = NULL;
	bool site = l->opts.order == LIVERANK_SITE;
	uint32_t n = l->n_sample;

	if (site) {
		score = activity = mem_array(l->n + 1ul, sizeof *score);
		liverank_site_activity(l->state, ALIVE, DEAD, l->n, l->world.sites,
		                       l->world.n_sites, activity);
	} else {
		unsigned n_scores = rank_from_sample(l, l->opts.order == LIVERANK_ALIVE ? 1 : 2,
		                                     scores);

		score = n_scores ? scores[0] : NULL;
		if (n_scores == 2)
			liverank_divide(scores[0], scores[1], l->n);
		for (uint32_t v = 0; score && v < l->n; v++)
			score[v] = rounded(score[v]);
	}
	for (uint32_t v = 0; v < l->n; v++)
		if (!(l->state[v] & ASKED))
			l->order[n++] = v;
	l->n_order = n;
	/* without living samples the score is NULL: by place, that is by PageRank */
	liverank_sort(l->order + l->n_sample, n - l->n_sample, score, NULL, l->place);
	free(scores[0]);
	free(scores[1]);
	free(activity);
	l->ranked = true;
}

static uint32_t ask(struct liverank *l, uint32_t page)
{
	l->state[page] |= ASKED;
	return page;
}

/* BFS and AI: the page to test now, if any is known to be promising. */
static uint32_t next_promising(struct liverank *l)
{
	uint32_t page;

	if (l->opts.order == LIVERANK_BFS) {
		while (l->queue_at < l->queue.n) {
			page = l->queue.v[l->queue_at++];
			if (!(l->state[page] & ASKED))
				return page;
		}
		return GRAPH_NONE;
	}
	while (heap_pop(&l->heap, &page, NULL))
		if (!(l->state[page] & ASKED))
			return page;
	return GRAPH_NONE;
}

uint32_t liverank_next(struct liverank *l)
{
	bool dynamic = l->opts.order == LIVERANK_BFS ||
		l->opts.order == LIVERANK_ALIVE_INDEGREE;
	uint32_t page;

	if (l->at >= l->n_order && !l->ranked && !dynamic)
		rank_rest(l);
	while (l->at < l->n_order) {
		page = l->order[l->at++];
		if (!(l->state[page] & ASKED))
			return ask(l, page);
	}
	if (!dynamic)
		return GRAPH_NONE;
	page = next_promising(l);
	while (page == GRAPH_NONE && l->rest_at < l->n) {
		uint32_t p = l->by_place[l->rest_at++];

		if (!(l->state[p] & ASKED))
			page = p;
	}
	return page == GRAPH_NONE ? page : ask(l, page);
}

bool liverank_in_sample(const struct liverank *l)
{
	return l->at < l->n_sample;
}

void liverank_tell(struct liverank *l, uint32_t page, bool alive)
{
	const uint32_t *links;
	uint64_t n;

	l->state[page] |= alive ? ALIVE : DEAD;
	if (!alive || (l->opts.order != LIVERANK_BFS &&
	               l->opts.order != LIVERANK_ALIVE_INDEGREE))
		return;
	links = graph_links(l->world.out, page, &n);
	for (uint64_t i = 0; i < n; i++) {
		uint32_t to = links[i];
		double key;

		if (l->state[to] & ASKED)
			continue;
		if (l->opts.order == LIVERANK_BFS) {
			if (!(l->state[to] & QUEUED))
				vec_push(&l->queue, to);
			l->state[to] |= QUEUED;
			continue;
		}
		key = heap_has(&l->heap, to) ? l->heap.key[to] + 1 :
			1 + (double)(l->n - 1 - l->place[to]) / (l->n + 1.0);
		heap_set(&l->heap, to, key);
	}
}

void liverank_cost(const uint32_t *order, uint32_t n, const uint8_t *alive,
                   const double *alphas, unsigned n_alphas, double *ret_costs)
{
	uint64_t n_alive = 0, found = 0;
	unsigned a = 0;

	for (uint32_t v = 0; v < n; v++)
		n_alive += alive[v] != 0;
	for (uint32_t i = 0; i < n && a < n_alphas && n_alive; i++) {
		found += alive[order[i]] != 0;
		/* the smallest i with found / n_alive >= alpha, rounding forgiven */
		while (a < n_alphas && (double)found >= alphas[a] * (double)n_alive - 1e-9) {
			ret_costs[a] = (i + 1) / (alphas[a] * (double)n_alive);
			a++;
		}
	}
	while (a < n_alphas)
		ret_costs[a++] = NAN;
}
