/* SPDX-License-Identifier: Apache-2.0 */
/* care.c - which pages are under care, since when, and their tags. */
#include "repo/sqlite/store_sqlite.h"

/* Change one page and log it, unless it is so already. */
static int put_one(struct store_sqlite *s, const struct store_care *c, int64_t time,
                   struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_CARE_PUT, err);
	int rc;

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, (int64_t)c->page + 1);
	sqlite3_bind_int64(q, 2, c->care);
	rc = sql_run(s, q, err);
	if (rc < 0 || !sqlite3_changes(s->db))
		return rc;
	if (!(q = sql_get(s, SQL_CARE_ADD, err)))
		return E_STORE;
	sqlite3_bind_int64(q, 1, c->page);
	sqlite3_bind_int64(q, 2, c->care);
	sqlite3_bind_int64(q, 3, time);
	sqlite3_bind_int64(q, 4, sqlite_first_id(s->newest_cycle));
	return sql_run(s, q, err);
}

int sqlite_care_put(struct store *base, const struct store_care *rows, size_t n, int64_t time,
                    struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = put_one(self(base), &rows[i], time, err);
	return rc;
}

int sqlite_care_log(struct store *base, uint32_t page, uint32_t from, uint32_t to,
                    store_care_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, page == STORE_NONE ? SQL_CARE_SCAN : SQL_CARE_PAGE, err);
	struct sql_row r = { .s = s, .q = q, .table = "care", .n_pages = -1, .err = err };
	int rc = q ? 0 : E_STORE;

	if (q) {
		sqlite3_bind_int64(q, 1, sqlite_first_id(from));
		sqlite3_bind_int64(q, 2, sqlite_first_id(to));
	}
	if (q && page != STORE_NONE)
		sqlite3_bind_int64(q, 3, page);
	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct store_care c = {
			.cycle = (uint32_t)(sql_int(&r, 0, 1, INT64_MAX, "number of a change") >> 32),
			.page = sql_page(&r, 1),
			.care = (uint8_t)sql_int(&r, 2, 0, CARE_ALL, "care of a page"),
			.time = sql_time(&r, 3),
		};

		rc = r.rc < 0 ? r.rc : each(arg, &c, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}

/* ---- tags ---- */

/* 1: *ret is the tag's id; 0: there is no such tag. */
static int find_tag(struct store_sqlite *s, struct text tag, int64_t *ret, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_TAG_FIND, err);
	int rc;

	if (!q)
		return E_STORE;
	sql_bind_text(q, 1, tag);
	rc = sql_step(s, q, err);
	if (rc > 0)
		*ret = sqlite3_column_int64(q, 0);
	sqlite3_reset(q);
	return rc;
}

static int add_tag(struct store_sqlite *s, struct text tag, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_TAG_ADD, err);

	if (!q)
		return E_STORE;
	sql_bind_text(q, 1, tag);
	return sql_run(s, q, err);
}

int sqlite_tag_put(struct store *base, struct text tag, const uint32_t *pages, size_t n, bool on,
                   struct err *err)
{
	struct store_sqlite *s = self(base);
	int64_t id = 0;
	int rc = on ? add_tag(s, tag, err) : 0;

	if (rc < 0 || (rc = find_tag(s, tag, &id, err)) <= 0)
		return rc;
	rc = 0;
	for (size_t i = 0; i < n && rc == 0; i++) {
		sqlite3_stmt *q = sql_get(s, on ? SQL_TAG_ON : SQL_TAG_OFF, err);

		if (!q)
			return E_STORE;
		sqlite3_bind_int64(q, 1, id);
		sqlite3_bind_int64(q, 2, pages[i]);
		rc = sql_run(s, q, err);
	}
	return rc;
}

int sqlite_tags(struct store *base, uint32_t page, store_tag_each *each, void *arg,
                struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, page == STORE_NONE ? SQL_TAG_SCAN : SQL_TAG_PAGE, err);
	int rc = q ? 0 : E_STORE;

	if (q && page != STORE_NONE)
		sqlite3_bind_int64(q, 1, page);
	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct sql_row r = { .s = s, .q = q, .table = "tags", .err = err };
		struct text name = sql_text_there(&r, 0);
		int64_t n = sql_int(&r, 1, 0, INT64_MAX, "number of pages");

		rc = r.rc < 0 ? r.rc : each(arg, name, (uint64_t)n, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}

int sqlite_tagged(struct store *base, struct text tag, store_tagged_each *each, void *arg,
                  struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_TAGGED_SCAN, err);
	struct sql_row r = { .s = s, .q = q, .table = "tagged", .key_column = 1, .n_pages = -1,
	                     .err = err };
	int rc = q ? 0 : E_STORE;

	if (q)
		sql_bind_text(q, 1, tag);
	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		uint32_t page = sql_page(&r, 0);

		rc = r.rc < 0 ? r.rc : each(arg, page, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}
