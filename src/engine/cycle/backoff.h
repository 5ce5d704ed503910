/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h - how long a page or a host that fails is left alone.
 *
 * A page.  After f failures in a row it rests BASE x 2^(f-1), BASE being a day or the
 * length of a cycle, if that is longer: 4 times as long if it is forbidden (401, 403, 451)
 * or its host's name has no address, half as long if the connection broke, then 25 % more
 * or less by chance, and never longer than 90 days.  One answer ends it.
 *
 * A host.  That its name has no address, or that nothing listens there, is the host's
 * failure and not its pages': it counts once in a cycle, however many pages were asked for.
 * Otherwise a host rests when 5 visits in a row failed, of at least 3 pages, for BASE,
 * whatever the failures were: others of its pages may be well.  One good
 * answer ends its rest; the first failure after a rest begins the next one, twice as long.
 *
 * Ourselves.  Where nobody answers, the failure may be ours: the network is down.  So what
 * got no answer at all waits until somebody answers in the same cycle, and counts then.
 * What still waits when the cycle ends counts only if somebody had answered before and
 * fewer than BACKOFF_OUTAGE hosts are waiting.  The others are put off: their hosts are left
 * out of the next cycle, and a second failure counts if anybody answered in between.
 *
 * No store, no clock, no page states: who asks says what time it is.  Only what fails
 * takes memory: 16 bytes a page, 48 a host, and a slot of a map each.
 */
#ifndef ENGINE_CYCLE_BACKOFF_H
#define ENGINE_CYCLE_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"

#define BACKOFF_LONGEST (90 * INT64_C(86400))
#define BACKOFF_STREAK 5        /* failures in a row, */
#define BACKOFF_PAGES 3         /* of so many pages, until a host rests */
#define BACKOFF_OUTAGE 5        /* hosts without an answer: perhaps it is we */

/* What a visit says of a page and its host. */
enum failure {
	FAILURE_UNKNOWN,        /* nothing: nobody was asked, or it is not their fault */
	FAILURE_NO,             /* it is there, or was said to be gone */
	FAILURE_ANSWER,         /* there was an answer, and it is no page */
	FAILURE_FORBIDDEN,      /* the answer was 401, 403 or 451 */
	FAILURE_RESET,          /* the connection broke; from here on: no answer */
	FAILURE_TIMEOUT,
	FAILURE_CONNECT,
	FAILURE_DNS,
	N_FAILURES
};

/* Is a page left alone? */
enum rest { REST_NO, REST_RESTS, REST_BACK };   /* BACK: it may be tried again */

struct backoff_page { int64_t until; uint32_t page, fails; };

struct backoff_host {
	int64_t until;
	uint32_t host, fails;           /* rests in a row */
	uint32_t streak;                /* visits in a row that failed, */
	uint32_t n_pages, pages[BACKOFF_PAGES - 1];     /* of so many pages, the first of them */
	uint32_t counted;               /* in which cycle dns or connect was counted */
	uint32_t put_off;               /* 1 + cycles with an answer before; 0: it is not */
};

struct backoff_waiting { uint32_t page, host; enum failure failure; };

struct backoff {                /* zeroed: nothing fails */
	uint64_t seed;
	int64_t now, cycle_seconds;
	uint32_t cycle;                 /* cycles begun, */
	uint32_t n_answered;            /* of them with an answer */
	bool answered;                  /* in this cycle */
	struct map page_at, host_at;
	VEC(struct backoff_page) pages;
	VEC(struct backoff_host) hosts;
	size_t n_over;                  /* pages of the list that no longer fail */
	VEC(struct backoff_waiting) waiting;
	/* hosts whose rest began or ended; the caller empties it */
	VEC(uint32_t) moved;
};

void backoff_begin(struct backoff *b, uint64_t seed, int64_t cycle_seconds, int64_t now);
/* Of each visit, in the order asked. */
void backoff_tell(struct backoff *b, uint32_t page, uint32_t host, enum failure f);
void backoff_end(struct backoff *b);
void backoff_release(struct backoff *b);

/* In the cycle that has begun. */
enum rest backoff_look(const struct backoff *b, uint32_t page, uint32_t host);
/* Until when it rests, and after how many failures in a row (or rests of its host); false:
 * it does neither, nor is it back from a rest. */
bool backoff_why(const struct backoff *b, uint32_t page, uint32_t host, int64_t *ret_until,
                 uint32_t *ret_fails);

/* How long: after f failures (from 1 on) the last of which was of this kind; draw in [0, 1). */
int64_t backoff_length(int64_t cycle_seconds, enum failure kind, uint32_t f, double draw);

#endif
