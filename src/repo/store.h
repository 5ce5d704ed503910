/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the tables of a repository, whatever database holds them.  README.md in this
 * folder draws them.
 *
 * Rows go in and come out: pages, captures, visits, cycles, settings.  No SQL appears
 * above this header.  It asks for nothing that a table with a key cannot do.  So a new
 * database is a new backend (store_backend.h), and no other file changes.
 *
 * Page numbers are dense, start at 0 and never change.  Planning works on arrays indexed
 * by them (engine/view/load.h).
 *
 * Write between store_begin() and store_commit().  A committed batch survives a crash of
 * the program; an open batch is lost as a whole.  Strings in a scanned row are valid
 * until the callback returns.  Strings in a row from a get are valid until the next get,
 * begin or commit.
 */
#ifndef REPO_STORE_H
#define REPO_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/numbers.h"
#include "base/text.h"

#define STORE_SCHEMA 6          /* version of the tables */
#define STORE_EXTRA_MAX 1000000 /* requests of one visit */
#define STORE_NONE UINT32_MAX   /* no page */

struct store;

const char *store_state_name(unsigned state);   /* here, gone, left */

#define STORE_FAIL_GONE 0x10000u       /* unit of the upper half of store_page.fails */

struct store_page {
	uint32_t number;
	struct text url;                /* canonical */
	int64_t added;
	int64_t last_visit, last_change;        /* 0: never */
	uint32_t visits, changes;
	uint32_t fails;                 /* two counters.  fails % STORE_FAIL_GONE: failed visits in
	                                 * a row; fails / STORE_FAIL_GONE: "gone" answers among
	                                 * them */
	uint8_t state;                  /* enum store_page_state */
	uint64_t capture;               /* id of the newest good capture; 0: none */
	int64_t hint;                   /* lastmod date of the sitemap; 0: none */
	int64_t hint_seen;              /* when that sitemap was read */
	uint32_t found;                 /* cycle in which discovery added it; 0: the user did */
	double weight;                  /* importance, given by the user; 1: the usual one */
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
	int64_t length, bytes_text, words, images, tables, emails, outlinks;    /* -1: unknown */
	struct text links, terms;       /* equal texts of several captures are stored once */
	struct text robots;             /* its rules for robots: web/rules/robots_tag.h */
	struct text target;             /* URL that answered after redirects */
	struct text file;               /* WARC file */
	int64_t offset, size;           /* of the record in that file, bytes */
};

struct store_visit {
	uint32_t cycle;                 /* 0: imported history */
	uint32_t page;
	int64_t time;
	uint8_t outcome;                /* enum outcome */
	uint8_t reason;                 /* enum reason */
	uint8_t cause;                  /* enum cause, if it failed or was blocked */
	uint32_t extra;                 /* requests after the first; of a blocked visit all */
	int32_t status;
	bool hit;
	float score, probability;       /* NAN: unknown */
	uint64_t capture;               /* 0: none was kept */
	uint32_t order;                 /* in the cycle, as told, from 1; 0: append */
	uint32_t place;                 /* in the cycle, as planned, from 1; 0: not planned */
	uint8_t goal;                   /* of its cycle; only read, never written */
};

struct store_cycle {
	uint32_t number;                /* 1, 2, ... */
	int64_t time;
	bool open;                      /* begun and not ended */
	bool clients;                   /* it was opened for other crawlers */
	uint8_t goal;                   /* enum goal */
	struct text policy;
	uint64_t seed;
	uint32_t budget;
	uint32_t downloads, fresh, changed, same, gone, failed, blocked;
	double seconds_plan, seconds_total;
};

/* How often a site's lastmod dates were right (web/rules/lastmod.h), when its sitemaps
 * were last read (0: never), and the doubt in its validators (web/rules/validator.h). */
struct store_hint { uint32_t checks, hits, told; int64_t read; uint32_t doubt; };

/* The robots.txt of an origin ("https://host:port"). */
struct store_robots {
	int64_t time;                   /* last successful fetch; 0: never */
	int32_t status;                 /* of that fetch */
	bool cut;                       /* body is only the first part of the file */
	struct text body;
	int64_t tried;                  /* last attempt */
	int64_t failing;                /* first failure since then; 0: the last attempt worked */
};

