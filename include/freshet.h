/* SPDX-License-Identifier: Apache-2.0 */
/*
 * freshet.h - Freshet as a library: decide which pages to download again.
 *
 *     freshet_open(&f, "crawl");
 *     while (freshet_ask(f, NULL, &asked) == 0 && asked.n)
 *             for (i = 0; i < asked.n; i++) {
 *                     ... download asked.offers[i]->url ...
 *                     freshet_tell(f, &told);
 *             }
 *     freshet_cycle_end(f);
 *     freshet_close(f);
 *
 * docs/library.md is the guide, examples/crawler.c a crawler that uses it.  From 0.2 on this
 * file is stable: what is here stays as it is, new fields come last, new calls beside the old.
 *
 * Results.  A call returns 0 or a count; one that fails returns a negative enum
 * freshet_code, and freshet_error() has the message.  A call that fails changes nothing
 * unless it says so, and never loses what was told, added or set before it.  What is kept
 * survives a crash of the program; after a power failure the last calls may be missing, as
 * a whole.
 *
 * Structs begin with their size.  The caller sets it (.size = sizeof o) and zeroes the rest:
 * zero always is the usual choice.  So programs go on working with a newer library, and one
 * that asks an older library for what it does not know is told so (FRESHET_E_USAGE).
 * Structs that the library hands out have their size set by it.
 *
 * Texts.  What a caller passes is copied or used up before the call returns.  What the library
 * hands out lives until the next call with the same handle, or as long as its call says.
 * Texts are UTF-8 and end with a NUL byte; an absent one is NULL.  URLs may be given as a user
 * types them and come back in their canonical form.
 *
 * Threads.  A handle serves one thread at a time; several threads have a handle each, of the
 * same repository or of several.  A callback may not call the library with the handle it was
 * called for: that fails with FRESHET_E_USAGE.
 *
 * Memory.  Sizes that a caller chooses (budgets, counts, lengths) are checked and refused with
 * FRESHET_E_LIMIT or FRESHET_E_USAGE.  When the system has no memory left the library ends the
 * program, as a crash would; nothing that was kept is lost.
 */
#ifndef FRESHET_H
#define FRESHET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FRESHET_API __attribute__((visibility("default")))
#else
#define FRESHET_API
#endif

enum freshet_code {
	FRESHET_OK = 0,
	FRESHET_E_FAIL = -1,            /* none of the others */
	FRESHET_E_USAGE = -2,           /* what was asked makes no sense: see the message */
	FRESHET_E_IO = -3,              /* a file could not be read or written */
	FRESHET_E_PARSE = -4,           /* a file is not what it should be */
	FRESHET_E_LIMIT = -5,           /* larger than the library takes */
	FRESHET_E_NET = -6,
	FRESHET_E_STORE = -7,           /* the tables: damaged, no room, locked for too long, or
	                                 * no repository at all */
	FRESHET_E_BUSY = -8,            /* another program or handle is at work: try later */
	FRESHET_E_STOP = -9             /* a callback of yours said stop */
};

struct freshet;

/* Version of the library that runs, such as "0.2.0".  Any thread; lives for ever. */
FRESHET_API const char *freshet_version(void);

/* ---- Handles ---- */

/* Open a repository folder.  With dir == NULL the handle has no repository: it serves
 * freshet_replay() only.  *ret is set even on failure, so that the message can be read:
 * freshet_close() it in any case. */
FRESHET_API int freshet_open(struct freshet **ret, const char *dir);
/* The same, and make the folder and what belongs into it where it is not there. */
FRESHET_API int freshet_create(struct freshet **ret, const char *dir);
/* NULL is fine.  Everything that was told is kept. */
FRESHET_API void freshet_close(struct freshet *f);
/* What went wrong in the last call that failed; "" if none did.  Lives until the next call
 * with the handle, that of freshet_close() included. */
FRESHET_API const char *freshet_error(const struct freshet *f);

/* What the library says while it works, to the thread that called it and before that call
 * returns.  Both may be NULL. */
