/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_queue.c - the highest score first, without scoring everything.
 *
 * All pages are scored when the tests have grown by a twentieth, and at refits; the best
 * of them are the pool, the best outside is the floor.  The pool has two levels: each
 * leaf holds its pages by what they add to their place, the first slots of the leaf being
 * a heap; and a heap holds the leaves by place and best page.  What moves a place, doubts
 * above all, moves one leaf and not its pages.
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
 * page, 24 a leaf, and 4 a page while all are scored.
 */
#include <math.h>

#include "base/math/rng.h"
#include "graph/graph.h"
#include "policy/evidence/evidence.h"

#define AROUND 256              /* pages scored anew around a test */
#define LINKED 64
#define SAME 1e-4               /* scores that differ by less are equal */
#define NOISE 1e-5              /* by which leaves of the same score differ */
#define POOL_LEAST 1024
#define POOL_SHARE 0.25         /* of the tests: five times what is taken from it */
#define FULL_GROWTH 1.05        /* of the tests, until all are scored anew */
#define FLOOR_GROWTH 1.01       /* the same once what is left is below the floor */

void evidence_queue_init(struct evidence_state *s, uint32_t n_pages)
{
	heap_init(&s->heap, s->world.n_leaves);
	s->key = mem_array(n_pages, sizeof *s->key);
	s->n_pool = mem_zalloc(s->world.n_leaves, sizeof *s->n_pool);
}

void evidence_queue_release(struct evidence_state *s)
{
	heap_release(&s->heap);
	free(s->key);
	free(s->n_pool);
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

/* Does the page in slot a come before that in slot b of its leaf? */
static bool before(const struct evidence_state *s, uint32_t a, uint32_t b)
{
	const uint32_t *page = s->world.order;

	if (s->key[a] > s->key[b])
		return true;
	return !(s->key[a] < s->key[b]) &&
	       evidence_chance(s->seed, page[a]) > evidence_chance(s->seed, page[b]);
}

static void exchange(struct evidence_state *s, uint32_t a, uint32_t b)
{
	struct evidence_world *w = &s->world;
	uint32_t page = w->order[a];
	float key = s->key[a];

	if (a == b)
		return;
	w->order[a] = w->order[b];
	w->order[b] = page;
	s->key[a] = s->key[b];
	s->key[b] = key;
	w->slot[w->order[a]] = a;
	w->slot[w->order[b]] = b;
}

/* The heap of a leaf begins at slot `first` and has n pages; i counts from there. */
static void sift_up(struct evidence_state *s, uint32_t first, uint32_t i)
{
	for (; i && before(s, first + i, first + (i - 1) / 2); i = (i - 1) / 2)
		exchange(s, first + i, first + (i - 1) / 2);
}

static void sift_down(struct evidence_state *s, uint32_t first, uint32_t n, uint32_t i)
{
	for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
		child += child + 1 < n && before(s, first + child + 1, first + child);
		if (!before(s, first + child, first + i))
			break;
		exchange(s, first + i, first + child);
	}
}

/* The leaf in the heap of leaves, by its best page. */
static void rank_leaf(struct evidence_state *s, uint32_t leaf)
{
	uint32_t top = s->world.leaf[leaf].first;

	if (s->n_pool[leaf])
		heap_set(&s->heap, leaf, (double)(s->place[leaf] + s->key[top]) + NOISE *
		         rng_unit(evidence_chance(s->seed, s->world.order[top])));
	else
		heap_remove(&s->heap, leaf);
}

static bool in_pool(const struct evidence_state *s, uint32_t leaf, uint32_t page)
{
	return s->world.slot[page] - s->world.leaf[leaf].first < s->n_pool[leaf];
}

/* The page in the pool with this key; the leaf is to be ranked. */
static void add_page(struct evidence_state *s, uint32_t leaf, uint32_t page, float key)
{
	uint32_t first = s->world.leaf[leaf].first, i;

	if (!in_pool(s, leaf, page))
		exchange(s, s->world.slot[page], first + s->n_pool[leaf]++);
	i = s->world.slot[page] - first;
	s->key[first + i] = key;
	sift_up(s, first, i);
	sift_down(s, first, s->n_pool[leaf], s->world.slot[page] - first);
}

static void drop_top(struct evidence_state *s, uint32_t leaf)
{
	uint32_t first = s->world.leaf[leaf].first, n = --s->n_pool[leaf];

	exchange(s, first, first + n);
	sift_down(s, first, n, 0);
	rank_leaf(s, leaf);
}

/* The ranks of the scores of all open pages, 0 of the others. */
static void rank_all(struct evidence_state *s, const struct view *v, uint32_t *ret)
{
	const struct evidence_world *w = &s->world;

	evidence_rates(s);
	for (uint32_t i = 0; i < w->n_names; i++)
		evidence_name_value(s, i);
	for (uint32_t i = 0; i < v->n_pages; i++) {
		float own = s->base[i] + s->named[w->name_of[i]].value;

		ret[i] = view_open(v, i) ? evidence_rank(s->place[w->leaf_of[i]] + own) : 0;
	}
}

