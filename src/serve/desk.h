/* SPDX-License-Identifier: Apache-2.0 */
/*
 * desk.h - pages for other crawlers: lease and tell, with the engine kept in memory.
 *
 * One struct client for all of them, one call at a time; the policy thinks in a thread beside
 * them (client.h, "Ahead").  What the store has is what counts:
 * a service that is killed and started again knows who has what, and what was told.
 *
 * Over a fleet the desk has neither store nor client of its own: each shard that the service holds
 * is a part, which has both (fleet/parts.h).
 */
#ifndef SERVE_DESK_H
#define SERVE_DESK_H

#include "base/map.h"
#include "engine/client/client.h"
#include "serve/serve_inner.h"

#define DESK_CLIENTS_MAX 1000           /* names that are remembered */
#define DESK_LINES_MAX 10000            /* outcomes of one request */
#define DESK_BODY_MAX (16u << 20)
#define DESK_KEYS_SECONDS DAY_SECONDS   /* that an idempotency key is remembered */

struct desk;

MUST_CHECK int desk_open(struct desk **ret, struct serve *s, struct err *err);
void desk_close(struct desk *d);        /* d may be NULL */
/* Is the engine in memory?  It is loaded when the service starts. */
bool desk_is_warm(struct desk *d);
/* Settings have changed: the next cycle that a lease opens is opened with these. */
void desk_renew(struct desk *d, const struct client_opts *opts);
/* Forget keys that are old enough. */
void desk_clean(struct desk *d, int64_t now);

/* Members of freshet.now/1: the open cycle and who works on it. */
void desk_print(struct desk *d, struct json *j);
struct desk_counts { uint64_t leased, told, refused, asks, tells; double seconds_ask, seconds_tell; };
void desk_counts(struct desk *d, struct desk_counts *ret);

/* A lease was answered: r NULL: not well. */
void desk_note_asked(struct desk *d, const char *client, const struct client_asked *r,
                     double seconds);
/* Its document; its answer, or the problem. */
void desk_print_asked(struct call *c, const struct client_asked *r);
void desk_answer_asked(struct call *c, int rc, const struct err *err);

route_run route_lease, route_tell, route_lease_end;

/* ---- for desk.c (lease), desk_tell.c, desk_threads.c and desk_parts.c only ---- */

struct desk_client { char *name; int64_t seen; uint64_t leased, told; };

struct desk {
	struct serve *serve;
	pthread_mutex_t lock;
	struct store *store;
	struct client *client;
	struct client_opts opts;
	pthread_mutex_t shown;          /* of the following; taken after lock, and briefly */
	struct store_cycle cycle;       /* as it was last seen; texts are not used */
	bool begun;                     /* one was seen */
	struct strtab names;
	VEC(struct desk_client) clients;
	struct desk_counts counts;
	int64_t cleaned;
	bool warm;                      /* the engine was loaded once; or it cannot be */
	pthread_t planner;              /* prepares cycles and rounds ahead, woken by: */
	pthread_cond_t work;
	bool opens;                     /* it opens a cycle, which takes a while; atomic */
	pthread_t carrier;              /* of the log, by a handle of its own */
	struct store *log_store;        /* NULL: the store has no such log */
	struct store *log_holder;       /* if log_held, frozen: the log does not begin anew */
	bool log_held;
	pthread_cond_t log_stop;        /* with `shown` */
	bool started, stop;             /* both; stop is set with lock and `shown` */
};

double desk_seconds(void);
/* Who it is; with `shown` locked. */
struct desk_client *desk_note_client(struct desk *d, const char *name);
MUST_CHECK int desk_threads_start(struct desk *d, struct err *err);
void desk_threads_stop(struct desk *d);
/* Is a cycle being opened?  That takes a while, with the lock. */
bool desk_opens_cycle(struct desk *d);
/* The end of a call: unlock, and wake who has something to prepare. */
void desk_leave(struct desk *d);

/* A request to tell. */
struct tell_line { uint32_t number; struct text text; };

struct telling {
	struct call *call;
	struct desk *desk;
	const char *key;                /* of the state, or NULL */
	char digest[65];                /* of the body */
	VEC(struct told) told;          /* lines that say something, */
	VEC(struct tell_line) line;     /* where they stand, */
	VEC(struct buf) texts;          /* and what their texts point to */
	uint32_t n_lines;
	struct tell_stats stats;        /* what came of all of it */
	uint64_t heard;                 /* lines of these that counted before: the request came again */
	uint64_t mailed;                /* lines that went into inboxes */
	struct buf refused;             /* elements of a list, as JSON */
};

/* The lines for one store: all are kept, or none, and with them the key. */
struct tell_batch {
	struct telling *telling;
	struct store *store;
	struct client *client;
	VEC(struct told) told;
	VEC(uint32_t) line;
	struct tell_stats stats;
	struct buf refused;
	struct json j;
};

void tell_batch_begin(struct tell_batch *b, struct telling *t);
void tell_batch_end(struct tell_batch *b);
void tell_refuse(struct tell_batch *b, uint32_t line, const char *why);
/* The answer to a key that came with another body before. */
void tell_other_body(struct telling *t);
/* Was this request heard before, by the key in b->store?  1: what came of it then is in the batch. */
MUST_CHECK int tell_batch_heard(struct tell_batch *b, struct err *err);
/* With the lock of the client.  If the key came with another body before, the answer is there. */
MUST_CHECK int tell_batch_run(struct tell_batch *b, int64_t now, struct err *err);

/* desk_parts.c: lines of all shards; lease pages of those that are held. */
MUST_CHECK int desk_parts_tell(struct telling *t, struct err *err);
/* Keys of the fleet that are older. */
void desk_parts_forget(struct serve_fleet *f, int64_t before);
void desk_parts_lease(struct call *c, const struct client_asking *a);

#endif
