/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guarantee.h - no page stays unvisited for longer than the user allows.
 *
 * A page visited in cycle c must be visited again by c + max_age.  Every cycle reserves
 * the smallest even pace that meets all deadlines known now: with D_j pages due within j
 * cycles, the largest ceil(D_j / j).  The oldest pages come first.  If the policy visits
 * old pages itself, the reserve shrinks to nothing.  If the reserve is larger than the
 * budget, the guarantee is broken: the whole budget goes to the oldest pages, and
 * cycle.guarantee_broken is set.
 */
#ifndef ENGINE_CYCLE_GUARANTEE_H
#define ENGINE_CYCLE_GUARANTEE_H

#include "base/err.h"
#include "policy/view.h"

/* Pages that must be visited now so that none passes max_age (in cycles; 0: no limit). */
uint32_t guarantee_need(const struct view *v, uint32_t max_age);

/* --max-age in cycles; 0: none was asked for. */
MUST_CHECK int guarantee_cycles(int64_t max_age, int64_t cycle_seconds, uint32_t *ret,
                                struct err *err);

#endif
