/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.h - what was recalled, kept in a file beside the store (engine/view/cachefile.h),
 * so that the next start need not tell every visit again.
 *
 * It is good for the program that reads it if its key is the same.  That is a hash of all
 * that a policy saw and of how it was asked: version, spec, seed, goal, aim, length of a
 * cycle, shards of the fleet; the URLs of its pages and when they were added; links, PageRank
 * and sizes of the settled ones; the rows of the cycles told; and store_past(), which is
 * raised when the past changes.  Pages that came after it was written do not matter (policy/frozen.h).
 */
#ifndef ENGINE_RECALL_SNAPSHOT_H
#define ENGINE_RECALL_SNAPSHOT_H

#include <stdint.h>

#include "base/err.h"

struct recalling;                /* recall_inner.h */

#define SNAPSHOT_END "-memory"  /* its name: that of the store, and this */

/* What a snapshot is about. */
struct snapshot {
	uint64_t key;
	uint32_t cycles;                /* own cycles that were told */
	uint32_t pages;                 /* that there were */
};

/* Read the one that is there, if its key is that of this recall: its cycles are then told.
 * 1: it was damaged, and the engine is spoilt. */
MUST_CHECK int snapshot_read(struct recalling *r, struct err *err);
/* Write one if this recall asks for it and has told enough since the last. */
MUST_CHECK int snapshot_write(struct recalling *r, struct err *err);

#endif
