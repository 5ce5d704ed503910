/* SPDX-License-Identifier: Apache-2.0 */
/* recall_inner.h - what the files of recall() share: recall.c (own cycles), recall_imported.c
 * (imported visits), snapshot.c. */
#ifndef ENGINE_RECALL_RECALL_INNER_H
#define ENGINE_RECALL_RECALL_INNER_H

#include "engine/recall/recall.h"
#include "engine/recall/recall_care.h"

/* A stored visit: what of it is told. */
struct past_visit { int64_t time; uint32_t page; float score, probability;
                    uint8_t outcome, reason, failure; bool copied, hit; int32_t status; };

struct past_cycle {
	int64_t time;
	uint32_t budget;
	uint32_t pages;                 /* when it began; 0: not known */
	uint32_t most;                  /* pages: no more than these can have been here */
	uint8_t goal;
};

struct recalling {
	struct engine *e;
	const struct loaded *loaded;
	struct store *store;
	const struct recall_opts *opts;
	struct recalled *ret;
	VEC(struct past_cycle) cycles;  /* by own cycle, from 1 */
	struct past_cycle next;         /* the one of opts->before_cycle */
	VEC(struct past_visit) past, ahead;     /* visits read from the store and not told yet;
	                                 * those of the cycle after */
	VEC(struct seen) seen;          /* visits of the cycle that is being told */
	uint32_t n_first;               /* first copies in seen */
	struct recall_care care;        /* who was under care; and marks of pages */
	uint32_t n_added, n_asked;      /* pages that were here by now; see set_asked() */
	uint32_t most;                  /* pages when the next cycle began; 0: not known */
	bool thawed;                    /* a snapshot was read: it has the imported visits */
	uint64_t told_before;           /* ret->n_told of that snapshot */
};

struct past_visit recall_visit(const struct store_visit *v);

/* Add a visit to r->seen.  A first copy is one that has an outcome and is not known. */
void recall_push(struct recalling *r, const struct past_visit *t, bool first);
/* Is it the first copy of its page?  That is the copy we began with, not a visit to learn
 * from; cycles that made nothing but such copies came before the first cycle.  From then on
 * the page is known. */
bool recall_first(struct recalling *r, const struct past_visit *t, uint32_t cycle);
/* Set the states of pages to what these visits found. */
void recall_found(struct recalling *r, const struct past_visit *v, size_t n);

/* Tell all imported visits. */
MUST_CHECK int recall_imported(struct recalling *r, struct err *err);

void recall_start(struct progress *p, const char *unit, uint64_t total);
/* E_STOP: whoever watches wants to stop. */
MUST_CHECK int recall_shown(struct progress *p, uint64_t done, struct err *err);

#endif
