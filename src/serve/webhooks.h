/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhooks.h - URLs that are told of changes.
 *
 * A thread with a store of its own follows the changes for each webhook, from the webhook's
 * cursor.  It sends them in batches, one batch of a webhook at a time, signed.  The cursor is
 * kept when a batch was taken (status 2xx), never before: who is killed in between sends that
 * batch again, and misses none.  A receiver that fails is tried again, after longer and longer
 * pauses; after `tries` failures in a row the webhook stops, and says so.
 */
#ifndef SERVE_WEBHOOKS_H
#define SERVE_WEBHOOKS_H

#include "serve/serve_inner.h"

#define WEBHOOK_BATCH 100               /* changes in a request */

struct webhooks;

MUST_CHECK int webhooks_start(struct webhooks **ret, struct serve *s, struct err *err);
void webhooks_stop(struct webhooks *w);         /* w may be NULL */

route_run route_webhooks, route_webhook_add, route_webhook_again, route_webhook_remove;

#endif
