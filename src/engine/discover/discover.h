/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.h - new pages inside the sites under care.
 *
 * A share of a cycle's budget goes to pages that nobody put under care: URLs that
 * the newest copies of our pages link to and may be followed (web/rules/robots_tag.h), or that
 * the sites' sitemaps name, on the same sites, in canonical form, allowed by robots.txt.
 * What is left of the share goes to pages that sitemaps say have changed, if the site's
 * dates have proved true (web/rules/lastmod.h), and then to pages that brought new links before.
 *
 * It happens before the cycle: candidates are gathered, the best are put under care
 * in one transaction with the row of the cycle, and asked for first.  After a crash
 * they are there, or none of it was.
 *
 * Traps are met by what URLs look like (web/rules/trap.h), and by counting, whatever they
 * look like: of a directory at most per_directory pages are ever added, of
 * directories that differ in digits only ten times as many together, of a site at
 * most per_site; and in each cycle sites take turns, and directories within a site do.
 */
#ifndef ENGINE_DISCOVER_DISCOVER_H
#define ENGINE_DISCOVER_DISCOVER_H

#include <signal.h>

#include "base/when.h"
#include "policy/policy.h"
#include "repo/store.h"
#include "web/rules/trap.h"

#define DISCOVER_SHAPE 10               /* caps of directories alike, in directories */
#define DISCOVER_URLS_MAX 500000        /* candidates of a cycle, */
#define DISCOVER_SITE_URLS_MAX 50000    /* of one site: it must not crowd out others */
#define DISCOVER_ORIGINS_MAX 10000      /* whose sitemaps are read in a cycle */
#define DISCOVER_SITEMAPS_MAX 50        /* files of a site and cycle */
#define DISCOVER_SITEMAP_AGE 86400      /* seconds until a site's are read again */

struct fetch;

struct discover_opts {
	struct share share;             /* of the budget; value 0: no discovery */
	uint32_t per_directory, per_site;
	bool follow_all;                /* links that bear nofollow, too */
};

/* Why a URL is not added: enum trap, and these. */
enum refusal {
	REFUSED_ROBOTS = N_TRAPS, REFUSED_DIRECTORY, REFUSED_SITE, REFUSED_MANY, N_REFUSALS
};
const char *refusal_name(unsigned refusal);

struct discovery {
	bool on;
	uint32_t share;                 /* requests of the budget that are for it */
	uint32_t found;                 /* URLs of our sites that were not known */
	uint32_t added, waiting;        /* of them; the others are refused */
	uint32_t outside;               /* links to other sites, each time */
	uint32_t nofollow;              /* links that are not to be followed, each time */
	uint32_t sitemaps, sitemap_requests, dates;     /* read; dates of known pages */
	uint32_t refused[N_REFUSALS];
	uint32_t asked_new, asked_told, asked_hubs;     /* of the share, so far */
	uint32_t aliases;               /* new ones that redirect to pages we have: they left */
};

struct discover;

/* Look at the pages there are. */
MUST_CHECK int discover_new(struct discover **ret, struct store *s,
                            const struct discover_opts *o, const struct store_cycle *row,
                            struct err *err);
void discover_free(struct discover *d);         /* NULL is fine */
uint32_t discover_here(const struct discover *d);       /* pages in the repository */
/* Before a cycle of so many requests: find, choose, and write new pages and the row.
 * E_STOP if *stop was set meanwhile: nothing is written. */
MUST_CHECK int discover_run(struct discover *d, uint32_t budget, struct fetch *f,
                            const volatile sig_atomic_t *stop, struct discovery *ret,
                            struct err *err);
/* The cycle goes on: what was found then. */
MUST_CHECK int discover_recall(struct discover *d, struct discovery *ret, struct err *err);
/* What the share is for, best first; live until the end of d. */
MUST_CHECK int discover_offers(struct discover *d, int64_t cycle_seconds,
                               const struct offer **ret, size_t *ret_n, struct err *err);

#endif
