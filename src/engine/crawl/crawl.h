/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl.h - cycles on the live web: the engine with the fetcher as its source.
 *
 * What comes back is judged against our copy, written to WARC (a revisit where
 * nothing changed) and to the store, in batches: the archive is on the disk
 * before the tables say so, and a batch is whole or not there.  A cycle that was
 * broken off, by a signal or a crash, is gone on with at the next start: no page
 * of it is asked for twice, and the budget counts what was sent (crawl_sent.c).
 *
 * The copy of a page is kept decoded: Content-Encoding and Transfer-Encoding are
 * undone, their headers kept as X-Archive-Orig-..., so that digests do not depend
 * on how a server felt like compressing.
 */
#ifndef ENGINE_CRAWL_CRAWL_H
#define ENGINE_CRAWL_CRAWL_H

#include <signal.h>

#include "engine/archive/site_detect.h"
#include "engine/crawl/life.h"
#include "engine/discover/discover.h"
#include "engine/recall/resume.h"
#include "fetch/fetch.h"
#include "warc/warc_compress.h"
#include "web/page/change.h"

/* Are the words of pages counted?  By itself: if the repository has words already, or
 * the policy needs them. */
enum crawl_words { CRAWL_WORDS_AUTO, CRAWL_WORDS_NO, CRAWL_WORDS_YES };

struct crawl_report;
struct engine;

/* The cycle is that of one shard of a fleet (engine/fleet/work.h). */
enum { CRAWL_MORE_LATER, CRAWL_NO_MORE };
enum crawl_idle { CRAWL_CONNECTIONS_IDLE, CRAWL_ALL_IDLE };     /* some; and nothing is under way */
struct crawl_fleet {
	uint32_t granted;               /* of this cycle, so far; opts->budget is what is expected */
	uint32_t budget, pages;         /* of the whole fleet, for ceilings of sites */
	struct shared shared;           /* what its shards have learnt, if the cycle begins now */
	/* All that was granted is planned, and more could be fetched: *granted is raised to what the
	 * shard may have now.  CRAWL_NO_MORE: that is all in this cycle. */
	int (*more)(void *arg, struct engine *e, enum crawl_idle idle, uint32_t *granted,
	            struct err *err);
	bool (*follows)(void *arg, const char *url, size_t size);       /* a redirect there? */
	/* A batch was committed: the row of the cycle. */
	int (*committed)(void *arg, const struct store_cycle *row, struct err *err);
	void *arg;
	_Atomic int64_t *send_until;    /* as in struct fetch_options; set to 0 if the lease is lost */
	double ahead;                   /* seconds that our clock is ahead of the fleet's */
	bool wait_first;                /* the shard was lost by another: hosts wait a full delay */
	const char *worker;             /* who has the WARC files */
	const char *below;              /* folder below warc_folder where the files are, for names of
	                                 * files: "north/shard-3" */
};

struct crawl_doing;

struct crawl_opts {
	const struct crawl_fleet *fleet;        /* or NULL */
	enum goal goal;                 /* alive: tests of life, see life.h */
	struct life_opts life;
	const char *warc_folder;
	enum warc_compress compress;    /* of new archive files */
	bool anew;                      /* a cycle that broke off is ended, not gone on with */
	const char *policy;
	enum aim aim;
	enum weight_by weight;
	struct share budget;
	uint64_t seed;
	uint32_t n_shards;              /* of the fleet that the store is a shard of; 0: of none */
	int64_t cycle_seconds;
	int64_t now;                    /* 0: by the real clock */
	uint32_t max_age;               /* cycles; 0: none */
	struct share retry_share;       /* for pages back from rest; value 0: the usual one */
	struct share site_share;        /* ceiling of a site; value 0: the usual one */
	struct share notifier_share;    /* ceiling of a notifier (engine/book/touch.h); 0: none */
	unsigned moved_after;           /* permanent redirects in a row until they are followed for
	                                 * good; 0: never */
	unsigned confirmations;         /* times seen gone until it is believed */
	bool no_requests;               /* archive answers only */
	struct discover_opts discover;
	/* Rules of scope for this run only: its other pages are not asked for.  NULL: as the
	 * settings of the store say, which each page knows. */
	struct care_rules *scope;
	struct detector detect;
	struct ignore_list ignore;      /* elements that are no change */
	const struct site_settings *sites;      /* detectors of single sites; NULL: none */
	enum crawl_words words;
	const char *stem;               /* language, for the first words of all; or NULL */
	struct fetch_options fetch;     /* spend, arg and seed are set here */
	/* Set by a caller that runs cycle after cycle: the fetcher, with what it knows of
	 * hosts, is taken from here and left here.  The caller frees it. */
	struct fetch **fetcher;
	size_t fetch_hosts_max;         /* it is made anew if it knows more hosts; 0: a good
	                                 * number */
	/* The same for the engine (resume_again()): zeroed at first, and released by the caller,
	 * before the store is closed. */
	struct resumed *resumed;
	uint32_t batch;                 /* outcomes a commit; 0: a good number */
	uint64_t robots_kept;           /* bytes of robots.txt in the store; 0: a good number */
	const volatile sig_atomic_t *stop;      /* set: finish what is in flight */
	/* Or NULL.  A cycle that broke off is gone on with, before anything is asked for: the
	 * report has its number, policy, budget, downloads, and how many lapsed. */
	void (*goes_on)(void *arg, const struct crawl_report *r);
	/* Or NULL.  Requests of the budget; of goal alive, found of what is to be. */
	void (*progress)(void *arg, uint32_t done, uint32_t total);
	/* Or NULL.  What it is doing; once a second. */
	void (*doing)(void *arg, const struct crawl_doing *now);
	/* Or NULL.  `stop` was seen: so many answers are under way and waited for. */
	void (*stopping)(void *arg, unsigned under_way);
	void *arg;
};

