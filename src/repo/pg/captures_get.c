/* SPDX-License-Identifier: Apache-2.0 */
/*
 * captures_get.c - captures read, from the tables and from what the open batch has in memory;
 * see store_pg.h.  captures.c writes them.
 */
#include "repo/pg/store_pg.h"

#define AT_ONCE 1000            /* captures, or pages, that are asked for in one statement */
#define SCAN_PART 1000
#define READ_BYTES ((size_t)256 << 20)  /* texts in memory; beyond that no copies are kept */

static void read_capture(struct pg_row *r, struct store_capture *c)
{
	*c = (struct store_capture){
		.id = pg_row_id(r, 0), .page = pg_row_page(r, 1), .time = pg_row_time(r, 2),
		.status = pg_row_status(r, 3), .revisit = pg_row_flag(r, 4),
		.mime = pg_row_text_or_null(r, 5), .digest = pg_row_text_or_null(r, 6),
		.prose = pg_row_text_or_null(r, 7), .tags = pg_row_text_or_null(r, 8),
		.title = pg_row_text_or_null(r, 9), .etag = pg_row_text_or_null(r, 10),
		.modified = pg_row_text_or_null(r, 11), .has_simhash = !pg_row_null(r, 12),
		.length = pg_row_size(r, 13), .bytes_text = pg_row_size(r, 14),
		.words = pg_row_size(r, 15), .images = pg_row_size(r, 16),
		.tables = pg_row_size(r, 17), .emails = pg_row_size(r, 18),
		.outlinks = pg_row_size(r, 19), .links = pg_row_text_or_null(r, 20),
		.terms = pg_row_text_or_null(r, 21), .file = pg_row_text_or_null(r, 22),
		.offset = pg_row_size(r, 23), .size = pg_row_size(r, 24),
		.target = pg_row_url_or_null(r, 25), .robots = pg_row_text_or_null(r, 26),
		.worker = pg_row_text_or_null(r, 27),
	};
	if (c->has_simhash)
		c->simhash = (uint64_t)pg_row_any(r, 12);
}

void pg_capture_keep(struct store_pg *s, const PGresult *r, int64_t n_pages)
{
	struct arena room = { 0 };
	struct store_capture c;

	for (int i = 0; i < PQntuples(r) && s->batch.texts.total < READ_BYTES; i++) {
		struct pg_row row = { .r = r, .i = i, .table = "captures", .where = s->target.shown,
		                      .room = &room, .n_pages = n_pages };

		read_capture(&row, &c);         /* a damaged one is told of when it is wanted */
		if (row.rc == 0 && map_get(&s->batch.refreshed, c.id) == MAP_NONE) {
			pg_batch_texts(&s->batch, &c);
			map_put(&s->batch.read_by_id, c.id, (uint32_t)s->batch.read.n);
			vec_push(&s->batch.read, c);
		}
		arena_reset(&room);
	}
	arena_release(&room);
}

struct walking { store_capture_each *each; void *arg; struct err *err; };

/* A capture that the batch has in memory; NULL: it has none. */
static struct store_capture *in_memory(struct store_pg *s, uint64_t id)
{
	struct pg_batch *b = &s->batch;
	uint32_t own = s->in_batch ? map_get(&b->by_id, id) : MAP_NONE;
	uint32_t read = s->in_batch ? map_get(&b->read_by_id, id) : MAP_NONE;

	if (own != MAP_NONE)
		return &b->captures.v[own].row;
	return read != MAP_NONE && b->read.v[read].id == id ? &b->read.v[read] : NULL;
}

static int see_capture(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct walking *w = arg;
	struct store_capture c;

	(void)s;
	read_capture(r, &c);
	return r->rc < 0 ? r->rc : w->each(w->arg, &c, w->err);
}

