/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grants.h - what a cycle of one shard of a fleet must remember to go on: its budget comes in
 * parts, and scores depend on the fleet.
 *
 * The state `shards` has how many shards the fleet had when the cycle began (view.n_shards).  The
 * state `grants` has what the shard expected of the cycle, what all shards had learnt together
 * when it began (view.shared), and for each round what was granted before it was planned: a cycle
 * that goes on plans the same rounds again (engine_rules.planned_with).
 */
#ifndef ENGINE_RECALL_GRANTS_H
#define ENGINE_RECALL_GRANTS_H

#include "engine/cycle/cycle.h"
#include "repo/store.h"

struct grants {                         /* zeroed, it is empty */
	uint32_t expected;
	struct shared shared;
	VEC(uint32_t) planned_with;     /* by round */
};

/* Shards of the fleet as the cycle counts them.  One that goes on keeps the number that it began
 * with: its rounds were planned so. */
MUST_CHECK int grants_shards(struct store *s, bool goes_on, uint32_t n, uint32_t *ret,
                             struct err *err);
MUST_CHECK int grants_save(struct store *s, uint32_t cycle, const struct engine *e,
                           struct err *err);
/* Of a cycle that has made so many rounds.  1: it is there; 0: there is none of this cycle. */
MUST_CHECK int grants_load(struct grants *ret, struct store *s, uint32_t cycle, size_t n_rounds,
                           struct err *err);
void grants_release(struct grants *g);

#endif