/* An offer of the open cycle to another crawler. */
struct store_lease {
	uint32_t cycle, place;          /* place: its number in the cycle, from 1 */
	uint32_t page;
	struct text client;             /* name of the crawler; empty: not given */
	int64_t from, until;            /* fetch not before `from`; without an answer it lapses at
	                                 * `until` */
	uint32_t requests;              /* requests of the budget reserved for it */
	uint32_t order;                 /* of its release or lapse among the cycle's events; 0: out
	                                 * or told */
	uint8_t state;                  /* enum store_lease_state */
	uint8_t reason;                 /* enum reason */
	float score, probability;       /* NAN: unknown */
};

/* read false: a request for a page is about to be sent.  read true: its answer was read,
 * but is in no committed batch.  order: the page's place in the plan (store_visit.place).
 * */
struct store_sent { uint32_t cycle, page, order; uint8_t reason; bool read; };

struct store_counts {
	uint64_t pages, captures, visits, cycles, gone;
	int64_t first_capture, last_capture;    /* 0: none */
};

/* STORE_READ also opens a database without write permission.  All reads then see the
 * state at the first read, whatever others write meanwhile. */
enum store_mode { STORE_EXISTING, STORE_CREATE, STORE_READ };

/* "sqlite:PATH" or a plain path. */
MUST_CHECK int store_open(struct store **ret, const char *url, enum store_mode mode,
                          struct err *err);
/* The file that holds the tables; others may lie beside it.  NULL: there is none. */
const char *store_file(const struct store *s);
void store_close(struct store *s);      /* s may be NULL; an open batch is lost */

/* All reads until store_thaw() see one moment: a page named by a visit or a capture is
 * then in the scan of the pages.  No effect within a batch.  After
 * store_thaw() rows that were got are gone, and what others have written since is seen.
 * */
MUST_CHECK int store_freeze(struct store *s, struct err *err);
void store_thaw(struct store *s);
MUST_CHECK int store_begin(struct store *s, struct err *err);
MUST_CHECK int store_commit(struct store *s, struct err *err);
void store_rollback(struct store *s);

/* Add a page unless its URL is known; returns its number either way.  1: new, 0: known.
 * */
MUST_CHECK int store_page_add(struct store *s, struct text url, int64_t added,
                              uint32_t *ret_number, struct err *err);
/* 1: found; 0: not there. */
MUST_CHECK int store_page_find(struct store *s, struct text url, struct store_page *ret,
                               struct err *err);
MUST_CHECK int store_page_get(struct store *s, uint32_t number, struct store_page *ret,
                              struct err *err);
/* Set the weight of a page: 0 to STORE_WEIGHT_MAX. */
MUST_CHECK int store_page_weigh(struct store *s, uint32_t number, double weight,
                                struct err *err);
/* Writes all fields but number, url, added and weight. */
MUST_CHECK int store_page_update(struct store *s, const struct store_page *p, struct err *err);
/* 1: added, id is set; 0: the page already has a capture of that second.  Links and terms
 * equal to stored ones take no space. */
MUST_CHECK int store_capture_add(struct store *s, struct store_capture *c, struct err *err);
/* A page has one capture a second: that of the highest rank.  From high to low: a page
 * (200 or 203), a revisit, a redirect, a page that is gone, any other answer.  Among
 * equals the first. */
unsigned store_capture_rank(int status, bool revisit);
/* As store_capture_add(), but a higher rank replaces the capture of that second and takes
 * its id: then it returns 2. */
MUST_CHECK int store_capture_put(struct store *s, struct store_capture *c, struct err *err);
MUST_CHECK int store_capture_get(struct store *s, uint64_t id, struct store_capture *ret,
                                 struct err *err);
/* New headers for unchanged content: validators for the next request, and rules for
 * robots. A text with s == NULL removes the old one. */
MUST_CHECK int store_capture_refresh(struct store *s, uint64_t id, struct text etag,
                                     struct text modified, struct text robots,
                                     struct err *err);
