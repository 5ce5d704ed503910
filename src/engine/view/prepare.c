/* SPDX-License-Identifier: Apache-2.0 */
/* prepare.c - links, PageRank and families, only if asked for; see prepare.h. */
#include "engine/view/prepare.h"

#include <math.h>

#include "base/mem.h"
#include "engine/view/families.h"
#include "graph/pagerank.h"

static int prepare_graph(struct prepared *p, const struct pages *pages, prepare_links *links,
                         const void *from, struct err *err)
{
	struct graph_build_opts opts = { .dedupe = true, .drop_loops = true };
	struct graph_builder *b = graph_builder_new(&opts);
	int rc = 0;

	for (uint32_t i = 0; i < pages->n_settled && rc == 0; i++) {
		size_t n;
		const uint32_t *to = links(from, i, &n);

		for (size_t k = 0; k < n && rc == 0; k++)
			rc = graph_builder_add(b, i, to[k], err);
	}
	if (rc < 0) {
		graph_builder_free(b);
		return rc;
	}
	return graph_builder_finish(b, pages->n_settled, &p->links, err);
}

void pagerank_to_ten(const double *rank, uint32_t n, uint8_t *ret)
{
	double low = INFINITY, high = 0, scale;

	for (uint32_t i = 0; i < n; i++) {
		low = fmin(low, rank[i]);
		high = fmax(high, rank[i]);
	}
	scale = high > low && low > 0 ? 10 / log(high / low) : 0;
	for (uint32_t i = 0; i < n; i++) {
		double v = rank[i] > 0 ? round(scale * log(rank[i] / low)) : 0;

		ret[i] = (uint8_t)(v < 0 ? 0 : v > 10 ? 10 : v);
	}
}

static int prepare_pagerank(struct prepared *p, const struct pages *pages, struct err *err)
{
	struct pagerank_opts opts = PAGERANK_DEFAULTS;
	struct pagerank_result result;

	p->pagerank = mem_array(pages->n, sizeof *p->pagerank);
	return pagerank(&p->links, &opts, p->pagerank, &result, err);
}

/* What follows from the links and the PageRank of settled pages. */
static void complete(struct prepared *p, const struct pages *pages, unsigned needs)
{
	double least = 1;

	if (needs & NEED_LINKS) {
		graph_pad(&p->links, pages->n);
		graph_transpose(&p->links, &p->links_in);
	}
	if (!(needs & NEED_PAGERANK))
		return;
	for (uint32_t i = 0; i < pages->n_settled; i++)
		least = fmin(least, p->pagerank[i]);
	for (uint32_t i = pages->n_settled; i < pages->n; i++)
		p->pagerank[i] = least;
	p->pagerank10 = mem_array(pages->n, sizeof *p->pagerank10);
	pagerank_to_ten(p->pagerank, pages->n, p->pagerank10);
}

int prepare(struct prepared *p, const struct pages *pages, unsigned needs,
            prepare_links *links, const void *from, struct err *err)
{
	int rc = 0;

	if (needs & NEED_PAGERANK)
		needs |= NEED_LINKS;
	needs &= ~p->have;
	if (needs & ~p->found & NEED_LINKS)
		rc = prepare_graph(p, pages, links, from, err);
	if (rc == 0 && (needs & ~p->found & NEED_PAGERANK))
		rc = prepare_pagerank(p, pages, err);
	if (rc == 0)
		complete(p, pages, needs);
	if (rc == 0 && (needs & NEED_FAMILIES))
		families_number(pages, p->family, p->n_family);
	if (rc == 0)
		p->have |= needs;
	return rc;
}

void prepare_release(struct prepared *p)
{
	graph_release(&p->links);
	graph_release(&p->links_in);
	free(p->pagerank);
	free(p->pagerank10);
	free(p->size);
	for (int k = 0; k < N_FAMILIES; k++)
		free(p->family[k]);
	*p = (struct prepared){ 0 };
}

void prepare_view(const struct prepared *p, struct view *v)
{
	v->links = p->have & NEED_LINKS ? &p->links : NULL;
	v->links_in = p->have & NEED_LINKS ? &p->links_in : NULL;
	v->pagerank = p->have & NEED_PAGERANK ? p->pagerank : NULL;
	v->pagerank10 = p->have & NEED_PAGERANK ? p->pagerank10 : NULL;
	v->size = p->have & NEED_SIZES ? p->size : NULL;
	for (int k = 0; k < N_FAMILIES; k++) {
		v->family[k] = p->family[k];
		v->n_family[k] = p->n_family[k];
	}
}