/* Some captures, in the order of their ids in the array. */
static int get_some(struct store_pg *s, enum pg_sql sql, const uint64_t *ids, size_t n,
                    struct walking *w, int64_t n_pages, struct err *err)
{
	struct arena room = { 0 };
	struct pg_rows asked = { .types = "i" };
	struct pg_args a = { 0 };
	struct map by_id = { 0 };
	PGresult *result = NULL;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		if (!in_memory(s, ids[i]))
			pg_rows_int(&asked, (int64_t)ids[i]);
	if (asked.n) {
		pg_shard_args(s, &a);
		pg_rows_take(&asked, &a);
		rc = pg_ask(s, sql, &a, &result, err);
	}
	for (int i = 0; rc == 0 && result && i < PQntuples(result); i++) {
		struct pg_row r = { .r = result, .i = i };

		map_put(&by_id, (uint64_t)pg_row_any(&r, 0), (uint32_t)i);
	}
	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct store_capture *own = in_memory(s, ids[i]);
		uint32_t at = map_get(&by_id, ids[i]);
		struct pg_row r = { .r = result, .i = (int)at, .table = "captures", .room = &room,
		                    .where = s->target.shown, .n_pages = n_pages, .err = err };

		if (own) {
			struct store_capture c = *own;  /* the batch may grow meanwhile */

			rc = w->each(w->arg, &c, err);
		} else if (at != MAP_NONE) {
			rc = see_capture(s, &r, w);
		}
	}
	PQclear(result);
	map_release(&by_id);
	pg_rows_release(&asked);
	pg_args_release(&a);
	arena_release(&room);
	return rc;
}

static int get(struct store *base, enum pg_sql sql, const uint64_t *ids, size_t n,
               store_capture_each *each, void *arg, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct walking w = { each, arg, err };
	int64_t n_pages = 0;
	int rc = n ? pg_page_count(s, &n_pages, err) : 0;

	for (size_t i = 0; i < n && s->in_batch; i++)   /* new headers must be in the tables */
		if (map_get(&s->batch.refreshed, ids[i]) != MAP_NONE && !in_memory(s, ids[i]))
			pg_show_writes(s, PG_ALL_TABLES);
	for (size_t from = 0; from < n && rc == 0; from += AT_ONCE)
		rc = get_some(s, sql, ids + from, n - from < AT_ONCE ? n - from : AT_ONCE, &w, n_pages,
		              err);
	return rc;
}

int pg_captures_get(struct store *base, const uint64_t *ids, size_t n,
                    store_capture_each *each, void *arg, struct err *err)
{
	return get(base, PG_CAPTURE_GET, ids, n, each, arg, err);
}

int pg_copies_get(struct store *base, const uint64_t *ids, size_t n,
                  store_capture_each *each, void *arg, struct err *err)
{
	return get(base, PG_COPY_GET, ids, n, each, arg, err);
}

int pg_captures_refresh(struct store *base, const struct store_headers *rows, size_t n,
                        struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_batch *b = &s->batch;
	bool own;
	int rc = pg_enter(s, &own, err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		uint32_t at = map_get(&b->by_id, rows[i].capture);
		struct store_capture *c = in_memory(s, rows[i].capture);

		if (c) {
			c->etag = pg_batch_text(b, rows[i].etag);
			c->modified = pg_batch_text(b, rows[i].modified);
			c->robots = pg_batch_text(b, rows[i].robots);
		}
		if (at != MAP_NONE && !b->captures.v[at].is_sent)
			continue;
		if (map_get(&b->refreshed, rows[i].capture) != MAP_NONE)
			pg_batch_take(s, PG_CAPTURE_REFRESH, &b->headers);      /* a row once in each */
		map_put(&b->refreshed, rows[i].capture, 0);
		pg_rows_int(&b->headers, (int64_t)rows[i].capture);
		pg_rows_text(&b->headers, rows[i].etag);
		pg_rows_text(&b->headers, rows[i].modified);
		pg_rows_text(&b->headers, rows[i].robots);
	}
	return pg_leave(s, own, rc, err);
}

