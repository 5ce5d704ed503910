/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_queue.c - the highest score first, without scoring everything.
 *
 * All pages are scored when the tests have grown by a twentieth, and at refits;
 * the best of them go into a heap, the best outside is the floor.  In between a
 * test moves three kinds of pages: those under the largest directory around it
 * that has few pages, and its linked pages, which are scored anew at once; and
 * everybody else, a little.  A page is scored anew when it comes to the top, so
 * that what sank is not taken; what rose elsewhere waits for the next scoring.
 * When the top falls below the floor, all are scored at a hundredth.
 *
 * Cost.  O(pages + nodes) for a scoring of all, of which a whole recovery has about
 * 20 log(pages / 20), at worst 100 log(...); O(AROUND) at worst for a test.  16
 * bytes a page, and 16 more while all are scored.
 */
#include <math.h>

#include "base/math/rng.h"
#include "graph/graph.h"
#include "policy/evidence/evidence.h"

#define AROUND 256              /* pages scored anew around a test */
#define LINKED 64
#define SAME 1e-4               /* scores that differ by less are equal */
#define POOL_LEAST 1024
#define POOL_SHARE 0.25         /* of the tests: five times what is taken from it */
#define FULL_GROWTH 1.05        /* of the tests, until all are scored anew */
#define FLOOR_GROWTH 1.01       /* the same once what is left is below the floor */

void evidence_queue_init(struct evidence_state *s, uint32_t n_pages)
{
	heap_init(&s->heap, n_pages);
}

void evidence_queue_release(struct evidence_state *s)
{
	heap_release(&s->heap);
	free(s->dirty_node.v);
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

static void touch_place(struct evidence_state *s, uint32_t node)
{
	const struct evidence_world *w = &s->world;

	if (w->size[node] > AROUND)
		return;
	while (node && w->size[w->parent[node]] <= AROUND)
		node = w->parent[node];
	vec_push(&s->dirty_node, node);
}

void evidence_queue_touch(struct evidence_state *s, const struct view *v, uint32_t page)
{
	if (!s->queue_ready)
		return;
	if (s->heap.n_max)
		heap_remove(&s->heap, page);
	touch_place(s, s->world.node[page]);
	if (v->links && v->links_in) {
		touch_linked(s, v->links, page);
		touch_linked(s, v->links_in, page);
	}
}

/* Equals are told apart by chance. */
static double key_of(const struct evidence_state *s, const struct view *v, uint32_t page)
{
	return (double)evidence_score(s, v, page) +
	       1e-5 * rng_unit(rng_draw(v->seed, 0, page, RNG_TIE));
}

static void fill(struct evidence_state *s, const struct view *v)
{
	const struct evidence_world *w = &s->world;
	struct offer *all = mem_array(v->n_pages, sizeof *all);
	size_t n = 0, keep;
	float floor = -INFINITY;

	while (s->heap.n)
		heap_remove(&s->heap, s->heap.item[s->heap.n - 1]);
	if (s->stale_fixed)
		evidence_fix_statics(s, v->n_pages);
	evidence_rates(s);
	for (uint32_t i = 0; i < v->n_pages; i++)
		if (view_open(v, w->order[i]))
			all[n++] = (struct offer){ .page = w->order[i],
			                           .score = evidence_score(s, v, w->order[i]) };
	keep = (size_t)fmax(POOL_LEAST, POOL_SHARE * (double)s->tests.n);
	if (keep > n)
		keep = n;
	offers_select(all, n, keep, v->seed, v->cycle);
	for (size_t i = 0; i < keep; i++)
		heap_set(&s->heap, all[i].page, key_of(s, v, all[i].page));
	for (size_t i = keep; i < n; i++)
		floor = fmaxf(floor, all[i].score);
	s->floor = (double)floor;
	free(all);
	s->dirty_node.n = s->dirty_page.n = 0;
	s->full_at = s->tests.n;
	s->queue_ready = true;
}

static void put(struct evidence_state *s, const struct view *v, uint32_t page)
{
	double key;

	if (!view_open(v, page))
		return;
	key = key_of(s, v, page);
	if (key >= s->floor || heap_has(&s->heap, page))
		heap_set(&s->heap, page, key);
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
		for (uint32_t k = w->first[node]; k < w->first[node] + w->size[node]; k++) {
			uint32_t page = w->order[k];

			if (k == w->first[node] || w->node[page] != w->node[w->order[k - 1]])
				evidence_rates_to(s, w->node[page]);
			put(s, v, page);
		}
	}
	for (size_t i = 0; i < s->dirty_page.n; i++) {
		evidence_rates_to(s, w->node[s->dirty_page.v[i]]);
		put(s, v, s->dirty_page.v[i]);
	}
	s->dirty_node.n = s->dirty_page.n = 0;
}

static bool grown(const struct evidence_state *s, double by)
{
	return (double)s->tests.n > (double)s->full_at * by;
}

uint32_t evidence_queue_pop(struct evidence_state *s, const struct view *v, double *ret_score)
{
	uint32_t page = PAGE_NONE;
	double key, now = 0;

	if (!s->queue_ready || grown(s, FULL_GROWTH))
		fill(s, v);
	else if (s->dirty_node.n || s->dirty_page.n)
		mend(s, v);
	for (;;) {
		if (!heap_top(&s->heap, &page, &key)) {
			if (s->floor == -INFINITY)
				return PAGE_NONE;
			fill(s, v);
			continue;
		}
		if (key < s->floor && grown(s, FLOOR_GROWTH)) {
			fill(s, v);
			continue;
		}
		if (!view_open(v, page)) {
			heap_remove(&s->heap, page);
			continue;
		}
		evidence_rates_to(s, s->world.node[page]);
		now = key_of(s, v, page);
		if (now >= key - SAME)
			break;
		heap_set(&s->heap, page, now);
		if (s->before.n)
			vec_push(&s->lowered, page);
	}
	heap_remove(&s->heap, page);
	*ret_score = now;
	return page;
}

void evidence_queue_push(struct evidence_state *s, uint32_t page, double score)
{
	heap_set(&s->heap, page, score);
	vec_push(&s->lowered, page);
}

void evidence_queue_settle(struct evidence_state *s)
{
	for (size_t i = 0; i < s->lowered.n; i++)
		if (heap_has(&s->heap, s->lowered.v[i]))
			vec_push(&s->dirty_page, s->lowered.v[i]);
	s->lowered.n = 0;
}
