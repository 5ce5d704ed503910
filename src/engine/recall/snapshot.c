/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - the key of what was recalled; see snapshot.h. */
#include "engine/recall/snapshot.h"

#include "graph/graph.h"

static uint64_t add(uint64_t h, const void *bytes, size_t size)
{
	return bytes ? hash_bytes(bytes, size, h) : hash_bytes("", 1, h);
}

/* The links of settled pages: nobody else has any. */
static uint64_t add_graph(uint64_t h, const struct graph *g, uint32_t n_settled)
{
	if (!g || !g->offsets)
		return add(h, NULL, 0);
	h = add(h, g->offsets, ((size_t)n_settled + 1) * sizeof *g->offsets);
	return add(h, g->targets, (size_t)g->n_links * sizeof *g->targets);
}

uint64_t snapshot_key(const struct engine *e, uint32_t pages, uint64_t h)
{
	const struct view *v = &e->view;
	const char *spec = e->policy ? e->policy->spec : "";
	size_t n = v->n_settled;
	const int64_t numbers[] = { (int64_t)v->seed, v->cycle_seconds, v->goal, v->aim,
	                            v->observe, v->n_settled, v->weight != NULL, v->n_shards };

	h = add(h, spec, strlen(spec) + 1);
	h = add(h, numbers, sizeof numbers);
	h = add(h, v->url_pool, (size_t)v->url_offset[pages]);
	h = add(h, v->site, pages * sizeof *v->site);
	h = add_graph(h, v->links, v->n_settled);
	h = add(h, v->pagerank, n * sizeof *v->pagerank);
	return add(h, v->size, n * sizeof *v->size);
}
