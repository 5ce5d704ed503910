/* SPDX-License-Identifier: Apache-2.0 */
/*
 * freshet.h - Freshet as a library: decide which pages to download again.
 *
 *     struct freshet *f;
 *     if (freshet_open(&f, "crawl")) ...
 *     freshet_plan(f, &(struct freshet_plan_options){ .budget = 100 }, each, arg);
 *     ... download the pages, then, for each ...
 *     freshet_tell(f, &outcome);
 *     freshet_end_cycle(f);
 *     freshet_close(f);
 *
 * A call that fails returns a negative number and leaves a message in
 * freshet_error().  A handle serves one thread at a time.
 */
#ifndef FRESHET_H
#define FRESHET_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FRESHET_API __attribute__((visibility("default")))
#else
#define FRESHET_API
#endif

struct freshet;

FRESHET_API const char *freshet_version(void);

/* Open a repository folder, or make one.  *ret is set even on failure, so that
 * its message can be read; close it in any case. */
FRESHET_API int freshet_open(struct freshet **ret, const char *dir);
FRESHET_API int freshet_create(struct freshet **ret, const char *dir);
FRESHET_API void freshet_close(struct freshet *f);
FRESHET_API const char *freshet_error(const struct freshet *f);

/* Put a page under care: 1 new, 0 known already. */
FRESHET_API int freshet_add(struct freshet *f, const char *url);
/* How much a page under care counts under --weight given: 0 to 1e9, 1 at first. */
FRESHET_API int freshet_weigh(struct freshet *f, const char *url, double weight);
/* Import a URL list, CDX, CDXJ or WARC file, read as the settings of the repository say. */
FRESHET_API int freshet_import(struct freshet *f, const char *path);

struct freshet_plan_options {
	const char *policy;             /* NULL: the default */
	uint32_t budget;                /* pages */
	uint64_t seed;
	int64_t now;                    /* seconds since the epoch; 0: the clock */
	int64_t cycle_seconds;          /* time between cycles; 0: a day */
	const char *aim;                /* changes, freshness, age; NULL: freshness */
	const char *weight;             /* none, pagerank, given; NULL: none */
};

struct freshet_page {
	const char *url;
	double score;
	double probability;             /* NAN: the policy cannot say */
	const char *reason;
};

/* What to download, best first; each() returns non-zero to stop. */
FRESHET_API int freshet_plan(struct freshet *f, const struct freshet_plan_options *options,
                             int (*each)(void *arg, const struct freshet_page *page),
                             void *arg);

enum freshet_outcome { FRESHET_SAME, FRESHET_CHANGED, FRESHET_GONE, FRESHET_FAILED };

struct freshet_told {
	const char *url;
	enum freshet_outcome outcome;
	int64_t time;                   /* 0: the clock */
	double score, probability;      /* as planned; 0 if unknown */
};

/* What came of a page.  All that is told until freshet_end_cycle() is one cycle,
 * and is kept when that returns.  A page is told of once in it, and again if it had failed.
 * Fails while another program crawls or tells. */
FRESHET_API int freshet_tell(struct freshet *f, const struct freshet_told *told);
FRESHET_API int freshet_end_cycle(struct freshet *f);

struct freshet_replay_options {
	const char *policy;             /* NULL: the default */
	double budget_percent;          /* of the pages at the start; 0: 2 */
	int64_t cycle_seconds;          /* 0: two weeks */
	uint64_t seed;
	const char *aim;                /* changes, freshness, age; NULL: freshness */
};

struct freshet_measures {
	uint32_t pages, cycles, budget;
	double change_ratio, change_ratio_cycle, weighted_change_ratio;
	double freshness, age_days, max_unvisited_days;
	double freshness_time, age_time_days;   /* over all copies and days */
};

/* How a policy would have done on recorded history (CDX, CDXJ, WARC files). */
FRESHET_API int freshet_replay(struct freshet *f, const char *const *paths, int n_paths,
                               const struct freshet_replay_options *options,
                               struct freshet_measures *ret);

#ifdef __cplusplus
}
#endif
#endif