/* What a cycle is doing now.  Texts and arrays are valid until the call returns. */
#define CRAWL_DOING_HOSTS 20
struct crawl_doing_host {
	const char *name;
	uint32_t page;                  /* one of its pages */
	uint32_t pages;                 /* planned and not answered */
	double pause;                   /* seconds between its requests */
	double rests;                   /* seconds that it is left alone: it asked for it; or 0 */
};
struct crawl_doing {
	const struct store_cycle *cycle;        /* number and budget; its counts are later */
	uint32_t spent, visits;         /* requests of the budget; pages with an outcome */
	double seconds, seconds_left;   /* since the first plan; about */
	unsigned active;                /* requests under way */
	uint32_t planned;               /* pages planned and not answered */
	struct fetch_stats fetch;
	uint32_t n_waiting, n_resting;  /* hosts with such pages; of them those that rest */
	struct crawl_doing_host hosts[CRAWL_DOING_HOSTS];       /* the most pages first */
	unsigned n_hosts;
};

struct crawl_report {
	struct store_cycle cycle;       /* its texts point into policy[] below */
	char policy[256];
	enum aim aim;
	char explain[512];              /* what it says of itself (auto: its choice), or "" */
	bool resumed;                   /* it had been begun before */
	bool engine_kept;               /* the engine is that of the cycle before */
	bool stopped;                   /* by the user: the cycle is not at its end */
	bool guarantee_broken;
	uint32_t n_aside;               /* archive files that the store does not know, kept aside */
	char aside[288];                /* the name of the last */
	uint32_t taken_off;             /* requests of its budget that cycles before had spent */
	int64_t clock_behind;           /* seconds that the cycle before is ahead of the clock */
	uint32_t lapsed;                /* pages that were under way when it broke off */
	uint32_t visits;                /* pages with an outcome, blocked ones included */
	uint32_t moved;                 /* pages that are followed from now on to where they moved */
	uint32_t unasked;               /* planned, but redirects had taken their share */
	uint32_t late;                  /* planned, but the time of the cycle or their host was
	                                 * over */
	uint32_t answered;              /* visits that a server answered, whatever the status */
	uint32_t not_modified;          /* of them 304 */
	uint32_t resting;               /* pages that failed and were left alone, */
	uint32_t retried;               /* and such that were asked for after their rest */
	uint32_t given_up;              /* pages of sites that had had their part, */
	char full_site[264];            /* most of them of this one */
	uint32_t checks, lies;          /* of validators: web/rules/validator.h */
	struct fetch_stats fetch;
	struct discovery discovery;
	uint32_t reasons[FETCH_N_ERRORS];       /* of failed and blocked */
	struct life_report life;        /* goal alive */
};

/* One cycle, begun or gone on with.  E_STOP after a signal, E_NET if nothing at
 * all could be reached; what was fetched is kept in both cases. */
MUST_CHECK int crawl_cycle(struct store *s, const struct crawl_opts *opts,
                           struct crawl_report *ret, struct err *err);

/* Files of the archive that nobody writes any more, and that have no final names yet: crawl_repair.c.
 * A crawl begins with it; a worker of a fleet does it for shards that others have by now, whose stores
 * it has open to read.  Only n_aside and aside are set in ret. */
bool crawl_has_open_files(const char *folder);
MUST_CHECK int crawl_finish_files(struct store *s, const char *folder, struct crawl_report *ret,
                                  struct err *err);

#endif
