/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c - rows in parts, through a cursor.
 *
 * While the rows of a part are walked through, the server makes the next part, and libpq takes it
 * in between two rows.  A callback may ask for other rows all the same: first all of the next part
 * is read (pg_scan_collect()), then the connection is free.  After a lost connection the scan goes
 * on where it was: the order of rows is fixed, and nobody has written meanwhile, or the session
 * gives up (session.c).
 */
#include <stdio.h>

#include "repo/pg/store_pg.h"

#define SIP_ROWS 64             /* after so many libpq takes in what has come */

struct pg_scanning {
	enum pg_sql sql;
	const struct pg_args *args;
	unsigned cursor, part;
	uint64_t generation;            /* of the connection that has the cursor; 0: none */
	uint64_t n_got;
	PGresult *rows, *next;          /* next: the part after it, or NULL */
	struct pg_pipe ahead;           /* that asks for it, if s->ahead is this scan */
};

static void add_fetch(const struct pg_scanning *c, struct pg_pipe *p)
{
	char text[64];

	snprintf(text, sizeof text, "FETCH FORWARD %u FROM scan%u", c->part, c->cursor);
	pg_pipe_text(p, text, NULL);
}

static PGresult *take_rows(struct pg_scanning *c, struct pg_pipe *p)
{
	PGresult *rows = p->results.v[--p->results.n];

	c->n_got += (uint64_t)PQntuples(rows);
	return rows;
}

/* Ask for the next part, and do not wait for it. */
static void send_ahead(struct store_pg *s, struct pg_scanning *c)
{
	c->ahead = (struct pg_pipe){ .link = &s->link };
	add_fetch(c, &c->ahead);
	if (pg_pipe_send(&c->ahead, NULL) == 0)
		s->ahead = c;
	else
		pg_pipe_release(&c->ahead);     /* it is asked for again */
}

void pg_scan_collect(struct store_pg *s)
{
	struct pg_scanning *c = s->ahead;

	if (!c)
		return;
	s->ahead = NULL;
	if (pg_pipe_run(&c->ahead, NULL) == 0)
		c->next = take_rows(c, &c->ahead);
	else
		pg_link_close(&s->link);        /* asked for again, it says what is wrong */
	pg_pipe_release(&c->ahead);
}

static int fetch(struct store_pg *s, void *arg, struct err *err)
{
	struct pg_scanning *c = arg;
	struct pg_pipe p = { .link = &s->link };
	struct buf declare;
	char move[64];
	int rc;

	if (c->next) {
		c->rows = c->next;
		c->next = NULL;
		return 0;
	}
	buf_init(&declare, BUF_NO_LIMIT);
	if (c->generation != s->link.generation) {
		buf_printf(&declare, "DECLARE scan%u NO SCROLL CURSOR FOR %s", c->cursor,
		           pg_sql_texts[c->sql]);
		pg_pipe_text(&p, buf_text(&declare), c->args);
		if (c->n_got) {
			snprintf(move, sizeof move, "MOVE FORWARD %llu IN scan%u",
			         (unsigned long long)c->n_got, c->cursor);
			pg_pipe_text(&p, move, NULL);
		}
	}
	add_fetch(c, &p);
	rc = pg_pipe_run(&p, err);
	buf_release(&declare);
	if (rc == 0) {
		c->generation = s->link.generation;
		c->rows = take_rows(c, &p);
	}
	pg_pipe_release(&p);
	return rc;
}

static void close_cursor(struct store_pg *s, const struct pg_scanning *c)
{
	struct pg_pipe p = { .link = &s->link };
	char text[40];

	pg_scan_collect(s);             /* each() may have had enough */
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
		if (s->ahead && r.i % SIP_ROWS == 0)
			pg_link_sip(&s->link);
	}
	arena_release(&room);
	return rc;
}

int pg_scan(struct store_pg *s, enum pg_sql sql, const struct pg_args *args, unsigned part,
            const char *table, pg_row_each *each, void *arg, struct err *err)
{
	struct pg_scanning c = { .sql = sql, .args = args, .part = part, .cursor = ++s->n_cursors };
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
		if (!c.next && (unsigned)PQntuples(c.rows) == part)
			send_ahead(s, &c);
		rc = walk(s, c.rows, table, each, arg, n_pages, err);
		if (rc || (unsigned)PQntuples(c.rows) < part)
			break;
		PQclear(c.rows);
		c.rows = NULL;
	}
	close_cursor(s, &c);
	PQclear(c.rows);
	PQclear(c.next);
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