struct freshet_hooks {
	size_t size;
	void *arg;
	/* One thing that was left out or corrected, such as a line of a file that makes no
	 * sense.  The text lives until warn() returns. */
	void (*warn)(void *arg, const char *text);
	/* Called now and then: what is done ("importing"), how much, of how much (0: nobody
	 * knows).  Non-zero: stop.  The call then returns FRESHET_E_STOP; an import keeps what it
	 * had read. */
	int (*progress)(void *arg, const char *what, uint64_t done, uint64_t total);
};

/* From now on; NULL: none. */
FRESHET_API int freshet_listen(struct freshet *f, const struct freshet_hooks *hooks);

/* For trials: from now on it is this time (seconds since the epoch) for the handle; 0: what
 * the clock says. */
FRESHET_API int freshet_clock(struct freshet *f, int64_t now);

/* ---- Pages ---- */

/* Put a page under care: 1 new, 0 known already. */
FRESHET_API int freshet_add(struct freshet *f, const char *url);
/* How much a page counts under weight "given": 0 to 1e9, 1 at first.  Puts it under care. */
FRESHET_API int freshet_weigh(struct freshet *f, const char *url, double weight);
/* Import a URL list, sitemap, CDX, CDXJ or WARC file, read as the settings of the repository
 * say.  What makes no sense is left out and reported to warn().  It is kept in batches: after a
 * failure import the file again, which changes nothing that is there. */
FRESHET_API int freshet_import(struct freshet *f, const char *path);

/* ---- Settings ---- */

/* Those of the repository that the library goes by (policy, aim, weight, budget, every,
 * max-age, site-share, retry-share, confirmations, delay, detect, ignore) are checked and set; NULL
 * unsets.  The options of a call go before them; a client keeps those it began with.  Other settings concern the program alone:
 * `freshet set`. */
FRESHET_API int freshet_set(struct freshet *f, const char *name, const char *value);
/* *ret: the value of any setting, or NULL if it is not set. */
FRESHET_API int freshet_get(struct freshet *f, const char *name, const char **ret);

/* ---- Plans ---- */

struct freshet_plan_options {
	size_t size;
	const char *policy;             /* NULL: as set, else "auto" */
	uint32_t budget;                /* pages; 0: as set, else 2 % of them */
	uint64_t seed;
	int64_t now;                    /* seconds since the epoch; 0: the clock */
	int64_t cycle_seconds;          /* time between cycles; 0: as set, else a day */
	const char *aim;                /* changes, freshness, age; NULL: as set, else freshness */
	const char *weight;             /* none, pagerank, given; NULL: as set, else none */
};

struct freshet_page {
	size_t size;
	const char *url;
	double score;
	double probability;             /* NAN: the policy cannot say */
	const char *reason;
};

/* What would be downloaded, best first, if nothing could be learnt from the first pages
 * before the last are asked for.  Nothing is written.  each() returns non-zero to stop, which
 * is no failure; what it gets lives until it returns. */
FRESHET_API int freshet_plan(struct freshet *f, const struct freshet_plan_options *options,
                             int (*each)(void *arg, const struct freshet_page *page),
                             void *arg);

struct freshet_explanation {
	size_t size;
	const char *url;
	int asked;                      /* does the policy ask for it at all? */
	int in_next_cycle;
	uint64_t rank, of;              /* in the next plan or, behind it, in one of all pages */
	uint32_t cycles;                /* until its turn, if nothing changed meanwhile */
	uint32_t budget;                /* of the next cycle, in pages */
	double score;
	double probability;             /* NAN: not known */
	const char *reason;             /* a word, */
	const char *because;            /* and a sentence; NULL if it is not asked for */
	const char *policy_says;        /* what the policy says of itself, or NULL */
	uint32_t visits, changes;
	int64_t last_visit;             /* 0: never */
	uint32_t failed_in_row;         /* its last visits */
	int64_t rests_until;            /* after failures; 0: it does not rest */
};

/* Why a page under care would, or would not, be downloaded next.  The texts live until the
 * next call with the handle. */
