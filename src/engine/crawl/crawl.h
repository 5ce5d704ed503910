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

#include "engine/archive/ignore.h"
#include "engine/crawl/live.h"
#include "engine/discover/discover.h"
#include "engine/recall/resume.h"
#include "fetch/fetch.h"
#include "web/page/change.h"

/* Are the words of pages counted?  By itself: if the repository has words already, or
 * the policy needs them. */
enum crawl_words { CRAWL_WORDS_AUTO, CRAWL_WORDS_NO, CRAWL_WORDS_YES };

struct crawl_report;

struct crawl_opts {
	enum goal goal;                 /* alive: tests of life, see live.h */
	struct live_opts live;
	const char *warc_folder;
	bool anew;                      /* a cycle that broke off is ended, not gone on with */
	const char *policy;
	enum aim aim;
	enum weight_by weight;
	struct share budget;
	uint64_t seed;
	int64_t cycle_seconds;
	int64_t now;                    /* 0: by the real clock */
	uint32_t max_age;               /* cycles; 0: none */
	struct share retry_share;       /* for pages back from rest; value 0: the usual one */
	struct share site_share;        /* ceiling of a site; value 0: the usual one */
	unsigned confirmations;         /* times seen gone until it is believed */
	bool no_requests;               /* archive answers only */
	struct discover_opts discover;
	struct detector detect;
	struct ignore_list ignore;      /* elements that are no change */
	enum crawl_words words;
	const char *stem;               /* language, for the first words of all; or NULL */
	struct fetch_options fetch;     /* spend, arg and seed are set here */
	/* Set by a caller that runs cycle after cycle: the fetcher, with what it knows of
	 * hosts, is taken from here and left here.  The caller frees it. */
	struct fetch **keep;
	size_t keep_hosts;              /* of them at most, else it is made anew; 0: a good
	                                 * number */
	uint32_t batch;                 /* outcomes a commit; 0: a good number */
	uint64_t robots_kept;           /* bytes of robots.txt in the store; 0: a good number */
	const volatile sig_atomic_t *stop;      /* set: finish what is in flight */
	/* Or NULL.  A cycle that broke off is gone on with, before anything is asked for: the
	 * report has its number, policy, budget, downloads, and how many lapsed. */
	void (*goes_on)(void *arg, const struct crawl_report *r);
	/* Or NULL.  Requests of the budget; of goal alive, found of what is to be. */
	void (*progress)(void *arg, uint32_t done, uint32_t total);
	/* Or NULL.  The cycle may take so many seconds more; once a second. */
	void (*left)(void *arg, double seconds);
	/* Or NULL.  `stop` was seen: so many answers are under way and waited for. */
	void (*stopping)(void *arg, unsigned under_way);
	void *arg;
};

struct crawl_report {
	struct store_cycle cycle;       /* texts are in policy[] */
	char policy[256];
	enum aim aim;
	char explain[512];              /* what it says of itself (auto: its choice), or "" */
	bool resumed;                   /* it had been begun before */
	bool stopped;                   /* and is not at its end */
	bool guarantee_broken;
	uint32_t n_aside;               /* archive files that the store does not know, kept aside */
	char aside[288];                /* the name of the last */
	int64_t clock_behind;           /* seconds that the cycle before is ahead of the clock */
	uint32_t lapsed;                /* pages that were under way when it broke off */
	uint32_t visits;                /* pages with an outcome, blocked ones included */
	uint32_t unasked;               /* planned, but redirects had taken their share */
	uint32_t late;                  /* planned, but the time of the cycle or their host was
	                                 * over */
	uint32_t answered;              /* any status at all */
	uint32_t not_modified;          /* of them 304 */
	uint32_t resting;               /* pages that failed and were left alone, */
	uint32_t retried;               /* and such that were asked for after their rest */
	uint32_t given_up;              /* pages of sites that had had their part, */
	char full_site[264];            /* most of them of this one */
	uint32_t checks, lies;          /* of validators: web/rules/validator.h */
	struct fetch_stats fetch;
	struct discovery discovery;
	uint32_t reasons[FETCH_N_ERRORS];       /* of failed and blocked */
	struct live_report live;        /* goal alive */
};

/* One cycle, begun or gone on with.  E_STOP after a signal, E_NET if nothing at
 * all could be reached; what was fetched is kept in both cases. */
MUST_CHECK int crawl_cycle(struct store *s, const struct crawl_opts *opts,
                           struct crawl_report *ret, struct err *err);

#endif
