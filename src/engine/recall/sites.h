/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sites.h - what the visits say of each site.
 *
 * Change rate: of n visits with a visit before them, X found a change, the mean
 * interval being I; the rate is -log(1 - X/n) / I with (X+0.5)/(n+1) for X/n, and
 * its interval follows from the 95 % Wilson interval of X/n.
 */
#ifndef ENGINE_RECALL_SITES_H
#define ENGINE_RECALL_SITES_H

#include "engine/recall/resume.h"

struct site_status {
	uint32_t site, pages, gone;
	uint64_t visits, updates;       /* all visits; those that found a change */
	uint64_t failed, blocked;       /* of the visits: no good answer; never asked */
	uint64_t answered;              /* of the visits: had an answer, looking for changes */
	double probability;             /* mean of what the policy says; NAN: it does not */
	double rate, rate_low, rate_high;       /* changes a day of a page; NAN: unknown */
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
MUST_CHECK int sites_status(const struct loaded *l, struct resumed *says, struct store *s,
                            int64_t cycle_seconds, struct site_status **ret,
                            struct err *err);

#endif
