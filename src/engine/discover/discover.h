/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.h - new pages inside the sites under care.
 *
 * A share of a cycle's budget goes to new pages of the same sites: URLs that the newest
 * copies of our pages link to and that may be followed (web/rules/robots_tag.h), or that
 * sitemaps name.  They must be canonical and allowed by robots.txt.  The rest of the
 * share goes to pages that a sitemap says have changed, if the site's dates were right
 * before (web/rules/lastmod.h), and then to pages that brought new links before.
 *
 * Discovery runs before the cycle.  The best candidates are added in one transaction with
 * the row of the cycle, and are offered first.  So after a crash all of it is there, or
 * nothing.
 *
 * Traps.  URLs that look like a trap are refused (web/rules/trap.h).  Others are limited
 * by number: at most per_directory pages of a directory are ever added, ten times as many
 * of all directories that differ only in digits, and per_site of a site.  In each cycle
 * sites take turns, and so do directories within a site.
 */
#ifndef ENGINE_DISCOVER_DISCOVER_H
#define ENGINE_DISCOVER_DISCOVER_H

#include <signal.h>

#include "base/when.h"
#include "policy/policy.h"
#include "repo/store.h"
#include "web/rules/trap.h"

#define DISCOVER_SHAPE 10               /* directories that differ in digits: cap, in directories */
#define DISCOVER_URLS_MAX 500000        /* candidates of a cycle */
#define DISCOVER_SITE_URLS_MAX 50000    /* candidates of one site, so that others have room */
#define DISCOVER_ORIGINS_MAX 10000      /* whose sitemaps are read in a cycle */
#define DISCOVER_SITEMAPS_MAX 50        /* files of a site and cycle */
#define DISCOVER_SITEMAP_SECONDS 300    /* of a site; then what is left of them is not asked for */
#define DISCOVER_SITEMAP_AGE 86400      /* seconds until a site's are read again */

struct care_rules;
struct fetch;

struct discover_opts {
	struct share share;             /* of the budget; value 0: no discovery */
	uint32_t per_directory, per_site;
	double sitemap_seconds;         /* 0: DISCOVER_SITEMAP_SECONDS */
	bool follow_all;                /* follow links with rel=nofollow, too */
	struct care_rules *care;        /* what is in scope, which sites are paused; NULL: all */
};

/* Why a URL is not added: enum trap, and these. */
enum refusal {
	REFUSED_ROBOTS = N_TRAPS, REFUSED_DIRECTORY, REFUSED_SITE, REFUSED_MANY,
	REFUSED_SCOPE, N_REFUSALS
};
const char *refusal_name(unsigned refusal);

struct discovery {
	bool on;
	uint32_t share;                 /* requests of the budget for discovery */
	uint32_t found;                 /* new URLs of our sites */
	uint32_t added, waiting;        /* of those found: under care now; later; others: refused */
	uint32_t outside;               /* links to other sites, each time */
	uint32_t nofollow;              /* links that must not be followed, each time */
	uint32_t sitemaps, sitemap_requests, dates;     /* read; dates of known pages */
	uint32_t refused[N_REFUSALS];
	/* requests of the share so far: for new pages, for pages that a sitemap says have
	 * changed, for pages that bring links to new ones */
	uint32_t asked_new, asked_told, asked_hubs;
	uint32_t aliases;               /* new pages that redirect to known pages: removed */
};

struct discover;

/* Reads the pages of the store. */
MUST_CHECK int discover_new(struct discover **ret, struct store *s,
                            const struct discover_opts *o, const struct store_cycle *row,
                            struct err *err);
void discover_free(struct discover *d);         /* d may be NULL */
uint32_t discover_here(const struct discover *d);       /* pages in the repository */
/* Before a cycle with this budget: find and choose pages, write them and the row of the
 * cycle.  E_STOP: *stop was set meanwhile, nothing was written. */
MUST_CHECK int discover_run(struct discover *d, uint32_t budget, struct fetch *f,
                            const volatile sig_atomic_t *stop, struct discovery *ret,
                            struct err *err);
/* The cycle is resumed: load what discovery found when it began. */
MUST_CHECK int discover_recall(struct discover *d, struct discovery *ret, struct err *err);
/* The pages to fetch with the share, best first; valid until discover_free(). */
MUST_CHECK int discover_offers(struct discover *d, int64_t cycle_seconds,
                               const struct offer **ret, size_t *ret_n, struct err *err);

#endif
