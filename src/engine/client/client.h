/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - a repository as other crawlers use it: ask for pages, tell what came of them.
 *
 *     client_open(&c, store, &opts)
 *         client_ask      pages to fetch, or "wait", or "done"; opens a cycle if none is
 *         client_tell     what came of some of them, or that they were not fetched
 *         client_end      the cycle is over
 *     client_close(c)
 *
 * Any number of programs may do so at the same time.  The store knows who has what
 * (engine/book/ledger.h); every call is one transaction, and what it hands out is safe before
 * it returns.  The engine of an open cycle is made again from the store when another program
 * has changed something since, else it is kept from call to call.
 *
 * Rules, beside those of ledger.h:
 *   - No page is offered to two clients, nor twice in a cycle unless it was given back.
 *   - A client with a name that asks again gets first what it was offered and has not told.
 *   - Each offer holds max_requests of the budget.  What was not needed comes back when it is
 *     told; what was needed beyond is spent as well, and what the cycle has spent beyond its
 *     budget in the end is taken off the next (last_cycle_pay()).
 *   - The next round is planned when the policy knows enough of the last one (its patience),
 *     or when somebody who was told to wait asks again CLIENT_PATIENCE seconds later.
 *   - Requests to one host are a pause apart, over all clients (not_before).
 *   - Pages that are added while a cycle is open come with the next one.  Where there is no page
 *     at all, none is opened.
 *   - A cycle ends by client_end(), or when the next is due (`every`) and somebody asks.
 */
#ifndef ENGINE_CLIENT_CLIENT_H
#define ENGINE_CLIENT_CLIENT_H

#include "engine/book/tell.h"
#include "policy/shared.h"

#define CLIENT_PATIENCE 30              /* seconds */
#define CLIENT_WANT_MAX 100000          /* offers of one call */
#define CLIENT_FOR 1800                 /* seconds that a lease lasts, unless said otherwise */

/* How cycles are opened; one that is open keeps what it was opened with. */
struct client_opts {
	const char *policy;
	uint64_t seed;
	struct share budget;            /* of the pages that are here */
	struct ledger_rules rules;
	struct share notifier_share;    /* of a cycle, for touched pages (engine/book/touch.h) */
	double delay;                   /* seconds between requests to one host */
	unsigned confirmations;
	struct progress *progress;      /* of recalling; NULL: it is not shown */
	uint32_t ahead;                 /* with so many pages the caller prepares cycles and rounds
	                                 * ahead (client_due()); 0: with no number */
	const struct client_fleet *fleet;       /* NULL: the store is no shard of a fleet */
};

struct client;
struct engine;

/*
 * A shard of a fleet (engine/fleet/work.h).  Its cycle is a part of the fleet's: client_part()
 * opens it or goes on with it, client_end() ends it, and the calls of clients do neither.  Its
 * budget comes in parts: client_ask() asks more() when what was granted is handed out.
 */
enum { CLIENT_MORE_LATER, CLIENT_NO_MORE };
struct client_fleet {
	uint32_t n_shards;
	uint32_t expected, granted;     /* requests of this part: what it will be; so far */
	uint32_t budget, pages;         /* of the whole fleet, for ceilings of sites */
	struct shared shared;           /* what its shards have learnt, if the cycle begins now */
	int64_t from;                   /* hosts that others may have asked just now wait a delay */
	/* *granted is raised to what the shard may have now; out: pages are with clients.
	 * CLIENT_NO_MORE: that is all in this cycle. */
	int (*more)(void *arg, struct engine *e, bool out, uint32_t *granted, struct err *err);
	void *arg;
};

/* The store stays the caller's, and so do the texts of opts. */
void client_open(struct client **ret, struct store *s, const struct client_opts *opts);
void client_close(struct client *c);    /* NULL is fine */

struct client_asking {
	const char *name;               /* NULL or "": nobody's; never gets an offer again */
	uint32_t want;                  /* pages, at most */
	uint32_t per_host;              /* of one host in its hands at a time; 0: any number */
	uint32_t max_requests;          /* for each, to be held; 0: one */
	int64_t seconds;                /* until it lapses; 0: CLIENT_FOR */
	const char *agent;              /* its product token in robots.txt; NULL: none, so the rules
	                                 * for all hold */
	const char *const *hosts;       /* only pages of these; NULL: of any */
	size_t n_hosts;
	int64_t now;
	bool anew;                      /* end a cycle that is open, and begin another */
	bool once;                      /* what this struct client has handed out is not offered
	                                 * again, though it is not told: the program has it */
};

