/* SPDX-License-Identifier: Apache-2.0 */
/*
 * experiment.h - policies times seeds on one history, side by side.
 *
 * Every (policy, seed) is one job; jobs run on all processors and each writes
 * its own result, so the outcome does not depend on their number.  Where fewer runs are
 * left than processors, the passes of each are divided among several (policy/sweep.h).
 */
#ifndef ENGINE_REPLAY_EXPERIMENT_H
#define ENGINE_REPLAY_EXPERIMENT_H

#include "engine/replay/replay.h"

#define EXPERIMENT_POLICIES_MAX 1000

/* "all", or a spec in which an integer range a..b stands for each value, or several
 * of them with commas between. */
MUST_CHECK int policy_expand(const char *spec, struct option_list *ret, struct arena *arena,
                             struct err *err);
/* The needs of all policies of a list, or-ed; fails on a wrong spec. */
MUST_CHECK int policy_list_needs(const struct option_list *specs, unsigned *ret,
                                 struct err *err);

/* A measure's mean over seeds with its standard error. */
struct estimate { double mean, se; };

struct policy_result {
	const char *spec;
	struct replay_run *runs;        /* one a seed */
	struct estimate change_ratio, change_ratio_cycle, weighted_change_ratio;
	struct estimate freshness, weighted_freshness, age_days, max_unvisited_days;
	struct estimate freshness_before, ndcg;
	struct estimate freshness_time, weighted_freshness_time;        /* replay_time */
	struct estimate age_time_days, weighted_age_time_days;
	struct estimate late_share, sample_share;
	struct estimate freshness_at_k, map_at_k, embarrassment;        /* with search */
	struct search_measure search;   /* over queries, cycles and seeds */
	double plan_seconds, total_seconds;     /* mean over seeds */
	struct estimate cost[REPLAY_ALPHAS];    /* goal alive; 0: not reached */
	double *by_cycle;               /* change ratio, mean over seeds, n_cycles */
	double *freshness_by_cycle;     /* likewise */
	double *age_by_cycle;           /* likewise, of all copies */
	struct site_measure *sites;     /* by site, sums over the seeds; NULL unless by_site */
};

struct experiment {
	const struct replay *replay;
	struct policy_result *results;  /* in the order given */
	size_t n_results;
	uint32_t n_seeds;
	uint64_t seed;                  /* of the first run; the others follow */
};

/* done(arg, n of total) is called after each cycle, from any thread, by one thread at a
 * time; may be NULL. */
MUST_CHECK int experiment_run(struct experiment *x, const struct replay *r,
                              const struct option_list *specs, uint64_t seed,
                              uint32_t n_seeds, unsigned threads,
                              void (*done)(void *arg, size_t n, size_t total), void *arg,
                              struct err *err);
void experiment_release(struct experiment *x);
/* How well a policy served the aim; larger is better: freshness over time, negative age,
 * or ChangeRatio (AliveRatio under goal alive).  Weighted if pages have weights. */
double experiment_merit(const struct experiment *x, size_t i);
/* Paired t-test of two policies, cycle by cycle, on the measure of the aim. */
struct stat_test experiment_compare(const struct experiment *x, size_t a, size_t b);
/* Two-sample t-test of a search measure, over queries, cycles and seeds. */
enum search_kind { SEARCH_FRESHNESS, SEARCH_MAP, SEARCH_EMBARRASSMENT, N_SEARCH_KINDS };
struct stat_test experiment_compare_search(const struct experiment *x, size_t a, size_t b,
                                           enum search_kind kind);
const char *search_kind_name(enum search_kind kind);

#endif
