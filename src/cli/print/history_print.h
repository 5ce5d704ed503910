/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history_print.h - what a repository has seen, as text and JSON: its totals, its
 * sites, its cycles.  `status`, `log` and the reports print it from here.
 */
#ifndef CLI_PRINT_HISTORY_PRINT_H
#define CLI_PRINT_HISTORY_PRINT_H

#include "base/io/json.h"
#include "engine/recall/sites.h"
#include "engine/view/load.h"
#include "engine/view/tally.h"

struct cli;

/* A visit is a page asked for in a cycle, with any outcome, or an imported capture.  A
 * page is visited at most once a cycle, with one request or several. */
struct status_counts {
	struct store_counts store;
	struct tally tally;
	uint64_t of_cycles, of_life;    /* visits looking for changes, for life */
	uint64_t failed, blocked;       /* of both: visits without an answer about the page */
	enum aim aim;                   /* the setting, by which cycles choose */
	bool checked;                   /* the tables, and they are whole */
};
/* progress, which may be NULL, is shown if it takes long. */
MUST_CHECK int status_count(struct store *s, struct status_counts *ret,
                            struct progress *progress, struct err *err);

/* Whole documents, freshet.status/1; without counts, only what concerns the sites. */
void status_print_json(struct json *j, const struct status_counts *c);
void sites_print_json(struct json *j, const struct status_counts *c, const struct loaded *l,
                      const char *policy, const struct site_status *rows, uint32_t n,
                      const uint64_t *access);
/* What fails (failing_print.h); at most so many sites, and as many pages. */
struct failing_table;
void status_print_failing(struct json *j, const struct status_counts *c,
                          const struct failing_table *t, uint32_t most);
/* On stdout; access, by site, may be NULL. */
void status_print_text(const struct status_counts *c);
void sites_print_table(struct cli *cli, const struct site_status *rows, uint32_t n,
                       const struct pages *p, const uint64_t *access);

enum sites_order {
	SITES_BY_VISITS, SITES_BY_UPDATES, SITES_BY_PROBABILITY, SITES_BY_RATE, SITES_BY_NAME
};
void sites_sort(struct site_status *rows, uint32_t n, const struct pages *p,
                enum sites_order by);

/* A first copy: there was nothing that it could have changed from. */
bool visit_is_first(const struct store_visit *v);

/* Pages that the cycle asked for. */
uint32_t cycle_visits(const struct store_cycle *c);
double cycle_change_ratio(const struct store_cycle *c);
/* Budget, outcomes and ratio, wherever a cycle is told as JSON. */
void cycle_counts_json(struct json *j, const struct store_cycle *c);
/* The members of a cycle inside an object of freshet.log/1. */
void cycle_print_json(struct json *j, const struct store_cycle *c);

#endif
