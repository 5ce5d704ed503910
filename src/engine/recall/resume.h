/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resume.h - an engine that stands where the repository stands.
 *
 * Loads the pages, prepares what the policy needs, and tells the policy every
 * visit that the store holds, in order, as if it had made them.  Imported visits
 * come first, grouped into cycles of the length asked for (at most
 * RESUME_CYCLES_MAX of them); own cycles follow one by one.  Only cycles of the
 * goal asked for are told: that a page is alive says nothing of its changes, and
 * that an archive had it once says nothing of its life now.
 */
#ifndef ENGINE_RECALL_RESUME_H
#define ENGINE_RECALL_RESUME_H

#include "base/io/progress.h"
#include "engine/cycle/cycle.h"
#include "engine/view/copies.h"
#include "engine/view/load.h"
#include "engine/view/prepare.h"

#define RESUME_CYCLES_MAX 128

struct resumed {
	struct loaded loaded;
	struct prepared prepared;
	struct copies copies;           /* only for policies that cluster */
	float *weight;                  /* by page, mean 1; NULL: all count alike */
	struct policy *policy;
	struct engine engine;
	uint32_t n_imported_cycles;     /* own cycle k is engine cycle k + this */
	uint32_t n_own_cycles;
	uint64_t n_told;
};

struct resume_opts {
	const char *policy;
	uint64_t seed;
	int64_t cycle_seconds;
	enum goal goal;
	enum aim aim;
	enum weight_by weight;
	bool site_by_domain;
	uint32_t before_cycle;          /* own cycles from this one on are left out; 0: none */
	struct progress *progress;      /* shown meanwhile; NULL: nothing is */
};

MUST_CHECK int resume(struct resumed *r, struct store *s, const struct resume_opts *opts,
                      struct err *err);
void resume_release(struct resumed *r);

/* The outcome of a stored visit under goal alive: what gave no answer, or a bad one,
 * is dead to the policy, though the repository keeps it; a host that asked us to
 * come later (429, 503) has said nothing. */
enum outcome resume_life(enum outcome o, int32_t status);

#endif
