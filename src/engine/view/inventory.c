/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.c - a repository in memory; see inventory.h. */
#include "engine/view/inventory.h"

#include "base/mem.h"

/* The weights of pages, with mean 1 over the pages in the repository. */
static float *find_weights(const struct inventory *v, enum weight_by by)
{
	uint32_t n = v->loaded.pages.n;
	float *w;
	double sum = 0;

	if (by == WEIGHT_NONE)
		return NULL;
	w = mem_array(n, sizeof *w);
	for (uint32_t i = 0; i < n; i++) {
		w[i] = by == WEIGHT_GIVEN ? v->loaded.weight[i] : (float)v->prepared.pagerank[i];
		sum += v->loaded.visits.state[i] == PAGE_HERE ? (double)w[i] : 0;
	}
	for (uint32_t i = 0; i < n && sum > 0; i++)
		w[i] *= (float)(v->loaded.n_here / sum);
	return w;
}

int inventory_open(struct inventory *v, struct store *s, const struct inventory_opts *opts,
                   struct err *err)
{
	struct pages_opts po = { .site_by_domain = opts->site_by_domain };
	unsigned needs = opts->needs;
	int64_t until = INT64_MAX;
	int rc;

	*v = (struct inventory){ 0 };
	if (opts->weight == WEIGHT_PAGERANK)
		needs |= NEED_PAGERANK;
	if (needs & NEED_CLUSTERS)
		needs |= NEED_LINKS;
	if ((rc = load_pages(&v->loaded, s, &po, err)) < 0 ||
	    (rc = inventory_links(v, s, opts, needs, &until, err)) < 0)
		return rc;
	if (needs & NEED_CLUSTERS)
		rc = copies_from_store(&v->copies, s, &v->loaded.pages, &v->prepared.links,
		                       opts->goal == GOAL_CHANGED ? opts->before_cycle : 0, until,
		                       err);
	if (rc == 0)
		v->weight = find_weights(v, opts->weight);
	return rc;
}

void inventory_release(struct inventory *v)
{
	prepare_release(&v->prepared);
	copies_release(&v->copies);
	free(v->weight);
	loaded_release(&v->loaded);
	*v = (struct inventory){ 0 };
}

void inventory_view(const struct inventory *v, struct view *ret)
{
	prepare_view(&v->prepared, ret);
	ret->features = v->copies.now ? &v->copies.features.maker : NULL;
	ret->weight = v->weight;
}
