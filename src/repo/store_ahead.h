/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_ahead.h - rows that were read ahead; store.h says what for (store_foresee()).  Only
 * store.c and store_gather.c know of it.
 */
#ifndef REPO_STORE_AHEAD_H
#define REPO_STORE_AHEAD_H

#include "base/map.h"
#include "base/mem.h"
#include "repo/store_backend.h"

struct ahead_page {
	struct store_page row;
	char *texts;                    /* of the row; NULL: it must be read again */
	bool is_used;                   /* else the slot is free */
};

struct ahead_hint { struct store_hint row; bool is_known; };
struct ahead_robots { struct store_robots row; bool is_there, is_known; };

struct ahead {
	VEC(struct ahead_page) pages;
	struct map page_at;             /* where in it, by number */
	VEC(uint32_t) free;             /* slots of it */
	size_t n_stale;                 /* pages that must be read again */
	struct arena copies;            /* of the newest call: captures, without bodies */
	VEC(struct store_capture) captures;
	struct map capture_at;          /* by id */
	struct strtab sites;            /* number: where in hints */
	VEC(struct ahead_hint) hints;
	struct strtab origins;          /* number: where in robots */
	VEC(struct ahead_robots) robots;
	size_t robots_bytes;            /* of their bodies */
};

void ahead_release(struct ahead *a);
/* Read what is not there yet. */
MUST_CHECK int ahead_read(struct store *s, struct ahead *a, const struct store_ahead *want,
                          struct err *err);
/* Another program has written to the store: all must be read again. */
void ahead_doubt(struct ahead *a);
/* The row was written: it must be read again, if it is wanted at all. */
void ahead_drop_page(struct ahead *a, uint32_t number);
void ahead_drop_hint(struct ahead *a, struct text site);
void ahead_drop_robots(struct ahead *a, struct text origin);
void ahead_drop_copies(struct ahead *a);

/* NULL: it was not read ahead. */
MUST_CHECK int ahead_page(struct store *s, struct ahead *a, uint32_t number,
                          const struct store_page **ret, struct err *err);
const struct store_capture *ahead_copy(const struct ahead *a, uint64_t id);
const struct store_hint *ahead_hint(const struct ahead *a, struct text site);
/* Once; after that it is not remembered.  *ret_there: the store has one. */
const struct store_robots *ahead_robots(struct ahead *a, struct text origin, bool *ret_there);

#endif
