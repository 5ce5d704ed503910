/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.h - our copies of pages as a source of features: from the store, or the newest
 * captures of a recorded history.
 */
#ifndef ENGINE_VIEW_COPIES_H
#define ENGINE_VIEW_COPIES_H

#include "base/io/progress.h"
#include "engine/view/features.h"
#include "engine/history/history.h"
#include "graph/graph.h"
#include "repo/store.h"

struct copies {                 /* zeroed, it is empty */
	struct features features;
	const struct facts_table *facts;
	struct facts_table own;         /* read from the store */
	uint32_t *now, *older;          /* facts by page: of the copy, and of the copy before it */
	const struct graph *links;      /* of a repository */
	const struct history *history;  /* or of a history, with each page's capture */
	uint32_t *capture;
	int64_t *first;                 /* time of a page's first capture in the store */
	uint32_t *changes;              /* seen, by page */
	float *days;                    /* by page: days over which they were seen */
	int64_t until;                  /* later captures are ignored */
	const uint32_t *chosen;         /* ascending: the repository's numbers of our pages; NULL:
	                                 * they are all of them */
	struct progress *progress;      /* of reading; or NULL */
};

/* The copies as they were when own cycle `before` began, at time `until`; 0 and
 * INT64_MAX: the present ones.  links: between the pages' copies; must outlive c.  progress is
 * shown; it may be NULL. */
MUST_CHECK int copies_from_store(struct copies *c, struct store *s, const struct pages *pages,
                                 const struct graph *links, uint32_t before, int64_t until,
                                 struct progress *progress, struct err *err);
/* `most` of the n_here pages that are here, fewer than all, each with the same chance: their
 * numbers, ascending. */
uint32_t *copies_choose(const uint8_t *state, uint32_t n, uint32_t n_here, uint32_t most,
                        uint64_t seed);
/* The present copies of some pages: page i of `pages` is page chosen[i] of the repository,
 * whose pages, seen by `view`, are `all`, with links between their copies.  What features say
 * of links is of all pages.  chosen must outlive c. */
MUST_CHECK int copies_of_some(struct copies *c, struct store *s, const struct pages *pages,
                              const uint32_t *chosen, const struct pages *all,
                              const struct graph *links, const struct view *view,
                              struct progress *progress, struct err *err);
/* pages must be those of the history, with the same numbers. */
void copies_from_history(struct copies *c, const struct history *h,
                         const struct pages *pages);
void copies_release(struct copies *c);

/* The pages of a history as arrays; every page that lives at the end is here. */
void copies_pages(const struct history *h, struct pages *ret_pages,
                  struct visits *ret_visits);

#endif
