/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features_links.c - the features of pages that come from links: PageRank and in-links, now
 * and when features were made before; see features.h.
 */
#include "engine/view/features_inner.h"

#include <string.h>

#include "base/mem.h"
#include "graph/graph.h"
#include "graph/pagerank.h"

/* PageRank times pages, and in-links, of the links of our copies. */
static void measure_links(struct features *f, const struct view *v, float *rank, float *in)
{
	struct graph_build_opts build = { .dedupe = true, .drop_loops = true };
	struct graph_builder *b = graph_builder_new(&build);
	struct pagerank_opts opts = PAGERANK_DEFAULTS;
	struct pagerank_result result;
	uint32_t n = f->pages->n, *degree = mem_array(n, sizeof *degree);
	double *exact = mem_zalloc(n, sizeof *exact);
	struct graph g = { 0 };
	struct err err;
	int rc = 0;

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		size_t n_to;
		const uint32_t *to = features_here(v, i) ? f->source.links(f->source.self, i, &n_to)
		                                   : (n_to = 0, NULL);

		for (size_t k = 0; k < n_to && rc == 0; k++)
			if (to[k] < n && features_here(v, to[k]))
				rc = graph_builder_add(b, i, to[k], &err);
	}
	memset(degree, 0, n * sizeof *degree);
	opts.threads = v->threads;
	if (rc == 0)
		rc = graph_builder_finish(b, n, &g, &err);
	else
		graph_builder_free(b);
	if (rc == 0)
		rc = pagerank(&g, &opts, exact, &result, &err);
	if (rc == 0)
		graph_in_degrees(&g, degree);
	for (uint32_t i = 0; i < n; i++) {      /* there are no links: all pages have the same values */
		rank[i] = rc == 0 ? (float)(exact[i] * n) : 1;
		in[i] = (float)degree[i];
	}
	graph_release(&g);
	free(exact);
	free(degree);
}

static void make_room(struct features *f)
{
	for (int i = 0; i < 2 && !f->pagerank[1]; i++) {
		f->pagerank[i] = mem_zalloc(f->pages->n, sizeof(float));
		f->in_links[i] = mem_zalloc(f->pages->n, sizeof(float));
	}
}

void features_take_links(struct features *f, struct features *all, const struct view *v,
                         const uint32_t *chosen)
{
	features_renew_links(all, v);
	make_room(f);
	for (uint32_t i = 0; i < f->pages->n; i++)
		for (int k = 0; k < 2; k++) {
			f->pagerank[k][i] = all->pagerank[k][chosen[i]];
			f->in_links[k][i] = all->in_links[k][chosen[i]];
		}
	f->made = all->made;
}

void features_renew_links(struct features *f, const struct view *v)
{
	uint32_t n = f->pages->n;

	if (f->made == v->cycle + 1)
		return;
	make_room(f);
	memcpy(f->pagerank[1], f->pagerank[0], n * sizeof(float));
	memcpy(f->in_links[1], f->in_links[0], n * sizeof(float));
	measure_links(f, v, f->pagerank[0], f->in_links[0]);
	if (!f->made) {
		memcpy(f->pagerank[1], f->pagerank[0], n * sizeof(float));
		memcpy(f->in_links[1], f->in_links[0], n * sizeof(float));
	}
	f->made = v->cycle + 1;
}
