/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_pool.c - the pages that may be tested next, as heaps; see evidence_pool.h.
 *
 * Cost.  O(log pages of the leaf + log leaves) for a page, O(pages of the leaf) to score a
 * leaf anew.
 */
#include "policy/evidence/evidence_pool.h"

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

void evidence_pool_rank(struct evidence_state *s, uint32_t leaf)
{
	uint32_t top = s->world.leaf[leaf].first;

	if (s->n_pool[leaf])
		heap_set(&s->heap, leaf, evidence_pool_key(s, s->place[leaf] + s->key[top],
		                                           s->world.order[top]));
	else
		heap_remove(&s->heap, leaf);
}

static bool in_pool(const struct evidence_state *s, uint32_t leaf, uint32_t page)
{
	return s->world.slot[page] - s->world.leaf[leaf].first < s->n_pool[leaf];
}

void evidence_pool_add(struct evidence_state *s, uint32_t leaf, uint32_t page, float key)
{
	uint32_t first = s->world.leaf[leaf].first, i;

	if (!in_pool(s, leaf, page))
		exchange(s, s->world.slot[page], first + s->n_pool[leaf]++);
	i = s->world.slot[page] - first;
	s->key[first + i] = key;
	sift_up(s, first, i);
	sift_down(s, first, s->n_pool[leaf], s->world.slot[page] - first);
}

void evidence_pool_drop(struct evidence_state *s, uint32_t leaf)
{
	uint32_t first = s->world.leaf[leaf].first, n = --s->n_pool[leaf];

	exchange(s, first, first + n);
	sift_down(s, first, n, 0);
	evidence_pool_rank(s, leaf);
}

void evidence_pool_fill(struct evidence_state *s, uint32_t *pages, size_t n)
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
		evidence_pool_rank(s, pages[i]);
	}
}

void evidence_pool_empty(struct evidence_state *s)
{
	while (s->heap.n) {
		uint32_t leaf = s->heap.item[s->heap.n - 1];

		s->n_pool[leaf] = 0;
		heap_remove(&s->heap, leaf);
	}
}

void evidence_pool_score_leaf(struct evidence_state *s, const struct view *v, uint32_t leaf)
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
	evidence_pool_rank(s, leaf);
}

void evidence_pool_score_page(struct evidence_state *s, const struct view *v, uint32_t page)
{
	uint32_t leaf = s->world.leaf_of[page];
	float own = evidence_own(s, page);

	s->place[leaf] = evidence_place(s, leaf);
	if (view_open(v, page) && (in_pool(s, leaf, page) || s->place[leaf] + own >= s->floor))
		evidence_pool_add(s, leaf, page, own);
	evidence_pool_rank(s, leaf);
}

void evidence_pool_sink(struct evidence_state *s, uint32_t leaf, float place)
{
	uint32_t first = s->world.leaf[leaf].first;

	s->key[first] = evidence_own(s, s->world.order[first]);
	sift_down(s, first, s->n_pool[leaf], 0);
	s->place[leaf] = place;
	evidence_pool_rank(s, leaf);
}