/* Texts live until the next call. */
struct client_offer {
	char lease[LEDGER_ID_SIZE];
	const char *url;                /* canonical */
	const char *given;              /* as the user wrote it, or the same */
	const char *etag, *last_modified;       /* of our copy, or NULL */
	int64_t last_visit;             /* 0: never */
	int64_t not_before;             /* when its host may be asked */
	int64_t until;                  /* told later, it has lapsed */
	uint32_t max_requests;
	double score, probability;      /* NAN: unknown */
	const char *reason;
	const char *robots;             /* "allowed", "forbidden"; NULL: we do not know */
	int64_t robots_read;            /* when it was read; 0: never */
	double crawl_delay;             /* seconds that it asks for; NAN: none, or not known */
	bool again;                     /* it was offered to this client before */
};

enum client_answer { CLIENT_OFFERS, CLIENT_WAIT, CLIENT_DONE };

struct client_asked {
	enum client_answer answer;
	const struct client_offer *offers;
	size_t n;
	int64_t wait;                   /* seconds until it is worth asking again */
	bool begun;                     /* this call opened the cycle, */
	uint32_t taken_off;             /* with so many requests less: cycles before spent them, */
	uint32_t ended;                 /* and ended this one; 0: none */
	struct store_cycle cycle;       /* as it stands */
};

/* E_USAGE if a cycle is open that `freshet cycle` or `live` began. */
MUST_CHECK int client_ask(struct client *c, const struct client_asking *a,
                          struct client_asked *ret, struct err *err);

/* Load the engine now, so that the first who asks does not wait for it. */
MUST_CHECK int client_warm(struct client *c, struct err *err);

/* The part of a shard of a fleet: open it, or go on with it.  fresh: it is a new one, and a cycle
 * that is still open ends. */
MUST_CHECK int client_part(struct client *c, bool fresh, int64_t now, struct store_cycle *ret,
                           struct err *err);
/* How it stands: what is out and late lapses.  *ret_over: nothing is out, and nothing more will
 * be handed out. */
MUST_CHECK int client_part_look(struct client *c, int64_t now, struct store_cycle *ret,
                                bool *ret_over, struct err *err);

/*
 * Ahead.  To open a cycle or to plan a round takes long where there are many pages.  A service
 * does it in a thread of its own (client_opts.ahead); calls that find nothing to hand out meanwhile
 * are told to wait.  One call at a time, under the caller's lock, but for client_think():
 *
 *     CLIENT_DUE_CYCLE:  client_prepare(c, now, err);
 *     CLIENT_DUE_ROUND:  for (more = client_plan(c); more; more = client_planned(c)) {
 *                                unlock; client_think(c); lock; }
 *
 * While the policy thinks, pages are handed out from the queue.  What is told is stored at once, and
 * the engine hears of it when the round is there.  So the record is the same as if the events had
 * come later, and a restart makes the same plan.
 */
enum client_due { CLIENT_DUE_NOTHING, CLIENT_DUE_CYCLE, CLIENT_DUE_ROUND };
enum client_due client_due(const struct client *c);
MUST_CHECK int client_prepare(struct client *c, int64_t now, struct err *err);
bool client_plan(struct client *c);     /* begin; true: think */
void client_think(struct client *c);
bool client_planned(struct client *c);  /* true: think once more */
/* Are cycles and rounds prepared ahead?  Known when the engine was loaded once. */
bool client_is_ahead(const struct client *c);

/* All n are kept, or, on error, none.  A line that cannot be kept is no error: each() is
 * told why (NULL: it was kept, or is known already); each may be NULL. */
MUST_CHECK int client_tell(struct client *c, const struct told *told, size_t n, int64_t now,
                           void (*each)(void *arg, size_t i, const char *why), void *arg,
                           struct tell_stats *ret, struct err *err);
/* The same; keep() writes what must be kept with them into their batch, when all are in it. */
MUST_CHECK int client_tell_and(struct client *c, const struct told *told, size_t n, int64_t now,
                               void (*each)(void *arg, size_t i, const char *why),
                               int (*keep)(void *arg, const struct tell_stats *t,
                                           struct err *err), void *arg,
                               struct tell_stats *ret, struct err *err);
/* Not fetched: page and budget come back.  The same as telling TOLD_GIVEN_BACK. */
MUST_CHECK int client_give_back(struct client *c, const char *lease, int64_t now,
                                struct err *err);
/* 1: it is over, and ret has its figures; 0: none was open for clients. */
MUST_CHECK int client_end(struct client *c, int64_t now, struct store_cycle *ret,
                          struct err *err);

#endif
