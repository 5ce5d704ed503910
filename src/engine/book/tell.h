/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tell.h - what came of pages that another crawler fetched.
 *
 * JSON Lines, or the same as structs from the library:
 *   {"lease":ID, "url":U, "outcome":"same|changed|gone|failed|blocked|release", "status":N,
 *    "digest":D, "etag":E, "last_modified":M, "links":[U, ...], "cause":C, "requests":N,
 *    "time":T, "score":x, "probability":x, "reason":R, "weight":x}
 *
 * A page that is not under care is left out, unless it is to be added (`--add`, "add":true);
 * one that was offered is always taken, though the user has removed it since.
 *
 * A lease or a URL is needed, and an outcome or a status: without an outcome it follows from
 * status and digest.  A cause is kept of what failed or was blocked; one that
 * base/cause.def does not know becomes `other`.  "release", as an outcome or as
 * "release":true, gives an offer back.
 *
 * Where it goes.  If a cycle is open for other crawlers (ledger.h), into that: each page is
 * taken once, the first that tells wins, and what is told again is counted and left out.  Else
 * all that is told together is one cycle of its own, closed at once.  A lease of a cycle that
 * is over makes a visit with the reason `late`, which costs the open cycle nothing.
 *
 * What is told together is kept together, or not at all.
 */
#ifndef ENGINE_BOOK_TELL_H
#define ENGINE_BOOK_TELL_H

#include "base/buf.h"
#include "engine/book/care.h"
#include "engine/book/ledger.h"
#include "engine/book/visit.h"

#define TELL_LINE_MAX (1u << 20)
#define TELL_REQUESTS_MAX 1000  /* of one page: more is a slip, and later cycles would pay for it */
#define TELL_FUTURE DAY_SECONDS /* clocks differ, and zones are mistaken */

enum { TOLD_NOTHING = -1, TOLD_GIVEN_BACK = -2 };  /* instead of an outcome */

/* One outcome.  Texts may be nothing. */
struct told {
	struct text lease;              /* one of these two is needed */
	struct text url;                /* canonical */
	struct text given;              /* the same, as it was told */
	int outcome;                    /* enum outcome, or one of the above */
	int32_t status;                 /* 0: not told */
	struct text digest, etag, modified;
	struct text links;              /* with blanks between */
	enum cause cause;
	uint32_t requests;              /* that it cost; 0: one, or none if it was blocked */
	int64_t time;                   /* 0: now */
	float score, probability;       /* NAN: not told; those of a lease are known */
	uint8_t reason;
	double weight;                  /* NAN: not told */
	bool add;                       /* the page comes under care, if it is not */
};

struct tell_stats {
	uint64_t n_lines, n_bad, changed, same, gone, failed, fresh;
	uint64_t n_future;              /* lines with a time in the future: it counts as now */
	uint64_t n_given_back;
	uint64_t n_repeated;            /* told before, in this cycle */
	uint64_t n_late;                /* of offers of a cycle that is over */
	uint64_t n_unknown;             /* of pages that are not under care, left out */
};

enum tell_what { TELL_VISIT, TELL_GIVEN_BACK, TELL_LAPSED };

/* What happened in the open cycle, for who has an engine that must know it. */
struct tell_event {
	enum tell_what what;
	uint32_t page;
	/* the rest only for TELL_VISIT */
	enum outcome outcome;           /* as it counts (gone may be unconfirmed yet) */
	bool first;                     /* the page had no copy before */
	uint32_t extra;                 /* requests beyond the first */
	enum cause cause;
	int32_t status;
	float score, probability;
	uint8_t reason;
};

struct tell {
	struct store *store;
	int64_t now;
	unsigned confirmations;
	bool add;                       /* pages that are not under care come under it */
	void (*report)(void *arg, const char *text);
	void (*event)(void *arg, const struct tell_event *e);   /* or NULL */
	void *arg;
	const char *mark;               /* or NULL: the state `inbox`, put in the same batch */
	struct tell_stats stats;
	uint32_t cycle;                 /* set: the cycle's number */
	uint32_t ended;                 /* one that had been broken off and is over now, or 0 */
	/* inside */
	struct ledger *ledger;
	struct map had;                 /* see visit_once() */
	struct buf text;
	struct care_rules *care;        /* for pages that come; NULL: not loaded */
	struct arena urls;              /* of the following */
	VEC(struct text) ahead_urls;    /* see tell_expect() */
	VEC(uint32_t) ahead_pages;
};

MUST_CHECK int tell_file(struct tell *t, const char *path, struct err *err);

/* The same step by step, in a batch: begin, for each outcome tell_one(), end, which writes
 * what is left to write; then commit.  The ledger is loaded. */
MUST_CHECK int tell_begin(struct tell *t, struct ledger *l, struct err *err);
/* Of outcomes that will be told next: tell_expect() each, then tell_foresee() reads their pages
 * at once, where a read of each would be a round trip.  They may be left out. */
void tell_expect(struct tell *t, const struct told *told);
MUST_CHECK int tell_foresee(struct tell *t, struct err *err);
/* *ret_why: why it is not kept, or NULL. */
MUST_CHECK int tell_one(struct tell *t, const struct told *told, const char **ret_why,
                        struct err *err);
MUST_CHECK int tell_end(struct tell *t, struct err *err);
void tell_release(struct tell *t);
/* Offers whose deadline has passed lapse. */
MUST_CHECK int tell_lapse(struct tell *t, struct ledger *l, struct err *err);

/* tell_line.c: read a line; the texts are in buf.  NULL, or what is wrong with it. */
const char *tell_parse(struct told *ret, struct buf *buf, const char *s, size_t size);

#endif
