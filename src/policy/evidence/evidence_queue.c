/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_queue.c - the highest score first, without scoring everything.
 *
 * All pages are scored when the tests have grown by a twentieth, and at refits; the best
 * of them are the pool (evidence_pool.h), the best outside is the floor.
 *
 * In between a test moves three kinds of pages: those under the largest directory around
 * it that has few pages, and its linked pages, which are scored anew at once; and
 * everybody else, a little.  A leaf and its best page are scored anew when they come to
 * the top, so that what sank is not taken; what rose elsewhere waits for the next scoring.
 * When the top falls below the floor, all are scored at a hundredth.  Large crawls wait for
 * a test for each EVIDENCE_A_TEST pages, too, or the first tests would cost the most.
 *
 * Cost.  O(pages + nodes) for a scoring of all, of which a whole recovery has about
 * 20 log(pages / 20), at worst 100 log(...); O(AROUND) at worst for a test.  12 bytes a
 * page, 28 a leaf, and 4 a page while all are scored.
 */
#include <math.h>

#include "graph/graph.h"
#include "policy/evidence/evidence_pool.h"
#include "policy/sweep.h"

#define AROUND 256              /* pages scored anew around a test */
#define LINKED 64
#define SAME 1e-4               /* scores that differ by less are equal */
#define POOL_LEAST 1024
#define POOL_SHARE 0.25         /* of the tests: five times what is taken from it */
#define FULL_GROWTH 1.05        /* of the tests, until all are scored anew */
#define FLOOR_GROWTH 1.01       /* the same once what is left is below the floor */

void evidence_queue_init(struct evidence_state *s, uint32_t n_pages)
{
	heap_init(&s->heap, s->world.n_leaves);
	s->key = mem_array(n_pages, sizeof *s->key);
	s->n_pool = mem_zalloc(s->world.n_leaves, sizeof *s->n_pool);
	s->mended = mem_zalloc(s->world.n_leaves, sizeof *s->mended);
}

void evidence_queue_release(struct evidence_state *s)
{
	heap_release(&s->heap);
	free(s->key);
	free(s->n_pool);
	free(s->mended);
	free(s->dirty_node.v);
	free(s->dirty_leaf.v);
	free(s->dirty_page.v);
	free(s->lowered.v);
}

static void touch_linked(struct evidence_state *s, const struct graph *g, uint32_t page)
{
	uint64_t n;
	const uint32_t *near = graph_links(g, page, &n);

	for (uint64_t i = 0; i < n && n <= LINKED; i++)
		vec_push(&s->dirty_page, near[i]);
}

static uint32_t pages_below(const struct evidence_world *w, uint32_t node)
{
	return w->leaf[w->leaf_end[node]].first - w->leaf[w->leaf_first[node]].first;
}

static void touch_place(struct evidence_state *s, uint32_t leaf)
{
	const struct evidence_world *w = &s->world;
	uint32_t node = w->leaf[leaf].node;

	if (pages_below(w, node) > AROUND) {
		vec_push(&s->dirty_leaf, leaf);
		return;
	}
	while (node && pages_below(w, w->parent[node]) <= AROUND)
		node = w->parent[node];
	vec_push(&s->dirty_node, node);
}

void evidence_queue_touch(struct evidence_state *s, const struct view *v, uint32_t page)
{
	if (!s->queue_ready)
		return;
	touch_place(s, s->world.leaf_of[page]);
	if (s->out) {
		touch_linked(s, v->links, page);
		touch_linked(s, v->links_in, page);
	}
}

struct ranking { struct evidence_state *s; const struct view *v; uint32_t *ret; };

static void set_names(void *arg, unsigned block, size_t from, size_t to)
{
	const struct ranking *r = arg;

	(void)block;
	for (size_t i = from; i < to; i++)
		evidence_name_value(r->s, (uint32_t)i);
}

static void set_ranks(void *arg, unsigned block, size_t from, size_t to)
{
	const struct ranking *r = arg;
	const struct evidence_state *s = r->s;
	const struct evidence_world *w = &s->world;

	(void)block;
	for (size_t i = from; i < to; i++) {
		float own = s->base[i] + s->named[w->name_of[i]].value;

		r->ret[i] = view_open(r->v, (uint32_t)i) ?
		            evidence_rank(s->place[w->leaf_of[i]] + own) : 0;
	}
}

/* The ranks of the scores of all open pages, 0 of the others. */
static void rank_all(struct evidence_state *s, const struct view *v, uint32_t *ret)
{
	struct ranking r = { s, v, ret };

	evidence_rates(s, v);
	sweep(v, s->world.n_names, sweep_blocks(s->world.n_names), set_names, &r);
	sweep(v, v->n_pages, sweep_blocks(v->n_pages), set_ranks, &r);
}

