/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.h - what the workers of a fleet agree on: shards and who holds them, cycles and
 * their budget, workers, and the inboxes of shards.  Tables of PostgreSQL beside those of
 * the store (repo/pg/schema_fleet.c); no other clock than the server's is used in them.
 *
 * A shard is the pages of the domains whose hash (shard_hash()) is from low to high.  Who
 * wants to write to it takes a lease:
 *
 *   fleet_claim()    a shard whose lease is over, the one that waited longest; its fence is
 *                     raised; this is committed before anything of the shard is read
 *   fleet_renew()    the lease lasts LEASE_SECONDS more; every RENEW_SECONDS
 *   fleet_release()  given back: the next may take it at once
 *
 * The store is then opened with shard and fence in its URL (fleet_url()).  Each of its
 * transactions looks at the fence first: who lost the lease writes nothing, however late it
 * wakes up.  The same holds for the calls here that take a lease.
 *
 * The budget of a cycle is a number that grants are taken from (fleet_grant()), in one
 * statement, and the table refuses that their sum passes it.
 *
 * Calls may come from any thread.  A call whose connection is lost tries again for as long as
 * the URL's `patience` says; so a statement may be done twice, and each is such that this
 * does no harm: at worst a lease or a grant is not used.
 */
#ifndef REPO_FLEET_FLEET_H
#define REPO_FLEET_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"

#define LEASE_SECONDS 30        /* of the server's clock, from the statement on */
#define RENEW_SECONDS 10
/* The worker's own deadline, by a clock that nobody can set: from before the renewal was
 * sent.  So it is over on the worker before it is over on the server, if their clocks go
 * equally fast within a sixth. */
#define LEASE_OWN_SECONDS 25
#define FLEET_SHARDS_MAX 65536
#define FLEET_NAME_MAX 64      /* of a worker, with the NUL */
#define FLEET_HASHES (1ull << 32)

struct fleet;

/* Is this the name of a store that has a ledger? */
bool fleet_is_for(const char *where);
MUST_CHECK int fleet_open(struct fleet **ret, const char *url, struct err *err);
void fleet_close(struct fleet *l);            /* l may be NULL */
const char *fleet_shown(const struct fleet *l);       /* for messages */
const char *fleet_worker(const struct fleet *l);      /* of the URL, or of the machine */
/* Append the URL of a shard's store.  fence 0: to read; worker NULL: as the URL says. */
void fleet_url(const char *url, int32_t shard, int64_t fence, const char *worker,
                struct buf *out);
/* Seconds of the server's clock, and how far ours is ahead of it. */
MUST_CHECK int fleet_now(struct fleet *l, double *ret_now, double *ret_ahead,
                          struct err *err);

/* ---- shards ---- */

struct fleet_shard {
	int32_t shard;
	uint64_t low, high;             /* hashes of domains: low <= hash < high */
	char worker[FLEET_NAME_MAX];   /* who has the lease, or had it last; "": nobody */
	bool held, lost, done;          /* lost: the last lease was not given back; done: its part
	                                 * of the cycle is over */
	double left, waits;             /* seconds that the lease still lasts; that it is free */
	uint32_t cycle;                 /* of the fleet */
	int64_t pages, here;            /* all; those that are not gone, -1: not known */
	int64_t fence;                  /* raised by each new lease */
	int64_t inbox;                  /* entries that wait there */
	int64_t batch;                  /* raised by each commit to it */
	uint32_t granted, downloads;    /* in that cycle */
	int32_t splitting;              /* -1: no */
	char state[32];                 /* what the worker is at: loading, crawling, waiting */
};

/* The hash of the registrable domain of a canonical URL (url_domain()): the high 32 bits of
 * FNV-1a with 64 bits, of its bytes and four zero bytes.  It is part of what is stored, and
 * never changes. */
uint32_t shard_hash(const char *url, size_t size);

/* All, by number; the caller frees *ret. */
MUST_CHECK int fleet_shards(struct fleet *l, struct fleet_shard **ret, size_t *ret_n,
                             struct err *err);
/* Which shard's pages are those of this hash?  Shards as fleet_shards() has them. */
int32_t fleet_shard_of(const struct fleet_shard *shards, size_t n, uint32_t hash);
/* Raised when the shards become others: made, split. */
MUST_CHECK int fleet_epoch(struct fleet *l, int64_t *ret, struct err *err);
/* Make n shards, if there are no pages yet; nothing is done if there are n. */
MUST_CHECK int fleet_make(struct fleet *l, uint32_t n, struct err *err);

