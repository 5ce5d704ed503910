/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.c - a repository in memory; see inventory.h. */
#include "engine/view/inventory.h"

#include <stdlib.h>

#include "base/mem.h"
#include "repo/site_settings.h"

/* A site's own weight multiplies those of its pages. */
static void weigh_sites(const struct inventory *v, const struct site_settings *sites, float *w)
{
	const struct pages *p = &v->loaded.pages;

	for (uint32_t k = 0; k < p->tree.n_sites && site_settings_has(sites, "weight"); k++) {
		const char *value = site_settings_of(sites, "weight", strtab_get(&p->site_names, k),
		                                     strtab_size(&p->site_names, k));
		double factor = value ? strtod(value, NULL) : 1;

		if (!(factor >= 0 && factor <= STORE_WEIGHT_MAX))
			continue;
		for (uint32_t i = p->tree.site_first[k]; i < p->tree.site_first[k + 1]; i++)
			w[p->tree.site_pages[i]] *= (float)factor;
	}
}

/* The weights of pages, with mean 1 over the pages in the repository. */
static float *find_weights(const struct inventory *v, enum weight_by by,
                           const struct site_settings *sites)
{
	uint32_t n = v->loaded.pages.n;
	float *w;
	double sum = 0;

	if (by == WEIGHT_NONE)
		return NULL;
	w = mem_array(n, sizeof *w);
	for (uint32_t i = 0; i < n; i++)
		w[i] = by == WEIGHT_GIVEN ? v->loaded.weight[i] : (float)v->prepared.pagerank[i];
	if (by == WEIGHT_GIVEN)
		weigh_sites(v, sites, w);
	for (uint32_t i = 0; i < n; i++)
		sum += v->loaded.visits.state[i] == PAGE_HERE ? (double)w[i] : 0;
	for (uint32_t i = 0; i < n && sum > 0; i++)
		w[i] *= (float)(v->loaded.n_here / sum);
	return w;
}

int inventory_open(struct inventory *v, struct store *s, const struct inventory_opts *opts,
                   struct err *err)
{
	struct pages_opts po = { .site_by_domain = opts->site_by_domain,
	                         .progress = opts->progress };
	struct site_settings sites = { 0 };
	struct epoch epoch = EPOCH_ALL;
	unsigned needs = opts->needs;
	int rc = 0;

	*v = (struct inventory){ 0 };
	if (opts->weight == WEIGHT_PAGERANK)
		needs |= NEED_PAGERANK;
	if (needs & NEED_CLUSTERS)
		needs |= NEED_LINKS;
	if (opts->as_planned && opts->goal == GOAL_CHANGED)
		rc = epoch_find(&epoch, s, opts->before_cycle, err);
	po.n_settled = epoch.n_pages;
	if (rc < 0 || (rc = load_pages(&v->loaded, s, &po, err)) < 0 ||
	    (rc = inventory_links(v, s, opts, needs, &epoch, err)) < 0)
		return rc;
	if (needs & NEED_CLUSTERS)
		rc = copies_from_store(&v->copies, s, &v->loaded.pages, &v->prepared.links,
		                       opts->goal == GOAL_CHANGED ? opts->before_cycle : 0, epoch.now,
		                       opts->progress, err);
	if (rc == 0 && opts->weight == WEIGHT_GIVEN)
		rc = site_settings_load(&sites, s, err);
	if (rc == 0)
		v->weight = find_weights(v, opts->weight, &sites);
	site_settings_release(&sites);
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
