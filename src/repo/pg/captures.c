/* SPDX-License-Identifier: Apache-2.0 */
/*
 * captures.c - captures; see store_pg.h.
 *
 * Links and terms of a capture are long and mostly equal to those of the previous capture.
 * So each text is stored once, in `bodies`, found by a 64-bit hash.  A text that we know to
 * be there is not sent again.
 */
#include <stdio.h>
#include <string.h>

#include "repo/pg/store_pg.h"

#define AT_ONCE 1000            /* captures, or pages, that are asked for in one statement */
#define SCAN_PART 1000
#define IDS_AHEAD 100           /* drawn at once: one by one would be a round trip each */
#define SECONDS_MAX 3600        /* that STORE_NEXT looks on */
#define ROWS_BYTES ((size_t)8 << 20)    /* of a statement */
#define READ_BYTES ((size_t)256 << 20)  /* texts in memory; beyond that no copies are kept */
#define BODIES_KNOWN_MAX 4000000        /* keys: 64 MB */

static uint64_t second_key(uint32_t page, int64_t time)
{
	const struct { uint64_t page; int64_t time; } key = { page, time };

	return hash_bytes(&key, sizeof key, 0);
}

/* The capture of this second that the batch has put, or NULL. */
static struct pg_capture *own_second(struct pg_batch *b, uint32_t page, int64_t time)
{
	uint32_t i = map_get(&b->by_second, second_key(page, time));

	if (i == MAP_NONE || b->captures.v[i].row.page != page || b->captures.v[i].row.time != time)
		return NULL;
	return &b->captures.v[i];
}

static struct text keep_text(struct pg_batch *b, struct text t)
{
	return t.s ? (struct text){ arena_strndup(&b->texts, t.s, t.size), t.size } : t;
}

static void keep_texts(struct pg_batch *b, struct store_capture *c)
{
	for (size_t i = 0; i < STORE_CAPTURE_TEXTS; i++) {
		struct text *t = store_capture_text(c, i);

		*t = keep_text(b, *t);
	}
}

static void put_body(struct store_pg *s, struct pg_rows *r, struct text body)
{
	uint64_t key;
	bool is_new;

	if (!body.s) {
		pg_rows_int_or_null(r, 0, false);
		return;
	}
	key = hash_bytes(body.s, body.size, 3);
	pg_rows_int(r, (int64_t)key);
	if (s->bodies_known.n > BODIES_KNOWN_MAX)
		map_clear(&s->bodies_known);
	map_intern(&s->bodies_known, key, 0, &is_new);
	if (is_new) {
		pg_rows_int(&s->batch.bodies, (int64_t)key);
		pg_rows_text(&s->batch.bodies, body);
		if (s->batch.bodies.size >= ROWS_BYTES)
			pg_rows_take(&s->batch.bodies, pg_batch_call(s, PG_BODY_INSERT));
	}
}

static uint32_t file_number(struct store_pg *s, const struct store_capture *c, bool *ret_new)
{
	struct buf name;
	uint32_t i;

	buf_init(&name, BUF_NO_LIMIT);
	if (c->worker.s) {
		buf_add(&name, c->worker.s, c->worker.size);
		buf_byte(&name, 0);
	}
	buf_add(&name, c->file.s, c->file.size);
	i = ret_new ? strtab_intern(&s->files_known, name.data, name.size, ret_new) :
	    strtab_find(&s->files_known, name.data, name.size);
	buf_release(&name);
	return i;
}

/* Give the WARC file of the capture an id, if it has none yet. */
static int know_file(struct store_pg *s, const struct store_capture *c, struct err *err)
{
	struct pg_args a = { 0 }, *insert;
	PGresult *r = NULL;
	bool is_new;
	int64_t id;
	int rc;

	if (!c->file.s)
		return 0;
	file_number(s, c, &is_new);
	if (!is_new)
		return 0;
	vec_push(&s->file_ids, 0);
	pg_shard_args(s, &a);
	pg_args_text(&a, c->worker);
	pg_args_text(&a, c->file);
	rc = pg_ask(s, PG_FILE_FIND, &a, &r, err);
	pg_args_release(&a);
	if (rc < 0)
		return rc;
	if (PQntuples(r)) {
		struct pg_row row = { .r = r, .table = "files", .where = s->target.shown, .err = err };

		id = pg_row_any(&row, 0);
	} else {
		id = ++s->batch.n_files;
		insert = pg_batch_call(s, PG_FILE_INSERT);
		pg_args_int(insert, id);
		pg_args_text(insert, c->worker);
		pg_args_text(insert, c->file);
	}
	s->file_ids.v[s->file_ids.n - 1] = id;
	PQclear(r);
	return 0;
}

int pg_file_id(struct store_pg *s, const struct store_capture *c, int64_t *ret,
               struct err *err)
{
	int rc = know_file(s, c, err);

	if (rc == 0)
		*ret = s->file_ids.v[file_number(s, c, NULL)];
	return rc;
}

