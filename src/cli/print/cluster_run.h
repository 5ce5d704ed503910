/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_run.h - pages to cluster, from a repository or from files, and their clusters. */
#ifndef CLI_PRINT_CLUSTER_RUN_H
#define CLI_PRINT_CLUSTER_RUN_H

#include "cli/print/cluster_print.h"
#include "cluster/bisect.h"
#include "engine/import/import_words.h"
#include "engine/view/inventory.h"

#define CLUSTER_SAMPLE 100000   /* pages of a repository that a report clusters; `cluster --sample` */

/* Where pages come from: a repository, or the newest captures of files. */
struct cluster_origin {
	struct store *store;
	struct inventory inventory;
	struct history history;
	struct import_words words;      /* the repository's */
	struct lexicon list;            /* of a file */
	struct pages own_pages;
	struct visits own_visits;
	struct copies own_copies;
	struct view own_view;
	uint32_t *chosen;               /* numbers in the repository of own_pages; NULL: not of one */
	uint32_t n_here;                /* pages of the repository, of which some were chosen */
	const struct pages *pages;
	struct copies *copies;
	struct view *view;
};

/* Set pages, copies and view from o->store: all pages, or `most` of them by chance (0: all).
 * progress is shown; it may be NULL. */
MUST_CHECK int cluster_open(struct cluster_origin *o, uint64_t seed, uint32_t most,
                            struct progress *progress, struct err *err);
void cluster_close(struct cluster_origin *o);
/* Cluster the pages that are here. */
void cluster_pages(const struct cluster_origin *from, const struct rows *rows,
                 const struct bisect_options *bo, struct cluster_output *out);
/* The document of `freshet cluster --k K --features combined` for an open repository. */
MUST_CHECK int cluster_repository_json(struct json *j, struct store *s, uint32_t k,
                                       uint64_t seed, struct progress *progress,
                                       struct err *err);

#endif
