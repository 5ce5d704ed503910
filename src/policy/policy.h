/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.h - the one interface that every refresh policy implements.
 *
 * A cycle is: begin(); then ask() and tell() until the budget is spent or ask() adds no
 * page; then end().  ask() puts pages into a plan.  tell() reports one visit; visits come
 * in the order of their answers.  The next ask() comes when `patience` of the last plan
 * is told, or later.  Some pages are told after it, some never.
 *
 * Memory.  The framework allocates and zeroes the memory that a policy declares, and
 * fills in its options.  Only the store survives the process.  At the next start the engine
 * calls begin, tell and end again for every stored visit (or takes the outcome of this
 * from a cache, if the policy has a `freeze`).  So
 * state that must outlive a cycle may change only in these three.  State that ask()
 * changes is valid for one cycle, and begin() resets it.
 *
 * A policy reads the view and its own memory, nothing else: no clock, no random(), no
 * I/O, no log.  The same history, options and seed give the same plan.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "base/err.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "base/option/option.h"
#include "policy/demand.h"
#include "policy/frozen.h"
#include "policy/view.h"

enum policy_needs {
	NEED_LINKS    = 1 << 0,
	NEED_PAGERANK = 1 << 1,
	NEED_FAMILIES = 1 << 2,
	NEED_CLUSTERS = 1 << 3,
	NEED_TRUTH    = 1 << 4, /* replay only */
	NEED_SIZES    = 1 << 5,
	NEED_WORDS    = 1 << 6, /* words of our copies, where they were counted */
	NEED_FUTURE   = 1 << 7, /* replay only: when copies became and will become stale */
};

struct offer {
	uint32_t page;
	float score;            /* the policy's own measure; larger is better */
	float probability;      /* chance that this page was chosen; NAN: unknown */
	uint8_t reason;         /* enum reason */
};

/* One visit, as the policy is told of it. */
struct seen {
	uint32_t page;
	enum outcome outcome;
	bool hit;               /* by the goal and the observation in force */
	bool known;             /* false: it failed, or is a first copy; nothing was learnt */
	uint32_t gap;           /* cycles since the previous visit */
	int64_t gap_seconds;
	float score, probability;
	uint8_t reason;
	uint32_t round;         /* calls of ask() in this cycle when it was planned */
	uint8_t failure;        /* for the engine: enum failure, of a failed visit */
	uint32_t extra;         /* requests after the first (redirects, retries) */
};

struct plan;
struct policy;

struct policy_ops {
	const char *name, *summary;
	const char *origin;             /* paper or program, for the catalogue */
	const struct option_spec *options;
	size_t opts_size, state_size, page_size;
	bool only_replay;               /* uses data that no crawler can have */
	/* Scores of several shards may be compared: a score is the gain that a request is
	 * expected to bring, in one unit everywhere, before any normalisation within a shard.
	 * False: in a fleet its shards get budget by their pages. */
	bool comparable;
	/* The share of the last plan, 0 to 1, that must be told before the next ask().
	 * Later answers are told when they come.  0: the plan does not depend on answers
	 * of the same cycle. */
	double patience;
	/* All functions but ask() may be NULL.  They run on one thread at a time. */
	/* enum policy_needs, or-ed: what the view must hold.  NULL: nothing. */
	unsigned (*needs)(const void *opts);
	/* Check options against each other, when the policy is made. */
	int (*check)(const void *opts, struct err *err);
	/* A cycle begins: view.cycle, now and budget are set, pages are open or closed.
	 * */
	void (*begin)(struct policy *, const struct view *);
	/* Put pages into the plan.  An empty plan: the policy wants no more for now. */
	void (*ask)(struct policy *, const struct view *, struct plan *);
	/* A visit, asked for or not.  The view still holds the time of the visit before.
	 * */
	void (*tell)(struct policy *, const struct view *, const struct seen *);
	/* Past visits are being told, and this page is among the next ones (near: among the very
	 * next).  A hint only: what tell() will read of it may be fetched into the cache. */
	void (*soon)(const struct policy *, const struct view *, uint32_t page, bool near);
	void (*end)(struct policy *, const struct view *);
	void (*release)(struct policy *);       /* free memory that state points to */
	/* What it does in this repository and why, in one sentence. */
	const char *(*explain)(const struct policy *);
	/* The spec of the policy that it delegates to. */
	const char *(*chosen)(const struct policy *);
	/* From the next begin() on delegate to that one, whatever the budget. */
	void (*hold)(struct policy *, const char *chosen);
	/* Called between cycles: the chance that the next cycle visits this page. */
	double (*probability)(struct policy *, const struct view *, uint32_t page);
	/* Called between begin() and end(): add (demand_page()) the score of every page that it
	 * would ask for next, however many are allowed, and what it shares.  Plans are the same with and without this call.
	 * Needed where `comparable` is set.  False: not in this cycle (it does the work of a
	 * policy that is not comparable), and nothing was added. */
	bool (*demand)(struct policy *, const struct view *, struct demand *ret);
	/* What state remembers between cycles, written, or read back into a new policy of the
	 * same options (policy/frozen.h).  Page memory is kept for it.  Its view is the same, but
	 * pages may have come, with directories, sites and families: all of them behind those
	 * that were there.  The outcome must be as if the policy had been told every visit with
	 * the new view; one for which that is not so asks for frozen_same() pages.  (So begin,
	 * tell and end must not look at view.weight, which changes from cycle to cycle.)
	 * NULL: it cannot be kept, and the policy is told every visit again. */
	void (*freeze)(struct policy *, const struct view *, struct frozen *);
};