static void empty_pool(struct evidence_state *s)
{
	while (s->heap.n) {
		uint32_t leaf = s->heap.item[s->heap.n - 1];

		s->n_pool[leaf] = 0;
		heap_remove(&s->heap, leaf);
	}
}

static void fill(struct evidence_state *s, const struct view *v)
{
	size_t keep = (size_t)fmax(POOL_LEAST, POOL_SHARE * (double)s->n_tests);
	uint32_t *rank = mem_array(v->n_pages, sizeof *rank), *best, floor;

	empty_pool(s);
	s->seed = v->seed;
	rank_all(s, v, rank);
	if (keep > v->n_pages)
		keep = v->n_pages;
	best = mem_array(keep, sizeof *best);
	keep = evidence_best(rank, v->n_pages, keep, s->seed, best, &floor);
	s->floor = floor ? evidence_unrank(floor) : -INFINITY;
	free(rank);
	for (size_t i = 0; i < keep; i++) {
		uint32_t leaf = s->world.leaf_of[best[i]];

		add_page(s, leaf, best[i], evidence_own(s, best[i]));
		rank_leaf(s, leaf);
	}
	free(best);
	s->dirty_node.n = s->dirty_leaf.n = s->dirty_page.n = 0;
	s->full_at = s->n_tests;
	s->queue_ready = true;
}

/* All pages of a leaf scored anew: those that reach the floor come into the pool. */
static void score_leaf(struct evidence_state *s, const struct view *v, uint32_t leaf)
{
	const struct evidence_world *w = &s->world;
	uint32_t first = w->leaf[leaf].first, n = w->leaf[leaf + 1].first - first, pool = 0;

	s->place[leaf] = evidence_place(s, leaf);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t page = w->order[first + i];

		if (!view_open(v, page))
			continue;
		s->key[first + i] = evidence_own(s, page);
		if (i < s->n_pool[leaf] || s->place[leaf] + s->key[first + i] >= s->floor)
			exchange(s, first + pool++, first + i);
	}
	s->n_pool[leaf] = pool;
	for (uint32_t i = pool / 2; i-- > 0;)
		sift_down(s, first, pool, i);
	rank_leaf(s, leaf);
}

static void score_page(struct evidence_state *s, const struct view *v, uint32_t page)
{
	uint32_t leaf = s->world.leaf_of[page];
	float own = evidence_own(s, page);

	s->place[leaf] = evidence_place(s, leaf);
	if (view_open(v, page) && (in_pool(s, leaf, page) || s->place[leaf] + own >= s->floor))
		add_page(s, leaf, page, own);
	rank_leaf(s, leaf);
}

static int by_number(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return a < b ? -1 : a > b;
}

static void mend(struct evidence_state *s, const struct view *v)
{
	const struct evidence_world *w = &s->world;

	if (s->dirty_node.n)
		qsort(s->dirty_node.v, s->dirty_node.n, sizeof *s->dirty_node.v, by_number);
	for (size_t i = 0; i < s->dirty_node.n; i++) {
		uint32_t node = s->dirty_node.v[i];

		if (i && node == s->dirty_node.v[i - 1])
			continue;
		for (uint32_t k = w->leaf_first[node]; k < w->leaf_end[node]; k++)
			score_leaf(s, v, k);
	}
	for (size_t i = 0; i < s->dirty_leaf.n; i++) {
		s->place[s->dirty_leaf.v[i]] = evidence_place(s, s->dirty_leaf.v[i]);
		rank_leaf(s, s->dirty_leaf.v[i]);
	}
	for (size_t i = 0; i < s->dirty_page.n; i++)
		score_page(s, v, s->dirty_page.v[i]);
	s->dirty_node.n = s->dirty_leaf.n = s->dirty_page.n = 0;
}

static bool grown(const struct evidence_state *s, double by)
{
	return s->n_tests >= evidence_due(s, s->full_at, by);
}

/* The best page of a leaf and its place, scored anew and put where they belong. */
static void sink(struct evidence_state *s, uint32_t leaf, uint32_t page, float place)
{
	uint32_t first = s->world.leaf[leaf].first;

	s->key[first] = evidence_own(s, page);
	sift_down(s, first, s->n_pool[leaf], 0);
	s->place[leaf] = place;
	rank_leaf(s, leaf);
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
			drop_top(s, leaf);
			continue;
		}
		place = evidence_place(s, leaf);
		now = (double)(place + evidence_own(s, page)) +
		      NOISE * rng_unit(evidence_chance(s->seed, page));
		if (now >= key - SAME) {
			drop_top(s, leaf);
			*ret_score = now;
			return page;
		}
		sink(s, leaf, page, place);
	}
}

void evidence_queue_push(struct evidence_state *s, uint32_t page)
{
	uint32_t leaf = s->world.leaf_of[page];

	add_page(s, leaf, page, evidence_own(s, page));
	rank_leaf(s, leaf);
	vec_push(&s->lowered, leaf);
}

void evidence_queue_settle(struct evidence_state *s)
{
	for (size_t i = 0; i < s->lowered.n; i++)
		vec_push(&s->dirty_leaf, s->lowered.v[i]);
	s->lowered.n = 0;
}
