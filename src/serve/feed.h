/* SPDX-License-Identifier: Apache-2.0 */
/* feed.h - changes for who asks or listens, from a cursor (engine/changes/change_feed.h; of a
 * fleet change_place.h). */
#ifndef SERVE_FEED_H
#define SERVE_FEED_H

#include "engine/changes/change_feed.h"
#include "serve/serve_inner.h"

#define FEED_LIMIT_MAX 1000             /* changes of one answer */

struct feed;
struct serve_fleet;

/* Where changes are: one store, or all shards of a fleet. */
struct feed_from { struct store *store; struct serve_fleet *fleet; };

/* Which changes, from where; text as the cursor is, NULL: from the beginning, "now": behind
 * all that there are; last, unless it is 0: before the newest so many. */
MUST_CHECK int feed_new(struct feed **ret, struct feed_from from, const char *text, int64_t last,
                        struct err *err);
void feed_free(struct feed *f);
struct feed *feed_copy(const struct feed *f);
bool feed_same(const struct feed *a, const struct feed *b);     /* the same place */
void feed_move(struct feed *f, const struct feed *to);          /* of as many shards */
/* Append the next of a shard, by its place among all (0: the one store), as server-sent events, as
 * many as fit. */
MUST_CHECK int feed_events(struct feed *f, size_t shard, struct store *s, struct buf *out,
                           struct err *err);
/* Append the next `most` as elements of a list; ret_n may be NULL. */
MUST_CHECK int feed_list(struct feed *f, struct feed_from from, int64_t most, struct json *j,
                         size_t *ret_n, struct err *err);
bool feed_has_more(const struct feed *f);
size_t feed_shards(const struct feed *f);       /* as when it was made */
/* Its place now, as a text; append it. */
void feed_cursor(const struct feed *f, struct buf *out);

/* One event; data must be without a line break, but for one at its end. */
void feed_event(struct buf *out, const char *name, const char *id, const char *data,
                size_t size);

/* hub.c: answer with a stream.  The feed is the hub's from then on. */
void hub_listen(struct call *c, bool changes_only, struct feed *feed);

#endif
