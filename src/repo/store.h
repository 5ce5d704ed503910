/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the lasting memory of a repository, whatever database holds it.
 *
 * Rows in, rows out: pages, captures, visits, cycles, settings.  No SQL crosses
 * this line, and nothing here is more than a table with a key can do, so another
 * database is another backend (store_backend.h) and nothing else.
 *
 * A page's number is dense, from 0, and for ever: planning works on arrays by
 * that number (engine/view/load.h), the store only feeds and keeps them.
 *
 * Writes happen between store_begin() and store_commit().  What a committed
 * batch wrote survives a crash of the program; an open batch is as if it had
 * never been.  Strings in rows that a scan delivers live until it goes on, those of a row
 * that was got until the next get, begin or commit.
 */
#ifndef REPO_STORE_H
#define REPO_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define STORE_SCHEMA 6          /* version of the tables */
#define STORE_EXTRA_MAX 1000000 /* requests of one visit */
#define STORE_NONE UINT32_MAX   /* no page */

struct store;

struct text { const char *s; size_t size; };    /* s == NULL: nothing */

enum store_page_state { STORE_PAGE_HERE, STORE_PAGE_GONE, STORE_PAGE_LEFT };
const char *store_state_name(unsigned state);   /* here, gone, left */

#define STORE_FAIL_GONE 0x10000u       /* in store_page.fails: the page was not there */

struct store_page {
	uint32_t number;
	struct text url;                /* canonical */
	int64_t added;
	int64_t last_visit, last_change;        /* 0: never */
	uint32_t visits, changes;
	uint32_t fails;                 /* in a row, and of them, times STORE_FAIL_GONE, 404 */
	uint8_t state;                  /* enum store_page_state */
	uint64_t capture;               /* newest good one, 0: none */
	int64_t hint;                   /* sitemap lastmod, 0: none */
	int64_t hint_seen;              /* when it was read */
	uint32_t found;                 /* in which cycle discovery added it; 0: put under care */
	double weight;                  /* how much it counts, as given; 1: as any other */
};

#define STORE_WEIGHT_MAX 1e9

struct store_capture {
	uint64_t id;
	uint32_t page;
	int64_t time;
	int32_t status;
	bool revisit;
	struct text mime, digest, prose, tags, title, etag, modified;
	bool has_simhash;
	uint64_t simhash;
	int64_t length, bytes_text, words, images, tables, emails, outlinks;    /* -1: not told */
	struct text links, terms;       /* shared between captures that have the same */
	struct text robots;             /* what it asks of robots: web/rules/robots_tag.h */
	struct text target;             /* URL that answered, if redirects led elsewhere */
	struct text file;               /* WARC file, and where in it */
	int64_t offset, size;
};

#define STORE_OUTCOME_LAST 4            /* of the engine's numbers: none is larger */
#define STORE_GOAL_LAST 1

struct store_visit {
	uint32_t cycle;                 /* 0: imported history */
	uint32_t page;
	int64_t time;
	uint8_t outcome;                /* as the engine numbers them */
	uint8_t reason;
	uint8_t cause;                  /* enum cause, if it failed or was blocked */
	uint32_t extra;                 /* requests beyond the first, of a blocked one all */
	int32_t status;
	bool hit;
	float score, probability;       /* NAN: unknown */
	uint64_t capture;               /* 0: none was kept */
	uint32_t order;                 /* in the cycle, as told, from 1; 0: the next */
	uint32_t place;                 /* in the cycle, as planned, from 1; 0: unplanned */
	uint8_t goal;                   /* read only: that of its cycle */
};

struct store_cycle {
	uint32_t number;                /* 1, 2, ... */
	int64_t time;
	bool open;                      /* begun and not ended */
	uint8_t goal;                   /* as the engine numbers them */
	struct text policy;
	uint64_t seed;
	uint32_t budget;
	uint32_t downloads, fresh, changed, same, gone, failed, blocked;
	double seconds_plan, seconds_total;
};

/* How often a site's lastmod dates were right (web/rules/lastmod.h), when its sitemaps were
 * read last (0: never), and how far its validators are doubted (web/rules/validator.h). */
struct store_hint { uint32_t checks, hits, told; int64_t read; uint32_t doubt; };

/* The robots.txt of an origin ("https://host:port"). */
struct store_robots {
	int64_t time;                   /* when it was had; 0: never */
	int32_t status;                 /* then */
	bool cut;                       /* there was more of it */
	struct text body;
	int64_t tried;                  /* when it was asked for last */
	int64_t failing;                /* since when it cannot be had; 0: it can */
};

