/* SPDX-License-Identifier: Apache-2.0 */
/*
 * captures.c - captures; see store_sqlite.c.
 *
 * Links and terms of a capture are long and mostly equal to those of the previous
 * capture. So each text is stored once, in `bodies`, found by a 64-bit hash.  Rows are
 * appended, and only the index is ordered by hash: a table ordered by hash took twice the
 * time, since every insert rewrote a page in its middle.
 */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "repo/sqlite/store_sqlite.h"

#define IDS_MOST 256            /* of captures, drawn ahead */

/* Bind the key of a shared text; store the text if it is new. */
static int bind_body(struct store_sqlite *s, sqlite3_stmt *q, int i, struct text body,
                     struct err *err)
{
	sqlite3_stmt *insert;
	int64_t key;

	if (!body.s)
		return 0;
	key = (int64_t)hash_bytes(body.s, body.size, 3);
	sqlite3_bind_int64(q, i, key);
	insert = sql_get(s, SQL_BODY_INSERT, err);
	if (!insert)
		return E_STORE;
	sqlite3_bind_int64(insert, 1, key);
	sql_bind_text(insert, 2, body);
	return sql_run(s, insert, err);
}

/* Is it the file of the capture before? */
static bool is_last_file(const struct store_sqlite *s, struct text worker, struct text name)
{
	return s->last_file_id && !worker.size && strlen(s->last_file) == name.size &&
	       !memcmp(s->last_file, name.s, name.size);
}

int sqlite_bind_file(struct store_sqlite *s, sqlite3_stmt *q, int i, struct text worker,
                     struct text name, struct err *err)
{
	sqlite3_stmt *find;
	int rc;

	if (!name.s)
		return 0;
	if (!worker.s)
		worker = (struct text){ "", 0 };
	if (is_last_file(s, worker, name)) {
		sqlite3_bind_int64(q, i, s->last_file_id);
		return 0;
	}
	find = sql_get(s, SQL_FILE_FIND, err);
	if (!find)
		return E_STORE;
	sql_bind_text(find, 1, name);
	sql_bind_text(find, 2, worker);
	rc = sql_step(s, find, err);
	if (rc > 0)
		s->last_file_id = sqlite3_column_int64(find, 0);
	sqlite3_reset(find);
	if (rc == 0) {
		find = sql_get(s, SQL_FILE_INSERT, err);
		if (!find)
			return E_STORE;
		sql_bind_text(find, 1, name);
		sql_bind_text(find, 2, worker);
		rc = sql_run(s, find, err);
		s->last_file_id = sqlite3_last_insert_rowid(s->db);
	}
	if (rc < 0)
		return rc;
	snprintf(s->last_file, sizeof s->last_file, "%.*s", (int)name.size, name.s);
	if (name.size >= sizeof s->last_file || worker.size)
		s->last_file[0] = '\0';
	sqlite3_bind_int64(q, i, s->last_file_id);
	return 0;
}

static void bind_number(sqlite3_stmt *q, int i, int64_t v)
{
	if (v >= 0)
		sqlite3_bind_int64(q, i, v);
}

/* 1: added with this id; 0: that second is taken. */
static int insert_capture(struct store_sqlite *s, const struct store_capture *c,
                          uint64_t id, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_CAPTURE_INSERT, err);
	const struct text texts[] = { c->mime, c->digest, c->prose, c->tags, c->title, c->etag,
	                              c->modified };
	const int64_t numbers[] = { c->length, c->bytes_text, c->words, c->images, c->tables,
	                            c->emails, c->outlinks };
	int rc;

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, c->page);
	sqlite3_bind_int64(q, 2, c->time);
	sqlite3_bind_int64(q, 3, c->status);
	sqlite3_bind_int64(q, 4, c->revisit);
	for (int i = 0; i < 7; i++) {
		sql_bind_text(q, 5 + i, texts[i]);
		bind_number(q, 13 + i, numbers[i]);
	}
	if (c->has_simhash)
		sqlite3_bind_int64(q, 12, (int64_t)c->simhash);
	if ((rc = bind_body(s, q, 20, c->links, err)) < 0 ||
	    (rc = bind_body(s, q, 21, c->terms, err)) < 0 ||
	    (rc = sqlite_bind_file(s, q, 22, c->worker, c->file, err)) < 0)
		return rc;
	bind_number(q, 23, c->offset);
	bind_number(q, 24, c->size);
	sql_bind_text(q, 25, c->target);
	sql_bind_text(q, 26, c->robots);
	sqlite3_bind_int64(q, 27, (int64_t)id);
	rc = sql_run(s, q, err);
	if (rc < 0 || !sqlite3_changes(s->db))
		return rc;
	sqlite_counts_capture(s, c->time);
	return 1;
}

