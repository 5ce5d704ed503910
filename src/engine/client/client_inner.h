/* SPDX-License-Identifier: Apache-2.0 */
/* client_inner.h - what client.c (calls), client_cycle.c and client_load.c (the engine) share. */
#ifndef ENGINE_CLIENT_CLIENT_INNER_H
#define ENGINE_CLIENT_CLIENT_INNER_H

#include <pthread.h>

#include "engine/book/touch.h"
#include "engine/client/client.h"
#include "engine/recall/grants.h"
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
	bool whole;                     /* it has made the open cycle from its begin, and has heard
	                                 * of every visit */
	struct resumed resumed;
	struct site_settings sites;     /* as when the engine was made */
	struct map hosts;               /* by site: index in slots */
	VEC(struct client_host) slots;
	uint32_t rounds_kept;           /* of the cycle, in the store */
	struct map shown;               /* leases that were handed out, by cycle << 32 | number */
	struct arena texts;             /* of the last answer */
	VEC(struct client_offer) offers;
	double seconds_counted;         /* of the engine's planning, in the row of the cycle */
	/* client_cycle.c */
	bool ahead;                     /* rounds and cycles are prepared by client_prepare_*() */
	bool wanted, wanted_anew;       /* a cycle that can be asked for */
	bool impatient;                 /* the next round is wanted, whatever is told */
	bool plans;                     /* a round is being planned, */
	bool thinks;                    /* and the policy is at it, under: */
	pthread_mutex_t thinking;
	pthread_cond_t thought;
	VEC(struct tell_event) events;  /* that the engine has not heard of: the policy thinks */
	struct client_news { bool begun; uint32_t taken_off, ended; } news;     /* for who asks next */
	struct touch_offers touched;    /* what the cycle begins with */
	/* client_fleet.c */
	size_t grants_kept;
	bool grants_over, dry;          /* no more is granted; the engine has no more pages */
};

/* An engine that stands where the ledger stands, or, if no cycle is open, before the next
 * cycle. */
MUST_CHECK int client_load(struct client *c, struct err *err);
void client_unload(struct client *c);
/* The cycle is over, as the engine knows it: the next may go on with it. */
void client_load_ended(struct client *c);
/* Begin the cycle that the ledger has just begun. */
MUST_CHECK int client_start(struct client *c, struct err *err);
/* What happened to a page of the cycle, also to the engine; for struct tell. */
void client_event(void *client, const struct tell_event *e);
/* Wait until the policy has thought, and let the engine hear what has happened meanwhile.  The
 * round that it thought of is given up if `drop`. */
void client_settle(struct client *c, bool drop);
/* Is there an open cycle, with an engine, for who asks? */
bool client_stands(const struct client *c, const struct client_asking *a);
/* Open one, within a call: the lock is held, and what is to be said of it goes to ret.  1: there
 * are no pages, and so no cycle. */
MUST_CHECK int client_open_cycle(struct client *c, const struct client_asking *a,
                                 struct client_asked *ret, struct err *err);
/* What is out and late lapses; in a batch. */
MUST_CHECK int client_lapse(struct client *c, int64_t now, struct err *err);
/* A call: take the lock and read what others wrote; the batch; store what it did; give the lock
 * back, and forget everything if rc is an error. */
MUST_CHECK int client_enter(struct client *c, struct err *err);
MUST_CHECK int client_leave(struct client *c, int rc);
MUST_CHECK int client_begin(struct client *c, struct err *err);
MUST_CHECK int client_commit(struct client *c, struct err *err);
MUST_CHECK int client_rounds_save(struct client *c, struct err *err);

/* In client_fleet.c, of a shard of a fleet (else they do nothing): the shards that scores count
 * with; the rules of the engine; what was granted so far, before the cycle begins or goes on and
 * after; more, now that all is handed out (true: there is); what must be kept. */
MUST_CHECK int client_fleet_shards(struct client *c, bool goes_on, uint32_t *ret, struct err *err);
void client_fleet_rules(struct client *c);
void client_fleet_begin(struct client *c, uint32_t *budget);
MUST_CHECK int client_fleet_recall(struct client *c, struct grants *g, size_t n_rounds,
                                   uint32_t *budget, struct err *err);
void client_fleet_granted(struct client *c);
MUST_CHECK int client_fleet_more(struct client *c, bool *ret, struct err *err);
MUST_CHECK int client_fleet_save(struct client *c, struct err *err);

/* What robots.txt says of the offers to this agent: robots, robots_read, crawl_delay. */
MUST_CHECK int client_robots(struct client *c, const char *agent, int64_t now,
                             struct err *err);

/* The turn of a page at its host: reserve it, or only look. */
int64_t client_slot(struct client *c, uint32_t page, int64_t now, bool take);

#endif
