/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_place.h - a cursor of changes over all shards of a fleet: the epoch of the fleet, and
 * a cursor (change_feed.h) for each shard, in the order of their numbers.
 *
 * Each shard has one writer, so its changes come in the order of their commits, and what is
 * kept later stands behind the cursor.  Between shards there is no order.  When shards change
 * (a split), the epoch does, and cursors from before are refused: E_GONE.  A store that is no
 * fleet, or has one shard, has the cursors of change_feed.h.
 */
#ifndef ENGINE_CHANGES_CHANGE_PLACE_H
#define ENGINE_CHANGES_CHANGE_PLACE_H

#include "base/buf.h"
#include "base/mem.h"
#include "engine/changes/change_feed.h"

struct change_place {                   /* zeroed, it is empty */
	int64_t epoch;
	VEC(struct change_cursor) at;   /* by shard */
};

/* The cursor before all changes. */
void change_place_begin(struct change_place *p, int64_t epoch, uint32_t n_shards);
/* Of a fleet with this epoch and so many shards; text NULL: the beginning.  E_USAGE: it is no
 * cursor; E_GONE: it was one. */
MUST_CHECK int change_place_read(struct change_place *p, int64_t epoch, uint32_t n_shards,
                                 const char *text, struct err *err);
/* Append it as a text without blanks, fit for URLs. */
void change_place_write(const struct change_place *p, struct buf *out);
void change_place_release(struct change_place *p);

#endif
