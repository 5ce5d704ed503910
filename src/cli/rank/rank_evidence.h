/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_evidence.h - the policy `evidence` as one more order of `freshet rank`.
 *
 * The graph becomes a history of two days, as scripts/live-to-cdxj writes one: every page
 * with its links on the first, alive or gone on the second.  A replay of one cycle that
 * may ask for all pages then gives the cost.  A graph without URLs is ordered by its
 * links alone.
 */
#ifndef CLI_RANK_RANK_EVIDENCE_H
#define CLI_RANK_RANK_EVIDENCE_H

#include "cli/rank/rank_orders.h"

/* Is this the spec of `evidence`? */
bool rank_is_evidence(const char *spec);
/* Costs of the spec with seeds seed .. seed + n_seeds - 1, added to result->cost. */
MUST_CHECK int rank_evidence_run(const struct rank_graph *g, const char *spec, uint64_t seed,
                                 unsigned n_seeds, unsigned threads,
                                 struct rank_order_result *result, struct err *err);

#endif
