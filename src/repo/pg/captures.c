/* SPDX-License-Identifier: Apache-2.0 */
/*
 * captures.c - captures written; see store_pg.h.  captures_get.c reads them.
 *
 * Links and terms of a capture are long and mostly equal to those of the previous capture.
 * So each text is stored once, in `bodies`, found by a 64-bit hash.  A text that we know to
 * be there is not sent again.
 */
#include <stdio.h>
#include <string.h>

#include "repo/pg/store_pg.h"

#define AT_ONCE 1000            /* captures, or pages, that are asked for in one statement */
#define IDS_AHEAD 100           /* drawn at once: one by one would be a round trip each */
#define SECONDS_MAX 3600        /* that STORE_NEXT looks on */
#define ROWS_BYTES ((size_t)8 << 20)    /* of a statement */
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

struct text pg_batch_text(struct pg_batch *b, struct text t)
{
	return t.s ? (struct text){ arena_strndup(&b->texts, t.s, t.size), t.size } : t;
}

void pg_batch_texts(struct pg_batch *b, struct store_capture *c)
{
	for (size_t i = 0; i < STORE_CAPTURE_TEXTS; i++) {
		struct text *t = store_capture_text(c, i);

		*t = pg_batch_text(b, *t);
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
			pg_batch_take(s, PG_BODY_INSERT, &s->batch.bodies);
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
	struct pg_rows rows = { .types = "iiinotttttttiiiiiiiiiiiiitt" };

	for (size_t i = 0; i < b->captures.n; i++) {
		if (b->captures.v[i].is_sent)
			continue;
		put_capture(s, &rows, &b->captures.v[i].row);
		b->captures.v[i].is_sent = true;
		if (rows.size >= ROWS_BYTES)
			pg_batch_take_new(s, PG_CAPTURE_INSERT, PG_CAPTURE_COPY, &rows);
	}
	pg_batch_take(s, PG_BODY_INSERT, &b->bodies);
	pg_batch_take_new(s, PG_CAPTURE_INSERT, PG_CAPTURE_COPY, &rows);
	pg_rows_release(&rows);
}

int pg_capture_ids(struct store *base, uint32_t n, uint64_t *ret, struct err *err)
{
	struct store_pg *s = pg_beside(base);
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
	pg_batch_texts(b, &row.row);
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
