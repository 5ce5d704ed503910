/* SPDX-License-Identifier: Apache-2.0 */
/* sites.c - hints of sites, robots.txt, words; see store_sqlite.c. */
#include "repo/sqlite/store_sqlite.h"

static struct store_hint read_hint(struct sql_row *r)
{
	return (struct store_hint){
		.checks = sql_count(r, 1), .hits = sql_count(r, 2), .told = sql_count(r, 3),
		.read = sql_time(r, 4), .doubt = sql_count(r, 5),
	};
}

int sqlite_hints_get(struct store *base, const struct text *sites, size_t n,
                     struct store_hint *ret, struct err *err)
{
	struct store_sqlite *s = self(base);
	int rc = 0;

	for (size_t i = 0; i < n && rc >= 0; i++) {
		sqlite3_stmt *q = sql_get(s, SQL_HINT_GET, err);
		struct sql_row r = { .s = s, .q = q, .table = "hints", .err = err };

		if (!q)
			return E_STORE;
		sql_bind_text(q, 1, sites[i]);
		rc = sql_step(s, q, err);
		ret[i] = rc > 0 ? read_hint(&r) : (struct store_hint){ 0 };
		rc = r.rc < 0 ? r.rc : rc;
		sqlite3_reset(q);
	}
	return rc < 0 ? rc : 0;
}

int sqlite_hints_change(struct store *base, const struct store_hint_change *rows, size_t n,
                        struct err *err)
{
	struct store_sqlite *s = self(base);
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct store_hint_change *h = &rows[i];
		sqlite3_stmt *q = sql_get(s, SQL_HINT_CHANGE, err);

		if (!q)
			return E_STORE;
		sql_bind_text(q, 1, h->site);
		sqlite3_bind_int64(q, 2, h->checks);
		sqlite3_bind_int64(q, 3, h->hits);
		sqlite3_bind_int64(q, 4, h->told);
		sqlite3_bind_int64(q, 5, h->read);
		if (h->set_doubt)
			sqlite3_bind_int64(q, 6, h->doubt);
		rc = sql_run(s, q, err);
	}
	return rc;
}

int sqlite_hints(struct store *base, store_hint_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_HINT_SCAN, err);
	int rc = q ? 0 : E_STORE;

	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct sql_row r = { .s = s, .q = q, .table = "hints", .err = err };
		struct text site = sql_text_there(&r, 0);
		struct store_hint h = read_hint(&r);

		rc = r.rc < 0 ? r.rc : each(arg, site, &h, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}

int sqlite_robots_put(struct store *base, const struct store_robots *rows, size_t n,
                      struct err *err)
{
	struct store_sqlite *s = self(base);
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct store_robots *r = &rows[i];
		sqlite3_stmt *q = sql_get(s, SQL_ROBOTS_PUT, err);

		if (!q)
			return E_STORE;
		sql_bind_text(q, 1, r->origin);
		sqlite3_bind_int64(q, 2, r->time);
		sqlite3_bind_int64(q, 3, r->status);
		sqlite3_bind_int64(q, 4, r->cut);
		if (r->body.s)
			sqlite3_bind_blob64(q, 5, r->body.s, r->body.size, SQLITE_STATIC);
		sqlite3_bind_int64(q, 6, r->tried);
		sqlite3_bind_int64(q, 7, r->failing);
		rc = sql_run(s, q, err);
	}
	return rc;
}

static int read_robots(struct store_sqlite *s, sqlite3_stmt *q, store_robots_each *each,
                       void *arg, struct err *err)
{
	struct sql_row r = { .s = s, .q = q, .table = "robots", .err = err };
	struct store_robots row = {
		.origin = sql_text_there(&r, 0), .time = sql_time(&r, 1), .status = sql_status(&r, 2),
		.cut = sql_flag(&r, 3), .tried = sql_time(&r, 5), .failing = sql_time(&r, 6),
	};

	row.body.s = sqlite3_column_blob(q, 4);
	row.body.size = row.body.s ? (size_t)sqlite3_column_bytes(q, 4) : 0;
	return r.rc < 0 ? r.rc : each(arg, &row, err);
}

int sqlite_robots(struct store *base, const struct text *origins, size_t n,
                  store_robots_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q;
	int rc = 0;

	for (size_t i = 0; origins && i < n && rc == 0; i++) {
		if (!(q = sql_get(s, SQL_ROBOTS_GET, err)))
			return E_STORE;
		sql_bind_text(q, 1, origins[i]);
		if ((rc = sql_step(s, q, err)) > 0)
			rc = read_robots(s, q, each, arg, err);
		sqlite3_reset(q);
	}
	if (origins)
		return rc;
	if (!(q = sql_get(s, SQL_ROBOTS_SCAN, err)))
		return E_STORE;
	while (rc == 0 && (rc = sql_step(s, q, err)) > 0)
		rc = read_robots(s, q, each, arg, err);
	sqlite3_reset(q);
	return rc;
}

int sqlite_robots_size(struct store *base, uint64_t *ret, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_ROBOTS_SIZE, err);
	int rc = q ? sql_step(s, q, err) : E_STORE;

	if (rc > 0)
		*ret = (uint64_t)sqlite3_column_int64(q, 0);
	if (q)
		sqlite3_reset(q);
	return rc < 0 ? rc : 0;
}

int sqlite_robots_forget(struct store *base, int64_t before, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_ROBOTS_FORGET, err);

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, before);
	return sql_run(s, q, err);
}

int sqlite_words_add(struct store *base, uint32_t first, const struct text *words, size_t n,
                     struct err *err)
{
	struct store_sqlite *s = self(base);
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		sqlite3_stmt *q = sql_get(s, SQL_WORD_INSERT, err);

		if (!q)
			return E_STORE;
		sqlite3_bind_int64(q, 1, (int64_t)first + (int64_t)i + 1);
		sql_bind_text(q, 2, words[i]);
		rc = sql_run(s, q, err);
	}
	return rc;
}

int sqlite_words(struct store *base, uint32_t from, store_word_each *each, void *arg,
                 struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_WORD_SCAN, err);
	int rc = q ? 0 : E_STORE;

	if (q)
		sqlite3_bind_int64(q, 1, from);
	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct sql_row r = { .s = s, .q = q, .table = "words", .err = err };
		uint32_t number = (uint32_t)(sql_int(&r, 0, 1, UINT32_MAX, "number of a word") - 1);
		struct text word = sql_text_there(&r, 1);

		rc = r.rc < 0 ? r.rc : each(arg, number, word, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}
