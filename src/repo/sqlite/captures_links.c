/* SPDX-License-Identifier: Apache-2.0 */
/*
 * captures_links.c - what links and sizes are read from, of all captures; see store.h.
 *
 * The links of a page mostly stay the same from copy to copy, and equal texts have one key.  So
 * a text is read only if its key is not that of the capture before: two searches less for each
 * of the others.  And texts lie in the order in which they came, which mostly is that of the
 * pages: the next one is looked at before the key is searched for.
 */
#include "base/buf.h"
#include "repo/sqlite/store_sqlite.h"

#define MISSES_MOST 64          /* in a row, and the next text is not looked at any more */

/* id: of the last text that was found; misses: since then. */
struct last_links { struct buf text; int64_t key, id; unsigned misses; bool any, is_there; };

/* One row of id, body and key, if it is of this key, into last.  1: it is. */
static int take_text(struct store_sqlite *s, struct last_links *last, sqlite3_stmt *q,
                     int64_t key, struct err *err)
{
	int rc = sql_step(s, q, err);

	if (rc > 0 && sqlite3_column_int64(q, 2) != key)
		rc = 0;
	if (rc > 0) {
		struct sql_row r = { .s = s, .q = q, .table = "bodies", .err = err };
		struct text t = sql_text_there(&r, 1);

		buf_clear(&last->text);
		buf_add(&last->text, t.s, t.size);
		last->id = sqlite3_column_int64(q, 0);
		rc = r.rc < 0 ? r.rc : 1;
	}
	sqlite3_reset(q);
	return rc;
}

static int look_at_next(struct store_sqlite *s, struct last_links *last, int64_t key,
                        struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (last->misses >= MISSES_MOST)
		return 0;
	q = sql_get(s, SQL_BODY_NEXT, err);
	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, last->id);
	rc = take_text(s, last, q, key, err);
	last->misses = rc > 0 ? 0 : last->misses + 1;
	return rc;
}

static int search(struct store_sqlite *s, struct last_links *last, int64_t key, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_BODY_GET, err);

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, key);
	return take_text(s, last, q, key, err);
}

/* The text of this key; none: a text with s == NULL. */
static int read_text(struct store_sqlite *s, struct last_links *last, int64_t key,
                     struct text *ret, struct err *err)
{
	int rc = 0;

	if (!last->any || last->key != key) {
		rc = look_at_next(s, last, key, err);
		if (rc == 0)
			rc = search(s, last, key, err);
		last->key = key;
		last->any = rc >= 0;
		last->is_there = rc > 0;
	}
	if (last->is_there)
		*ret = (struct text){ buf_text(&last->text), last->text.size };
	return rc < 0 ? rc : 0;
}

static int read_row(struct sql_row *r, struct last_links *last, struct store_capture *c)
{
	*c = (struct store_capture){
		.id = sql_id(r, 0), .page = sql_page(r, 1), .time = sql_time(r, 2),
		.status = sql_status(r, 3), .revisit = sql_flag(r, 4), .length = sql_size(r, 5),
		.words = sql_size(r, 6), .target = sql_url_or_null(r, 7),
		.bytes_text = -1, .images = -1, .tables = -1, .emails = -1, .outlinks = -1,
		.offset = -1, .size = -1,
	};
	if (r->rc == 0 && sqlite3_column_type(r->q, 8) != SQLITE_NULL)
		r->rc = read_text(r->s, last, sql_any(r, 8), &c->links, r->err);
	return r->rc;
}

int sqlite_captures_links(struct store *base, store_capture_each *each, void *arg,
                          struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_CAPTURE_LINKS, err);
	struct sql_row r = { .s = s, .q = q, .table = "captures", .n_pages = -1, .err = err };
	struct last_links last = { 0 };
	int rc = q ? 0 : E_STORE;

	buf_init(&last.text, BUF_NO_LIMIT);
	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct store_capture c;

		rc = read_row(&r, &last, &c);
		if (rc == 0)
			rc = each(arg, &c, err);
	}
	if (q)
		sqlite3_reset(q);
	buf_release(&last.text);
	return rc;
}
