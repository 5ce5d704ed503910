/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features.h - the numbers that pages are clustered by (48 features of Tan & Mitra),
 * computed from our present copies.
 *
 * Each run has one struct features.  It holds what the copies do not show: visits,
 * changes seen, and the links when features were last made.  struct feature_source hides
 * where the copies come from: a recorded history or the store.
 */
#ifndef ENGINE_VIEW_FEATURES_H
#define ENGINE_VIEW_FEATURES_H

#include "cluster/rows.h"
#include "engine/history/facts.h"
#include "engine/view/pages.h"
#include "web/page/features.h"

struct feature_source {
	const void *self;
	/* The facts of our copy of a page, or (older) of the copy before it; false: there
	 * is no such copy, or no facts of it. */
	bool (*facts)(const void *self, uint32_t page, bool older, struct page_facts *ret);
	/* Pages that our copy links to. */
	const uint32_t *(*links)(const void *self, uint32_t page, size_t *ret_n);
};

struct features {
	struct feature_source source;
	const struct pages *pages;
	struct feature_maker maker;     /* for the view */
	struct rows url;                /* TF-IDF of URL words, made when needed */
	float *url_ranks;               /* n * 10, made when needed */
	struct strtab url_words;
	uint32_t *visits, *changes;     /* counted by features_note() */
	float *pagerank[2], *in_links[2];       /* when last made, and the time before */
	uint32_t made;                  /* cycle in which they were last made, + 1; 0: never */
};

void features_init(struct features *f, const struct pages *pages,
                   const struct feature_source *source);
void features_release(struct features *f);
/* A visit, and whether it found a change. */
void features_note(struct features *f, uint32_t page, bool changed);

/* What links say of each page is what `all` finds of page chosen[i], in the cycle of `v`, which
 * is a view of all pages. */
void features_take_links(struct features *f, struct features *all, const struct view *v,
                         const uint32_t *chosen);

/* Rows of one set for all pages; unit length. */
void features_rows(struct features *f, const struct view *v, enum feature_set set,
                   struct rows *ret);
/* Keep only the rows of pages that are in the repository. */
void features_rows_here(const struct rows *all, const struct view *v, struct rows *ret);
/* All 48 columns (web/page/features.h) as counted, before scaling (ranks are in [0, 1]);
 * without `ranks`, which cost two clusterings, those columns are 0. */
void features_raw(struct features *f, const struct view *v, bool ranks, struct rows *ret);
/* The columns of a dense set; returns how many (0 for sparse sets). */
uint32_t features_columns(enum feature_set set, uint8_t ret[FEATURE_COUNT]);

#endif
