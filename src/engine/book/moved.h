/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moved.h - pages that moved for good: their servers answer 301 or 308.
 *
 * A row counts how often in a row a page's own URL led to the same target by permanent
 * redirects, and had a page at the end.  After so many times (setting moved-after) the page
 * is followed for good: cycles ask for the target at once, and the page keeps its name, its
 * history and its number.  The user can do so earlier, or never.
 *
 * Not followed is a target that is out of scope, that is a page under care itself, or that
 * another page is followed to: it would be fetched twice.
 *
 * Rows are states of the store (store_state_put), "moved.PAGE":
 * HOW STATUS TIMES SINCE SEEN CYCLE URL.
 */
#ifndef ENGINE_BOOK_MOVED_H
#define ENGINE_BOOK_MOVED_H

#include "engine/book/care.h"

/* In the order of `names` in moved.c; on disk by name. */
enum moved_how {
	MOVED_SEEN,             /* counted so far */
	MOVED_FOLLOWED,         /* the target is asked for */
	MOVED_NEVER,            /* the user wants its own URL asked for */
	N_MOVED
};

struct moved {
	uint32_t page;
	enum moved_how how;
	int status;             /* of the first redirect: 301 or 308 */
	uint32_t times;         /* in a row */
	int64_t since, seen;    /* first and last time that the redirect was seen */
	uint32_t cycle;         /* in which it was followed first; 0: not by a cycle */
	char *to;               /* canonical */
	bool dirty;             /* not written yet */
};

struct moved_list {             /* zeroed, it is empty */
	VEC(struct moved *) v;
	struct map at;          /* by page */
	struct map targets;     /* hash of the target: a page that is followed there */
};

const char *moved_how_name(enum moved_how how);
/* E_STORE: a row makes no sense. */
MUST_CHECK int moved_load(struct moved_list *l, struct store *s, struct err *err);
void moved_release(struct moved_list *l);
struct moved *moved_find(const struct moved_list *l, uint32_t page);    /* or NULL */
/* Set the row of a page, new or old; it is dirty then.  to: copied. */
struct moved *moved_set(struct moved_list *l, uint32_t page, const char *to);
void moved_follow(struct moved_list *l, struct moved *m, uint32_t cycle);
void moved_forget(struct moved *m);             /* it is no row any more: to is NULL */
/* Write the rows that are dirty, inside a batch. */
MUST_CHECK int moved_save(struct moved_list *l, struct store *s, struct err *err);
/* Why the page is not followed to its target, or NULL in *ret. */
MUST_CHECK int moved_hindrance(const struct moved_list *l, struct store *s,
                               struct care_rules *rules, const struct moved *m,
                               const char **ret, struct err *err);

#endif