FRESHET_API int freshet_explain(struct freshet *f, const char *url,
                                const struct freshet_plan_options *options,
                                struct freshet_explanation *ret);

/* ---- Cycles: ask for pages, download them, tell what came of them ---- */

struct freshet_cycle_options {
	size_t size;
	const char *policy;             /* these as in struct freshet_plan_options */
	uint32_t budget;
	uint64_t seed;
	int64_t cycle_seconds;
	const char *aim, *weight;
	const char *client;             /* who asks, 100 bytes at most; NULL: nobody */
	double delay;                   /* seconds between requests to a host; 0: as set, else 1;
	                                 * below 0: none */
	int anew;                       /* end a cycle that is open, and begin another */
};

/* From now on this handle asks and tells for the client.  If a cycle is open for other
 * crawlers, it is gone on with, and only client and delay are new; else the first
 * freshet_ask() opens one.  A client that asks again under its name, after a crash too, first
 * gets the pages that it was offered and has not told. */
FRESHET_API int freshet_cycle_begin(struct freshet *f,
                                    const struct freshet_cycle_options *options);

struct freshet_ask_options {
	size_t size;
	uint32_t want;                  /* pages at most; 0: 100; 100,000 at most */
	uint32_t per_host;              /* of one host in the client's hands; 0: any number */
	uint32_t max_requests;          /* for each page, redirects included; 0: 1 */
	int64_t lease_seconds;          /* to tell of a page; 0: half an hour */
	const char *agent;              /* your product token in robots.txt; NULL: the rules for
	                                 * all robots are looked at */
};

struct freshet_offer {
	size_t size;
	const char *lease;              /* to be told with the outcome */
	const char *url;
	const char *etag, *last_modified;       /* of our copy, for a conditional request */
	int64_t last_visit;             /* 0: never */
	int64_t not_before;             /* when its host may be asked, over all clients */
	int64_t until;                  /* if nothing is told by then the offer has lapsed */
	uint32_t max_requests;
	int again;                      /* it was offered to this client before */
	double score, probability;      /* NAN: unknown */
	const char *reason;
	const char *given;              /* url as it was added or told, byte for byte */
	const char *robots;             /* what we know of robots.txt: "allowed", "forbidden"; NULL:
	                                 * nothing.  Only cycles of Freshet itself read it */
	int64_t robots_read;            /* when they did; 0: never */
	double crawl_delay;             /* seconds that it asks for; NAN: none, or not known */
};

struct freshet_asked {
	size_t size;
	const struct freshet_offer *const *offers;
	uint32_t n;                     /* of them */
	int done;                       /* n is 0, and will stay so in this cycle */
	int64_t wait;                   /* n is 0, not done: seconds until asking again is worth it;
	                                 * telling may bring pages sooner */
	uint32_t cycle, budget, spent;  /* the cycle that is open, and requests of it */
};

/* Pages to download now.  They are this client's until they are told, released, or their time
 * is over: no other client gets them.  Whoever downloads obeys robots.txt.  What *ret holds
 * lives until the next freshet_ask() or freshet_cycle_begin() with the handle. */
FRESHET_API int freshet_ask(struct freshet *f, const struct freshet_ask_options *options,
                            struct freshet_asked *ret);

enum freshet_outcome {
	FRESHET_BY_STATUS,              /* as status and digest say */
	FRESHET_SAME, FRESHET_CHANGED, FRESHET_GONE, FRESHET_FAILED,
	FRESHET_BLOCKED                 /* never asked: robots.txt, a rule of yours */
};

struct freshet_told {
	size_t size;
	const char *lease;              /* of an offer; or */
	const char *url;                /* a page that was not offered */
	enum freshet_outcome outcome;
	int32_t status;                 /* of HTTP; 0: there was no answer */
	const char *digest;             /* of the content, any text that differs when it does */
	const char *etag, *last_modified;       /* for the next conditional request */
	const char *links;              /* URLs on the page, with blanks between */
	const char *cause;              /* of a failure: dns, connect, timeout, tls, robots ... */
	uint32_t requests;              /* that it cost, 1000 at most; 0: one, or none if it was
	                                 * blocked */
	int64_t time;                   /* 0: the clock; one more than a day ahead is taken for
	                                 * now, and warn() is told */
	double score, probability;      /* of a page that was not offered; 0: unknown */
	int add;                        /* put the page under care if it is not; else that is an
	                                 * error */
};

