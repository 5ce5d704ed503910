/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub.h - what goes on now, for who looks or listens.
 *
 * A thread of its own looks at the clock, the jobs and the store.  It begins cycles that are
 * due, and tells listeners (server-sent events) what is new:
 *   event: now       freshet.now/1, when it is another, at most twice a second
 *   event: change    one change, as /v1/changes has it; its id is the cursor behind it
 * A comment line every HUB_BEAT seconds shows both ends that the other is there.
 */
#ifndef SERVE_HUB_H
#define SERVE_HUB_H

#include "serve/job/jobs.h"
#include "serve/serve_inner.h"

#define HUB_BEAT 15
#define HUB_LISTENERS_MAX 200
#define HUB_LISTENERS_EACH 50           /* with one token, or of one address without */

struct hub;

MUST_CHECK int hub_start(struct hub **ret, struct serve *s, struct err *err);
/* No more cycles, no more listeners; requests may still look.  h may be NULL. */
void hub_stop(struct hub *h);
void hub_free(struct hub *h);           /* h may be NULL */
/* When the next cycle of our own is due; 0: none is. */
int64_t hub_due(struct hub *h);
unsigned hub_listeners(struct hub *h);

/* health.c: freshet.now/1; without the lock of the hub. */
void now_print(struct serve *s, struct json *j);

route_run route_now, route_events, route_changes;

#endif
