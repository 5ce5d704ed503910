/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - a made-up web with a history, for the demo, tests and benchmarks.
 *
 * Sites with directories with pages; pages change at rates of their own, times
 * a factor of their site and of their directory, and directories burst: then
 * most of their pages change in one step.  Pages and sites may fail: then each step has a
 * capture with status 403 or 500, one second before its end.  Every knob has a known
 * consequence (without bursts and factors pages are independent, and no policy that does
 * not peek can beat random under `cycle` observation), so policies are tested on it.
 */
#ifndef ENGINE_ARCHIVE_WORLD_H
#define ENGINE_ARCHIVE_WORLD_H

#include "base/err.h"
#include "base/option/option.h"
#include "engine/archive/record.h"

struct world_opts {
	int64_t sites, steps;
	int64_t step_seconds, start;
	double dirs, pages;             /* mean directories of a site; median pages of one */
	double rate, rate_spread;       /* median changes a step, sd of its log */
	double site_spread, dir_spread; /* sd of the logs of the factors */
	double burst, burst_share;      /* chance of a burst, share of pages it changes */
	double death;                   /* chance a step that a page disappears */
	/* chance to be gone after the first step: an old crawl for tests of life */
	double site_dies, dir_dies, page_dies;
	double fail;                    /* chance a step that a page begins to fail, for ever */
	double outage;                  /* chance a step that a whole site fails, until the next */
	int64_t regime;                 /* step at which all rates are drawn again; 0: never */
	int64_t links;                  /* of a page */
	int64_t seed;
};

extern const struct option_spec world_options[];

/* Every capture of the world, page by page, in order of time within a page. */
MUST_CHECK int world_generate(const struct world_opts *o,
                              int (*record)(void *arg, const struct record *r, struct err *err),
                              void *arg, struct err *err);
struct world_stats { uint64_t pages, captures; };
/* The same as an extended CDXJ file; .gz and .zst are compressed, - is standard output.
 * */
MUST_CHECK int world_write(const struct world_opts *o, const char *path,
                           struct world_stats *ret, struct err *err);

#endif
