/* SPDX-License-Identifier: Apache-2.0 */
/* rank_print.h - a graph with its ranks as text, JSON, and words. */
#ifndef CLI_RANK_RANK_PRINT_H
#define CLI_RANK_RANK_PRINT_H

#include <stdio.h>

#include "base/io/json.h"
#include "cli/rank/rank_load.h"
#include "cli/rank/rank_orders.h"
#include "graph/pagerank.h"

#define DEGREE_CLASSES 33

struct ranked {
	struct rank_graph g;
	double *rank;
	struct pagerank_result result;
	double seconds;
	uint64_t dangling, unlinked, loops;
	uint64_t out_classes[DEGREE_CLASSES], in_classes[DEGREE_CLASSES];
	uint32_t out_most, in_most;
	struct rank_order_result *orders;
	size_t n_orders;
	uint32_t *top;
	uint32_t n_top;
};

struct report;

unsigned rank_degree_class(uint64_t degree);    /* 0, 1, 2-3, 4-7 ... */
void rank_print_text(const struct ranked *r);
void rank_print_json(const struct ranked *r, struct json *j);
/* Write into the report, in words, which order did best. */
void rank_say(const struct ranked *r, struct report *report);

#endif
