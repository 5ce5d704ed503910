/* SPDX-License-Identifier: Apache-2.0 */
/*
 * freshet.h - Freshet as a library: decide which pages to download again.
 *
 *     struct freshet_plan_options o = { .size = sizeof o, .budget = 100 };
 *     struct freshet *f;
 *
 *     if (freshet_open(&f, "crawl") < 0)
 *             fprintf(stderr, "%s\n", freshet_error(f));
 *     else
 *             freshet_plan(f, &o, each, arg);
 *     freshet_close(f);
 *
 * docs/library.md is the guide, examples/crawler.c a crawler that uses it.  From 0.2 on this
 * file is stable: what is here stays as it is, new fields come last, new calls beside the old.
 *
 * Results.  A call returns 0 or a count; one that fails returns a negative enum
 * freshet_code, and freshet_error() has the message.  A call that fails changes nothing
 * unless it says so, and never loses what was told, added or set before it.
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
	FRESHET_E_STORE = -7,           /* the tables: damaged, full, or no repository */
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
 * max-age, site-share, retry-share, confirmations, detect, ignore) are checked and set; NULL
 * unsets.  The options of a call go before them.  Other settings concern the program alone:
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

/* ---- Outcomes ---- */

enum freshet_outcome { FRESHET_SAME, FRESHET_CHANGED, FRESHET_GONE, FRESHET_FAILED };

struct freshet_told {
	size_t size;
	const char *url;
	enum freshet_outcome outcome;
	int64_t time;                   /* 0: the clock; one more than a day ahead is taken for
	                                 * now, and warn() is told */
	double score, probability;      /* as planned; 0 if unknown */
};

/* What came of a page.  It is kept when the call returns.  All that is told until
 * freshet_end_cycle() or freshet_close() is one cycle.  A page is told of once in it, and again
 * if it had failed.  From the first tell to the end of the cycle no other program crawls or
 * tells: FRESHET_E_BUSY says that one does already. */
FRESHET_API int freshet_tell(struct freshet *f, const struct freshet_told *told);
FRESHET_API int freshet_end_cycle(struct freshet *f);

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
