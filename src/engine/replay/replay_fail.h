/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_fail.h - failures in recorded history: those that were recorded, and made-up
 * ones.
 *
 * A capture with a status of 4xx or 5xx (but 404 and 410, which say that the page is
 * gone) is a failure.  It lasts until the next capture of the page, but at most one
 * cycle.  It does not change our copy or the page's content.
 *
 * Few archives keep failures.  So some can be made up: a share of the pages fails at some
 * time: a third of them alone (403), a third with all of their directory (500), a third
 * with all of their host (no connection).  Each such page, directory or host begins to
 * fail in the first half of the replay.  Half of them fail for ever, half for up to a
 * quarter of the replay.  All of this depends only on the seed and the history.
 */
#ifndef ENGINE_REPLAY_REPLAY_FAIL_H
#define ENGINE_REPLAY_REPLAY_FAIL_H

#include "engine/cycle/backoff.h"

struct replay;

/* The failure of a visit at `now`, or FAILURE_NO.  current: the page's capture at that time.
 * */
enum failure replay_failing(const struct replay *r, uint32_t page, uint32_t current,
                            int64_t now);
/* Can any page fail? */
bool replay_can_fail(const struct replay *r);

#endif