static void fill(struct evidence_state *s, const struct view *v)
{
	size_t keep = (size_t)fmax(POOL_LEAST, POOL_SHARE * (double)s->n_tests);
	uint32_t *rank = mem_array(v->n_pages, sizeof *rank), *best, floor;

	evidence_pool_empty(s);
	s->seed = v->seed;
	rank_all(s, v, rank);
	if (keep > v->n_pages)
		keep = v->n_pages;
	best = mem_array(keep, sizeof *best);
	keep = evidence_best(v, rank, v->n_pages, keep, s->seed, best, &floor);
	s->floor = floor ? evidence_unrank(floor) : -INFINITY;
	free(rank);
	evidence_pool_fill(s, best, keep);
	free(best);
	s->dirty_node.n = s->dirty_leaf.n = s->dirty_page.n = 0;
	s->full_at = s->n_tests;
	s->queue_ready = true;
}

static int by_number(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return a < b ? -1 : a > b;
}

static void mend(struct evidence_state *s, const struct view *v)
{
	const struct evidence_world *w = &s->world;
	uint32_t now = ++s->n_mends;

	if (s->dirty_node.n)
		qsort(s->dirty_node.v, s->dirty_node.n, sizeof *s->dirty_node.v, by_number);
	for (size_t i = 0; i < s->dirty_node.n; i++) {
		uint32_t node = s->dirty_node.v[i];

		if (i && node == s->dirty_node.v[i - 1])
			continue;
		for (uint32_t k = w->leaf_first[node]; k < w->leaf_end[node]; k++) {
			evidence_pool_score_leaf(s, v, k);
			s->mended[k] = now;
		}
	}
	for (size_t i = 0; i < s->dirty_leaf.n; i++) {
		uint32_t leaf = s->dirty_leaf.v[i];

		if (s->mended[leaf] == now)
			continue;
		s->place[leaf] = evidence_place(s, leaf);
		evidence_pool_rank(s, leaf);
	}
	for (size_t i = 0; i < s->dirty_page.n; i++)
		if (s->mended[w->leaf_of[s->dirty_page.v[i]]] != now)
			evidence_pool_score_page(s, v, s->dirty_page.v[i]);
	s->dirty_node.n = s->dirty_leaf.n = s->dirty_page.n = 0;
}

static bool grown(const struct evidence_state *s, double by)
{
	return s->n_tests >= evidence_due(s, s->full_at, by);
}

/* The best page of a leaf scored less than it did. */
static void sink(struct evidence_state *s, uint32_t leaf, float place)
{
	evidence_pool_sink(s, leaf, place);
	if (s->before.n)
		vec_push(&s->lowered, leaf);
}

uint32_t evidence_queue_pop(struct evidence_state *s, const struct view *v, double *ret_score)
{
	if (!s->queue_ready || grown(s, FULL_GROWTH))
		fill(s, v);
	else if (s->dirty_node.n || s->dirty_leaf.n || s->dirty_page.n)
		mend(s, v);
	for (;;) {
		uint32_t leaf, page;
		float place;
		double key, now;

		if (!heap_top(&s->heap, &leaf, &key)) {
			if (s->floor == -INFINITY)
				return PAGE_NONE;
			fill(s, v);
			continue;
		}
		if (key < (double)s->floor && grown(s, FLOOR_GROWTH)) {
			fill(s, v);
			continue;
		}
		page = s->world.order[s->world.leaf[leaf].first];
		if (!view_open(v, page)) {
			evidence_pool_drop(s, leaf);
			continue;
		}
		place = evidence_place(s, leaf);
		now = evidence_pool_key(s, place + evidence_own(s, page), page);
		if (now >= key - SAME) {
			evidence_pool_drop(s, leaf);
			*ret_score = now;
			return page;
		}
		sink(s, leaf, place);
	}
}

void evidence_queue_push(struct evidence_state *s, uint32_t page)
{
	uint32_t leaf = s->world.leaf_of[page];

	evidence_pool_add(s, leaf, page, evidence_own(s, page));
	evidence_pool_rank(s, leaf);
	vec_push(&s->lowered, leaf);
}

void evidence_queue_settle(struct evidence_state *s)
{
	for (size_t i = 0; i < s->lowered.n; i++)
		vec_push(&s->dirty_leaf, s->lowered.v[i]);
	s->lowered.n = 0;
}