/* The settings of the fleet (store_setting_put()), which need no lease.  value NULL: remove. */
MUST_CHECK int fleet_set(struct fleet *l, const char *key, const char *value, struct err *err);
/* A state of the fleet (STORE_OF_FLEET) as it is now.  1: found, in a new string; 0: there is none. */
MUST_CHECK int fleet_state_get(struct fleet *l, const char *key, char **ret, struct err *err);
/* It becomes `value` if it is `old`; no lease is needed.  NULL: there is none.  1: done;
 * 0: it was not `old`, or this call was done twice. */
MUST_CHECK int fleet_state_swap(struct fleet *l, const char *key, const char *old,
                                 const char *value, struct err *err);

/* ---- leases ---- */

struct fleet_lease {
	int32_t shard;
	int64_t fence;
	double sent;                    /* CLOCK_BOOTTIME, before the claim was sent */
	bool lost;                      /* the lease before was not given back */
	uint32_t cycle;                 /* as the shard had it */
	bool done;
};

double fleet_clock(void);              /* CLOCK_BOOTTIME, seconds */

/* A shard of which something is to be done: of this cycle, or (cycle 0) with an inbox.  1:
 * got it; 0: there is none.  `only`: this shard, whatever is to be done; -1: any. */
MUST_CHECK int fleet_claim(struct fleet *l, const char *worker, uint32_t cycle, int32_t only,
                            struct fleet_lease *ret, struct err *err);
/* held[i]: the lease lasts on.  One that is over and was not taken by another does, too. */
MUST_CHECK int fleet_renew(struct fleet *l, const struct fleet_lease *leases, size_t n,
                            bool *held, struct err *err);
/* E_BUSY: it was lost. */
MUST_CHECK int fleet_release(struct fleet *l, const struct fleet_lease *lease,
                              struct err *err);
/* What the holder is at, for `status`; pages that can be asked for (-1: unknown). */
MUST_CHECK int fleet_say(struct fleet *l, const struct fleet_lease *lease, const char *state,
                          int64_t here, struct err *err);

/* ---- splitting ---- */

/* A shard becomes two: its domains from `cut` on go to the new shard, with their pages, history,
 * tags, hints and robots.txt; fleet_split.c says how.  All of it happens or nothing. */
struct fleet_split {
	int32_t shard;                  /* the new one */
	uint64_t low, cut, high;        /* hashes of domains */
	uint64_t pages[2];              /* that stayed; that went */
};
/* For who waits: step() is called before each step. */
struct fleet_split_watch {
	void (*step)(void *arg, const char *what, uint64_t done, uint64_t of);
	void *arg;
};
/* Under a lease that the caller renews on another connection.  The shard's part of the cycle
 * must be over (E_BUSY).  E_USAGE: all its pages are of one domain.  watch may be NULL. */
MUST_CHECK int fleet_split(struct fleet *l, const struct fleet_lease *lease,
                            const struct fleet_split_watch *watch, struct fleet_split *ret,
                            struct err *err);

/* ---- cycles ---- */

struct fleet_cycle {
	uint32_t number;                /* 0: there was none */
	int64_t slot, opened, every;    /* slot: when it was due */
	char policy[256], aim[32];
	uint64_t pages;
	uint32_t budget, granted;
	double price;
	/* sums over the shards */
	uint64_t downloads, fresh, changed, same, gone, failed, blocked;
	double seconds;
	uint32_t shards, done;          /* that had part in it; that have ended it */
};

typedef int fleet_cycle_each(void *arg, const struct fleet_cycle *c, struct err *err);
/* From this number on; 0: the newest only. */
MUST_CHECK int fleet_cycles(struct fleet *l, uint32_t from, fleet_cycle_each *each,
                             void *arg, struct err *err);
MUST_CHECK int fleet_cycle_last(struct fleet *l, struct fleet_cycle *ret, struct err *err);
/* The number that a cycle of the fleet has in a shard; 0: the shard had no part in it. */
MUST_CHECK int fleet_cycle_own(struct fleet *l, uint32_t cycle, int32_t shard, uint32_t *ret,
                                struct err *err);
/* Pages that can be asked for, of all shards. */
MUST_CHECK int fleet_pages(struct fleet *l, uint64_t *ret, struct err *err);
/* Open the cycle c->number, unless another has done it.  c: number, slot, every, policy,
 * aim, pages, budget. */
