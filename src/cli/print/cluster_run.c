/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_run.c - pages to cluster, and their clusters; see cluster_run.h. */
#include "cli/print/cluster_run.h"

int cluster_open(struct cluster_origin *o, uint64_t seed, struct progress *progress,
                 struct err *err)
{
	struct inventory_opts opts = { .needs = NEED_CLUSTERS, .progress = progress };
	struct inventory *v = &o->inventory;
	int rc = inventory_open(v, o->store, &opts, err);

	if (rc < 0)
		return rc;
	pages_view(&v->loaded.pages, &v->loaded.visits, &o->own_view);
	inventory_view(v, &o->own_view);
	o->own_view.seed = seed;
	o->pages = &v->loaded.pages;
	o->copies = &v->copies;
	o->view = &o->own_view;
	return 0;
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
	int rc = cluster_open(&from, seed, progress, err);

	if (rc == 0) {
		out.features = &from.copies->features;
		out.pages = from.pages;
		features_rows(&from.copies->features, from.view, out.set, &rows);
		cluster_pages(&from, &rows, &bo, &out);
		out.n_pages = out.clusters.n_members;
		cluster_print_json(&out, j);
		rows_release(&rows);
	}
	clusters_release(&out.clusters);
	free(out.described);
	inventory_release(&from.inventory);
	return rc;
}
