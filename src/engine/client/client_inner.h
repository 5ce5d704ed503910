/* SPDX-License-Identifier: Apache-2.0 */
/* client_inner.h - what client.c (calls) and client_load.c (the engine) share. */
#ifndef ENGINE_CLIENT_CLIENT_INNER_H
#define ENGINE_CLIENT_CLIENT_INNER_H

#include "engine/client/client.h"
#include "engine/recall/resume.h"
#include "repo/site_settings.h"
#include "web/rules/robots.h"

/* When a host may be asked next: from this second on, in which so many have their turn. */
struct client_host { int64_t last; uint32_t n; };

struct client {
	struct store *store;
	struct client_opts opts;
	struct ledger ledger;
	bool loaded;                    /* the ledger is read, */
	bool ready;                     /* and the engine stands where it does */
	struct resumed resumed;
	struct site_settings sites;     /* as when the engine was made */
	struct map hosts;               /* by site: where in */
	VEC(struct client_host) slots;
	uint32_t rounds_kept;           /* of the cycle, in the store */
	struct map shown;               /* leases that were handed out, by cycle << 32 | number */
	struct arena texts;             /* of the last answer */
	VEC(struct client_offer) offers;
};

/* An engine that stands where the ledger stands, or, if no cycle is open, before the next
 * cycle. */
MUST_CHECK int client_load(struct client *c, struct err *err);
void client_unload(struct client *c);
/* Begin the cycle that the ledger has just begun. */
void client_start(struct client *c);
/* What happened to a page of the cycle, also to the engine; for struct tell. */
void client_event(void *client, const struct tell_event *e);
MUST_CHECK int client_rounds_save(struct client *c, struct err *err);

/* What robots.txt says of the offers to this agent: robots, robots_read, crawl_delay. */
MUST_CHECK int client_robots(struct client *c, const char *agent, int64_t now,
                             struct err *err);

/* The turn of a page at its host: reserve it, or only look. */
int64_t client_slot(struct client *c, uint32_t page, int64_t now, bool take);

#endif
