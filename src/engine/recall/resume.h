/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resume.h - an engine that stands where the repository stands: opens the inventory that
 * its policy needs (engine/view/inventory.h), and recalls the visits (recall.h).
 */
#ifndef ENGINE_RECALL_RESUME_H
#define ENGINE_RECALL_RESUME_H

#include "engine/recall/recall.h"
#include "engine/view/inventory.h"

struct resumed {
	struct inventory has;
	struct policy *policy;
	struct engine engine;
	struct recalled recalled;
};

struct resume_opts {
	const char *policy;             /* NULL: none; the engine knows which pages rest, */
	uint64_t seed;                  /* and cannot plan */
	int64_t cycle_seconds;
	enum goal goal;
	enum aim aim;
	enum weight_by weight;
	bool site_by_domain;
	uint32_t before_cycle;          /* own cycles from this one on are left out; 0: none */
	bool keep;                      /* write a snapshot: the next start is faster */
	struct progress *progress;      /* shown meanwhile; NULL: nothing is */
};

MUST_CHECK int resume(struct resumed *r, struct store *s, const struct resume_opts *opts,
                      struct err *err);
void resume_release(struct resumed *r);

#endif
