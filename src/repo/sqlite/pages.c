/* SPDX-License-Identifier: Apache-2.0 */
/* pages.c - pages; see store_sqlite.c. */
#include <string.h>

#include "base/map.h"
#include "repo/sqlite/store_sqlite.h"

static int64_t url_key(struct text url)
{
	return (int64_t)hash_bytes(url.s, url.size, 0);
}

/* 1: found, *ret is the row id; 0: not there; negative: error. */
static int find_id(struct store_sqlite *s, struct text url, int64_t *ret, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_PAGE_BY_KEY, err);
	int rc = q ? 0 : E_STORE;

	if (q)
		sqlite3_bind_int64(q, 1, url_key(url));
	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct text have = sql_text(q, 1);

		rc = 0;
		if (have.s && have.size == url.size && !memcmp(have.s, url.s, url.size)) {
			struct sql_row r = { .s = s, .q = q, .table = "pages", .err = err };

			*ret = sql_int(&r, 0, 1, STORE_NONE - 1, "number of a page");
			rc = r.rc < 0 ? r.rc : 1;
		}
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}

/* Has it a URL, and else what every new page has?  Most have. */
static bool is_plain(const struct store_page *p)
{
	return !p->given.s && !p->last_visit && !p->last_change && !p->visits && !p->changes &&
	       !p->fails && !p->fails_gone && !p->state && !p->capture && !p->hint &&
	       !p->hint_seen && !p->found && !p->care && !p->touched && !p->notifier &&
	       p->weight >= 1 && p->weight <= 1;
}

static int insert_page(struct store_sqlite *s, const struct store_page *p, int64_t key,
                       struct err *err)
{
	bool plain = is_plain(p);
	sqlite3_stmt *q = sql_get(s, plain ? SQL_PAGE_NEW : SQL_PAGE_INSERT, err);

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, (int64_t)p->number + 1);
	sqlite3_bind_int64(q, 2, key);
	sql_bind_text(q, 3, p->url);
	sqlite3_bind_int64(q, 4, p->added);
	if (plain)
		return sql_run(s, q, err);
	sqlite3_bind_int64(q, 5, p->last_visit);
	sqlite3_bind_int64(q, 6, p->last_change);
	sqlite3_bind_int64(q, 7, p->visits);
	sqlite3_bind_int64(q, 8, p->changes);
	sqlite3_bind_int64(q, 9, p->fails);
	sqlite3_bind_int64(q, 10, p->state);
	sqlite3_bind_int64(q, 11, (int64_t)p->capture);
	sqlite3_bind_int64(q, 12, p->hint);
	sqlite3_bind_int64(q, 13, p->hint_seen);
	sqlite3_bind_int64(q, 14, p->found);
	sqlite3_bind_double(q, 15, p->weight);
	sql_bind_text(q, 16, p->given);
	sqlite3_bind_int64(q, 17, p->care);
	sqlite3_bind_int64(q, 18, p->fails_gone);
	sqlite3_bind_int64(q, 19, p->touched);
	sqlite3_bind_int64(q, 20, p->notifier);
	return sql_run(s, q, err);
}

/* 1: new; 0: known. */
static int add_page(struct store_sqlite *s, struct store_page *p, struct err *err)
{
	int64_t id, key = url_key(p->url);
	bool look;
	int rc = sqlite_filter_may_have(s, key, &look, err);

	if (rc == 0 && look && (rc = find_id(s, p->url, &id, err)) > 0) {
		p->number = (uint32_t)(id - 1);
		return 0;
	}
	if (rc < 0)
		return rc;
	if (s->n_pages >= STORE_NONE - 1)
		return err_set(err, E_LIMIT, "%s: full: 4 billion pages", s->path);
	p->number = s->n_pages;
	rc = insert_page(s, p, key, err);
	if (rc < 0)
		return rc;
	sqlite_filter_add(s, key);
	s->n_pages++;
	return 1;
}

int sqlite_pages_add(struct store *base, struct store_page *rows, size_t n, bool *ret_new,
                     struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc >= 0; i++) {
		rc = add_page(self(base), &rows[i], err);
		ret_new[i] = rc > 0;
	}
	return rc < 0 ? rc : 0;
}

int sqlite_pages_find(struct store *base, const struct text *urls, size_t n, uint32_t *ret,
                      struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc >= 0; i++) {
		int64_t id;

		rc = find_id(self(base), urls[i], &id, err);
		ret[i] = rc > 0 ? (uint32_t)(id - 1) : STORE_NONE;
	}
	return rc < 0 ? rc : 0;
}

int sqlite_last_page(struct store_sqlite *s, int64_t *ret, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_PAGE_LAST, err);
	int rc = q ? sql_step(s, q, err) : E_STORE;

	if (rc < 0)
		return rc;
	*ret = sqlite3_column_int64(q, 0);
	sqlite3_reset(q);
	if (*ret < 0 || *ret >= STORE_NONE)
		return err_set(err, E_STORE, "%s: table pages, row %lld, column id: no page has that "
		               "number: damaged, or not made by freshet; restore a backup", s->path,
		               (long long)*ret);
	return 0;
}

static uint32_t page_number(struct sql_row *r)
{
	return (uint32_t)(sql_int(r, 0, 1, STORE_NONE - 1, "number of a page") - 1);
}

static uint8_t page_state(struct sql_row *r, int column)
{
	return (uint8_t)sql_int(r, column, 0, STORE_PAGE_LEFT, "state of a page");
}

static uint8_t page_care(struct sql_row *r, int column)
{
	return (uint8_t)sql_int(r, column, 0, CARE_ALL, "care of a page");
}

static int read_page(struct store_sqlite *s, sqlite3_stmt *q, struct store_page *p,
                     struct err *err)
{
	struct sql_row r = { .s = s, .q = q, .table = "pages", .err = err };

