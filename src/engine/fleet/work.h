/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - a worker of a fleet: it takes shards, runs their part of the fleet's cycle, and
 * gives them back.
 *
 * Workers are equal; what they agree on is in the ledger (repo/fleet/fleet.h).  The first that
 * finds the slot of a cycle past opens it.  Each worker has `take` slots.  A slot is a thread
 * with a shard: it opens the shard's store under its lease, applies the inbox, and crawls as
 * `freshet cycle` does, but for the budget, which it gets in parts (engine/market/market.h).
 * One thread does nothing but renew leases.
 *
 * If the worker dies, its leases end and other workers go on with its shards, as after a
 * crash on one machine: what was asked for and has no outcome has lapsed.  If it only hangs,
 * the fence keeps it from writing, and its own deadline (send_until) from sending: that is
 * CLOCK_BOOTTIME, so suspending the machine or setting its clock makes no difference.
 *
 * A shard that is below the market's price waits for its turn.  It is given up if another
 * shard waits for a slot, and taken again later.
 */
#ifndef ENGINE_FLEET_WORK_H
#define ENGINE_FLEET_WORK_H

#include <signal.h>

#include "base/when.h"
#include "engine/crawl/crawl.h"
#include "repo/fleet/fleet.h"

/* The fleet's settings, for the cycles that open from now on. */
struct work_schedule {
	int64_t every;
	struct share budget;
	char policy[256], aim[32];
};

/* What a slot is to do: one shard's part of a cycle. */
struct work_part {
	struct store *store;
	int32_t shard;
	const struct crawl_fleet *fleet;
	const struct fleet_cycle *cycle;        /* its policy and aim */
	uint32_t n_shards;                      /* of the fleet */
	uint32_t expected;                      /* requests */
	const volatile sig_atomic_t *stop;
	bool anew;
	double seconds;                         /* until the next cycle is due */
	const char *folder;                     /* for WARC files; it is there */
};

struct work_opts {
	const char *url;                /* of the store */
	const char *worker;             /* its name */
	const char *warc_folder;
	uint32_t take;                  /* shards at a time */
	uint32_t cycles;                /* end when so many are over, or when the one after them is due;
	                                 * 0: never */
	bool clients;                   /* pages are leased to other crawlers: there are no WARC files */
	const volatile sig_atomic_t *stop;
	int (*schedule)(void *arg, struct work_schedule *ret, struct err *err);
	/* Crawl, or lease pages, as the settings of the store and the part say; called by several threads. */
	int (*crawl)(void *arg, const struct work_part *p, struct crawl_report *ret,
	             struct err *err);
	void *arg;
};

/* 0 after `cycles`, E_STOP after a stop: all shards were given back in both cases. */
MUST_CHECK int work_run(const struct work_opts *o, struct err *err);

/* ---- inbox.c ---- */

/* What came of entries; added up. */
struct inbox_stats {
	uint64_t entries, waiting;      /* waiting: of what was told, while a cycle is open */
	uint64_t pages, known, outside, removed, back, bad;     /* as struct import_stats */
	uint64_t cared;                 /* pages whose care was changed: removed, paused, tagged */
	uint64_t told, unknown;
	uint64_t touched, again;        /* as struct touch_stats */
};

/* What was told must wait while a cycle of the shard is open. */
enum inbox_tell { INBOX_NO_TELL, INBOX_IF_CLOSED };
/* Apply the inbox of a shard, whose store is open under this lease. */
MUST_CHECK int inbox_apply(struct fleet *f, const struct fleet_lease *lease, struct store *s,
                           enum inbox_tell tell, struct inbox_stats *ret, struct err *err);

#endif
