/* SPDX-License-Identifier: Apache-2.0 */
/* store_sqlite_pages.c - pages, the trust in sites' dates, words; see store_sqlite.c. */
#include <string.h>

#include "base/map.h"
#include "repo/store_sqlite.h"

static struct store_sqlite *self(struct store *s)
{
	return (struct store_sqlite *)s;
}

static int64_t url_key(struct text url)
{
	return (int64_t)hash_bytes(url.s, url.size, 0);
}

/* 1 and the row's id, 0, or an error. */
static int find_id(struct store_sqlite *s, struct text url, int64_t *ret, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_PAGE_BY_KEY, err);
	int rc = q ? 0 : E_STORE;

	if (q)
		sqlite3_bind_int64(q, 1, url_key(url));
	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct text have = sql_text(q, 1);

		rc = 0;
		if (have.size == url.size && !memcmp(have.s, url.s, url.size)) {
			*ret = sqlite3_column_int64(q, 0);
			rc = 1;
		}
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}

int sqlite_page_add(struct store *base, struct text url, int64_t added, uint32_t *ret_number,
                    struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q;
	int64_t id;
	int rc = find_id(s, url, &id, err);

	if (rc) {
		if (rc > 0)
			*ret_number = (uint32_t)(id - 1);
		return rc < 0 ? rc : 0;
	}
	if (s->n_pages >= STORE_NONE - 1)
		return err_set(err, E_LIMIT, "%s: full: 4 billion pages", s->path);
	q = sql_get(s, SQL_PAGE_INSERT, err);
	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, (int64_t)s->n_pages + 1);
	sqlite3_bind_int64(q, 2, url_key(url));
	sql_bind_text(q, 3, url);
	sqlite3_bind_int64(q, 4, added);
	rc = sql_run(s, q, err);
	if (rc < 0)
		return rc;
	*ret_number = s->n_pages++;
	return 1;
}

static void read_page(sqlite3_stmt *q, struct store_page *p)
{
	*p = (struct store_page){
		.number = (uint32_t)(sqlite3_column_int64(q, 0) - 1),
		.url = sql_text(q, 1),
		.added = sqlite3_column_int64(q, 2),
		.last_visit = sqlite3_column_int64(q, 3),
		.last_change = sqlite3_column_int64(q, 4),
		.visits = (uint32_t)sqlite3_column_int64(q, 5),
		.changes = (uint32_t)sqlite3_column_int64(q, 6),
		.fails = (uint32_t)sqlite3_column_int64(q, 7),
		.state = (uint8_t)sqlite3_column_int64(q, 8),
		.capture = (uint64_t)sqlite3_column_int64(q, 9),
		.hint = sqlite3_column_int64(q, 10),
		.hint_seen = sqlite3_column_int64(q, 11),
	};
}

int sqlite_page_get(struct store *base, uint32_t number, struct store_page *ret, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_PAGE_GET, err);
	int rc;

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, (int64_t)number + 1);
	rc = sql_step(s, q, err);
	if (rc > 0)
		read_page(q, ret);      /* url lives until the next get */
	return rc;
}

int sqlite_page_find(struct store *base, struct text url, struct store_page *ret,
                     struct err *err)
{
	int64_t id;
	int rc = find_id(self(base), url, &id, err);

	return rc > 0 ? sqlite_page_get(base, (uint32_t)(id - 1), ret, err) : rc;
}

int sqlite_page_update(struct store *base, const struct store_page *p, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_PAGE_UPDATE, err);

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, (int64_t)p->number + 1);
	sqlite3_bind_int64(q, 2, p->last_visit);
	sqlite3_bind_int64(q, 3, p->last_change);
	sqlite3_bind_int64(q, 4, p->visits);
	sqlite3_bind_int64(q, 5, p->changes);
	sqlite3_bind_int64(q, 6, p->fails);
	sqlite3_bind_int64(q, 7, p->state);
	sqlite3_bind_int64(q, 8, (int64_t)p->capture);
	sqlite3_bind_int64(q, 9, p->hint);
	sqlite3_bind_int64(q, 10, p->hint_seen);
	return sql_run(s, q, err);
}

int sqlite_pages(struct store *base, store_page_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_PAGE_SCAN, err);
	int rc = q ? 0 : E_STORE;

	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct store_page p;

		read_page(q, &p);
		rc = each(arg, &p, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}

int sqlite_hint_get(struct store *base, struct text site, struct store_hint *ret,
                    struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_HINT_GET, err);
	int rc;

	if (!q)
		return E_STORE;
	sql_bind_text(q, 1, site);
	rc = sql_step(s, q, err);
	if (rc < 0)
		return rc;
	*ret = (struct store_hint){ 0 };
	if (rc > 0)
		*ret = (struct store_hint){
			.checks = (uint32_t)sqlite3_column_int64(q, 0),
			.hits = (uint32_t)sqlite3_column_int64(q, 1),
			.told = (uint32_t)sqlite3_column_int64(q, 2),
		};
	sqlite3_reset(q);
	return rc;
}

int sqlite_hint_put(struct store *base, struct text site, const struct store_hint *h,
                    struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_HINT_PUT, err);

	if (!q)
		return E_STORE;
	sql_bind_text(q, 1, site);
	sqlite3_bind_int64(q, 2, h->checks);
	sqlite3_bind_int64(q, 3, h->hits);
	sqlite3_bind_int64(q, 4, h->told);
	return sql_run(s, q, err);
}

int sqlite_word_add(struct store *base, uint32_t number, struct text word, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_WORD_INSERT, err);

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, (int64_t)number + 1);
	sql_bind_text(q, 2, word);
	return sql_run(s, q, err);
}

int sqlite_words(struct store *base, store_word_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_WORD_SCAN, err);
	int rc = q ? 0 : E_STORE;

	while (rc == 0 && (rc = sql_step(s, q, err)) > 0)
		rc = each(arg, (uint32_t)(sqlite3_column_int64(q, 0) - 1), sql_text(q, 1), err);
	if (q)
		sqlite3_reset(q);
	return rc;
}
