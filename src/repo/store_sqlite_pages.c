/* SPDX-License-Identifier: Apache-2.0 */
/* store_sqlite_pages.c - pages, hints of sites, robots.txt, words; see store_sqlite.c. */
#include <string.h>

#include "base/map.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "repo/store_sqlite.h"

#define FILTER_BITS 12          /* per key */
#define FILTER_FROM 1000        /* pages added by an import before the filter is made */

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

/*
 * Nearly every URL of a large import is new.  A Bloom filter over the keys of all pages
 * (4 bits in one word, 12 bits a key) saves their look-up; about 1 look-up in 60 is
 * needless. The filter is made when an import turns out to be large, and dropped when
 * another program has written.
 */
static uint64_t filter_bits(int64_t key)
{
	uint64_t h = rng_mix((uint64_t)key);

	return 1ull << (h & 63) | 1ull << (h >> 6 & 63) | 1ull << (h >> 12 & 63) |
	       1ull << (h >> 18 & 63);
}

static uint64_t *filter_word(const struct store_sqlite *s, int64_t key)
{
	return &s->filter[(rng_mix((uint64_t)key) >> 24) & (s->filter_words - 1)];
}

static void filter_drop(struct store_sqlite *s)
{
	free(s->filter);
	s->filter = NULL;
	s->filter_keys = s->filter_words = 0;
}

int sqlite_filter_check(struct store_sqlite *s, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_DATA_VERSION, err);
	int rc = q ? sql_step(s, q, err) : E_STORE;

	if (rc < 0)
		return rc;
	if (s->data_version != sqlite3_column_int64(q, 0))
		filter_drop(s);
	s->data_version = sqlite3_column_int64(q, 0);
	sqlite3_reset(q);
	return 0;
}

/* Make the filter, with room for twice the pages of the store. */
static int filter_make(struct store_sqlite *s, struct err *err)
{
	uint64_t words = 1024;
	sqlite3_stmt *q = sql_get(s, SQL_PAGE_KEYS, err);
	int rc = 0;

	if (!q)
		return E_STORE;
	filter_drop(s);
	while (words * 64 < (uint64_t)s->n_pages * 2 * FILTER_BITS)
		words *= 2;
	s->filter = mem_zalloc(words, sizeof *s->filter);
	s->filter_words = words;
	s->filter_keys = s->n_pages;
	while ((rc = sql_step(s, q, err)) > 0) {
		int64_t key = sqlite3_column_int64(q, 0);

		*filter_word(s, key) |= filter_bits(key);
	}
	sqlite3_reset(q);
	if (rc < 0)
		filter_drop(s);
	return rc;
}

/* May the key be in the table?  False: it certainly is not. */
static int may_have(struct store_sqlite *s, int64_t key, bool *ret, struct err *err)
{
	int rc = 0;

	*ret = true;
	if (!s->in_batch || ++s->n_added < FILTER_FROM)
		return 0;
	if (!s->filter || s->filter_keys * FILTER_BITS > s->filter_words * 64)
		rc = filter_make(s, err);
	if (rc == 0)
		*ret = (*filter_word(s, key) & filter_bits(key)) == filter_bits(key);
	return rc;
}

