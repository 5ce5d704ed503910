/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_pages.h - the pages that a report of a repository names: the latest changes with the
 * first lines that differ, pages never reached, and what the next cycle will take.
 */
#ifndef CLI_PRINT_REPORT_PAGES_H
#define CLI_PRINT_REPORT_PAGES_H

#include "base/io/json.h"
#include "engine/recall/planning.h"
#include "engine/recall/visit_counts.h"

struct report_pages {
	struct store *store;
	const char *folder;             /* of the repository */
	const struct loaded *loaded;
	const struct visit_counts *counts;
	struct planning *plan;          /* of the next cycle, not made yet; NULL: it is left out */
};

/* The whole document, freshet.report/1. */
MUST_CHECK int report_pages_json(struct json *j, struct report_pages *p, struct err *err);

#endif