/* A page that another crawler has been offered, of the cycle that is open.  Times are 0
 * until they come. */
struct store_lease {
	uint32_t cycle, place;          /* its number in the cycle, as planned */
	uint32_t page;
	struct text client;             /* who has it */
	int64_t from, until;            /* offered, and lapses if nothing is told by then */
	uint32_t requests;              /* of the budget, held for it */
	uint32_t order;                 /* of its release or lapse among the cycle's events; 0: it
	                                 * is out, or told */
	uint8_t state;                  /* enum store_lease_state */
};

enum store_lease_state { STORE_LEASE_OUT, STORE_LEASE_TOLD, STORE_LEASE_RELEASED,
                         STORE_LEASE_LAPSED };

/* A request for a page: of which cycle, what for, the page's place in the cycle.  Or that
 * its answer was read, though no batch with it is safe so far. */
struct store_sent { uint32_t cycle, page, order; uint8_t reason; bool read; };

struct store_counts {
	uint64_t pages, captures, visits, cycles, gone;
	int64_t first_capture, last_capture;    /* 0: none */
};

/* To read: also what cannot be written to, and all as it is at the first read, whatever
 * others write meanwhile. */
enum store_mode { STORE_EXISTING, STORE_CREATE, STORE_READ };

/* "sqlite:PATH" or a plain path. */
MUST_CHECK int store_open(struct store **ret, const char *url, enum store_mode mode,
                          struct err *err);
void store_close(struct store *s);      /* NULL is fine; drops an open batch */

/* What is read until store_thaw() is of one moment: the pages that visits and captures
 * speak of are those that a scan of the pages delivers.  Within a batch, nothing. */
MUST_CHECK int store_freeze(struct store *s, struct err *err);
void store_thaw(struct store *s);
MUST_CHECK int store_begin(struct store *s, struct err *err);
MUST_CHECK int store_commit(struct store *s, struct err *err);
void store_rollback(struct store *s);

/* Add a page unless its URL is there; its number in either case.  1: it is new. */
MUST_CHECK int store_page_add(struct store *s, struct text url, int64_t added,
                              uint32_t *ret_number, struct err *err);
/* 1: found; 0: not there. */
MUST_CHECK int store_page_find(struct store *s, struct text url, struct store_page *ret,
                               struct err *err);
MUST_CHECK int store_page_get(struct store *s, uint32_t number, struct store_page *ret,
                              struct err *err);
/* How much a page counts: from 0 to STORE_WEIGHT_MAX. */
MUST_CHECK int store_page_weigh(struct store *s, uint32_t number, double weight,
                                struct err *err);
/* Everything but number, url, added and weight. */
MUST_CHECK int store_page_update(struct store *s, const struct store_page *p, struct err *err);
/* 1: added, id is set; 0: the page has a capture of that second already.  Links
 * and terms equal to ones already kept take no room. */
MUST_CHECK int store_capture_add(struct store *s, struct store_capture *c, struct err *err);
/* Of captures of one page in one second the one of the highest rank stays: a page before
 * a revisit, then a redirect, a page that is gone, and what says nothing of it.  Of
 * equals it is the first that came. */
unsigned store_capture_rank(int status, bool revisit);
/* As store_capture_add(), but by this rule; 2: it took the place, and the id, of
 * another. */
MUST_CHECK int store_capture_put(struct store *s, struct store_capture *c, struct err *err);
MUST_CHECK int store_capture_get(struct store *s, uint64_t id, struct store_capture *ret,
                                 struct err *err);
/* What headers say of content that did not change: the validators to ask with next
 * time, and what is asked of robots.  A text that is nothing is forgotten. */
MUST_CHECK int store_capture_refresh(struct store *s, uint64_t id, struct text etag,
                                     struct text modified, struct text robots,
                                     struct err *err);
MUST_CHECK int store_visit_add(struct store *s, const struct store_visit *v, struct err *err);
/* Drop the imported visits (cycle 0) of a page. */
MUST_CHECK int store_visits_forget(struct store *s, uint32_t page, struct err *err);
/* Insert or replace by number. */
MUST_CHECK int store_cycle_put(struct store *s, const struct store_cycle *c, struct err *err);
/* value == NULL removes. */
MUST_CHECK int store_setting_put(struct store *s, const char *key, const char *value,
                                 struct err *err);
