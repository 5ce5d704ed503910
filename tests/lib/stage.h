/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.h - a policy on a small repository whose pages do as a test says.
 *
 * Pages come from a history (URLs and links at its start); what each visit finds
 * is asked of the test.
 */
#ifndef TESTS_LIB_STAGE_H
#define TESTS_LIB_STAGE_H

#include "engine/cycle/cycle.h"
#include "engine/replay/replay.h"
#include "trace.h"

typedef enum outcome stage_fate(void *arg, uint32_t page, uint32_t cycle);

struct stage {
	struct history h;
	struct replay r;
	struct policy *policy;
	struct engine e;
	stage_fate *fate;               /* NULL: nothing ever changes */
	void *arg;
	enum failure failure;           /* what OUTCOME_FAILED means: FAILURE_UNKNOWN, nothing */
	unsigned needs;                 /* beside links and PageRank; set after stage_open() */
};

/* Then trace_add() pages to s->h (at day 0), then stage_play(). */
void stage_open(struct stage *s);
/* Put a policy on it, in place of the one before; seed 1. */
void stage_play(struct stage *s, const char *spec);
/* One cycle at `cycle` days from the start; ends the test if it fails. */
void stage_cycle(struct stage *s, uint32_t budget);
void stage_close(struct stage *s);

#endif