struct policy {
	const struct policy_ops *ops;
	void *opts, *state, *page_mem;
	uint32_t n_pages;
	struct arena texts;              /* option texts */
	char spec[256];                 /* as the user wrote it */
};

/* policy_new() is in policy/catalogue/catalogue.h. */
void policy_free(struct policy *p);
unsigned policy_needs(const struct policy *p);
double policy_patience(const struct policy *p);
/* Allocate memory for n_pages pages; called before the first begin().  Here, and in begin,
 * tell and end, NULL is allowed: a policy that learns nothing. */
void policy_size(struct policy *p, uint32_t n_pages);

/* A policy that cannot be frozen makes it bad; NULL has nothing to freeze. */
void policy_freeze(struct policy *p, const struct view *v, struct frozen *f);
bool policy_can_freeze(const struct policy *p);
/* The `freeze` of a policy whose state is set anew in every cycle, or that has none. */
void policy_freeze_nothing(struct policy *p, const struct view *v, struct frozen *f);

/* The chance that the next cycle visits this page; NAN: unknown. */
double policy_probability(struct policy *p, const struct view *v, uint32_t page);

/* The demand of its open pages; limits: of their owners, or NULL.  False: scores cannot be
 * compared. */
bool policy_demand(struct policy *p, const struct view *v, struct demand_limits *limits,
                   struct demand *ret);

void policy_begin(struct policy *p, const struct view *v);
void policy_ask(struct policy *p, const struct view *v, struct plan *plan);
void policy_tell(struct policy *p, const struct view *v, const struct seen *seen);
void policy_soon(const struct policy *p, const struct view *v, uint32_t page, bool near);
void policy_end(struct policy *p, const struct view *v);
/* Valid until the next call on this policy; NULL: it explains nothing. */
const char *policy_explain(const struct policy *p);
/* The spec of the policy that does the work: its own, or that of the one it delegates to.
 * */
const char *policy_chosen(const struct policy *p);
/* Let it keep to what policy_chosen() has named; others do anyway. */
void policy_hold(struct policy *p, const char *chosen);

/* The policy's memory of one page: page_size bytes, zero at first. */
static inline void *policy_page(struct policy *p, uint32_t page)
{
	return (char *)p->page_mem + (size_t)page * p->ops->page_size;
}

const char *reason_name(unsigned reason);
const char *reason_text(unsigned reason);
const char *outcome_name(enum outcome o);
const char *aim_name(enum aim aim);             /* as in AIM_CHOICES */
bool aim_find(const char *name, enum aim *ret); /* false: there is no such aim */
const char *weight_name(enum weight_by weight); /* as in WEIGHT_CHOICES */

#endif