	*p = (struct store_page){
		.number = page_number(&r),
		.url = sql_url(&r, 1),
		.added = sql_time(&r, 2),
		.last_visit = sql_time(&r, 3),
		.last_change = sql_time(&r, 4),
		.visits = sql_count(&r, 5),
		.changes = sql_count(&r, 6),
		.fails = sql_count(&r, 7),
		.state = page_state(&r, 8),
		.capture = sql_id(&r, 9),
		.hint = sql_time(&r, 10),
		.hint_seen = sql_time(&r, 11),
		.found = sql_count(&r, 12),
		.weight = sql_weight(&r, 13),
		.given = sql_text_or_null(&r, 14),
		.care = page_care(&r, 15),
		.fails_gone = sql_count(&r, 16),
		.touched = sql_time(&r, 17),
		.notifier = sql_count(&r, 18),
	};
	return r.rc;
}

int sqlite_pages_get(struct store *base, const uint32_t *numbers, size_t n,
                     store_page_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	bool began;
	int rc = sql_reads_begin(s, n, &began, err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		sqlite3_stmt *q = sql_get(s, SQL_PAGE_GET, err);
		struct store_page p;

		if (q)
			sqlite3_bind_int64(q, 1, (int64_t)numbers[i] + 1);
		rc = q ? sql_step(s, q, err) : E_STORE;
		if (rc > 0 && (rc = read_page(s, q, &p, err)) == 0)
			rc = each(arg, &p, err);
		sqlite3_reset(q);
	}
	return sql_reads_end(s, began, rc, err);
}

static void bind_if(sqlite3_stmt *q, int i, const struct store_page_change *c, unsigned bit,
                    int64_t v)
{
	if (c->set & bit)
		sqlite3_bind_int64(q, i, v);
}

int sqlite_pages_change(struct store *base, const struct store_page_change *rows, size_t n,
                        struct err *err)
{
	struct store_sqlite *s = self(base);
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct store_page_change *c = &rows[i];
		sqlite3_stmt *q = sql_get(s, SQL_PAGE_CHANGE, err);

		if (!q)
			return E_STORE;
		sqlite3_bind_int64(q, 1, (int64_t)c->number + 1);
		bind_if(q, 2, c, STORE_SET_LAST_VISIT, c->to.last_visit);
		bind_if(q, 3, c, STORE_SET_LAST_CHANGE, c->to.last_change);
		sqlite3_bind_int64(q, 4, c->visits);
		sqlite3_bind_int64(q, 5, c->changes);
		bind_if(q, 6, c, STORE_SET_FAILS, c->to.fails);
		bind_if(q, 7, c, STORE_SET_STATE, c->to.state);
		bind_if(q, 8, c, STORE_SET_CAPTURE, (int64_t)c->to.capture);
		bind_if(q, 9, c, STORE_SET_HINT, c->to.hint);
		bind_if(q, 10, c, STORE_SET_HINT_SEEN, c->to.hint_seen);
		bind_if(q, 11, c, STORE_SET_FOUND, c->to.found);
		if (c->set & STORE_SET_WEIGHT)
			sqlite3_bind_double(q, 12, c->to.weight);
		if (c->set & STORE_SET_GIVEN)
			sql_bind_text(q, 13, c->to.given);
		bind_if(q, 14, c, STORE_SET_FAILS_GONE, c->to.fails_gone);
		bind_if(q, 15, c, STORE_SET_TOUCHED, c->to.touched);
		bind_if(q, 16, c, STORE_SET_TOUCHED, c->to.notifier);
		rc = sql_run(s, q, err);
	}
	return rc;
}

/* Pages have the numbers from `from` on, without a gap. */
static int each_page(struct store_sqlite *s, sqlite3_stmt *q, uint32_t from,
                     int (*read)(struct store_sqlite *, sqlite3_stmt *, struct store_page *,
                                 struct err *),
                     store_page_each *each, void *arg, struct err *err)
{
	int rc = q ? 0 : E_STORE;

	for (uint32_t n = from; rc == 0 && (rc = sql_step(s, q, err)) > 0; n++) {
		struct store_page p;

		rc = read(s, q, &p, err);
		if (rc == 0 && p.number != n)
			rc = err_set(err, E_STORE, "%s: table pages, row %u, column id: row %u is missing "
			             "before it; restore a backup", s->path, p.number + 1, n + 1);
		if (rc == 0)
			rc = each(arg, &p, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}

int sqlite_pages(struct store *base, uint32_t from, store_page_each *each, void *arg,
                 struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_PAGE_SCAN, err);

	if (q)
		sqlite3_bind_int64(q, 1, from);
	return each_page(s, q, from, read_page, each, arg, err);
}

static int read_brief(struct store_sqlite *s, sqlite3_stmt *q, struct store_page *p,
                      struct err *err)
{
	struct sql_row r = { .s = s, .q = q, .table = "pages", .err = err };

	*p = (struct store_page){
		.number = page_number(&r), .url = sql_url(&r, 1), .added = sql_time(&r, 2),
		.last_visit = sql_time(&r, 3), .state = page_state(&r, 4), .weight = sql_weight(&r, 5),
		.care = page_care(&r, 6),
	};
	return r.rc;
}

int sqlite_pages_brief(struct store *base, store_page_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);

	return each_page(s, sql_get(s, SQL_PAGE_BRIEF, err), 0, read_brief, each, arg, err);
}

int sqlite_pages_touched(struct store *base, store_page_each *each, void *arg,
                         struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_PAGE_TOUCHED, err);
	int rc = q ? 0 : E_STORE;

	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct store_page p;

		rc = read_page(s, q, &p, err);
		if (rc == 0)
			rc = each(arg, &p, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}
