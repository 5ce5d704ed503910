/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c - breadth-first search and siblings; see walk.h. */
#include "graph/walk.h"

void walk_init(struct walk *w, uint32_t n_nodes, const uint32_t *groups)
{
	*w = (struct walk){ .n_nodes = n_nodes, .groups = groups };
	w->stamps = mem_zalloc(n_nodes ? n_nodes : 1, sizeof *w->stamps);
}

void walk_release(struct walk *w)
{
	free(w->stamps);
	vec_release(&w->queue);
	*w = (struct walk){ 0 };
}

static void begin(struct walk *w, uint32_t start)
{
	if (++w->now == 0) {            /* once in 4 billion walks */
		memset(w->stamps, 0, (size_t)w->n_nodes * sizeof *w->stamps);
		w->now = 1;
	}
	w->stamps[start] = w->now;
	w->queue.n = 0;
}

/* True the first time a node of the start's group is seen in this walk. */
static bool is_new(struct walk *w, uint32_t node, uint32_t start)
{
	if (w->stamps[node] == w->now)
		return false;
	w->stamps[node] = w->now;
	return !w->groups || w->groups[node] == w->groups[start];
}

uint32_t walk_breadth(struct walk *w, const struct graph *g, uint32_t start,
                      uint32_t depth, walk_visit *visit, void *arg)
{
	size_t level_end = 1;
	uint32_t hops = 1, n = 0;

	begin(w, start);
	vec_push(&w->queue, start);
	for (size_t at = 0; at < w->queue.n && hops <= depth; at++) {
		uint64_t n_links;
		const uint32_t *links;

		if (at == level_end) {
			level_end = w->queue.n;
			if (++hops > depth)
				break;
		}
		links = graph_links(g, w->queue.v[at], &n_links);
		for (uint64_t i = 0; i < n_links; i++) {
			if (!is_new(w, links[i], start))
				continue;
			n++;
			if (!visit(arg, links[i], hops))
				return n;
			vec_push(&w->queue, links[i]);
		}
	}
	return n;
}

uint32_t walk_siblings(struct walk *w, const struct graph *in, const struct graph *out,
                       uint32_t start, walk_visit *visit, void *arg)
{
	uint64_t n_parents;
	const uint32_t *parents = graph_links(in, start, &n_parents);
	uint32_t n = 0;

	begin(w, start);
	for (uint64_t p = 0; p < n_parents; p++) {
		uint64_t n_links;
		const uint32_t *links = graph_links(out, parents[p], &n_links);

		if (w->groups && w->groups[parents[p]] != w->groups[start])
			continue;
		for (uint64_t i = 0; i < n_links; i++) {
			if (!is_new(w, links[i], start))
				continue;
			n++;
			if (!visit(arg, links[i], 0))
				return n;
		}
	}
	return n;
}
