/* SPDX-License-Identifier: Apache-2.0 */
/*
 * desk.h - pages for other crawlers: lease and tell, with the engine kept in memory.
 *
 * One struct client for all of them, one call at a time.  What the store has is what counts:
 * a service that is killed and started again knows who has what, and what was told.
 */
#ifndef SERVE_DESK_H
#define SERVE_DESK_H

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

route_run route_lease, route_tell, route_lease_end;

#endif
