/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - which requests are let in, whatever they want.
 *
 *   Host     must be a name of ours: else a page on the web could give its own name our
 *            address, and read us through its visitors (DNS rebinding).
 *   Origin   of a request that changes something must be ours; and other sites' pages may not
 *            read the API through a browser.
 *   Rate     each client has a bucket of requests that fills at `rate` a second.
 */
#ifndef SERVE_GUARD_H
#define SERVE_GUARD_H

#include "serve/serve_inner.h"

#define GUARD_CLIENTS_MAX 10000         /* buckets of their own; more clients, */
#define GUARD_SHARED 1024               /* if new, share these */
#define GUARD_BURST 5                   /* seconds of the rate that may come at once */

/* False: the request is refused, and its answer is filled in. */
bool guard_host(const struct serve *s, const struct http_request *r, struct http_answer *a);
bool guard_origin(const struct http_request *r, struct http_answer *a);

struct guard;
struct guard *guard_new(double rate);
void guard_free(struct guard *g);
bool guard_rate(struct guard *g, const char *client, double now, struct http_answer *a);

#endif