static void put_capture(struct store_pg *s, struct pg_rows *r, const struct store_capture *c)
{
	const struct text texts[] = { c->mime, c->digest, c->prose, c->tags, c->title, c->etag,
	                              c->modified };
	const int64_t sizes[] = { c->length, c->bytes_text, c->words, c->images, c->tables,
	                          c->emails, c->outlinks };

	pg_rows_int(r, (int64_t)c->id);
	pg_rows_int(r, c->page);
	pg_rows_int(r, c->time);
	pg_rows_int(r, c->status);
	pg_rows_int(r, c->revisit);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		pg_rows_text(r, texts[i]);
	pg_rows_int_or_null(r, (int64_t)c->simhash, c->has_simhash);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		pg_rows_int_or_null(r, sizes[i], sizes[i] >= 0);
	put_body(s, r, c->links);
	put_body(s, r, c->terms);
	pg_rows_int_or_null(r, c->file.s ? s->file_ids.v[file_number(s, c, NULL)] : 0,
	                    c->file.s != NULL);
	pg_rows_int_or_null(r, c->offset, c->offset >= 0);
	pg_rows_int_or_null(r, c->size, c->size >= 0);
	pg_rows_text(r, c->target);
	pg_rows_text(r, c->robots);
}

void pg_captures_flush(struct store_pg *s)
{
	struct pg_batch *b = &s->batch;
	struct pg_rows rows = { .types = "iiiiitttttttiiiiiiiiiiiiitt" };

	for (size_t i = 0; i < b->captures.n; i++) {
		if (b->captures.v[i].is_sent)
			continue;
		put_capture(s, &rows, &b->captures.v[i].row);
		b->captures.v[i].is_sent = true;
		if (rows.size >= ROWS_BYTES)
			pg_rows_take(&rows, pg_batch_call(s, PG_CAPTURE_INSERT));
	}
	if (b->bodies.n)
		pg_rows_take(&b->bodies, pg_batch_call(s, PG_BODY_INSERT));
	if (rows.n)
		pg_rows_take(&rows, pg_batch_call(s, PG_CAPTURE_INSERT));
	pg_rows_release(&rows);
}

int pg_capture_ids(struct store *base, uint32_t n, uint64_t *ret, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_shard_args(s, &a);
	pg_args_int(&a, n);
	rc = pg_ask_apart(s, PG_CAPTURE_IDS, &a, &r, err);
	pg_args_release(&a);
	if (rc == 0 && !PQntuples(r))
		rc = err_set(err, E_STORE, "%s: table drawn: no row for shard %d: damaged; restore a "
		             "backup", s->target.shown, s->target.shard);
	if (rc == 0) {
		struct pg_row row = { .r = r, .table = "drawn", .where = s->target.shown, .err = err };

		*ret = pg_row_id(&row, 0);
		rc = row.rc;
	}
	PQclear(r);
	return rc;
}

/* The seconds that are taken in the tables. */
struct taken {
	VEC(struct taken_second {
		uint32_t page; int64_t time; uint64_t id; unsigned rank;
	}) rows;
	struct map by_second;
};

static int see_taken(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct taken *t = arg;
	struct taken_second row = { pg_row_page(r, 0), pg_row_time(r, 1), pg_row_id(r, 2),
	                            store_capture_rank(pg_row_status(r, 3), pg_row_flag(r, 4)) };

	(void)s;
	map_put(&t->by_second, second_key(row.page, row.time), (uint32_t)t->rows.n);
	vec_push(&t->rows, row);
	return r->rc;
}

static const struct taken_second *taken_at(const struct taken *t, uint32_t page, int64_t time)
{
	uint32_t i = map_get(&t->by_second, second_key(page, time));

	return i != MAP_NONE && t->rows.v[i].page == page && t->rows.v[i].time == time ?
	       &t->rows.v[i] : NULL;
}

/* Do we know that it has no capture at this time or later, but ours? */
static bool is_free(struct store_pg *s, const struct store_capture *c)
{
	const struct pg_page *p = pg_batch_page(s, c->page, false);

	return c->page >= s->batch.first_new || (p && p->is_known && c->time > p->captured);
}

/* Look which seconds of these captures are taken. */
static int look(struct store_pg *s, const struct store_capture *rows, size_t n,
                enum store_second how, struct taken *t, struct err *err)
{
	struct pg_rows seconds = { .types = "ii" };
	struct pg_args a = { 0 };
	int rc = 0;

	for (size_t i = 0; i <= n && rc == 0; i++) {
		if (i < n && !is_free(s, &rows[i])) {
			pg_rows_int(&seconds, rows[i].page);
			pg_rows_int(&seconds, rows[i].time);
		}
		if (seconds.n == AT_ONCE * 10 || (i == n && seconds.n)) {
			PGresult *r = NULL;

			pg_shard_args(s, &a);
			pg_rows_take(&seconds, &a);
			pg_args_int(&a, how == STORE_NEXT ? SECONDS_MAX : 0);
			rc = pg_ask(s, PG_CAPTURE_SECONDS, &a, &r, err);
			if (rc == 0)
				rc = pg_walk(s, r, "captures", see_taken, t, err);
		}
	}
	pg_args_release(&a);
	pg_rows_release(&seconds);
	return rc;
}

