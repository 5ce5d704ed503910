/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shards.h - replay as a fleet does it: the pages dealt out to shards, each with an engine and
 * a policy of its own, and one budget (engine/market/market.h).
 *
 * Sites are dealt out by a hash of their host or of their registrable domain.  A shard knows
 * its own pages only: page numbers from 0, links and PageRank within it, its own families.
 * Runs measure the whole: what the shards did is put together, and measured as that of one
 * engine.  A single shard does exactly what a replay without shards does.
 *
 * The shards take turns by number.  In its turn a shard is granted what the market offers it,
 * spends that, learns from the answers and makes a new bid.  With fewer places than shards
 * (`loaded`), every shard has a place once in a cycle, and gives it away when it is below the
 * price and another one waits.
 */
#ifndef ENGINE_REPLAY_SHARDS_H
#define ENGINE_REPLAY_SHARDS_H

#include "engine/market/market.h"
#include "engine/replay/replay_run.h"

/* One shard, the same for all runs. */
struct shard {
	struct pages pages;
	struct prepared prepared;
	uint32_t *global;               /* by page of the shard: its number in the replay */
	float *weight;                  /* by page of the shard */
};

MUST_CHECK int shards_open(struct replay *r, unsigned needs, struct err *err);
void shards_close(struct replay *r);

/* The shards of one run. */
struct shards_run;

/* After the rest of the run was set up: run->engine has seed, rules, and the policy's needs. */
void shards_begin(struct run *run);
/* One cycle; what was seen, and the state of the pages, come into run->engine. */
MUST_CHECK int shards_cycle(struct run *run, int64_t now, struct err *err);
/* A page joined the repository. */
void shards_join(struct run *run, uint32_t page);
/* A page was visited, for the features that pages are clustered by. */
void shards_note(struct run *run, uint32_t page, bool hit);
/* The policy of the first shard. */
const struct policy *shards_policy(const struct run *run);
void shards_end(struct run *run);

#endif
