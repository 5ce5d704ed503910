/* SPDX-License-Identifier: Apache-2.0 */
/*
 * polite.h - when may the next request go to which host.
 *
 * Pure state: no socket, no clock, no chance; times (seconds, any origin, never
 * running backwards) and draws are passed in.  The fetcher adds jobs to hosts,
 * asks next() for a job whose turn it is, and reports what came of it.  Every
 * job that next() hands out holds one slot of its host until it is either
 * cancelled (no request was made, nothing is owed) or started and done.
 *
 * Rules, per host: at most `host_connections` at a time; between the end of one
 * answer and the next request (with several connections: between starts) at
 * least max(delay, Crawl-delay up to max_crawl_delay; the fetcher does not ask hosts that
 * want more).  Per network address,
 * where many hosts share one: address_connections, and address_delay between
 * starts.  A job is handed out for the address that its host has at that moment, and
 * must go there: who wants another address says so and queues again.  A host that says 429 or 503 is left alone, all of it, for what
 * Retry-After says or for a time that doubles with each incident.  If that is
 * longer than max_wait its jobs are given back, for the budget to go elsewhere.
 */
#ifndef FETCH_POLITE_H
#define FETCH_POLITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct polite_options {
	double delay;                   /* seconds between requests to a host */
	double max_crawl_delay;         /* robots.txt may ask for up to this */
	double address_delay;           /* between starts at one address */
	unsigned host_connections, address_connections;
	double max_wait;                /* a host blocked for longer gives its jobs back */
	double backoff, backoff_cap;    /* first wait without Retry-After; doubles up to */
	double retry_after_cap;
	double forgive_after;           /* quiet seconds after which incidents are forgotten */
	double jitter;                  /* up to this share longer, never shorter */
	unsigned failure_limit;         /* consecutive failures that count as an incident */
};

#define POLITE_DEFAULTS { \
	.delay = 1, .max_crawl_delay = 30, .address_delay = 0.25, \
	.host_connections = 1, .address_connections = 4, .max_wait = 60, \
	.backoff = 60, .backoff_cap = 86400, .retry_after_cap = 86400, \
	.forgive_after = 1800, .jitter = 0.1, .failure_limit = 5 }

#define POLITE_NONE UINT32_MAX

struct polite;

struct polite *polite_new(const struct polite_options *options);
void polite_free(struct polite *p);             /* NULL is fine */

/* The number of a host (its name, without port) or of an address (its bytes);
 * the same bytes give the same number. */
uint32_t polite_host(struct polite *p, const char *name, size_t size);
uint32_t polite_address(struct polite *p, const void *bytes, size_t size);
/* Where a host is; POLITE_NONE (at first): unknown, no address rule applies.
 * A host that has slots taken moves when they are free; until then next() passes it by. */
void polite_set_address(struct polite *p, uint32_t host, uint32_t address);
/* < 0: robots.txt does not say. */
void polite_set_crawl_delay(struct polite *p, uint32_t host, double seconds);

/* Seconds between two requests to a host of this name, known or not. */
double polite_delay(const struct polite *p, const char *name, size_t size);

void polite_add(struct polite *p, uint32_t host, uint32_t job, double now);
void polite_add_first(struct polite *p, uint32_t host, uint32_t job, double now);

/* A job whose turn it is.  Call cancel or start before the next next(). */
bool polite_next(struct polite *p, double now, uint32_t *ret_host, uint32_t *ret_job);
void polite_cancel(struct polite *p, uint32_t host);
void polite_start(struct polite *p, uint32_t host, double now);

enum polite_end {
	POLITE_ANSWERED,        /* any answer that is not a complaint */
	POLITE_FAILED,          /* no connection, timeout, reset */
	POLITE_THROTTLED,       /* 429 or 503 */
	POLITE_CUT,             /* we had no more time: it says nothing */
};
/* retry_after: seconds, < 0 if not given; draw: in [0, 1), for the jitter.
 * Returns the seconds that the host is blocked from now on, 0 if it is not. */
double polite_done(struct polite *p, uint32_t host, double now, enum polite_end end,
                   double retry_after, double draw);

/* Jobs of hosts that are blocked for longer than max_wait; next() never returns
 * them, and adding to such a host lands here as well. */
bool polite_take_blocked(struct polite *p, double now, uint32_t *ret_host,
                         uint32_t *ret_job);
/* The host wanted to rest before: for so many seconds from now. */
void polite_rest(struct polite *p, uint32_t host, double now, double seconds);
/* The first host from number *at on that rests: *at, its name, the seconds left. */
bool polite_resting(const struct polite *p, double now, uint32_t *at, const char **ret_name,
                    double *ret_seconds);

/* Any waiting job, in host order, for handing all of them back. */
bool polite_take_any(struct polite *p, uint32_t *ret_host, uint32_t *ret_job);

/* Seconds until next() may have something; < 0: only after an answer, or never. */
double polite_wait(const struct polite *p, double now);
double polite_blocked(const struct polite *p, uint32_t host, double now); /* seconds */
uint32_t polite_waiting(const struct polite *p);        /* jobs in the queues */

#endif
