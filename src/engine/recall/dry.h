/* SPDX-License-Identifier: Apache-2.0 */
/* dry.h - what would be fetched: a cycle in which nothing is fetched. */
#ifndef ENGINE_RECALL_DRY_H
#define ENGINE_RECALL_DRY_H

#include "engine/recall/resume.h"

/* Run a cycle whose source delivers nothing; the plan is in engine.seen.  A
 * policy that looks at its first outcomes before it goes on learns none here,
 * so what it asks in later rounds (seen.round > 1) is what it would ask if
 * nothing could be learnt.  progress is shown; it may be NULL. */
MUST_CHECK int dry_cycle(struct resumed *r, int64_t now, uint32_t budget,
                         struct progress *progress, struct err *err);

#endif
