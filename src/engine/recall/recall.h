/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall.h - telling a fresh engine every visit that the store holds, in order, as if it
 * had made them.
 *
 * Imported visits come first, grouped into cycles of the length asked for (at most
 * RECALL_CYCLES_MAX of them); own cycles follow one by one.  Only cycles of the engine's
 * goal are told: that a page is alive says nothing of its changes, and that an archive had
 * it once says nothing of its life now.
 *
 * The user may take pages out of care and put them back: each cycle is told with the pages
 * that were under care when it began (store_care_log()).
 *
 * Memory.  One cycle's visits are held at a time, and of imported visits at most
 * RECALL_HELD (or those of one of their cycles, if these are more).
 */
#ifndef ENGINE_RECALL_RECALL_H
#define ENGINE_RECALL_RECALL_H

#include "base/io/progress.h"
#include "engine/cycle/cycle.h"
#include "engine/view/load.h"

#define RECALL_CYCLES_MAX 128
#define RECALL_HELD (1u << 24)

struct recall_opts {
	uint32_t before_cycle;          /* own cycles from this one on are left out; 0: none */
	bool states_then;               /* pages have the state they had when it began */
	size_t held;                    /* imported visits at a time; 0: RECALL_HELD */
	bool no_snapshot;               /* tell everything, whatever is kept */
	bool snapshot;                  /* write a snapshot; only with before_cycle */
	struct progress *progress;      /* shown meanwhile; NULL: nothing is */
};

struct recalled {
	uint32_t n_imported_cycles;     /* own cycle k is engine cycle k + this */
	uint32_t n_own_cycles;
	uint32_t n_thawed;              /* of the own cycles: not told, but out of a snapshot */
	uint64_t n_told;
};

/* The engine is fresh, its view set up.  Afterwards the state of each page is the one in
 * `l`, as the store has it now, unless `states_then` is set; under goal alive a page that
 * was visited is done with.  With before_cycle, who is under care is as when that cycle
 * began.
 *
 * What a snapshot (snapshot.h) holds is not told again, and the rest of the cycles is; the
 * outcome is the same.  1: the snapshot was damaged, and the engine is spoilt: begin again
 * with a fresh one and `no_snapshot`. */
MUST_CHECK int recall(struct engine *e, const struct loaded *l, struct store *s,
                      const struct recall_opts *opts, struct recalled *ret, struct err *err);

/* Pages that the user took out after this own cycle began go into e->out.  A program whose
 * cycle goes on calls it now and then. */
MUST_CHECK int recall_out(struct engine *e, struct store *s, uint32_t from_cycle,
                          struct err *err);

/* The outcome of a stored visit under goal alive: what gave no answer, or a bad one,
 * is dead to the policy, though the repository keeps it; a host that asked us to
 * come later (429, 503) has said nothing. */
enum outcome recall_life(enum outcome o, int32_t status);

#endif
