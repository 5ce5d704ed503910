/* SPDX-License-Identifier: Apache-2.0 */
/*
 * living.h - a small made-up web: the state of each page at any time.
 *
 * Sites have directories, directories have pages.  Every page changes at its
 * own pace; now and then a directory is rewritten and most of its pages change
 * at once; some pages die, some of these softly (status 200 and an apology).  Some pages
 * begin to fail and never stop (403), and directories fail for some days (500).  The last
 * site may be one that is rebuilt all the time: its copies never stay true for long.
 * All of it is a function of the seed and the time, so any number of readers
 * may ask about any moment in any order, and a test knows the truth.
 */
#ifndef DEMO_LIVING_H
#define DEMO_LIVING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct living {                         /* fill and use; nothing to release */
	uint64_t seed;
	unsigned n_sites, n_dirs, n_pages;      /* dirs a site, pages a directory */
	int64_t start, slot;                    /* time 0 of the world; its resolution */
	double change_rate;                     /* mean own changes a day of a page */
	double burst_rate, burst_share;         /* rewrites a day of a directory; pages hit */
	double death_rate, soft_share;          /* deaths a day; share of soft ones */
	double fail_rate;                       /* pages that begin to fail, a day */
	double trouble_rate, trouble_days;      /* troubles a day of a directory; their length */
	double rebuild_rate;                    /* rebuilds a day of the last site: all its pages */
};

#define LIVING_DEFAULTS { .seed = 1, .n_sites = 4, .n_dirs = 5, .n_pages = 10, \
	.start = 1640995200, .slot = 21600, .change_rate = 0.05, .burst_rate = 0.02, \
	.burst_share = 0.7, .death_rate = 0.001, .soft_share = 0.3 }

#define LIVING_NONE UINT32_MAX

struct living_state {
	bool dead, soft;
	int failure;                    /* the status that is sent instead; 0: none */
	uint32_t version;               /* 0 at the start */
	int64_t modified;               /* when this version began */
};

uint32_t living_count(const struct living *l);
unsigned living_site(const struct living *l, uint32_t page);
/* "/d3/p7.html"; page 0 of directory 0 is "/". */
void living_path(const struct living *l, uint32_t page, char out[64]);
uint32_t living_find(const struct living *l, unsigned site, const char *path);
struct living_state living_at(const struct living *l, uint32_t page, int64_t time);
/* The HTML of a page, or of the apology of a soft-dead one. */
void living_body(const struct living *l, uint32_t page, struct living_state s,
                 struct buf *out);

#endif
