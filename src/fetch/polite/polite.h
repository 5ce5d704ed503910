/* SPDX-License-Identifier: Apache-2.0 */
/*
 * polite.h - which host may get the next request, and when.
 *
 * Pure state: no socket, no clock, no random numbers.  The caller passes times (seconds
 * from any origin, never decreasing) and random draws.  The fetcher adds jobs to hosts,
 * takes a job with next(), and reports its end.  A job from next() holds one slot of its
 * host until it is cancelled (no request was sent) or started and done.
 *
 * Rules per host: at most `host_connections` at a time.  Between the end of one answer
 * and the next request (with several connections: between starts) passes at least the
 * larger of delay and Crawl-delay, the latter up to max_crawl_delay.  (The fetcher does
 * not ask hosts with a larger Crawl-delay.) Rules per network address, which many hosts
 * may share: at most address_connections, and address_delay between starts.  A job from
 * next() must go to the address that its host has then; for another address, set it and
 * add the job again. A host that answers 429 or 503 gets no request for the time of
 * Retry-After, or for a time that doubles with each incident.  If that is longer than
 * max_wait, its jobs are returned (polite_take_blocked()), so that the budget can be used
 * elsewhere.
 */
#ifndef FETCH_POLITE_POLITE_H
#define FETCH_POLITE_POLITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct polite_options {
	double delay;                   /* seconds between requests to a host */
	/* Or NULL.  The delay of this host, if it has its own; else a NAN. */
	double (*delay_of)(void *arg, const char *name, size_t size);
	void *delay_arg;
	double max_crawl_delay;         /* robots.txt may ask for up to this */
	double address_delay;           /* between starts at one address */
	unsigned host_connections, address_connections;
	double max_wait;                /* jobs of a host blocked for longer are returned */
	double backoff, backoff_cap;    /* first wait without Retry-After; doubles up to */
	double retry_after_cap;
	double forgive_after;           /* quiet seconds after which incidents are forgotten */
	double jitter;                  /* up to this share longer, never shorter */
	unsigned failure_limit;         /* consecutive failures that count as an incident */
	/* A host's first request waits for a full delay, too: another program may have asked it
	 * just now. */
	bool wait_first;
};

#define POLITE_DEFAULTS { \
	.delay = 1, .max_crawl_delay = 30, .address_delay = 0.25, \
	.host_connections = 1, .address_connections = 4, .max_wait = 60, \
	.backoff = 60, .backoff_cap = 86400, .retry_after_cap = 86400, \
	.forgive_after = 1800, .jitter = 0.1, .failure_limit = 5 }

#define POLITE_NONE UINT32_MAX

struct polite;

struct polite *polite_new(const struct polite_options *options);
void polite_free(struct polite *p);     /* p may be NULL */

/* The number of a host (its name, without port) or of an address (its bytes);
 * the same bytes give the same number. */
uint32_t polite_host(struct polite *p, const char *name, size_t size);
uint32_t polite_address(struct polite *p, const void *bytes, size_t size);
/* Set the address of a host.  POLITE_NONE (at first): unknown, no address rule applies.
 * A host with slots in use changes when they are free; until then next() skips it. */
void polite_set_address(struct polite *p, uint32_t host, uint32_t address);
/* < 0: robots.txt does not say. */
void polite_set_crawl_delay(struct polite *p, uint32_t host, double seconds);

/* Seconds between two requests to a host of this name, known or not. */
double polite_delay(const struct polite *p, const char *name, size_t size);

void polite_add(struct polite *p, uint32_t host, uint32_t job, double now);
void polite_add_first(struct polite *p, uint32_t host, uint32_t job, double now);

/* Take a job whose turn it is.  Call polite_cancel() or polite_start() before the next
 * polite_next(). */
bool polite_next(struct polite *p, double now, uint32_t *ret_host, uint32_t *ret_job);
void polite_cancel(struct polite *p, uint32_t host);
void polite_start(struct polite *p, uint32_t host, double now);

enum polite_end {
	POLITE_ANSWERED,        /* any answer but 429 and 503 */
	POLITE_FAILED,          /* no connection, timeout, reset */
	POLITE_THROTTLED,       /* 429 or 503 */
	POLITE_CUT,             /* we ran out of time: says nothing of the host */
};
/* retry_after: seconds, < 0 if not given; draw: in [0, 1), for the jitter.
 * Returns the seconds that the host is blocked from now on, 0 if it is not. */
double polite_done(struct polite *p, uint32_t host, double now, enum polite_end end,
                   double retry_after, double draw);

/* Take a job of a host that is blocked for longer than max_wait.  next() never returns
 * such jobs; jobs added to such a host come here, too. */
bool polite_take_blocked(struct polite *p, double now, uint32_t *ret_host,
                         uint32_t *ret_job);
/* Block a host for so many seconds from now: an earlier run knew of it. */
void polite_rest(struct polite *p, uint32_t host, double now, double seconds);
/* Find the first blocked host with a number >= *at: set *at, its name, the seconds left.
 * */
bool polite_resting(const struct polite *p, double now, uint32_t *at, const char **ret_name,
                    double *ret_seconds);

/* The same with the pauses between requests; and such a pause for a host. */
bool polite_pausing(const struct polite *p, double now, uint32_t *at, const char **ret_name,
                    double *ret_seconds);
void polite_hold(struct polite *p, uint32_t host, double now, double seconds);

/* Take any waiting job, in host order; to return all of them. */
bool polite_take_any(struct polite *p, uint32_t *ret_host, uint32_t *ret_job);

/* Seconds until next() may have a job; < 0: only after an answer, or never. */
double polite_wait(const struct polite *p, double now);
double polite_blocked(const struct polite *p, uint32_t host, double now); /* seconds */
uint32_t polite_waiting(const struct polite *p);        /* jobs in the queues */

#endif
