/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.h - the one interface that every refresh policy implements.
 *
 * A cycle is: begin(); then ask() and tell() until the budget is spent or nothing more
 * is asked for; then end().  ask() puts pages into a plan.  What came of them is told page
 * by page, in the order in which it is known.  The next ask() comes when `patience` of the
 * last plan is told, or later; some pages may be told after it, or never.
 *
 * The framework zeroes the memory that a policy asks for and fills in its
 * options.  The store is the only lasting memory: a policy has no save(), and
 * the engine replays every stored visit through begin/tell/end.  So what must
 * survive a cycle may change only there; what ask() changes may live for the
 * cycle only and is set anew in begin().
 *
 * A policy reads the view and its own memory, nothing else: no clock, no
 * random(), no I/O, no log.  Same history, options and seed: same plan.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "base/err.h"
#include "base/mem.h"
#include "base/option.h"
#include "policy/view.h"

enum outcome {
	OUTCOME_SAME, OUTCOME_CHANGED, OUTCOME_GONE, OUTCOME_FAILED,
	OUTCOME_BLOCKED         /* never asked of the server; costs no budget */
};

enum policy_needs {
	NEED_LINKS    = 1 << 0,
	NEED_PAGERANK = 1 << 1,
	NEED_FAMILIES = 1 << 2,
	NEED_CLUSTERS = 1 << 3,
	NEED_TRUTH    = 1 << 4, /* replay only */
	NEED_SIZES    = 1 << 5,
	NEED_WORDS    = 1 << 6, /* of the copies, as far as they were counted */
	NEED_FUTURE   = 1 << 7, /* replay only: when copies went and will go stale */
};

enum reason {
#define REASON(code, name, text) code,
#include "policy/reasons.def"
#undef REASON
	N_REASONS
};

struct offer {
	uint32_t page;
	float score;            /* the policy's own measure; larger is better */
	float probability;      /* with which it was chosen; NAN: cannot say */
	uint8_t reason;
};

/* What came of one page. */
struct seen {
	uint32_t page;
	enum outcome outcome;
	bool hit;               /* by the goal and the observation in force */
	bool known;             /* false after a failure: nothing was learnt */
	uint32_t gap;           /* cycles since the visit before */
	int64_t gap_seconds;
	float score, probability;
	uint8_t reason;
	uint32_t round;         /* of ask() in this cycle */
	uint8_t failure;        /* for the engine: enum failure of a visit that failed */
	uint32_t extra;         /* requests beyond the first that it cost */
};

struct plan;
struct policy;

struct policy_ops {
	const char *name, *summary;
	const char *origin;             /* where it comes from, for the catalogue */
	const struct option_spec *options;
	size_t opts_size, state_size, page_size;
	bool only_replay;               /* knows what no crawler can know */
	/* How much of what it asked for last it wants to be told before it is asked again, 0 to
	 * 1.  Answers that are still missing then are told when they come.  0: what it asks
	 * for does not depend on answers of the same cycle. */
	double patience;
	/* What the view must hold, given the options (may be NULL: nothing). */
	unsigned (*needs)(const void *opts);
	/* Check options against each other (may be NULL). */
	int (*check)(const void *opts, struct err *err);
	void (*begin)(struct policy *, const struct view *);
	void (*ask)(struct policy *, const struct view *, struct plan *);
	void (*tell)(struct policy *, const struct view *, const struct seen *);
	void (*end)(struct policy *, const struct view *);
	void (*release)(struct policy *);       /* memory that state points to */
	/* What it does here and why, one sentence (may be NULL). */
	const char *(*explain)(const struct policy *);
	/* The spec of another policy that it leaves the work to (may be NULL: none). */
	const char *(*chosen)(const struct policy *);
	/* With which a page would be drawn in the next cycle, between cycles; NULL:
	 * the policy cannot say. */
	double (*probability)(struct policy *, const struct view *, uint32_t page);
};

struct policy {
	const struct policy_ops *ops;
	void *opts, *state, *page_mem;
	uint32_t n_pages;
	struct arena keep;              /* option texts */
	char spec[256];                 /* as the user wrote it */
};

/* A policy is made by policy/catalogue/catalogue.h. */
void policy_free(struct policy *p);
unsigned policy_needs(const struct policy *p);
double policy_patience(const struct policy *p);
/* Memory for n_pages pages; called before the first begin(). */
void policy_size(struct policy *p, uint32_t n_pages);

/* With which a page would be drawn in the next cycle; NAN: unknown. */
double policy_probability(struct policy *p, const struct view *v, uint32_t page);

void policy_begin(struct policy *p, const struct view *v);
void policy_ask(struct policy *p, const struct view *v, struct plan *plan);
void policy_tell(struct policy *p, const struct view *v, const struct seen *seen);
void policy_end(struct policy *p, const struct view *v);
/* Valid until the policy is used again; NULL if it has nothing to say. */
const char *policy_explain(const struct policy *p);
/* The spec of the policy that does the work: its own, or that of the one it chose. */
const char *policy_chosen(const struct policy *p);

/* This policy's memory of one page, page_size bytes, zero at first. */
static inline void *policy_page(struct policy *p, uint32_t page)
{
	return (char *)p->page_mem + (size_t)page * p->ops->page_size;
}

const char *reason_name(unsigned reason);
const char *reason_text(unsigned reason);
const char *outcome_name(enum outcome o);
const char *aim_name(enum aim aim);             /* as in AIM_CHOICES */
const char *weight_name(enum weight_by weight); /* as in WEIGHT_CHOICES */

#endif
