/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - the engine on recorded history: the same cycles, but the source is the past
 * and the clock has its dates.
 *
 * S .. E is cut into cycles of D seconds at T_i = S + i D.  The repository is
 * every page with a living capture at or before S, its copy the newest such
 * capture.  A download in cycle i sees what is current at T_i.  "Changed" has
 * two readings, both measured in every run: local, the live page differs from
 * our copy; cycle, it differs from its own state at T_(i-1).  A page seen gone
 * counts as one change and leaves.  A page that fails costs its download and teaches
 * nothing (engine/replay/replay_fail.h).
 *
 * Freshness is measured right after the downloads of each cycle, and over time: at
 * every midnight from S to E (S + k days), whatever the cycles are, a copy fetched in
 * cycle i counting from T_i on.  Only the second compares cycles of different length.
 */
#ifndef ENGINE_REPLAY_REPLAY_H
#define ENGINE_REPLAY_REPLAY_H

#include <string.h>

#include "base/math/stat.h"
#include "engine/cycle/cycle.h"
#include "engine/replay/search.h"
#include "engine/history/history.h"
#include "engine/view/prepare.h"

enum replay_weights { WEIGHTS_PAGERANK, WEIGHTS_PAGERANK10 };

/* What a run did in one cycle. */
struct replay_cycle {
	const char *policy;
	uint64_t seed;
	uint32_t cycle;                 /* from 1 */
	int64_t time;
	const struct pages *pages;
	const struct seen *seen;        /* in the order told */
	size_t n_seen;
};

#define SHARDS_MAX 4096
/* Replay as a fleet: engine/replay/shards.h. */
struct shard_opts {
	uint32_t count;                 /* 0: no shards */
	uint32_t loaded;                /* shards that have a place at a time; 0: all */
	bool by_domain;                 /* dealt out by domain, not by host */
	bool fixed;                     /* no market: the budget is dealt out by pages */
};

struct replay_opts {
	int64_t start, end;             /* 0: from the history */
	int64_t cycle_seconds;
	struct share budget;
	enum goal goal;
	enum observe observe;
	enum aim aim;
	enum weight_by weight;          /* given: history.weight */
	bool nearest;                   /* --at nearest: the papers' rule */
	bool join;                      /* pages that appear later join the repository */
	int64_t max_age;                /* seconds; 0: no guarantee */
	uint32_t max_age_cycles;        /* the same in cycles */
	struct share site_share;        /* ceiling of a site; value 0: none */
	struct share retry_share;       /* for pages back from a rest; value 0: the usual one */
	double fail;                    /* share of pages that are made to fail; 0: none */
	uint64_t fail_seed;
	enum replay_weights weights;
	bool site_by_domain;
	bool by_site;                   /* measure each site, too */
	struct shard_opts shards;
	/* Shared by all replays of one history with the same start; or NULL. */
	struct grouping_share *groups;
	/* Called after each cycle, from any thread; or NULL. */
	void (*each_cycle)(void *arg, const struct replay_cycle *c);
	void *each_arg;
	/* The same, for progress; returns true to stop with E_STOP.  Or NULL. */
	bool (*cycle_done)(void *arg);
	/* Threads for the next cycle of one run; or NULL: 1. */
	unsigned (*threads)(void *arg);
	void *done_arg;                 /* of both */
};

struct replay_search;

struct shard;

struct shard_set {                      /* n 0: there are none */
	struct shard *v;
	uint32_t n;
	uint32_t *shard_of, *local;     /* by page: its shard, its number there */
};

/* Shared by all runs; read-only after replay_open(). */
struct replay {
	const struct history *history;
	struct replay_opts opts;
	int64_t start, end;
	uint32_t n_cycles, budget, n_repository, max_age;
	struct pages pages;
	struct prepared prepared;
	float *weight;                  /* by page, mean 1 (or 0..10) */
	uint32_t *copy_at_start;        /* capture, or PAGE_NONE */
	struct shard_set shards;
	const struct replay_search *search;     /* NULL: search is not measured */
};

struct cycle_measure {
	int64_t time;
	uint32_t downloads, changed, changed_cycle, late, gone, samples, guaranteed;
	uint32_t failed, resting;       /* downloads that failed; pages that rested */
	bool guarantee_broken;
	uint32_t pages;                 /* of the repository after the cycle */
	double change_ratio, change_ratio_cycle, weighted_change_ratio;
	double freshness, weighted_freshness;   /* after the downloads */
	double freshness_before;        /* just before them */
	double ndcg;                    /* of the downloads in their order; 1: hits first, */
	                                /* or there was nothing to find */
	double age_days;                /* mean over stale copies */
	double age_all_days;            /* mean over all copies; a fresh copy is 0 days old */
	double max_unvisited_days;
	double freshness_at_k, map_at_k, embarrassment; /* mean over the queries */
	double plan_seconds, total_seconds;
};

/* Means over copies and over the moments S + k days before E. */
struct replay_time {
	double freshness, weighted_freshness;
	double age_days;                /* mean over all copies; a fresh copy is 0 days old */
	double weighted_age_days;
};

/* One site in one run or, summed, in several: whole numbers, so that sums do not depend
 * on their order.  32 bytes a site and run. */
struct site_measure {
	uint64_t downloads, changed;    /* changed: or alive, if that is the goal */
	uint64_t copies, fresh;         /* summed over cycles: copies, fresh copies */
};

/* Shares of the living pages at which a recovery's cost is measured. */
#define REPLAY_ALPHAS 19
static inline double replay_alpha(int i) { return 0.05 * (i + 1); }

struct replay_run {
	/* goal alive: downloads per living page found, when a share alpha of all living
	 * pages was found; 0: never reached */
	double cost[REPLAY_ALPHAS];
	struct cycle_measure *cycles;   /* n_cycles */
	struct site_measure *sites;     /* by site; NULL unless by_site */
	struct replay_time time;
	uint32_t n_cycles;
	double plan_seconds, total_seconds;
	struct search_measure search;   /* over queries and cycles */
	char explain[512];              /* from policy_explain(), or "" */
	int code;                       /* 0, or the error that ended it */
	struct err err;
};

/* needs: of all policies that will run on it. */
MUST_CHECK int replay_open(struct replay *r, const struct history *h,
                           const struct replay_opts *opts, unsigned needs, struct err *err);
void replay_close(struct replay *r);
/* Run one policy with one seed.  Thread-safe. */
void replay_run(const struct replay *r, const char *policy, uint64_t seed,
                struct replay_run *ret);
void replay_run_release(struct replay_run *run);

/* By site: its pages in the repository, and how often they change from S to E.  The
 * caller frees it.  Cost: O(captures). */
struct site_truth { uint32_t pages; uint64_t changes; };
struct site_truth *replay_site_truth(const struct replay *r);

/* A measure, by its offset in its struct (cycle_measure, say). */
static inline double replay_number(const void *of, size_t offset)
{
	double number;

	memcpy(&number, (const char *)of + offset, sizeof number);
	return number;
}
/* One of cycle_measure, averaged over the cycles of a run; its largest. */
double replay_mean(const struct replay_run *run, size_t offset);
double replay_max(const struct replay_run *run, size_t offset);

#endif
