/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planning.h - what would be fetched next, and why a page would or would not be: the one way
 * from a repository to a plan, for the program and for the library.
 */
#ifndef ENGINE_RECALL_PLANNING_H
#define ENGINE_RECALL_PLANNING_H

#include "base/option/option.h"
#include "engine/book/touch.h"
#include "engine/recall/dry.h"
#include "engine/recall/failing.h"

struct planning_opts {
	struct resume_opts resume;
	struct share budget;            /* of the pages that are here */
	int64_t max_age;                /* seconds; 0: no guarantee */
	struct share site_share, retry_share, notifier_share;
	int64_t now;
};

/* Zeroed at first.  After planning_make() the plan is in r.engine.cycle.seen. */
struct planning {
	struct planning_opts opts;      /* its texts must outlive this */
	struct store *store;
	struct resumed r;
	struct arena texts;
	uint32_t budget;                /* pages */
	struct touch_offers touched;    /* come first */
};

/* An engine that stands where the repository stands; to be released, also after an error. */
MUST_CHECK int planning_open(struct planning *p, struct store *s,
                             const struct planning_opts *opts, struct err *err);
MUST_CHECK int planning_make(struct planning *p, struct err *err);
void planning_release(struct planning *p);

/* Is the text of a setting that plans go by (policy, detect, ignore) one that can be used?
 * Others are taken as they are. */
MUST_CHECK int planning_check(const char *name, const char *value, struct err *err);

/* What the next plan says of a page.  Texts live as long as the planning. */
struct explanation {
	const struct seen *seen;        /* NULL: never asked for */
	size_t rank, n;                 /* its place in the plan, and how long that is */
	uint32_t cycles;                /* until its turn */
	bool late;                      /* not in the next cycle */
	double probability;             /* of the next cycle; NAN: not known */
	struct store_page page;
	struct failing failing;
	const char *why;                /* what the policy says of itself, or NULL */
	bool is_touched;                /* somebody said that it changed: */
	struct touch_known touched;
};

/* ret->page is filled in by the caller.  A page that is not in the next cycle is looked for
 * in a plan of everything: its rank there tells about when its turn comes. */
MUST_CHECK int planning_explain(struct planning *p, struct explanation *ret, struct err *err);

#endif
