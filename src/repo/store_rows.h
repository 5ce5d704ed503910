/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_rows.h - the rows of a repository, as store.h takes and gives them.  README.md in this
 * folder draws the tables.
 */
#ifndef REPO_STORE_ROWS_H
#define REPO_STORE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/numbers.h"
#include "base/text.h"

#define STORE_EXTRA_MAX 1000000 /* requests of one visit */

struct store_page {
	uint32_t number;
	struct text url;                /* canonical */
	struct text given;              /* as the user wrote it; nothing: the same as url */
	int64_t added;
	int64_t last_visit, last_change;        /* 0: never */
	uint32_t visits, changes;
	uint32_t fails;                 /* failed visits in a row */
	uint32_t fails_gone;            /* of them, those that were answered "gone" */
	uint8_t state;                  /* enum store_page_state */
	uint64_t capture;               /* id of the newest good capture; 0: none */
	int64_t hint;                   /* lastmod date of the sitemap; 0: none */
	int64_t hint_seen;              /* when that sitemap was read */
	uint32_t found;                 /* cycle in which discovery added it; 0: the user did */
	double weight;                  /* importance, given by the user; 1: the usual one */
	uint8_t care;                   /* enum care; 0: under care */
	int64_t touched;                /* when somebody said that it changed, and no visit has
	                                 * looked since; 0: never, or a visit has */
	uint32_t notifier;              /* who said so (engine/book/touch.h); 0: nobody */
};

#define STORE_WEIGHT_MAX 1e9

/* A change of a page.  `set` says which fields are written.  The counters are not among
 * them: what is given is added to them. */
enum {
	STORE_SET_LAST_VISIT = 1 << 0, STORE_SET_LAST_CHANGE = 1 << 1, STORE_SET_FAILS = 1 << 2,
	STORE_SET_STATE = 1 << 3, STORE_SET_CAPTURE = 1 << 4, STORE_SET_HINT = 1 << 5,
	STORE_SET_HINT_SEEN = 1 << 6, STORE_SET_FOUND = 1 << 7, STORE_SET_WEIGHT = 1 << 8,
	STORE_SET_FAILS_GONE = 1 << 9,
	STORE_SET_GIVEN = 1 << 10,      /* unless there is one: the first stays */
	STORE_SET_TOUCHED = 1 << 11,    /* and notifier */
};

struct store_page_change {
	uint32_t number;
	uint32_t set;                   /* STORE_SET_... */
	int64_t visits, changes;        /* added to the counters; may be negative */
	struct store_page to;           /* the new values of the fields in `set` */
};

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
	struct text worker;             /* who has the WARC file; s == NULL: this repository */
	struct text file;               /* WARC file: a path in the worker's folder */
	int64_t offset, size;           /* of the record in that file, bytes */
};

/* Of a capture: what links and sizes are read from. */
struct store_linked {
	uint64_t id, links, terms;      /* links, terms: keys of the texts, if there are such */
	bool has_links, has_terms, revisit;
	uint32_t page;
	int64_t time, length, words;
	int32_t status;
	struct text target;
};

/* Its texts, by number; what else it has are numbers. */
#define STORE_CAPTURE_TEXTS 13
struct text *store_capture_text(struct store_capture *c, size_t i);

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
	uint32_t owed;                  /* requests that cycles before it spent beyond their
	                                 * budgets, and that this budget could not pay */
	uint32_t pages;                 /* of the repository, when it began; 0: not known */
	uint32_t downloads, fresh, changed, same, gone, failed, blocked;
	double seconds_plan, seconds_total;
};

/* How often a site's lastmod dates were right (web/rules/lastmod.h), when its sitemaps
 * were last read (0: never), and the doubt in its validators (web/rules/validator.h). */
struct store_hint { uint32_t checks, hits, told; int64_t read; uint32_t doubt; };

/* A change of that: what is given is added to the counts; read is set if it is later, doubt
 * if set_doubt. */
struct store_hint_change {
	struct text site;
	int64_t checks, hits, told;
	int64_t read;
	uint32_t doubt;
	bool set_doubt;
};

/* New headers for the unchanged content of a capture: validators for the next request, and
 * rules for robots.  A text with s == NULL removes the old one. */
struct store_headers { uint64_t capture; struct text etag, modified, robots; };

/* The robots.txt of an origin. */
struct store_robots {
	struct text origin;             /* "https://host:port" */
	int64_t time;                   /* last successful fetch; 0: never */
	int32_t status;                 /* of that fetch */
	bool cut;                       /* body is only the first part of the file */
	struct text body;
	int64_t tried;                  /* last attempt */
	int64_t failing;                /* first failure since then; 0: the last attempt worked */
};

/* An offer of the open cycle to another crawler; or, DROPPED, a page of any cycle that was
 * planned and refused: the budget, or the part of its owner, was used up. */
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
 * but is in no committed batch.  place: as store_visit.place. */
struct store_sent { uint32_t cycle, page, place; uint8_t reason; bool read; };

/* A page came under care, or left it.  It holds for the cycles that begin later: those
 * after `cycle`. */
struct store_care {
	uint32_t cycle;                 /* the newest when it happened; 0: there was none */
	uint32_t page;
	uint8_t care;                   /* enum care, from then on */
	int64_t time;
};

#define STORE_TAG_MAX 100       /* bytes of a tag */

struct store_counts {
	uint64_t pages, captures, visits, cycles;
	uint64_t gone;                  /* pages that are gone or left, the removed left out */
	uint64_t removed, outside, paused;      /* each page counts once, in this order */
	int64_t first_capture, last_capture;    /* 0: none */
};

/* ---- what calls take beside rows ---- */

/* A page has one capture a second.  What if that second is taken? */
enum store_second {
	STORE_FIRST,            /* the capture that is there stays */
	STORE_BEST,             /* the one of the higher rank; it takes the id of the other */
	STORE_NEXT,             /* take the next second that is free */
};

/* What came of a row. */
enum { STORE_KNOWN, STORE_ADDED, STORE_REPLACED };

/* The record of a capture lies in another file from now on (worker.s == NULL: of this repository);
 * file.s == NULL and -1 for the rest: its content is nowhere. */
struct store_moved { uint64_t capture; struct text worker, file; int64_t offset, size; };

/* What will be read soon, row by row. */
struct store_ahead {
	const uint32_t *pages;          /* and their newest copies: store_copy_get() */
	size_t n_pages;
	const struct text *sites;       /* hints; a site may be named often */
	size_t n_sites;
	const struct text *origins;     /* robots.txt: each is remembered for one read */
	size_t n_origins;
	const struct text *urls;        /* in a batch: pages by their URLs, which may be unknown */
	size_t n_urls;
};

#endif
