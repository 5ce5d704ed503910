/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_gather.h - rows that wait in memory for the next batch; store.h says what for.
 * Only the files of store.h know of it: store.c, store_calls.c, store_row.c.
 */
#ifndef REPO_STORE_GATHER_H
#define REPO_STORE_GATHER_H

#include "base/map.h"
#include "base/mem.h"
#include "repo/store_ahead.h"
#include "repo/store_backend.h"

struct named { uint32_t at; uint64_t capture; };        /* at: in gather.pages */

struct gather {
	struct arena texts;             /* of all rows */
	VEC(struct store_page_change) pages;
	struct map page_at;             /* where in it, by number */
	VEC(struct named) named;        /* captures that they name, in the order told */
	VEC(struct store_capture) captures;
	VEC(uint8_t) how;               /* enum store_second of each */
	struct map capture_at;          /* by id */
	VEC(struct store_headers) headers;
	struct map headers_at;          /* by id of the capture */
	VEC(struct store_visit) visits;
	VEC(struct store_hint_change) hints;
	struct strtab sites;            /* number: where in it */
	VEC(struct store_robots) robots;
	struct strtab origins;          /* number: where in it */
	struct ahead ahead;             /* rows that were read before they are asked for */
	uint64_t next_id, n_ids;        /* ids of captures that are drawn and free */
};

void gather_clear(struct gather *g);
void gather_release(struct gather *g);
/* Write all of it, in an open batch. */
MUST_CHECK int gather_write(struct store *s, struct gather *g, struct err *err);

void gather_pages_change(struct gather *g, const struct store_page_change *rows, size_t n);
MUST_CHECK int gather_captures_put(struct store *s, struct gather *g,
                                   struct store_capture *rows, size_t n,
                                   enum store_second how, uint8_t *ret, struct err *err);
void gather_captures_refresh(struct gather *g, const struct store_headers *rows, size_t n);
void gather_visits_add(struct gather *g, const struct store_visit *rows, size_t n);
void gather_hints_change(struct gather *g, const struct store_hint_change *rows, size_t n);
void gather_robots_put(struct gather *g, const struct store_robots *rows, size_t n);

/* Reads that see the rows that wait as if they were written. */
MUST_CHECK int gather_pages_get(struct store *s, struct gather *g, const uint32_t *numbers,
                                size_t n, store_page_each *each, void *arg, struct err *err);
MUST_CHECK int gather_captures_get(struct store *s, struct gather *g, const uint64_t *ids,
                                   size_t n, store_capture_each *each, void *arg,
                                   struct err *err);
MUST_CHECK int gather_copy_get(struct store *s, struct gather *g, uint64_t id,
                               store_capture_each *each, void *arg, struct err *err);
MUST_CHECK int gather_hints_get(struct store *s, struct gather *g, const struct text *sites,
                                size_t n, struct store_hint *ret, struct err *err);
MUST_CHECK int gather_robots(struct store *s, struct gather *g, const struct text *origins,
                             size_t n, store_robots_each *each, void *arg, struct err *err);

#endif