/* What came of a page.  It is kept when the call returns.  It goes into the cycle that is open
 * for other crawlers; if none is, it is a cycle of its own.  What was told before in the cycle
 * is left out, which is no failure.  Returns 1 if it was kept, 0 if it was left out. */
FRESHET_API int freshet_tell(struct freshet *f, const struct freshet_told *told);
/* Several at once, which are kept together, or none if the call fails; without an open cycle
 * they are one.  What makes no sense is left out and reported to warn().  Returns how many were
 * kept. */
FRESHET_API int freshet_tell_all(struct freshet *f, const struct freshet_told *const *told,
                                 size_t n);
/* An offer was not downloaded: the page and its part of the budget come back. */
FRESHET_API int freshet_release(struct freshet *f, const char *lease);
/* The cycle that is open for other crawlers is over, for all of them; what is out has lapsed.
 * 1: it is; 0: none was open. */
FRESHET_API int freshet_cycle_end(struct freshet *f);

/* ---- Changes ---- */

enum freshet_change_kind { FRESHET_NEW_PAGE, FRESHET_CHANGED_PAGE, FRESHET_GONE_PAGE };

struct freshet_change {
	size_t size;
	const char *cursor;             /* the place behind this change */
	const char *url;
	enum freshet_change_kind kind;
	int64_t time;                   /* of the visit that found it */
	uint32_t cycle;
	int32_t status;                 /* of HTTP; 0: not known */
	/* of the copy, if there is one: */
	const char *mime, *title, *digest;
	const char *robots;             /* what it asks of robots: noindex ... */
	const char *file;               /* WARC file, in the repository's warc/ or elsewhere, */
	int64_t offset, length;         /* and where in it; -1: not known */
};

/* Every change that was found since the cursor (NULL: from the beginning), in the order kept.
 * each() returns non-zero to stop, which is no failure.  Keep the cursor of a change when you
 * have dealt with it, and begin there the next time: you may see a change twice, if you crash
 * in between, but never miss one.  Changes are those of visits, by any program; what an import
 * brought is the past, and is not among them. */
FRESHET_API int freshet_changes(struct freshet *f, const char *cursor,
                                int (*each)(void *arg, const struct freshet_change *change),
                                void *arg);

/* ---- Export ---- */

/* kind "cdxj": an index of all captures, sorted; "cdxj-extended": with what was read out of the
 * pages, for freshet_replay(); "warc": the copies themselves, path is a folder.  Files that end
 * in .gz or .zst are compressed.  The file is whole or not there. */
FRESHET_API int freshet_export(struct freshet *f, const char *kind, const char *path);

/* ---- Replay ---- */

struct freshet_replay_options {
	size_t size;
	const char *policy;             /* NULL: "auto" */
	double budget_percent;          /* of the pages at the start; 0: 2 */
	int64_t cycle_seconds;          /* 0: two weeks */
	uint64_t seed;
	const char *aim;                /* changes, freshness, age; NULL: freshness */
};

struct freshet_measures {
	size_t size;
	uint32_t pages, cycles, budget;
	double change_ratio, change_ratio_cycle, weighted_change_ratio;
	double freshness, age_days, max_unvisited_days;
	double freshness_time, age_time_days;   /* over all copies and days */
};

/* How a policy would have done on recorded history (CDX, CDXJ, WARC files, or folders of
 * repositories).  Needs no repository. */
FRESHET_API int freshet_replay(struct freshet *f, const char *const *paths, size_t n_paths,
                               const struct freshet_replay_options *options,
                               struct freshet_measures *ret);

#ifdef __cplusplus
}
#endif
#endif
