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
 * page, 28 a leaf, and 4 a page while all are scored.
 */
#include <math.h>

#include "base/math/rng.h"
#include "graph/graph.h"
#include "policy/evidence/evidence.h"
#include "policy/sweep.h"

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

static void make_heap(struct evidence_state *s, uint32_t leaf)
{
	uint32_t n = s->n_pool[leaf];

	for (uint32_t i = n / 2; i-- > 0;)
		sift_down(s, s->world.leaf[leaf].first, n, i);
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

/* The same as add_page() for each, and their leaves are ranked; the pool is empty. */
static void add_pages(struct evidence_state *s, uint32_t *pages, size_t n)
{
	const struct evidence_world *w = &s->world;
	size_t n_leaves = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t page = pages[i], leaf = w->leaf_of[page];
		uint32_t to = w->leaf[leaf].first + s->n_pool[leaf]++;

		exchange(s, w->slot[page], to);
		s->key[to] = evidence_own(s, page);
		if (s->n_pool[leaf] == 1)
			pages[n_leaves++] = leaf;       /* its page is done with */
	}
	for (size_t i = 0; i < n_leaves; i++) {
		make_heap(s, pages[i]);
		rank_leaf(s, pages[i]);
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
	keep = evidence_best(v, rank, v->n_pages, keep, s->seed, best, &floor);
	s->floor = floor ? evidence_unrank(floor) : -INFINITY;
	free(rank);
	add_pages(s, best, keep);
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
	make_heap(s, leaf);
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
	uint32_t now = ++s->n_mends;

	if (s->dirty_node.n)
		qsort(s->dirty_node.v, s->dirty_node.n, sizeof *s->dirty_node.v, by_number);
	for (size_t i = 0; i < s->dirty_node.n; i++) {
		uint32_t node = s->dirty_node.v[i];

		if (i && node == s->dirty_node.v[i - 1])
			continue;
		for (uint32_t k = w->leaf_first[node]; k < w->leaf_end[node]; k++) {
			score_leaf(s, v, k);
			s->mended[k] = now;
		}
	}
	for (size_t i = 0; i < s->dirty_leaf.n; i++) {
		uint32_t leaf = s->dirty_leaf.v[i];

		if (s->mended[leaf] == now)
			continue;
		s->place[leaf] = evidence_place(s, leaf);
		rank_leaf(s, leaf);
	}
	for (size_t i = 0; i < s->dirty_page.n; i++)
		if (s->mended[w->leaf_of[s->dirty_page.v[i]]] != now)
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
