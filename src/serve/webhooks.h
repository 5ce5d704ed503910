/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhooks.h - URLs that are told of changes.
 *
 * A thread with a store of its own follows the changes for each webhook, from the webhook's
 * cursor.  It sends them in batches, one batch of a webhook at a time, signed.  The cursor is
 * kept when a batch was taken (status 2xx), never before: who is killed in between sends that
 * batch again, and misses none.  A receiver that fails is tried again, after longer and longer
 * pauses; after `tries` failures in a row the webhook stops, and says so.
 *
 * Over a fleet any of its services makes and removes them, and one at a time delivers (turn_take());
 * the cursor has a place in each shard.  When shards are split it is of no use any more: the webhook
 * stops.
 */
#ifndef SERVE_WEBHOOKS_H
#define SERVE_WEBHOOKS_H

#include "serve/feed.h"
#include "serve/hook/hooks.h"
#include "serve/serve_inner.h"

#define WEBHOOK_BATCH 100               /* changes in a request */

struct webhooks;

MUST_CHECK int webhooks_start(struct webhooks **ret, struct serve *s, struct err *err);
void webhooks_stop(struct webhooks *w);         /* w may be NULL */

route_run route_webhooks, route_webhook_add, route_webhook_again, route_webhook_remove;

/* ---- for webhooks.c and webhook_routes.c only ---- */

/* How a webhook gets on, beside what is kept of it; in the same order. */
struct hook_progress {
	bool look;                      /* there may be changes behind its cursor */
	bool sending;
	bool unkept;                    /* the store did not take what became of the last batch */
	char *next;                     /* behind the batch that is under way; NULL: there is none,
	                                 * or another service has moved the cursor meanwhile */
	size_t n;                       /* changes in it */
	double due;                     /* not before, on the clock of serve_uptime() */
	int64_t delivered, last;        /* changes, since the service runs; when */
};

struct webhooks {
	struct serve *serve;
	pthread_t thread;
	pthread_mutex_t lock;           /* of all but `post` */
	bool stop;
	struct store *store;            /* NULL over a fleet */
	struct hooks_place place;
	uint64_t others;                /* what was written when it was looked at last */
	struct hooks_turn turn;         /* over a fleet */
	struct hooks hooks;
	VEC(struct hook_progress) progress;
	struct post *post;
};

/* The following want the lock.  Of none: the number of webhooks. */
size_t webhooks_index(const struct webhooks *w, uint64_t id);
void webhooks_forget(struct webhooks *w, size_t i);
bool hook_is_stopped(const struct hook *h);
struct feed_from webhooks_feed(const struct webhooks *w);
/* As they are kept now: others may have changed them. */
MUST_CHECK int webhooks_sync(struct webhooks *w, struct err *err);

#endif
