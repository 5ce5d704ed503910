/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_print.h - why visits failed or were blocked, as text and JSON, for every
 * command that shows visits.
 */
#ifndef CLI_PRINT_FAILING_PRINT_H
#define CLI_PRINT_FAILING_PRINT_H

#include "base/io/json.h"
#include "engine/book/moved.h"
#include "engine/recall/visit_counts.h"

/* Member `cause` of a visit; not written if the visit had an answer about the page. */
void cause_print_json(struct json *j, const struct store_visit *v);
/* "failed 503", "blocked robots", "failed backoff 429". */
struct cause_words { char text[32]; };
struct cause_words cause_words(enum outcome o, unsigned cause, int32_t status);

/* Members `failed`, `blocked` and `failing` of a page; the last is null if it does not.
 * */
void failing_page_json(struct json *j, const struct failing *f);
/* The end of the line that counts visits: "; 3 failed, 1 blocked". */
void failing_page_counts(const struct failing *f);
/* A line that begins with "failing", if the page fails. */
void failing_page_text(const struct failing *f);

/* All failing pages and sites, sorted. */
struct failing_table {
	const struct pages *pages;
	struct failing *by_page;
	struct failing_site *sites;
	uint32_t *list;                 /* of pages */
	uint32_t n_sites, n_pages;
};

/* r: tells until when pages rest; may be NULL. */
void failing_table_make(struct failing_table *t, const struct visit_counts *c,
                        const struct loaded *l, const struct resumed *r, int64_t now);
void failing_table_release(struct failing_table *t);
/* Member `failing` of freshet.status/1: how many, and the first `most` of each. */
void failing_print_json(struct json *j, const struct failing_table *t, uint32_t most);
void failing_print_text(const struct failing_table *t);

/* Where a page has moved for good (moved_print.c), for commands that show one page. */
struct moved_page {
	struct moved_list list;
	const struct moved *row;        /* NULL: it has not moved */
	const char *why_not;            /* why it is not followed, or NULL */
};

/* Release it also after an error. */
MUST_CHECK int moved_page_load(struct moved_page *x, struct store *s, uint32_t page,
                               struct err *err);
void moved_page_release(struct moved_page *x);
void moved_page_text(const struct moved_page *x);       /* a line, or nothing */
/* Key "moved_to" of a page that is followed; or nothing. */
void moved_to_json(const struct moved_list *l, uint32_t page, struct json *j);
/* Pages that are followed since this cycle. */
uint32_t moved_in_cycle(const struct moved_list *l, uint32_t cycle);
void moved_page_json(const struct moved_page *x, struct json *j);       /* key "moved" */

#endif
