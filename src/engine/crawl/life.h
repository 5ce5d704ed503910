/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.h - goal alive on the live web: which pages of an old crawl still live.
 *
 * A run is a cycle like any other (engine/crawl/crawl.h, goal GOAL_ALIVE): the policy is
 * asked, its pages are tested, it is told.  Only what a test is differs: HEAD
 * first and GET where HEAD does not tell, a missing sibling asked once a directory
 * to find servers that say 200 to everything, redirects counted once by where they
 * lead (web/rules/liveness.h).  Nothing is archived; the store keeps a visit for each
 * test, which is all that a later start needs to go on.
 *
 * The number alive is estimated from the opening sample of the cycle
 * (engine/cycle/cycle.h) alone, by an exact interval (base/math/hypergeometric.h); the run may
 * end when the pages found reach a share of its upper end.
 *
 * What counts.  A page is a hit if it answers 200 in earnest, or redirects to such
 * a page that is not in the list itself: hits are what the estimate and the target
 * speak of.  `alive` counts the distinct URLs that were found alive, so a place that
 * many old URLs lead to is one, and one that the list has and that was only reached
 * by a redirect is one too.
 */
#ifndef ENGINE_CRAWL_LIFE_H
#define ENGINE_CRAWL_LIFE_H

#include "base/option/option.h"
#include "repo/store.h"
#include "web/rules/liveness.h"

#define LIFE_SAMPLE_HITS 200            /* the sample ends at so many hits, */
#define LIFE_SAMPLE_LEAST 100           /* but has this many pages or 1 % */
#define LIFE_CONFIDENCE 0.95

struct life_opts {
	double target;                  /* share of the living to find; 0: test everything */
	bool estimate;                  /* begin with a sample; a target needs it */
	struct share sample;            /* most pages of the sample; 0: 15 % */
	bool sample_only;               /* end when the sample is tested */
	bool get_first;                 /* no HEAD */
	bool again;                     /* begin anew, though the last run can be gone on with */
};

struct life_report {
	uint64_t pages;                 /* of the list, but for those that must not be asked */
	uint64_t tested, hits;
	uint64_t alive;                 /* distinct URLs */
	uint64_t soft_404, blocked;
	uint64_t classes[LIVENESS_CLASSES];     /* of the tested pages, as in Table 1 */
	uint64_t redirects_alive;       /* of them that lead to a living page */
	uint64_t targets;               /* distinct places that these lead to */
	uint64_t probes;                /* requests for siblings that cannot exist */
	uint64_t robots;                /* requests for robots.txt */
	uint64_t sample, sample_hits;   /* that the estimate rests on */
	uint64_t low, estimate, high;   /* of hits among the pages */
	bool estimated;
	bool reached;                   /* the target */
	bool ended;                     /* every page was tested */
};

/* Requests of all kinds, `requests` being those of the budget. */
static inline uint64_t life_requests(const struct life_report *r, uint64_t requests)
{
	return requests + r->probes + r->robots;
}

/* What a run found, page by page in the order of its plan; each living URL once. */
struct life_found {
	const char *url;                /* that lives */
	const char *page;               /* that was asked */
	int status;                     /* of its own answer: 200, 301 ... */
	int64_t time;
};
MUST_CHECK int life_list(struct store *s, uint32_t cycle,
                         int (*each)(void *arg, const struct life_found *f, struct err *err),
                         void *arg, struct err *err);

#endif
