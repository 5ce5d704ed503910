/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.h - a service over all shards of a fleet.
 *
 * It reads every shard.  What it writes goes the way of the commands: into the inboxes of shards
 * (cli/frame/shards.h).  With `take` it is a worker, too (engine/fleet/work.h): it claims shards
 * and leases their pages to clients (parts.h) instead of fetching them.
 *
 * Names.  A page is SHARD.NUMBER, a lease SHARD.CYCLE-NUMBER; a cursor of changes has a place in
 * each shard (engine/changes/change_place.h).
 */
#ifndef SERVE_FLEET_FLEET_H
#define SERVE_FLEET_FLEET_H

#include <signal.h>

#include "engine/fleet/work.h"
#include "serve/fleet/parts.h"

struct serve_fleet_opts {
	const char *url;                /* of the store; NULL: it is no fleet, or one shard of it */
	const char *worker;             /* its name as a worker, */
	uint32_t take;                  /* which claims so many shards; 0: none */
	int (*schedule)(void *arg, struct work_schedule *ret, struct err *err);  /* work_opts */
	void *arg;
};

struct serve_fleet;

/* *stop is set if the worker fails: the service is to end. */
MUST_CHECK int serve_fleet_open(struct serve_fleet **ret, const struct serve_fleet_opts *o,
                                const struct client_opts *client, volatile sig_atomic_t *stop,
                                struct err *err);
/* Claim shards from now on, if it takes any. */
void serve_fleet_start(struct serve_fleet *f);
/* All shards are given back.  What ended it before, if it was an error. */
MUST_CHECK int serve_fleet_stop(struct serve_fleet *f, struct err *err);
void serve_fleet_close(struct serve_fleet *f);          /* f may be NULL */

struct parts *serve_fleet_parts(struct serve_fleet *f);
struct fleet *serve_fleet_ledger(struct serve_fleet *f);
/* All shards as they are now; the caller frees *ret. */
MUST_CHECK int serve_fleet_shards(struct serve_fleet *f, struct fleet_shard **ret, size_t *ret_n,
                                  struct err *err);
MUST_CHECK int serve_fleet_store(struct serve_fleet *f, int32_t shard, struct store **ret,
                                 struct err *err);     /* to read */
/* The newest cycle and how many shards there are, at most a second old; anew: as they are now. */
MUST_CHECK int serve_fleet_cycle(struct serve_fleet *f, bool anew, struct fleet_cycle *ret,
                                 size_t *ret_shards, struct err *err);
/* Is there such a shard?  1, 0. */
MUST_CHECK int serve_fleet_has(struct serve_fleet *f, int32_t shard, struct err *err);
/* The shard of a URL, as a user types it; -1: it is no URL. */
MUST_CHECK int serve_fleet_find(struct serve_fleet *f, const char *url, int32_t *ret,
                                struct err *err);

#endif