MUST_CHECK int fleet_cycle_open(struct fleet *l, const struct fleet_cycle *c,
                                 struct err *err);
/* The shard begins its part of the cycle, or goes on with it: what it was granted so far, and
 * the number of this cycle in the shard (0: it has none yet). */
MUST_CHECK int fleet_join(struct fleet *l, const struct fleet_lease *lease, uint32_t cycle,
                           uint32_t *ret_granted, uint32_t *ret_own, struct err *err);
/* Grant up to n requests more; *ret: of this shard, all together. */
MUST_CHECK int fleet_grant(struct fleet *l, const struct fleet_lease *lease, uint32_t cycle,
                            uint32_t n, uint32_t *ret, struct err *err);
/* What came of the shard's part so far; done: it has ended, and what it was granted and did
 * not spend goes back. */
struct fleet_result {
	uint32_t own, downloads, fresh, changed, same, gone, failed, blocked;
	double seconds;
	bool done;
};
MUST_CHECK int fleet_result(struct fleet *l, const struct fleet_lease *lease, uint32_t cycle,
                             const struct fleet_result *r, struct err *err);

/* The bid of a shard: its demand, in bytes of engine/market. */
MUST_CHECK int fleet_bid(struct fleet *l, const struct fleet_lease *lease, struct text bid,
                          struct err *err);
/* Bids of all shards, by number, with what they were granted in the cycle and in the one
 * before. */
struct fleet_bid {
	int32_t shard;
	struct text bid;                /* size 0: none */
	int64_t pages;
	uint32_t granted, last;         /* last: in the cycle before; 0: none */
	bool done;                      /* with the cycle */
};
typedef int fleet_bid_each(void *arg, const struct fleet_bid *b, struct err *err);
MUST_CHECK int fleet_bids(struct fleet *l, uint32_t cycle, fleet_bid_each *each, void *arg,
                           struct err *err);
MUST_CHECK int fleet_price(struct fleet *l, uint32_t cycle, double price, struct err *err);
/* Is there a shard of the cycle that is neither done nor held: it waits for a worker? */
MUST_CHECK int fleet_waiting(struct fleet *l, uint32_t cycle, bool *ret, struct err *err);

/* ---- inbox ---- */

#define FLEET_KIND_MAX 32
#define FLEET_BODY_MAX (1 << 20)       /* bytes of an entry */

struct fleet_entry { int32_t shard; int64_t id; const char *kind; struct text body; };

MUST_CHECK int fleet_inbox_put(struct fleet *l, const struct fleet_entry *e, size_t n,
                                struct err *err);
typedef int fleet_entry_each(void *arg, const struct fleet_entry *e, struct err *err);
/* The oldest entries, at most `most`. */
MUST_CHECK int fleet_inbox(struct fleet *l, int32_t shard, uint32_t most,
                            fleet_entry_each *each, void *arg, struct err *err);
/* They were applied, or are of no use. */
MUST_CHECK int fleet_inbox_drop(struct fleet *l, const struct fleet_lease *lease,
                                 const int64_t *ids, size_t n, struct err *err);

/* An entry has lines for other shards, since one was split: it keeps `own` (size 0: it goes),
 * and the others get theirs, all at once. */
MUST_CHECK int fleet_inbox_divide(struct fleet *l, const struct fleet_lease *lease, int64_t id,
                                   struct text own, const struct fleet_entry *others, size_t n,
                                   struct err *err);

/* ---- workers ---- */

#define FLEET_DEAD_SECONDS 40  /* a worker that is not heard of for so long is taken for dead */

struct fleet_worker {
	char worker[FLEET_NAME_MAX], host[256], version[32];
	int64_t process;
	double up, silent;              /* seconds */
	uint32_t take, shards;          /* shards: that it holds */
	double ahead;
	uint64_t requests;
	bool stopped;                   /* it said so itself */
};

/* 0: the worker's row is ours; E_BUSY: another process of this name is alive. */
MUST_CHECK int fleet_hello(struct fleet *l, const struct fleet_worker *w, struct err *err);
MUST_CHECK int fleet_beat(struct fleet *l, const struct fleet_worker *w, struct err *err);
typedef int fleet_worker_each(void *arg, const struct fleet_worker *w, struct err *err);
MUST_CHECK int fleet_workers(struct fleet *l, fleet_worker_each *each, void *arg,
                              struct err *err);

#endif
