/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - the cycle that is open for other crawlers, as the store has it.
 *
 * Other crawlers are handed pages (leases), and tell what came of them, from programs that
 * come and go.  So the store, and no program, knows who has what.  An offer is in it before
 * it is handed out.  The states of an offer:
 *
 *        offered            told
 *   (page) ----> OUT -----------------> TOLD
 *                 |  \    deadline              late, once, until the cycle ends
 *                 |   `-------------> LAPSED ---------------> TOLD
 *                 |  given back
 *                 `-----------------> GIVEN_BACK        (the page may be offered again)
 *
 * DROPPED: it was never handed out, because its owner has had its part of the cycle; the page
 * is not offered in this cycle.
 * LAPSED: its requests stay spent, the page is not offered again in this cycle, and it does
 * not count as a failure.  GIVEN_BACK: page and requests come back.
 *
 * Every end of an offer is an event with a number of its own in the cycle (`order`), as each
 * visit has one: so the engine can make the cycle again (engine/client/client.h).
 *
 * All of this needs no policy: a program that only tells reads nothing but this cycle.
 */
#ifndef ENGINE_BOOK_LEDGER_H
#define ENGINE_BOOK_LEDGER_H

#include "base/map.h"
#include "base/mem.h"
#include "base/when.h"
#include "engine/book/last_cycle.h"
#include "policy/policy.h"

#define LEDGER_NAME_MAX 100             /* bytes of a client's name */
#define LEDGER_ID_SIZE 32               /* with the shard of a fleet before it: serve/parts.h */

/* What the cycle was opened with; kept in the state `clients`. */
struct ledger_rules {
	enum aim aim;
	enum weight_by weight;
	int64_t every, max_age;         /* seconds; no max_age: 0 */
	struct share site_share, retry_share;
};

struct ledger {
	struct store *store;
	struct last_cycle last;
	bool open;                      /* the last cycle is open, and for other crawlers: */
	struct ledger_rules rules;
	uint32_t n_pages;               /* when it began: pages that came later wait */
	uint64_t serial;                /* of the last change */
	int64_t waited;                 /* since then somebody has waited in vain; 0: nobody */
	VEC(struct store_lease) leases; /* by number - 1; their clients are in the next two */
	VEC(uint32_t) client;           /* by number - 1: an index into names */
	struct strtab names;            /* of clients */
	struct map by_page;             /* number of the newest lease */
	struct map told;                /* pages that were told of */
	uint32_t n_events;              /* events of the cycle; the last one has this number */
	uint32_t n_ended;               /* the first so many leases are none of them out */
};

/* Read it; to be released, also after an error. */
MUST_CHECK int ledger_load(struct ledger *l, struct store *s, struct err *err);
void ledger_release(struct ledger *l);
/* Has another program changed it since? */
MUST_CHECK int ledger_is_fresh(const struct ledger *l, bool *ret, struct err *err);

/* The rest must be called in a batch; ledger_save() is last. */

/* Open a cycle: number, time, policy, seed and budget are row's, and owed; the rest is the
 * ledger's. */
MUST_CHECK int ledger_begin(struct ledger *l, const struct store_cycle *row,
                            const struct ledger_rules *rules, uint32_t n_pages,
                            struct err *err);
/* Hand out a page; cycle, place and state of the lease are the ledger's to give. */
MUST_CHECK int ledger_offer(struct ledger *l, const struct store_lease *lease,
                            struct err *err);
/* An offer that is out ends as GIVEN_BACK, LAPSED or DROPPED; one that is out or has lapsed ends as
 * TOLD, and its visit gets the number of an event. */
MUST_CHECK int ledger_close(struct ledger *l, uint32_t number, enum store_lease_state state,
                            struct err *err);
/* The number of the next event. */
uint32_t ledger_event(struct ledger *l);
MUST_CHECK int ledger_save(struct ledger *l, struct err *err);
/* What is out lapses, and the cycle is over. */
MUST_CHECK int ledger_end(struct ledger *l, struct err *err);

/* The next offer after this number that is out and whose deadline has passed; 0: none. */
uint32_t ledger_due(struct ledger *l, uint32_t after, int64_t now);
/* The first number that may be out: what a walk over those that are begins with. */
uint32_t ledger_first(struct ledger *l);
bool ledger_is_of(const struct ledger *l, uint32_t number, const char *client);
/* The newest lease of a page; 0: none. */
uint32_t ledger_find(const struct ledger *l, uint32_t page);
static inline const struct store_lease *ledger_lease(const struct ledger *l, uint32_t number)
{
	return &l->leases.v[number - 1];
}

/* A lease as clients know it, "CYCLE-NUMBER"; false: it is none. */
void ledger_id(uint32_t cycle, uint32_t number, char out[LEDGER_ID_SIZE]);
bool ledger_parse(struct text id, uint32_t *ret_cycle, uint32_t *ret_number);

#endif
