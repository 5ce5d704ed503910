/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sites.h - what the visits say of each site.
 *
 * Change rate: of n visits with a visit before them, X found a change, the mean
 * interval being I; the rate is -log(1 - X/n) / I with (X+0.5)/(n+1) for X/n, and
 * its interval follows from the 95 % Wilson interval of X/n.  A page's own rate is that of its
 * site times (its changes + SITES_PRIOR) / (changes that its visits would have found at the
 * site's rate + SITES_PRIOR), so that a page seldom visited is taken as one of its site.
 *
 * Fresh: the share of copies that are true by now, expected: the mean of exp(-rate * age) over
 * the pages that are here and have a copy, age being the time since a visit last had an answer.
 */
#ifndef ENGINE_RECALL_SITES_H
#define ENGINE_RECALL_SITES_H

#include "engine/recall/resume.h"
#include "engine/recall/visit_counts.h"
#include "repo/site_settings.h"

#define SITES_PRIOR 4.0                 /* changes added to both */

struct site_status {
	const struct site_settings *settings;   /* of all sites; NULL: not loaded */
	uint32_t site, pages, gone;     /* pages: gone ones and paused ones, too */
	uint32_t out;                   /* of them: the user keeps them out */
	uint64_t visits, updates;       /* all visits; those that found a change */
	uint64_t failed, blocked;       /* of the visits: no good answer; never asked */
	uint64_t answered;              /* of the visits: had an answer, looking for changes */
	double probability;             /* mean of what the policy says; NAN: it does not */
	double rate, rate_low, rate_high;       /* changes a day of a page; NAN: unknown */
	double fresh;                   /* share of the copies; NAN: unknown */
	uint32_t copies;                /* pages that `fresh` is of */
	int64_t last_visit;             /* 0: never */
	int64_t next;                   /* expected; 0: unknown */
};

/* The pages of a repository; and, for a policy that can say with which probability it
 * chooses a page, that policy, told every visit. */
struct sites {
	struct loaded *loaded;
	struct resumed *says;           /* NULL: the policy cannot say */
	struct loaded pages;            /* inside: what the two point to */
	struct resumed resumed;
};

MUST_CHECK int sites_open(struct sites *x, struct store *s, const struct resume_opts *opts,
                          struct err *err);
void sites_close(struct sites *x);
/* One row a site, in the order of sites, in new memory; says may be NULL. */
struct site_status *sites_status(const struct loaded *l, struct resumed *says,
                                 const struct visit_counts *c, int64_t cycle_seconds,
                                 int64_t now);
/* Changes a day of one page of the site; 0: unknown. */
double sites_page_rate(const struct site_status *site, double visits, double changes);
/* Of all sites together; NAN: unknown. */
double sites_fresh(const struct site_status *rows, uint32_t n);

#endif