/* The capture of that second, if it ranks lower, is replaced. */
static int replace_lower(struct store_sqlite *s, struct store_capture *c, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_CAPTURE_AT, err);
	unsigned other = 0;
	int64_t id = 0;
	int rc;

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, c->page);
	sqlite3_bind_int64(q, 2, c->time);
	rc = sql_step(s, q, err);
	if (rc > 0) {
		id = sqlite3_column_int64(q, 0);
		other = store_capture_rank(sqlite3_column_int(q, 1), sqlite3_column_int(q, 2) != 0);
	}
	sqlite3_reset(q);
	if (rc <= 0 || store_capture_rank(c->status, c->revisit) <= other)
		return rc < 0 ? rc : STORE_KNOWN;
	if (!(q = sql_get(s, SQL_CAPTURE_DROP, err)))
		return E_STORE;
	sqlite3_bind_int64(q, 1, id);
	if ((rc = sql_run(s, q, err)) == 0)
		rc = insert_capture(s, c, (uint64_t)id, err);
	s->more.captures_new -= rc > 0;         /* one for another of the same time */
	c->id = (uint64_t)id;
	return rc < 0 ? rc : STORE_REPLACED;
}

/* Returns what came of it.  free_id: for a row that has none. */
static int put_capture(struct store_sqlite *s, struct store_capture *c, enum store_second how,
                       uint64_t free_id, struct err *err)
{
	uint64_t id = c->id ? c->id : free_id;
	int rc = insert_capture(s, c, id, err);

	while (rc == 0 && how == STORE_NEXT) {
		c->time++;
		rc = insert_capture(s, c, id, err);
	}
	c->id = rc > 0 ? id : 0;
	if (rc)
		return rc < 0 ? rc : STORE_ADDED;
	return how == STORE_BEST ? replace_lower(s, c, err) : STORE_KNOWN;
}

/* The counter of ids goes on by n, which may be negative. */
static int count_ids(struct store_sqlite *s, int64_t n, int64_t *ret_last, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_CAPTURE_IDS, err);
	int rc;

	*ret_last = 0;
	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, n);
	if ((rc = sql_step(s, q, err)) > 0)
		*ret_last = sqlite3_column_int64(q, 0);
	sqlite3_reset(q);
	if (rc >= 0 && *ret_last < n)
		return err_set(err, E_STORE, "%s: table settings, row store.captures: no number: "
		               "damaged, or not made by freshet; restore a backup", s->path);
	return rc < 0 ? rc : 0;
}

int sqlite_ids_return(struct store_sqlite *s, struct err *err)
{
	int64_t last, left = s->ids.left;

	s->ids.left = s->ids.drawn = 0;
	return left ? count_ids(s, -left, &last, err) : 0;
}

/* Ids for so many rows.  To draw them costs as much as to write a row, and within a batch nobody
 * else draws: then each draw is eight times as large as the one before, and what is left at the end
 * goes back. */
static int have_ids(struct store_sqlite *s, uint32_t n, struct err *err)
{
	uint32_t want = s->in_batch && n <= s->ids.drawn ? 8 * s->ids.drawn : n;
	int rc;

	if (n <= s->ids.left)
		return 0;
	want = want > IDS_MOST && n < IDS_MOST ? IDS_MOST : want;
	rc = sqlite_capture_ids(&s->base, want, &s->ids.next, err);
	s->ids.left = rc < 0 ? 0 : want;
	s->ids.drawn = s->in_batch ? want : 0;
	return rc;
}

int sqlite_captures_put(struct store *base, struct store_capture *rows, size_t n,
                        enum store_second how, uint8_t *ret, struct err *err)
{
	struct store_sqlite *s = self(base);
	uint32_t lacking = 0;
	uint64_t next = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		lacking += !rows[i].id;
	if (lacking && (rc = have_ids(s, lacking, err)) == 0) {
		next = s->ids.next;
		s->ids.next += lacking;
		s->ids.left -= lacking;
	}
	for (size_t i = 0; i < n && rc >= 0; i++) {
		bool lacks = !rows[i].id;

		rc = put_capture(s, &rows[i], how, next, err);
		next += lacks && rc == STORE_ADDED;
		ret[i] = rc < 0 ? STORE_KNOWN : (uint8_t)rc;
	}
	if (!s->in_batch)
		s->ids.left = 0;
	return sqlite_counts_alone(s, rc < 0 ? rc : 0, err);
}

int sqlite_capture_ids(struct store *base, uint32_t n, uint64_t *ret, struct err *err)
{
	int64_t last = 0;
	int rc = sqlite_ids_return(self(base), err);

	if (rc == 0)
		rc = count_ids(self(base), n, &last, err);
	*ret = (uint64_t)last - n + 1;
	return rc;
}