int sqlite_page_add(struct store *base, struct text url, int64_t added, uint32_t *ret_number,
                    struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q;
	int64_t id, key = url_key(url);
	bool look;
	int rc = may_have(s, key, &look, err);

	if (rc == 0 && look)
		rc = find_id(s, url, &id, err);
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
	sqlite3_bind_int64(q, 2, key);
	sql_bind_text(q, 3, url);
	sqlite3_bind_int64(q, 4, added);
	rc = sql_run(s, q, err);
	if (rc < 0)
		return rc;
	if (s->filter) {
		*filter_word(s, key) |= filter_bits(key);
		s->filter_keys++;
	}
	*ret_number = s->n_pages++;
	return 1;
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

static int read_page(struct store_sqlite *s, sqlite3_stmt *q, struct store_page *p,
                     struct err *err)
{
	struct sql_row r = { .s = s, .q = q, .table = "pages", .err = err };

	*p = (struct store_page){
		.number = (uint32_t)(sql_int(&r, 0, 1, STORE_NONE - 1, "number of a page") - 1),
		.url = sql_url(&r, 1),
		.added = sql_time(&r, 2),
		.last_visit = sql_time(&r, 3),
		.last_change = sql_time(&r, 4),
		.visits = sql_count(&r, 5),
		.changes = sql_count(&r, 6),
		.fails = sql_count(&r, 7),
		.state = (uint8_t)sql_int(&r, 8, 0, STORE_PAGE_LEFT, "state of a page"),
		.capture = sql_id(&r, 9),
		.hint = sql_time(&r, 10),
		.hint_seen = sql_time(&r, 11),
		.found = sql_count(&r, 12),
		.weight = sql_weight(&r, 13),
	};
	return r.rc;
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
	if (rc > 0 && read_page(s, q, ret, err) < 0)    /* url is valid until the next get */
		rc = E_STORE;
	return rc;
}

int sqlite_page_find(struct store *base, struct text url, struct store_page *ret,
                     struct err *err)
{
	int64_t id;
	int rc = find_id(self(base), url, &id, err);

	return rc > 0 ? sqlite_page_get(base, (uint32_t)(id - 1), ret, err) : rc;
}

int sqlite_page_weigh(struct store *base, uint32_t number, double weight, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_PAGE_WEIGH, err);

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, (int64_t)number + 1);
	sqlite3_bind_double(q, 2, weight);
	return sql_run(s, q, err);
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
	sqlite3_bind_int64(q, 11, p->found);
	return sql_run(s, q, err);
}

int sqlite_pages(struct store *base, store_page_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_PAGE_SCAN, err);
	int rc = q ? 0 : E_STORE;

	for (uint32_t n = 0; rc == 0 && (rc = sql_step(s, q, err)) > 0; n++) {
		struct store_page p;

		rc = read_page(s, q, &p, err);
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
	if (rc > 0) {
		struct sql_row r = { .s = s, .q = q, .table = "hints", .key = site, .err = err };

		*ret = (struct store_hint){
			.checks = sql_count(&r, 0), .hits = sql_count(&r, 1), .told = sql_count(&r, 2),
			.read = sql_time(&r, 3), .doubt = sql_count(&r, 4),
		};
		rc = r.rc < 0 ? r.rc : rc;
	}
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
	sqlite3_bind_int64(q, 5, h->read);
	sqlite3_bind_int64(q, 6, h->doubt);
	return sql_run(s, q, err);
}

int sqlite_robots_get(struct store *base, struct text origin, struct store_robots *ret,
                      struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_ROBOTS_GET, err);
	int rc;

	if (!q)
		return E_STORE;
	sql_bind_text(q, 1, origin);
	rc = sql_step(s, q, err);
	if (rc > 0) {           /* copied: an open statement would keep writers waiting */
		struct sql_row r = { .s = s, .q = q, .table = "robots", .key = origin, .err = err };

		buf_clear(&s->robots);
		buf_add(&s->robots, sqlite3_column_blob(q, 3), (size_t)sqlite3_column_bytes(q, 3));
		*ret = (struct store_robots){
			.time = sql_time(&r, 0), .status = sql_status(&r, 1), .cut = sql_flag(&r, 2),
			.body = { s->robots.data, s->robots.size },
			.tried = sql_time(&r, 4), .failing = sql_time(&r, 5),
		};
		rc = r.rc < 0 ? r.rc : rc;
	}
	sqlite3_reset(q);
	return rc;
}

int sqlite_robots_put(struct store *base, struct text origin, const struct store_robots *r,
                      struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_ROBOTS_PUT, err);

	if (!q)
		return E_STORE;
	sql_bind_text(q, 1, origin);
	sqlite3_bind_int64(q, 2, r->time);
	sqlite3_bind_int64(q, 3, r->status);
	sqlite3_bind_int64(q, 4, r->cut);
	if (r->body.s)
		sqlite3_bind_blob64(q, 5, r->body.s, r->body.size, SQLITE_STATIC);
	sqlite3_bind_int64(q, 6, r->tried);
	sqlite3_bind_int64(q, 7, r->failing);
	return sql_run(s, q, err);
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