static int scan_all(struct store_pg *s, enum pg_sql which, const char *table,
                    pg_row_each *each, void *arg, struct err *err)
{
	struct pg_args a = { 0 };
	int rc;

	pg_shard_args(s, &a);
	rc = pg_scan(s, which, &a, SCAN_PART, table, each, arg, err);
	pg_args_release(&a);
	return rc;
}

struct linking { store_linked_each *each; store_text_each *text; void *arg;
                 const struct map *keys; struct err *err; };

static int see_linked(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct linking *l = arg;
	struct store_linked c = {
		.id = pg_row_id(r, 0), .page = pg_row_page(r, 1), .time = pg_row_time(r, 2),
		.status = pg_row_status(r, 3), .revisit = pg_row_flag(r, 4),
		.length = pg_row_size(r, 5), .words = pg_row_size(r, 6),
		.target = pg_row_url_or_null(r, 7), .has_links = !pg_row_null(r, 8),
		.has_terms = !pg_row_null(r, 9),
	};

	(void)s;
	if (c.has_links)
		c.links = (uint64_t)pg_row_any(r, 8);
	if (c.has_terms)
		c.terms = (uint64_t)pg_row_any(r, 9);
	return r->rc < 0 ? r->rc : l->each(l->arg, &c, l->err);
}

static int see_text(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct linking *l = arg;
	uint32_t value = map_get(l->keys, (uint64_t)pg_row_any(r, 0));
	struct text text;

	(void)s;
	if (value == MAP_NONE)
		return r->rc;
	text = pg_row_text(r, 1);
	return r->rc < 0 ? r->rc : l->text(l->arg, value, text, l->err);
}

int pg_captures_linked(struct store *base, store_linked_each *each, void *arg, struct err *err)
{
	struct linking l = { .each = each, .arg = arg, .err = err };

	return scan_all(pg_self(base), PG_CAPTURE_LINKED, "captures", see_linked, &l, err);
}

int pg_links(struct store *base, const struct map *keys, store_text_each *each, void *arg,
             struct err *err)
{
	struct linking l = { .text = each, .keys = keys, .arg = arg, .err = err };

	return scan_all(pg_self(base), PG_LINKS, "bodies", see_text, &l, err);
}

int pg_terms(struct store *base, const struct map *keys, store_text_each *each, void *arg,
             struct err *err)
{
	struct linking l = { .text = each, .keys = keys, .arg = arg, .err = err };

	return scan_all(pg_self(base), PG_TERMS, "bodies", see_text, &l, err);
}

int pg_captures(struct store *base, const uint32_t *pages, size_t n, store_capture_each *each,
                void *arg, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct walking w = { each, arg, err };
	struct pg_args a = { 0 };
	int rc = 0;

	if (!pages)
		return scan_all(s, PG_CAPTURE_SCAN, "captures", see_capture, &w, err);
	if (n)
		pg_show_writes(s, PG_ALL_TABLES);
	for (size_t from = 0; from < n && rc == 0; from += AT_ONCE) {
		struct pg_rows some = { .types = "i" };
		PGresult *r = NULL;

		for (size_t i = from; i < n && i < from + AT_ONCE; i++)
			pg_rows_int(&some, pages[i]);
		pg_shard_args(s, &a);
		pg_rows_take(&some, &a);
		rc = pg_ask(s, PG_CAPTURE_OF, &a, &r, err);
		if (rc == 0)
			rc = pg_walk(s, r, "captures", see_capture, &w, err);
		pg_rows_release(&some);
	}
	pg_args_release(&a);
	return rc;
}

int pg_captures_since(struct store *base, uint64_t id, store_capture_each *each, void *arg,
                      struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct walking w = { each, arg, err };
	struct pg_args a = { 0 };
	int rc;

	pg_shard_args(s, &a);
	pg_args_int(&a, (int64_t)id);
	rc = pg_scan(s, PG_CAPTURE_SINCE, &a, SCAN_PART, "captures", see_capture, &w, err);
	pg_args_release(&a);
	return rc;
}
