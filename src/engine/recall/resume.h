/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resume.h - an engine that stands where the repository stands: opens the inventory that
 * its policy needs (engine/view/inventory.h), and recalls the visits (recall.h).
 */
#ifndef ENGINE_RECALL_RESUME_H
#define ENGINE_RECALL_RESUME_H

#include "engine/recall/recall.h"
#include "engine/recall/site_rules.h"
#include "engine/view/inventory.h"

struct resumed {
	struct inventory has;
	struct policy *policy;
	struct engine engine;
	struct recalled recalled;
	struct site_rules sites;
	uint32_t next;                  /* the cycle that it can be used again for; 0: for none */
	uint64_t others, past;          /* store_others() and store_past() when it was read */
};

struct resume_opts {
	const char *policy;             /* NULL: none; then the engine cannot plan, and only knows
	                                 * which pages rest */
	uint64_t seed;
	int64_t cycle_seconds;
	enum goal goal;
	enum aim aim;
	enum weight_by weight;
	uint32_t n_shards;              /* of the fleet that the store is a shard of; 0: of none */
	bool site_by_domain;
	uint32_t before_cycle;          /* own cycles from this one on are left out; 0: none */
	bool states_then;               /* pages have the state they had when it began */
	bool snapshot;                  /* write caches: the next start is faster */
	struct progress *progress;      /* shown meanwhile; NULL: nothing is */
	/* True leaves a page out of this plan only.  May be NULL: none is left out. */
	bool (*leave_out)(void *arg, const char *url, size_t size);
	void *leave_arg;
};

MUST_CHECK int resume(struct resumed *r, struct store *s, const struct resume_opts *opts,
                      struct err *err);
void resume_release(struct resumed *r);
/* What resume() has made, with the same options, as if nothing had been planned since.  Pages and
 * links are not read again, unless somebody has written meanwhile. */
MUST_CHECK int resume_anew(struct resumed *r, struct store *s, const struct resume_opts *opts,
                           struct err *err);

/* For a process that makes cycle after cycle.  The engine made this own cycle, from begin to
 * end, and every visit of it is in the store: it knows what a fresh one would recall.  (But
 * for first copies, whose time it does not know as the store has it.) */
void resume_ended(struct resumed *r, uint32_t cycle);
/* As resume(), into what may have been resumed before: that is used again if it has ended
 * the cycle before, the options and the epoch are the same, and nothing but that cycle was
 * written since.  1: it was. */
MUST_CHECK int resume_again(struct resumed *r, struct store *s, const struct resume_opts *opts,
                            struct err *err);

#endif
