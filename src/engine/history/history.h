/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - recorded page histories in memory: what replay runs on.
 *
 * Records are added in any order and sorted once by page and time.  A capture
 * is 32 bytes; its content is one 64-bit key under the detector chosen (the
 * digest's hash, or the simhash for near:BITS), so comparing two captures is
 * comparing two numbers.
 *
 * engine/archive/judge.h says what a status means.  A redirect is a state of the page
 * like any other, but does not put a page into a repository.  4xx and 5xx, except 404 and
 * 410, are failures; they are kept apart, since they are not states of the page.  Other
 * records say nothing and are skipped.
 *
 * A revisit has the content with the same digest, wherever that was captured; without a
 * digest it has the content of the page's previous capture.
 */
#ifndef ENGINE_HISTORY_HISTORY_H
#define ENGINE_HISTORY_HISTORY_H

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/archive/lexicon.h"
#include "engine/archive/record.h"
#include "engine/history/facts.h"
#include "web/page/change.h"

struct capture {
	int64_t time;
	uint64_t key;
	uint32_t page;                  /* while loading */
	uint32_t links : 29;            /* link list, 0: none known */
	uint32_t same : 1;              /* while loading: a revisit without a key */
	uint32_t gone : 1;
	uint32_t moved : 1;             /* a redirect */
	uint32_t facts;                 /* number in facts, or FACTS_NONE */
	uint32_t size : 8;              /* size_class(), 0: unknown */
	uint32_t rank : 24;             /* while loading: the highest of one second is kept */
};

/* The page answered with this status, which is not a state of the page. */
struct history_failure { int64_t time; uint32_t page; int32_t status; };

/* A revisit, to be joined with a capture of its digest. */
struct history_revisit { uint64_t digest; uint32_t capture; bool needed; };

enum history_want { WANT_LINKS = 1, WANT_FACTS = 2 };

struct history {
	struct detector detect;
	unsigned want;
	struct strtab urls;             /* pages and link targets, by first mention */
	VEC(struct capture) captures;   /* by page, then time */
	uint64_t *first;                /* n_pages + 1, after history_finish() */
	VEC(struct history_failure) failures;   /* by page, then time; of pages with a capture */
	uint32_t n_pages;               /* pages with a capture; numbers 0.. */
	int64_t begin, end;             /* first and last capture */
	uint64_t n_skipped;             /* records that say nothing */
	uint64_t n_no_key;              /* records without the detector's digest */
	/* link lists: targets by number, [list_first[k], list_first[k + 1]) */
	VEC(uint64_t) list_first;
	VEC(uint32_t) targets;
	struct map lists;               /* hash of (host, text) -> list */
	struct facts_table facts;
	struct lexicon lexicon;         /* words of the terms, where pages were read */
	/* while loading, for revisits: hash of a digest -> capture */
	struct map digests;
	VEC(struct history_revisit) revisits;
	VEC(uint32_t) n_came;           /* while loading: captures so far, by URL */
	uint64_t n_same;
	float *weight;                  /* by page, as repositories give it; NULL: none does */
};

void history_init(struct history *h, struct detector detect, unsigned want);
void history_release(struct history *h);
/* The URL must be canonical. */
MUST_CHECK int history_add(struct history *h, const struct record *r, struct err *err);
/* Sort, give pages their final numbers (sorted by URL).  Afterwards read-only. */
MUST_CHECK int history_finish(struct history *h, struct err *err);

/* Index of the page's capture that is current at t, or -1: the newest at or before t;
 * with `nearest`, the one nearest to t, if the page has a capture at or before t. */
int64_t history_at(const struct history *h, uint32_t page, int64_t t, bool nearest);
/* The newest failure of a page at or before t, or NULL. */
const struct history_failure *history_failure_at(const struct history *h, uint32_t page,
                                                 int64_t t);
/* Same content by the detector; two gone states are equal. */
bool history_same(const struct history *h, uint64_t a, uint64_t b);
const uint32_t *history_links(const struct history *h, uint64_t capture, size_t *ret_n);

#endif