MUST_CHECK int store_visit_add(struct store *s, const struct store_visit *v, struct err *err);
/* Delete the imported visits (cycle 0) of a page. */
MUST_CHECK int store_visits_forget(struct store *s, uint32_t page, struct err *err);
/* Insert or replace by number. */
MUST_CHECK int store_cycle_put(struct store *s, const struct store_cycle *c, struct err *err);
/* value == NULL removes. */
MUST_CHECK int store_setting_put(struct store *s, const char *key, const char *value,
                                 struct err *err);
/* 1: found, in a new string; 0: not set. */
/* Raised whenever the past changes: visits of imported history come or go, or something is
 * added to a cycle that is not the newest.  What was learnt from cycles before the newest
 * holds as long as this is the same. */
MUST_CHECK int store_past(struct store *s, uint64_t *ret, struct err *err);
MUST_CHECK int store_setting_get(struct store *s, const char *key, char **ret, struct err *err);

/* The trust in a site's dates.  1: found; 0: nothing known, all zero. */
MUST_CHECK int store_hint_get(struct store *s, struct text site, struct store_hint *ret,
                              struct err *err);
MUST_CHECK int store_hint_put(struct store *s, struct text site, const struct store_hint *h,
                              struct err *err);
/* 1: found, body is valid until the next get; 0: not there. */
MUST_CHECK int store_robots_get(struct store *s, struct text origin, struct store_robots *ret,
                                struct err *err);
MUST_CHECK int store_robots_put(struct store *s, struct text origin,
                                const struct store_robots *r, struct err *err);
MUST_CHECK int store_robots_size(struct store *s, uint64_t *ret, struct err *err); /* bodies */
/* Delete those last tried before this time. */
MUST_CHECK int store_robots_forget(struct store *s, int64_t before, struct err *err);
/* The words that the numbers in `terms` stand for: dense, from 0.  A word never changes.
 * */
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
/* Captures of one page, or of all (STORE_NONE), by page, then time. */
MUST_CHECK int store_captures(struct store *s, uint32_t page, store_capture_each *each,
                              void *arg, struct err *err);
/* Visits of one page, or of all (STORE_NONE), in cycles >= from and < to; by cycle, then
 * order. */
MUST_CHECK int store_visits(struct store *s, uint32_t page, uint32_t from, uint32_t to,
                            store_visit_each *each, void *arg, struct err *err);
MUST_CHECK int store_cycles(struct store *s, store_cycle_each *each, void *arg,
                            struct err *err);
MUST_CHECK int store_words(struct store *s, uint32_t from, store_word_each *each, void *arg,
                           struct err *err);    /* from this number on */
MUST_CHECK int store_settings(struct store *s, store_setting_each *each, void *arg,
                              struct err *err);
MUST_CHECK int store_count(struct store *s, struct store_counts *ret, struct err *err);
/* The rounds of a cycle, numbered from 1.  after: events (answers told, offers given
 * back, offers lapsed) before the round was planned. */
MUST_CHECK int store_round_add(struct store *s, uint32_t cycle, uint32_t number,
                               uint32_t after, struct err *err);
MUST_CHECK int store_rounds(struct store *s, uint32_t cycle, store_round_each *each, void *arg,
                            struct err *err);
/* Insert or replace by cycle and place; scan a cycle by place; delete those of all cycles
 * but one. */
MUST_CHECK int store_lease_put(struct store *s, const struct store_lease *l, struct err *err);
MUST_CHECK int store_leases(struct store *s, uint32_t cycle, store_lease_each *each, void *arg,
                            struct err *err);
MUST_CHECK int store_leases_forget(struct store *s, uint32_t but_cycle, struct err *err);
/* The journal of requests.  An entry is safe when store_sent_add() returns, whatever
 * becomes of the open batch.  So after a crash the next run knows which pages were
 * requested. store_sent() reads in the order written and ignores an unfinished last
 * entry; store_sent_clear() deletes all. */
MUST_CHECK int store_sent_add(struct store *s, const struct store_sent *sent, size_t n,
                              struct err *err);
MUST_CHECK int store_sent(struct store *s, store_sent_each *each, void *arg, struct err *err);
MUST_CHECK int store_sent_clear(struct store *s, struct err *err);
/* Check all tables; E_STORE says what is wrong. */
MUST_CHECK int store_check(struct store *s, struct err *err);

#endif
