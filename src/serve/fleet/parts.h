/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - the shards of a fleet that a service holds, for clients that lease and tell.
 *
 * The worker of the service (fleet.h) has a thread for each shard that it holds.  Other workers
 * fetch the pages themselves; this thread opens the shard's part of the cycle for clients, lets
 * requests find it, and ends it when its budget is spent and all is told, or the next cycle is
 * due.
 */
#ifndef SERVE_FLEET_PARTS_H
#define SERVE_FLEET_PARTS_H

#include "base/mem.h"
#include "engine/client/client.h"
#include "engine/fleet/work.h"

struct parts;
struct part;

struct parts *parts_new(const struct client_opts *opts);
void parts_free(struct parts *p);               /* p may be NULL */
/* Parts that begin from now on have these rules. */
void parts_renew(struct parts *p, const struct client_opts *opts);
/* The function that struct work_opts wants.  Returns when the part is over, or when it is told to
 * stop. */
MUST_CHECK int parts_run(struct parts *p, const struct work_part *w, struct crawl_report *ret,
                         struct err *err);

/* The shards that are held now.  Each call begins with the next one, so that all take turns. */
struct parts_list { VEC(int32_t) shards; };     /* zeroed, it is empty */
void parts_list(struct parts *p, struct parts_list *ret);
size_t parts_count(struct parts *p);

/* Lease pages of all parts, about evenly.  Texts live as long as `keep`. */
struct parts_asked {                            /* zeroed, it is empty */
	VEC(struct client_offer) offers;        /* their leases: SHARD.CYCLE-NUMBER */
	int64_t wait;                           /* seconds until one may ask again; 0: not said */
};
MUST_CHECK int parts_ask(struct parts *p, const struct client_asking *a, struct arena *keep,
                         struct parts_asked *ret, struct err *err);

/* The part of a shard, locked; NULL: it is not held here. */
struct part *part_enter(struct parts *d, int32_t shard);
void part_leave(struct parts *d, struct part *p);
int64_t part_now(const struct part *p);         /* by the clock of the fleet */
struct client *part_client(struct part *p);
struct store *part_store(struct part *p);

#endif
