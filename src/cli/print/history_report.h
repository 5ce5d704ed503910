/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history_report.h - a repository's own history in a report: totals, cycles, sites,
 * clusters.  `freshet report`, `cycle --report`, `run --report` and the demo use it.
 */
#ifndef CLI_PRINT_HISTORY_REPORT_H
#define CLI_PRINT_HISTORY_REPORT_H

#include "cli/report/report.h"
#include "engine/recall/planning.h"
#include "repo/store.h"

struct history_report_opts {
	const char *policy;             /* whose probabilities the sites show */
	int64_t cycle_seconds;
	uint64_t seed;
	uint32_t clusters;              /* 0: none */
	bool verdict;                   /* say in words what the cycles found */
	const char *folder;             /* of the repository, to name pages (report_pages.h); NULL: no
	                                 * page is named */
	const struct planning_opts *plan;       /* of the next cycle, if pages are named */
	struct progress *progress;      /* shown; may be NULL */
};

MUST_CHECK int history_report_add(struct report *r, struct store *s,
                                  const struct history_report_opts *o, struct err *err);

#endif
