/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visit_counts.h - what the visits of each page and of each site came to, for reports.
 *
 * Visits of cycles before the newest stay as they are (store_past()).  So what they came to is
 * kept beside the store (cachefile.h), and only visits of later cycles are read.
 */
#ifndef ENGINE_RECALL_VISIT_COUNTS_H
#define ENGINE_RECALL_VISIT_COUNTS_H

#include "base/io/progress.h"
#include "engine/recall/failing.h"
#include "engine/view/pages.h"
#include "repo/store.h"

#define VISIT_COUNTS_END "-visits"      /* name of the file: that of the store, and this */
#define VISIT_CHANGES_MAX 50

struct site_counts {
	uint64_t visits;                /* all */
	uint64_t failed, blocked;       /* of them: no good answer; never asked */
	uint64_t answered, updates;     /* looked for changes and had an answer; found one */
	uint64_t repeated, changed;     /* answered ones whose page had one before; found a change */
	double exposure;                /* days between these and the ones before */
	int64_t last_visit;             /* that was answered; 0: none */
};

/* What fails, by page; pages that have always had an answer have no row. */
struct failing_row { uint32_t page, zero; struct failing failing; };

struct visit_counts {
	uint32_t n_pages, n_sites;
	int64_t *last;                  /* by page: the last answered visit; 0: none */
	uint32_t *answered, *hits;      /* by page: answered visits; those that found a change */
	struct site_counts *sites;
	VEC(struct failing_row) failing;
	uint32_t *failing_at;           /* by page: its row, + 1 */
	uint64_t n_changes;             /* that own cycles found */
	VEC(struct store_visit) newest; /* of them; at most VISIT_CHANGES_MAX, in any order */
	size_t oldest;                  /* among newest */
	uint64_t n_visits, n_kept;      /* counted in all; of them, out of the file */
	bool is_partial;                /* visits of pages that came meanwhile are not counted */
	struct progress *progress;
};

/* Visits as they are at one moment, of these pages; the store is thawed.  progress is shown; it may
 * be NULL.  To be released, also after an error. */
MUST_CHECK int visit_counts_load(struct visit_counts *c, struct store *s, const struct pages *p,
                                 struct progress *progress, struct err *err);
void visit_counts_release(struct visit_counts *c);

#endif
