/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_load.h - graph files of any kind, and what is known to be alive.
 */
#ifndef CLI_RANK_RANK_LOAD_H
#define CLI_RANK_RANK_LOAD_H

#include "base/err.h"
#include "cli/frame/command.h"
#include "graph/graph_text.h"

struct rank_graph {
	struct graph_text text;         /* the graph; names and life where known */
	uint32_t *sites;                /* by node; NULL without URLs */
	uint32_t n_sites;
	uint64_t n_alive;
};

/* Files: one saved graph, one BVGraph, or texts of one kind. */
MUST_CHECK int rank_load(struct rank_graph *ret, int n_files, char **files,
                         struct err *err);
/* The links between the pages of the repository, as its newest copies have them. */
MUST_CHECK int rank_load_repository(struct rank_graph *ret, struct cli *cli,
                                    struct err *err);
void rank_release(struct rank_graph *g);
/*
 * Life from a file: `url TAB 0|1` or `id TAB 0|1` where a line has a second
 * column like that; else every word is a URL or number that is alive (a later
 * crawl's list or link list).  Nodes it does not name are dead.
 */
MUST_CHECK int rank_load_truth(struct rank_graph *g, const char *path, struct err *err);

#endif
