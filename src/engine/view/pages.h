/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h - the arrays behind a view: the pages of a repository.
 *
 * Built in one pass over canonical URLs, from the store or from a history.  URLs, sites
 * and directories do not change, so all runs share them.  struct visits has what a cycle
 * changes; each run has its own.
 */
#ifndef ENGINE_VIEW_PAGES_H
#define ENGINE_VIEW_PAGES_H

#include "base/map.h"
#include "policy/view.h"

struct pages {
	uint32_t n;
	uint32_t n_settled;             /* the first so many: see engine/view/epoch.h */
	char *pool;                     /* URLs, each ending with a NUL byte */
	uint64_t *offset;               /* n + 1 */
	uint32_t *site, *dir;
	struct tree tree;               /* its arrays are owned here */
	struct strtab site_names;
	struct strtab dir_names;        /* kept only if asked for */
	bool borrowed;                  /* pool and offset are not ours */
};

struct pages_opts {
	bool site_by_domain;            /* registrable domain instead of host */
	bool dir_names;
	bool borrow;                    /* pool and offset stay the caller's */
	uint32_t n_settled;             /* 0: all */
	struct progress *progress;      /* shown by load_pages(); may be NULL */
};

/* Takes over pool and offset (from malloc), or borrows them. */
void pages_init(struct pages *p, char *pool, uint64_t *offset, uint32_t n,
                const struct pages_opts *opts);
void pages_release(struct pages *p);
static inline const char *pages_url(const struct pages *p, uint32_t i)
{
	return p->pool + p->offset[i];
}
static inline size_t pages_url_size(const struct pages *p, uint32_t i)
{
	return (size_t)(p->offset[i + 1] - p->offset[i] - 1);
}

/* Per page, changed by visits; one struct for each run. */
struct visits {
	uint8_t *state;
	uint32_t *last_cycle;
	int64_t *last_visit;
};

void visits_init(struct visits *v, uint32_t n, int64_t start);
void visits_release(struct visits *v);

/* Let the arrays of a view be those of the pages and of the visits. */
void pages_view(const struct pages *p, const struct visits *visits, struct view *v);

#endif