static void read_capture(struct sql_row *r, struct store_capture *c)
{
	*c = (struct store_capture){
		.id = sql_id(r, 0), .page = sql_page(r, 1), .time = sql_time(r, 2),
		.status = sql_status(r, 3), .revisit = sql_flag(r, 4),
		.mime = sql_text_or_null(r, 5), .digest = sql_text_or_null(r, 6),
		.prose = sql_text_or_null(r, 7), .tags = sql_text_or_null(r, 8),
		.title = sql_text_or_null(r, 9), .etag = sql_text_or_null(r, 10),
		.modified = sql_text_or_null(r, 11),
		.has_simhash = sqlite3_column_type(r->q, 12) != SQLITE_NULL,
		.length = sql_size(r, 13), .bytes_text = sql_size(r, 14), .words = sql_size(r, 15),
		.images = sql_size(r, 16), .tables = sql_size(r, 17), .emails = sql_size(r, 18),
		.outlinks = sql_size(r, 19),
		.links = sql_text_or_null(r, 20), .terms = sql_text_or_null(r, 21),
		.file = sql_text_or_null(r, 22), .offset = sql_size(r, 23), .size = sql_size(r, 24),
		.target = sql_url_or_null(r, 25), .robots = sql_text_or_null(r, 26),
		.worker = sql_text_or_null(r, 27),
	};
	if (!c->worker.size)
		c->worker.s = NULL;             /* this repository */
	if (c->has_simhash)
		c->simhash = (uint64_t)sql_any(r, 12);
}

/* Read what the statement brings; it is bound. */
static int scan(struct store_sqlite *s, sqlite3_stmt *q, store_capture_each *each, void *arg,
                struct err *err)
{
	struct sql_row r = { .s = s, .q = q, .table = "captures", .n_pages = -1, .err = err };
	int rc = 0;

	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct store_capture c;

		read_capture(&r, &c);
		rc = r.rc < 0 ? r.rc : each(arg, &c, err);
	}
	sqlite3_reset(q);
	return rc;
}

static int get(struct store_sqlite *s, enum sql how, const uint64_t *ids, size_t n,
               store_capture_each *each, void *arg, struct err *err)
{
	bool began;
	int rc = sql_reads_begin(s, n, &began, err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		sqlite3_stmt *q = sql_get(s, how, err);

		if (q)
			sqlite3_bind_int64(q, 1, (int64_t)ids[i]);
		rc = q ? scan(s, q, each, arg, err) : E_STORE;
	}
	return sql_reads_end(s, began, rc, err);
}

int sqlite_captures_get(struct store *base, const uint64_t *ids, size_t n,
                        store_capture_each *each, void *arg, struct err *err)
{
	return get(self(base), SQL_CAPTURE_GET, ids, n, each, arg, err);
}

int sqlite_copies_get(struct store *base, const uint64_t *ids, size_t n,
                      store_capture_each *each, void *arg, struct err *err)
{
	return get(self(base), SQL_COPY_GET, ids, n, each, arg, err);
}

int sqlite_captures_refresh(struct store *base, const struct store_headers *rows, size_t n,
                            struct err *err)
{
	struct store_sqlite *s = self(base);
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		sqlite3_stmt *q = sql_get(s, SQL_CAPTURE_REFRESH, err);

		if (!q)
			return E_STORE;
		sqlite3_bind_int64(q, 1, (int64_t)rows[i].capture);
		sql_bind_text(q, 2, rows[i].etag);
		sql_bind_text(q, 3, rows[i].modified);
		sql_bind_text(q, 4, rows[i].robots);
		rc = sql_run(s, q, err);
	}
	return rc;
}

int sqlite_captures(struct store *base, const uint32_t *pages, size_t n,
                    store_capture_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q;
	int rc = 0;

	for (size_t i = 0; pages && i < n && rc == 0; i++) {
		if (!(q = sql_get(s, SQL_CAPTURE_PAGE, err)))
			return E_STORE;
		sqlite3_bind_int64(q, 1, pages[i]);
		rc = scan(s, q, each, arg, err);
	}
	if (pages)
		return rc;
	q = sql_get(s, SQL_CAPTURE_SCAN, err);
	return q ? scan(s, q, each, arg, err) : E_STORE;
}

int sqlite_captures_since(struct store *base, uint64_t id, store_capture_each *each,
                          void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_CAPTURE_SINCE, err);

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, id > INT64_MAX ? INT64_MAX : (int64_t)id);
	return scan(s, q, each, arg, err);
}
