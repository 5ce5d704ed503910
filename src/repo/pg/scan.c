/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c - rows in parts, through a cursor.
 *
 * Between two parts the connection is free, so a callback may ask for other rows.  After a
 * lost connection the scan goes on where it was: the order of rows is fixed, and nobody has
 * written meanwhile, or the session gives up (session.c).
 */
#include <stdio.h>

#include "repo/pg/store_pg.h"

struct scan {
	enum pg_sql sql;
	const struct pg_args *args;
	unsigned cursor, part;
	uint64_t generation;            /* of the connection that has the cursor; 0: none */
	uint64_t n_seen;
	PGresult *rows;
};

static int fetch(struct store_pg *s, void *arg, struct err *err)
{
	struct scan *c = arg;
	struct pg_pipe p = { .link = &s->link };
	char fetch_text[64], move[64];
	struct buf declare;
	int rc;

	buf_init(&declare, BUF_NO_LIMIT);
	if (c->generation != s->link.generation) {
		buf_printf(&declare, "DECLARE scan%u NO SCROLL CURSOR FOR %s", c->cursor,
		           pg_sql_texts[c->sql]);
		pg_pipe_text(&p, buf_text(&declare), c->args);
		if (c->n_seen) {
			snprintf(move, sizeof move, "MOVE FORWARD %llu IN scan%u",
			         (unsigned long long)c->n_seen, c->cursor);
			pg_pipe_text(&p, move, NULL);
		}
	}
	snprintf(fetch_text, sizeof fetch_text, "FETCH FORWARD %u FROM scan%u", c->part, c->cursor);
	pg_pipe_text(&p, fetch_text, NULL);
	rc = pg_pipe_run(&p, err);
	buf_release(&declare);
	if (rc == 0) {
		c->generation = s->link.generation;
		c->rows = p.results.v[--p.results.n];
	}
	pg_pipe_release(&p);
	return rc;
}

static void close_cursor(struct store_pg *s, const struct scan *c)
{
	struct pg_pipe p = { .link = &s->link };
	char text[40];

	if (!s->link.conn || c->generation != s->link.generation ||
	    !(s->has.frozen || s->has.writing))
		return;
	if (s->has.frozen && s->frozen == 1 && !s->user_frozen) {
		pg_pipe_add(&p, PG_COMMIT, NULL);       /* the moment ends, and all cursors */
		s->has.frozen = false;
	} else {
		snprintf(text, sizeof text, "CLOSE scan%u", c->cursor);
		pg_pipe_text(&p, text, NULL);
	}
	if (pg_pipe_run(&p, NULL) < 0)
		pg_link_close(&s->link);
	pg_pipe_release(&p);
}

static int walk(struct store_pg *s, const PGresult *rows, const char *table,
                pg_row_each *each, void *arg, int64_t n_pages, struct err *err)
{
	struct arena room = { 0 };
	struct pg_row r = { .r = rows, .table = table, .where = s->target.shown,
	                    .n_pages = n_pages, .room = &room, .err = err };
	int rc = 0, n = PQntuples(rows);

	for (; r.i < n && rc == 0; r.i++) {
		rc = each(s, &r, arg);
		if (room.total)
			arena_reset(&room);
	}
	arena_release(&room);
	return rc;
}

int pg_scan(struct store_pg *s, enum pg_sql sql, const struct pg_args *args, unsigned part,
            const char *table, pg_row_each *each, void *arg, struct err *err)
{
	struct scan c = { .sql = sql, .args = args, .part = part, .cursor = ++s->n_cursors };
	int64_t n_pages;
	bool in_batch = s->in_batch;
	int rc;

	if (in_batch) {                 /* a cursor lives in a transaction */
		pg_batch_flush(s);
		s->writing = true;
	} else {
		if (!s->frozen++)
			s->frozen_batch = -1;
	}
	for (;;) {
		rc = pg_try(s, fetch, &c, err);
		if (rc == 0)
			rc = pg_page_count(s, &n_pages, err);
		if (rc < 0)
			break;
		rc = walk(s, c.rows, table, each, arg, n_pages, err);
		c.n_seen += (uint64_t)PQntuples(c.rows);
		if (rc || (unsigned)PQntuples(c.rows) < part)
			break;
		PQclear(c.rows);
		c.rows = NULL;
	}
	PQclear(c.rows);
	close_cursor(s, &c);
	if (!in_batch)
		s->frozen--;
	return rc;
}

int pg_walk(struct store_pg *s, PGresult *r, const char *table, pg_row_each *each, void *arg,
            struct err *err)
{
	int64_t n_pages = 0;
	int rc = pg_page_count(s, &n_pages, err);

	if (rc == 0)
		rc = walk(s, r, table, each, arg, n_pages, err);
	PQclear(r);
	return rc;
}
