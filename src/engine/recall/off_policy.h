/* SPDX-License-Identifier: Apache-2.0 */
/*
 * off_policy.h - how another policy would have done, from a repository's own
 * visits and the probabilities with which they were chosen.
 *
 * What is estimated.  For each cycle of the log: the policy is told everything up
 * to it, and plans as many downloads as were made.  The estimate is the
 * ChangeRatio of those plans: of taking over for one cycle, not of having planned
 * all along, which would have left other copies behind.
 *
 * How.  A page of the plan that the log visited with probability p speaks for 1/p
 * pages; a policy that draws plans with several seeds, and a page counts with the
 * share of plans that hold it.  The ratio of the weighted sums (self-normalised
 * inverse propensities) is the estimate.  Its interval is Wilson's for the number of
 * trials that the sandwich variance amounts to (with few hits or few misses: at most
 * what the weights are worth), widened by the part of the plans that the log could
 * not have seen.
 *
 * When it refuses.  No probabilities; too few visits worth; a plan that in large
 * part the log could never have seen (the weights of what it saw should add up to
 * the plan); a policy that asks in rounds, since what it would ask next depends on
 * answers that the log does not hold.
 */
#ifndef ENGINE_RECALL_OFF_POLICY_H
#define ENGINE_RECALL_OFF_POLICY_H

#include "repo/store.h"

#define OFF_POLICY_VISITS_LEAST 30      /* that the weights must be worth */
#define OFF_POLICY_UNSEEN_MOST 0.2      /* part of the plans out of the log's reach */

/* Sums over the visits of a log; zeroed, it is empty. */
struct off_policy_sums {
	double planned;                 /* pages of the plans, mean over seeds */
	uint64_t n_visits, n_without;   /* of them without a probability */
	uint64_t n_matched;             /* of which the outcome counts */
	uint64_t n_matched_hits;
	double seen;                    /* weights of all visits in the plans */
	double weight, hits;            /* weights of visits with an outcome; of hits among them */
	double square;                  /* sum of squares of weights, each times 1 - p */
	double square_hits;             /* the same over the hits */
	uint64_t n_known, n_hits;       /* of all visits: the log's own ratio */
};

struct off_policy_estimate {
	double ratio, low, high;
	double effective;               /* visits that the weights are worth */
	double support;                 /* part of the plans that the log reaches */
	double logged_ratio;
	bool refused;
	char why[200];                  /* if refused */
};

/* One visit: logged with probability p (not in (0, 1]: unknown), in a share
 * `target` of the plans. */
void off_policy_add(struct off_policy_sums *s, double target, double p, bool known, bool hit);
void off_policy_judge(const struct off_policy_sums *s, double confidence,
                      struct off_policy_estimate *ret);

struct off_policy_opts {
	const char *policy;
	uint64_t seed;
	uint32_t n_seeds;
	int64_t cycle_seconds;          /* planned distance of cycles */
	double confidence;
	bool site_by_domain;
};

struct off_policy_run {
	struct off_policy_sums sums;
	struct off_policy_estimate estimate;
	uint32_t n_cycles;              /* of the log, with visits to learn from */
};

/* O(cycles x seeds x (visits + what the policy's plan costs)). */
MUST_CHECK int off_policy_run(struct off_policy_run *ret, struct store *s,
                              const struct off_policy_opts *opts, struct err *err);

#endif
