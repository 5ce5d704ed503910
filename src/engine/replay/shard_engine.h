/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_engine.h - a shard of a replay with its engine, and what it sees of the whole.  Page
 * numbers are those of the shard inside, and those of the run outside.
 */
#ifndef ENGINE_REPLAY_SHARD_ENGINE_H
#define ENGINE_REPLAY_SHARD_ENGINE_H

#include "engine/replay/shards.h"

struct shard_engine {
	struct run *run;
	const struct shard *shard;
	uint32_t number;
	struct engine engine;
	struct policy *policy;          /* NULL: the shard has no page */
	uint8_t *truth;                 /* as the run's, by page of the shard */
	int64_t *stale_since, *next_change;
	struct features features;
	struct replay_links links;      /* scratch */
	bool has_features;
	bool begun;                     /* its cycle is open */
	bool placed;                    /* it is loaded: fewer may be than there are */
};

void shard_engine_begin(struct shard_engine *s, struct run *run, uint32_t number);
void shard_engine_end(struct shard_engine *s);
/* The truth of the moment, for policies that know it. */
void shard_engine_see(struct shard_engine *s);

#endif
