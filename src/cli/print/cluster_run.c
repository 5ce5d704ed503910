/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_run.c - pages to cluster, and their clusters; see cluster_run.h. */
#include "cli/print/cluster_run.h"

int cluster_resume(struct cluster_origin *o, uint64_t seed, struct err *err)
{
	struct resume_opts opts = { .policy = "cluster", .seed = seed,
	                            .cycle_seconds = DAY_SECONDS };
	int rc = resume(&o->resumed, o->store, &opts, err);

	o->pages = &o->resumed.loaded.pages;
	o->copies = &o->resumed.copies;
	o->view = &o->resumed.engine.view;
	return rc;
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
                            struct err *err)
{
	struct bisect_options bo = { .k = k, .seed = seed, .trials = 10 };
	struct cluster_output out = { .set = SET_COMBINED };
	struct cluster_origin from = { .store = s };
	struct rows rows;
	int rc = cluster_resume(&from, seed, err);

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
	resume_release(&from.resumed);
	return rc;
}
