/* SPDX-License-Identifier: Apache-2.0 */
/*
 * captures_linked.c - what links, terms and sizes are read from, and the texts of links and
 * terms; see store.h.
 *
 * Both tables are read as they lie on the disk, from front to back, without an index: captures
 * of a page lie far apart, one a cycle, and a search for each would cost more than its row.
 */
#include "base/map.h"
#include "repo/sqlite/store_sqlite.h"

static int see_linked(struct sql_row *r, store_linked_each *each, void *arg)
{
	struct store_linked c = {
		.id = sql_id(r, 0), .page = sql_page(r, 1), .time = sql_time(r, 2),
		.status = sql_status(r, 3), .revisit = sql_flag(r, 4), .length = sql_size(r, 5),
		.words = sql_size(r, 6), .target = sql_url_or_null(r, 7),
		.has_links = sqlite3_column_type(r->q, 8) != SQLITE_NULL,
		.has_terms = sqlite3_column_type(r->q, 9) != SQLITE_NULL,
	};

	if (c.has_links)
		c.links = (uint64_t)sql_any(r, 8);
	if (c.has_terms)
		c.terms = (uint64_t)sql_any(r, 9);
	return r->rc < 0 ? r->rc : each(arg, &c, r->err);
}

int sqlite_captures_linked(struct store *base, store_linked_each *each, void *arg,
                           struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_CAPTURE_LINKED, err);
	struct sql_row r = { .s = s, .q = q, .table = "captures", .n_pages = -1, .err = err };
	int rc = q ? 0 : E_STORE;

	while (rc == 0 && (rc = sql_step(s, q, err)) > 0)
		rc = see_linked(&r, each, arg);
	if (q)
		sqlite3_reset(q);
	return rc;
}

/* Texts that nobody wants, long ones among them, are not read off the disk. */
static int see_text(struct sql_row *r, const struct map *keys, store_text_each *each, void *arg)
{
	uint32_t value = map_get(keys, (uint64_t)sql_any(r, 1));
	struct text text;

	if (r->rc < 0 || value == MAP_NONE)
		return r->rc;
	text = sql_text_there(r, 2);
	return r->rc < 0 ? r->rc : each(arg, value, text, r->err);
}

int sqlite_texts(struct store *base, const struct map *keys, store_text_each *each, void *arg,
                 struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_BODY_SCAN, err);
	struct sql_row r = { .s = s, .q = q, .table = "bodies", .err = err };
	int rc = q ? 0 : E_STORE;

	while (rc == 0 && (rc = sql_step(s, q, err)) > 0)
		rc = see_text(&r, keys, each, arg);
	if (q)
		sqlite3_reset(q);
	return rc;
}
