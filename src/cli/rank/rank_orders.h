/* SPDX-License-Identifier: Apache-2.0 */
/* rank_orders.h - the LiveRank experiment of `freshet rank`. */
#ifndef CLI_RANK_RANK_ORDERS_H
#define CLI_RANK_RANK_ORDERS_H

#include "base/math/stat.h"
#include "base/option/option.h"
#include "cli/rank/rank_load.h"
#include "graph/pagerank.h"

#define RANK_ALPHAS 19                  /* 0.05 .. 0.95 */

struct rank_order_result {
	const char *spec;
	struct stat_mean cost[RANK_ALPHAS];
};

static inline double rank_alpha(unsigned i)
{
	return 0.05 * (i + 1);
}

/* Run every spec with seeds seed .. seed + n_seeds - 1; specs empty: all orders
 * of LiveRank that can be run.  threads: of `evidence`; 0: one a processor.  *ret is for
 * free(). */
MUST_CHECK int rank_orders_run(const struct rank_graph *g, const struct pagerank_matrix *m,
                               const double *pagerank, const struct option_list *specs,
                               uint64_t seed, unsigned n_seeds, unsigned threads,
                               struct rank_order_result **ret, size_t *ret_n,
                               struct err *err);

#endif
