/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_care.h - who was under care when a past cycle began.
 *
 * The user removes pages, pauses them and puts them back.  The store logs each change with the
 * newest cycle of that moment.  Here the log is followed cycle by cycle, beside the visits: a
 * page that is kept out is not HERE, and MARK_WAITS remembers that it would be.  Cost: a byte
 * a page, and one read of the log.
 */
#ifndef ENGINE_RECALL_RECALL_CARE_H
#define ENGINE_RECALL_RECALL_CARE_H

#include "engine/cycle/cycle.h"
#include "repo/store.h"

enum mark {
	MARK_KNOWN = 1,                 /* the copy that we began with is there; see recall.c */
	MARK_OUT   = 2,                 /* the user keeps it out, */
	MARK_WAITS = 4                  /* else it would be here */
};

struct recall_care {
	struct store *store;
	uint8_t *state;                 /* of the engine */
	uint8_t *marks;                 /* by page: enum mark, or-ed */
	uint32_t from;                  /* changes logged in this cycle or later are to come */
	bool any;                       /* there is a log */
};

MUST_CHECK int recall_care_begin(struct recall_care *c, struct store *s, uint8_t *state,
                                 uint32_t n_pages, struct err *err);
void recall_care_release(struct recall_care *c);
/* Follow the log to the moment when this own cycle began. */
MUST_CHECK int recall_care_until(struct recall_care *c, uint32_t cycle, struct err *err);
/* The page is in the repository from now on: HERE, if it is under care. */
void recall_care_here(struct recall_care *c, uint32_t page);
/* Its visit was told and its state set.  One that is kept out leaves again. */
void recall_care_told(struct recall_care *c, uint32_t page);
/* Add what was followed before so many cycles to a hash. */
MUST_CHECK int recall_care_hash(const struct recall_care *c, uint32_t cycles, uint64_t *hash,
                                struct err *err);

#endif
