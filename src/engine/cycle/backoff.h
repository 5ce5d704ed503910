/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h - how long a failing page or host rests.
 *
 * Page.  After f failures in a row a page rests BASE x 2^(f-1).  BASE is one day, or the
 * length of a cycle if that is longer.  The rest is 4 times as long if the page is
 * forbidden (401, 403, 451), half as long if the connection broke.  Chance makes it up to
 * 25 % shorter or longer.  It is at most 90 days.  One good answer ends it.
 *
 * Host.  "No address for this name" (rest 4 times as long) and "nothing listens there"
 * are failures of the host, not of its pages.  They count once a cycle, however many
 * pages were asked for.  Otherwise a host rests for BASE when 5 visits in a row failed,
 * of at least 3 pages, whatever the failures were.  One good answer ends the rest.  The
 * first failure after a rest begins the next rest, twice as long.
 *
 * Our own network.  If no host answers, our network may be down.  So a visit without any
 * answer is kept waiting.  It counts as a failure when another visit of the same cycle
 * gets an answer.  Visits that still wait at the end of the cycle count only if the cycle
 * had an answer and fewer than BACKOFF_OUTAGE hosts wait.  Otherwise their hosts are put
 * off: left out of the next cycle.  A second such failure counts if any host answered in
 * between.
 *
 * This file uses no store, no clock and no page states: the caller gives the time.  Only
 * failures take memory: 16 bytes a page, 40 bytes a host, and a map slot each.
 */
#ifndef ENGINE_CYCLE_BACKOFF_H
#define ENGINE_CYCLE_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"

#define BACKOFF_LONGEST (90 * INT64_C(86400))
#define BACKOFF_STREAK 5        /* failures in a row until a host rests, */
#define BACKOFF_PAGES 3         /* if so many of its pages are among them */
#define BACKOFF_OUTAGE 5        /* hosts without an answer: our network may be down */

/* What a visit says of a page and its host. */
enum failure {
	FAILURE_UNKNOWN,        /* nothing: no request was sent, or the fault is not theirs */
	FAILURE_NO,             /* no failure: the page is there, or its server says it is gone */
	FAILURE_ANSWER,         /* the server answered, but not with the page */
	FAILURE_FORBIDDEN,      /* the answer was 401, 403 or 451 */
	FAILURE_UNWANTED,       /* a page of a type that the user does not want: the host is well */
	FAILURE_RESET,          /* the connection broke; this and the next three: no answer */
	FAILURE_TIMEOUT,
	FAILURE_CONNECT,
	FAILURE_DNS,
	N_FAILURES
};

/* Does a page rest? */
enum rest { REST_NO, REST_RESTS, REST_BACK };   /* BACK: rested, to be tried again */

struct backoff_page { int64_t until; uint32_t page, fails; };

struct backoff_host {
	int64_t until;
	uint32_t host, fails;           /* fails: rests in a row */
	uint32_t streak;                /* visits in a row that failed */
	uint32_t n_pages, pages[BACKOFF_PAGES - 1];     /* pages of the streak: number, first ones */
	uint32_t counted;               /* last cycle that counted a DNS or connect failure */
	uint32_t put_off;               /* n_answered + 1 when it was put off; 0: it is not */
};

struct backoff_waiting { uint32_t page, host; enum failure failure; };

struct backoff {                /* zeroed: nothing fails */
	uint64_t seed;
	int64_t now, cycle_seconds;
	uint32_t cycle;                 /* cycles begun */
	uint32_t n_answered;            /* cycles with an answer */
	bool answered;                  /* this cycle had an answer */
	struct map page_at, host_at;    /* to indexes in pages and hosts */
	VEC(struct backoff_page) pages;
	VEC(struct backoff_host) hosts;
	size_t n_over;                  /* entries of `pages` that no longer fail */
	VEC(struct backoff_waiting) waiting;
	VEC(uint32_t) moved;            /* hosts whose rest began or ended; caller empties it */
};

void backoff_begin(struct backoff *b, uint64_t seed, int64_t cycle_seconds, int64_t now);
/* Called for each visit, in the order told. */
void backoff_tell(struct backoff *b, uint32_t page, uint32_t host, enum failure f);
void backoff_end(struct backoff *b);
void backoff_release(struct backoff *b);

/* Does the page rest in the current cycle? */
enum rest backoff_look(const struct backoff *b, uint32_t page, uint32_t host);
/* Until when the page rests or rested, and its failures in a row (or its host's rests in
 * a row).  False: neither the page nor its host fails. */
bool backoff_why(const struct backoff *b, uint32_t page, uint32_t host, int64_t *ret_until,
                 uint32_t *ret_fails);

/* Seconds of rest after f failures (f >= 1), the last of this kind; draw in [0, 1). */
int64_t backoff_length(int64_t cycle_seconds, enum failure kind, uint32_t f, double draw);

#endif
