/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_run.c - pages to cluster, and their clusters; see cluster_run.h. */
#include "cli/print/cluster_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The chosen pages as if there were no others. */
static void copy_pages(struct cluster_origin *o, const struct pages *all, uint32_t n)
{
	uint64_t *offset = mem_array((size_t)n + 1, sizeof *offset), at = 0;
	struct pages_opts opts = { 0 };
	char *pool;

	for (uint32_t i = 0; i < n; i++) {
		offset[i] = at;
		at += pages_url_size(all, o->chosen[i]) + 1;
	}
	offset[n] = at;
	pool = mem_alloc(at);
	for (uint32_t i = 0; i < n; i++)
		memcpy(pool + offset[i], pages_url(all, o->chosen[i]), offset[i + 1] - offset[i]);
	pages_init(&o->own_pages, pool, offset, n, &opts);
	visits_init(&o->own_visits, n, 0);
	memset(o->own_visits.state, PAGE_HERE, n);
}

static int open_sample(struct cluster_origin *o, uint64_t seed, uint32_t most,
                       struct progress *progress, struct err *err)
{
	const struct loaded *all = &o->inventory.loaded;
	struct view view = { 0 };

	pages_view(&all->pages, &all->visits, &view);
	o->chosen = copies_choose(all->visits.state, all->pages.n, all->n_here, most, seed);
	copy_pages(o, &all->pages, most);
	o->pages = &o->own_pages;
	pages_view(&o->own_pages, &o->own_visits, &o->own_view);
	return copies_of_some(&o->own_copies, o->store, o->pages, o->chosen, &all->pages,
	                      &o->inventory.prepared.links, &view, progress, err);
}

int cluster_open(struct cluster_origin *o, uint64_t seed, uint32_t most,
                 struct progress *progress, struct err *err)
{
	struct inventory_opts opts = { .needs = NEED_LINKS, .progress = progress };
	struct loaded *all = &o->inventory.loaded;
	int rc = inventory_open(&o->inventory, o->store, &opts, err);

	if (rc < 0)
		return rc;
	o->n_here = all->n_here;
	o->copies = &o->own_copies;
	o->view = &o->own_view;
	if (most && all->n_here > most) {
		rc = open_sample(o, seed, most, progress, err);
	} else {
		o->pages = &all->pages;
		pages_view(o->pages, &all->visits, &o->own_view);
		rc = copies_from_store(&o->own_copies, o->store, o->pages,
		                       &o->inventory.prepared.links, 0, INT64_MAX, progress, err);
	}
	o->own_view.seed = seed;
	return rc;
}

void cluster_close(struct cluster_origin *o)
{
	copies_release(&o->own_copies);
	visits_release(&o->own_visits);
	pages_release(&o->own_pages);
	inventory_release(&o->inventory);
	free(o->chosen);
}

void cluster_pages(const struct cluster_origin *from, const struct rows *rows,
                         const struct bisect_options *bo, struct cluster_output *out)
{
	uint32_t *members = mem_array(rows->n, sizeof *members), n = 0;

	for (uint32_t i = 0; i < rows->n; i++)
		if (from->view->state[i] & PAGE_HERE)
			members[n++] = i;
	bisect_run(rows, members, n, bo, &out->clusters);
	out->described = describe(&out->clusters, rows, from->copies, from->pages);
	free(members);
}

int cluster_repository_json(struct json *j, struct store *s, uint32_t k, uint64_t seed,
                            struct progress *progress, struct err *err)
{
	struct bisect_options bo = { .k = k, .seed = seed, .trials = 10 };
	struct cluster_output out = { .set = SET_COMBINED };
	struct cluster_origin from = { .store = s };
	struct rows rows;
	int rc = cluster_open(&from, seed, CLUSTER_SAMPLE, progress, err);

	if (rc == 0) {
		out.features = &from.copies->features;
		out.pages = from.pages;
		features_rows(&from.copies->features, from.view, out.set, &rows);
		cluster_pages(&from, &rows, &bo, &out);
		out.n_pages = out.clusters.n_members;
		out.n_here = from.n_here;
		cluster_print_json(&out, j);
		rows_release(&rows);
	}
	clusters_release(&out.clusters);
	free(out.described);
	cluster_close(&from);
	return rc;
}
