/* SPDX-License-Identifier: Apache-2.0 */
/* grouping.c - clusters for policies; see grouping.h. */
#include "policy/grouping.h"

#include "base/mem.h"
#include "base/rng.h"
#include "cluster/centroid.h"

void grouping_release(struct grouping *g)
{
	for (uint32_t i = 0; g->near && i < g->n_groups; i++)
		free(g->near[i]);
	free(g->near);
	free(g->spent);
	free(g->of);
	free(g->first);
	free(g->pages);
	rows_release(&g->centroids);
	*g = (struct grouping){ 0 };
}

/* Nothing is known of the pages: equal rows, which make one cluster. */
static void no_features(const struct view *v, struct rows *ret)
{
	rows_init_dense(ret, v->n_pages, 1);
	for (uint32_t i = 0; i < v->n_pages; i++)
		rows_dense(ret, i)[0] = 1;
}

void grouping_make(struct grouping *g, const struct view *v, enum feature_set set,
                   uint32_t k)
{
	struct bisect_options o = { .k = k, .threads = v->threads,
	                            .seed = rng_draw(v->seed, v->cycle, 0, RNG_SPLIT) };
	uint32_t *members = mem_array(v->n_pages, sizeof *members), n = 0;
	struct clusters c;
	struct rows rows;

	grouping_release(g);
	for (uint32_t i = 0; i < v->n_pages; i++)
		if (v->state[i] & PAGE_HERE)
			members[n++] = i;
	if (v->features)
		v->features->rows(v->features->self, v, set, &rows);
	else
		no_features(v, &rows);
	bisect_run(&rows, members, n, &o, &c);
	g->n_groups = c.k;
	g->n_pages = v->n_pages;
	g->cycle = v->cycle;
	g->spent = mem_zalloc(c.k, sizeof *g->spent);
	g->first = mem_zalloc((size_t)c.k + 1, sizeof *g->first);
	g->pages = mem_array(n, sizeof *g->pages);
	for (uint32_t i = 0; i < c.k; i++) {
		centroid_members(&c, &rows, i, g->pages + g->first[i]);
		g->first[i + 1] = g->first[i] + c.size[i];
	}
	g->of = c.of;
	g->centroids = c.centroids;
	c.of = NULL;
	c.centroids = (struct rows){ 0 };
	clusters_release(&c);
	rows_release(&rows);
	free(members);
}

bool grouping_is_stale(const struct grouping *g, const struct view *v)
{
	uint32_t n_open = 0, n_out = 0;

	if (!g->cycle || g->n_pages != v->n_pages)
		return true;
	for (uint32_t i = 0; i < v->n_pages; i++) {
		if (!(v->state[i] & PAGE_HERE))
			continue;
		n_open++;
		n_out += g->of[i] == CLUSTER_NONE;
	}
	return n_out > n_open / 20;
}

const uint32_t *grouping_near(struct grouping *g, uint32_t group)
{
	if (!g->near)
		g->near = mem_zalloc(g->n_groups, sizeof *g->near);
	if (!g->near[group]) {
		g->near[group] = mem_array(g->n_groups, sizeof **g->near);
		centroid_order(&g->centroids, group, g->near[group]);
	}
	return g->near[group];
}