/* 1: found, in a new string; 0: not set. */
MUST_CHECK int store_setting_get(struct store *s, const char *key, char **ret, struct err *err);

/* The trust in a site's dates.  1: found; 0: nothing known, all zero. */
MUST_CHECK int store_hint_get(struct store *s, struct text site, struct store_hint *ret,
                              struct err *err);
MUST_CHECK int store_hint_put(struct store *s, struct text site, const struct store_hint *h,
                              struct err *err);
/* 1: found, body lives until the next get; 0: not there.  Those not asked for since a
 * moment can be dropped. */
MUST_CHECK int store_robots_get(struct store *s, struct text origin, struct store_robots *ret,
                                struct err *err);
MUST_CHECK int store_robots_put(struct store *s, struct text origin,
                                const struct store_robots *r, struct err *err);
MUST_CHECK int store_robots_size(struct store *s, uint64_t *ret, struct err *err); /* bodies */
MUST_CHECK int store_robots_forget(struct store *s, int64_t before, struct err *err);
/* The word list that the numbers in `terms` mean: dense, from 0.  A word is never
 * changed. */
MUST_CHECK int store_word_add(struct store *s, uint32_t number, struct text word,
                              struct err *err);

/* Scans call each(arg, row) until it returns non-zero, which the scan returns. */
typedef int store_page_each(void *arg, const struct store_page *p, struct err *err);
typedef int store_capture_each(void *arg, const struct store_capture *c, struct err *err);
typedef int store_visit_each(void *arg, const struct store_visit *v, struct err *err);
typedef int store_cycle_each(void *arg, const struct store_cycle *c, struct err *err);
typedef int store_word_each(void *arg, uint32_t number, struct text word, struct err *err);
typedef int store_setting_each(void *arg, const char *key, const char *value, struct err *err);
typedef int store_round_each(void *arg, uint32_t number, uint32_t after, struct err *err);
typedef int store_lease_each(void *arg, const struct store_lease *l, struct err *err);
typedef int store_sent_each(void *arg, const struct store_sent *sent, struct err *err);

MUST_CHECK int store_pages(struct store *s, store_page_each *each, void *arg, struct err *err);
/* Of one page, or of all (STORE_NONE): by page, then time. */
MUST_CHECK int store_captures(struct store *s, uint32_t page, store_capture_each *each,
                              void *arg, struct err *err);
/* Of one page or all, of cycles >= from and < to, in the order written, or by
 * their places where these were given (cycles rise in both). */
MUST_CHECK int store_visits(struct store *s, uint32_t page, uint32_t from, uint32_t to,
                            store_visit_each *each, void *arg, struct err *err);
MUST_CHECK int store_cycles(struct store *s, store_cycle_each *each, void *arg,
                            struct err *err);
MUST_CHECK int store_words(struct store *s, uint32_t from, store_word_each *each, void *arg,
                           struct err *err);    /* from this number on */
MUST_CHECK int store_settings(struct store *s, store_setting_each *each, void *arg,
                              struct err *err);
MUST_CHECK int store_count(struct store *s, struct store_counts *ret, struct err *err);
/* The rounds of a cycle: each was planned after so many events (told, released, lapsed).  By
 * number, from 1. */
MUST_CHECK int store_round_add(struct store *s, uint32_t cycle, uint32_t number,
                               uint32_t after, struct err *err);
MUST_CHECK int store_rounds(struct store *s, uint32_t cycle, store_round_each *each, void *arg,
                            struct err *err);
/* Insert or replace by cycle and place; read by place; forget all but those of a cycle. */
MUST_CHECK int store_lease_put(struct store *s, const struct store_lease *l, struct err *err);
MUST_CHECK int store_leases(struct store *s, uint32_t cycle, store_lease_each *each, void *arg,
                            struct err *err);
MUST_CHECK int store_leases_forget(struct store *s, uint32_t but_cycle, struct err *err);
/* Requests that are about to be made, safe at once and apart from the batch: what was under
 * way when a program ended is known to the next.  They are read in their order (a last one
 * that is not whole is none), and forgotten all together. */
MUST_CHECK int store_sent_add(struct store *s, const struct store_sent *sent, size_t n,
                              struct err *err);
MUST_CHECK int store_sent(struct store *s, store_sent_each *each, void *arg, struct err *err);
MUST_CHECK int store_sent_clear(struct store *s, struct err *err);
/* Integrity of the tables; E_STORE says what is wrong. */
MUST_CHECK int store_check(struct store *s, struct err *err);

#endif
