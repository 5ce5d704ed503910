/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.h - the copies we hold of pages, as a source of features: out of the
 * store, or the newest captures of a recorded history.
 */
#ifndef ENGINE_VIEW_COPIES_H
#define ENGINE_VIEW_COPIES_H

#include "engine/view/features.h"
#include "engine/view/history.h"
#include "graph/graph.h"
#include "repo/store.h"

struct copies {                 /* zeroed, it is empty */
	struct features features;
	const struct facts_table *facts;
	struct facts_table own;         /* read from the store */
	uint32_t *now, *older;          /* facts by page: of the copy, the one before */
	const struct graph *links;      /* of a repository */
	const struct history *history;  /* or of a history, with each page's capture */
	uint32_t *capture;
	int64_t *first;                 /* time of a page's first capture in the store */
	uint32_t *changes;              /* seen of each page */
	float *days;                    /* over which */
	int64_t until;                  /* captures from here on are not looked at */
};

/* The copies when own cycle `before` began, at `until`; 0 and INT64_MAX: those of now.
 * links: between the pages' copies; must outlive it. */
MUST_CHECK int copies_from_store(struct copies *c, struct store *s, const struct pages *pages,
                                 const struct graph *links, uint32_t before, int64_t until,
                                 struct err *err);
/* pages must be those of the history, in its numbering. */
void copies_from_history(struct copies *c, const struct history *h,
                         const struct pages *pages);
void copies_release(struct copies *c);

/* The pages of a history as arrays; every page that lives at the end is here. */
void copies_pages(const struct history *h, struct pages *ret_pages,
                  struct visits *ret_visits);

#endif
