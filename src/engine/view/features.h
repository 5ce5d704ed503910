/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features.h - the numbers pages are clustered by (Tan & Mitra's 48, ALGORITHMS
 * 1.5), of the copies a crawler holds at the moment.
 *
 * One struct features a run: it remembers what cannot be read off the copies
 * (visits, changes seen, the link structure when features were last made).
 * Where the copies come from, a recorded history or the store, is behind struct
 * feature_source.
 */
#ifndef ENGINE_VIEW_FEATURES_H
#define ENGINE_VIEW_FEATURES_H

#include "cluster/rows.h"
#include "engine/view/facts.h"
#include "engine/view/pages.h"
#include "web/page/features.h"

struct feature_source {
	const void *self;
	/* What our copy of a page holds, or (older) the copy before it; false if
	 * there is none or nothing is known of it. */
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
	uint32_t *visits, *changes;     /* as features_note() was told */
	float *pagerank[2], *in_links[2];       /* of the last time, and the one before */
	uint32_t made;                  /* cycle of the last time + 1; 0: never */
};

void features_init(struct features *f, const struct pages *pages,
                   const struct feature_source *source);
void features_release(struct features *f);
/* A visit, and whether it found a change. */
void features_note(struct features *f, uint32_t page, bool changed);

/* Rows of one set for all pages; unit length. */
void features_rows(struct features *f, const struct view *v, enum feature_set set,
                   struct rows *ret);
/* Those rows of all whose pages are here. */
void features_rows_here(const struct rows *all, const struct view *v, struct rows *ret);
/* All 48 columns (web/page/features.h) as counted, before scaling (ranks are in [0, 1]); without
 * `ranks`, which cost two clusterings, those columns are 0. */
void features_raw(struct features *f, const struct view *v, bool ranks, struct rows *ret);
/* The columns of a dense set; returns how many (0 for sparse sets). */
uint32_t features_columns(enum feature_set set, uint8_t ret[FEATURE_COUNT]);

#endif