/* Put a capture into the batch; its second is free, or that of `old`. */
static int put_own(struct store_pg *s, struct store_capture *c, struct pg_capture *old,
                   struct err *err)
{
	struct pg_batch *b = &s->batch;
	struct pg_capture row = { .row = *c };
	struct pg_page *page = pg_batch_page(s, c->page, true);
	int rc = know_file(s, c, err);

	if (rc == 0)
		rc = pg_need_part(s, PG_OF_CAPTURES, c->time, err);
	if (rc < 0)
		return rc;
	if (c->time > page->captured) {
		page->captured = c->time;
		page->is_changed = true;
	}
	keep_texts(b, &row.row);
	if (old) {
		if (old->is_sent)
			pg_rows_int(&b->captures_drop, (int64_t)c->id);
		*old = row;
		return 0;
	}
	map_put(&b->by_id, c->id, (uint32_t)b->captures.n);
	map_put(&b->by_second, second_key(c->page, c->time), (uint32_t)b->captures.n);
	vec_push(&b->captures, row);
	return 0;
}

static int put_one(struct store_pg *s, struct store_capture *c, enum store_second how,
                   const struct taken *t, uint8_t *ret, struct err *err)
{
	struct pg_batch *b = &s->batch;
	struct pg_capture *own = own_second(b, c->page, c->time);
	const struct taken_second *there = own ? NULL : taken_at(t, c->page, c->time);
	int64_t last = c->time + SECONDS_MAX;
	unsigned rank;

	while (how == STORE_NEXT && (own || there)) {
		if (c->time == last)
			return err_set(err, E_LIMIT, "%s: page %u has a capture in each second of an hour",
			               s->target.shown, c->page);
		c->time++;
		own = own_second(b, c->page, c->time);
		there = own ? NULL : taken_at(t, c->page, c->time);
	}
	*ret = STORE_ADDED;
	if (!own && !there) {
		if (!c->id) {
			c->id = b->next_id++;
			b->n_ids--;
		}
		return put_own(s, c, NULL, err);
	}
	rank = own ? store_capture_rank(own->row.status, own->row.revisit) : there->rank;
	if (how != STORE_BEST || store_capture_rank(c->status, c->revisit) <= rank) {
		*ret = STORE_KNOWN;
		c->id = 0;
		return 0;
	}
	*ret = STORE_REPLACED;
	c->id = own ? own->row.id : there->id;
	pg_batch_take(s, PG_CAPTURE_REFRESH, &b->headers);      /* those of the old one */
	if (map_get(&b->read_by_id, c->id) != MAP_NONE)
		b->read.v[map_get(&b->read_by_id, c->id)].id = 0;
	if (there)
		pg_rows_int(&b->captures_drop, (int64_t)there->id);
	return put_own(s, c, own, err);
}

/* Have so many ids.  What is left of them at the end of the batch is never used: ids of
 * later batches are higher. */
static int draw_ids(struct store_pg *s, uint32_t n, struct err *err)
{
	uint32_t draw = n > IDS_AHEAD || !s->batch.captures.n ? n : IDS_AHEAD;
	int rc;

	if (n <= s->batch.n_ids)
		return 0;
	rc = pg_capture_ids(&s->base, draw, &s->batch.next_id, err);
	s->batch.n_ids = rc == 0 ? draw : 0;
	return rc;
}

int pg_captures_put(struct store *base, struct store_capture *rows, size_t n,
                    enum store_second how, uint8_t *ret, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct taken t = { 0 };
	uint32_t n_ids = 0;
	bool own;
	int rc = pg_enter(s, &own, err);

	if (rc == 0)
		rc = look(s, rows, n, how, &t, err);
	for (size_t i = 0; i < n; i++)
		n_ids += !rows[i].id && (how == STORE_NEXT ||
		                         (!own_second(&s->batch, rows[i].page, rows[i].time) &&
		                          !taken_at(&t, rows[i].page, rows[i].time)));
	if (rc == 0)
		rc = draw_ids(s, n_ids, err);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = put_one(s, &rows[i], how, &t, &ret[i], err);
	vec_release(&t.rows);
	map_release(&t.by_second);
	return pg_leave(s, own, rc, err);
}

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
			keep_texts(&s->batch, &c);
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
			c->etag = keep_text(b, rows[i].etag);
			c->modified = keep_text(b, rows[i].modified);
			c->robots = keep_text(b, rows[i].robots);
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

int pg_captures(struct store *base, const uint32_t *pages, size_t n, store_capture_each *each,
                void *arg, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct walking w = { each, arg, err };
	struct pg_args a = { 0 };
	int rc = 0;

	if (!pages) {
		pg_shard_args(s, &a);
		rc = pg_scan(s, PG_CAPTURE_SCAN, &a, SCAN_PART, "captures", see_capture, &w, err);
	} else if (n) {
		pg_show_writes(s, PG_ALL_TABLES);
	}
	for (size_t from = 0; pages && from < n && rc == 0; from += AT_ONCE) {
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
