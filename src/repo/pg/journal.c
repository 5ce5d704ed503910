/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.c - the journal of requests; see store_pg.h.
 *
 * The journal does not wait for the batch: it has the side connection.  Nor does it wait for
 * the disk (synchronous_commit off): an entry that the server has taken survives any end of
 * this program, which is what the journal is for, and is in the log before the next batch is.
 * A server that is killed itself may lose the entries of the last second.  We still have
 * them, and write them again after the connection was lost; a token for each write makes
 * this harmless.  So only a crash that ends both at once loses entries; the same holds of a file
 * that is not synced (repo/sqlite/sent.c).
 *
 * Under a lease the journal does wait for the disk: in a fleet a worker may well die just
 * before its server does, or a standby takes over, and what was asked for must not be asked
 * for again by the next who has the shard.
 *
 * Entries go out and their caller goes on (pg_sent_start()); pg_sent_done() says when they
 * are there.  One statement is under way at a time: what comes meanwhile goes together.
 */
#include <sys/random.h>

#include "repo/pg/store_pg.h"

/* The entries from this one on, a row for each write, and the checks that go with them. */
static void add_entries(const struct store_pg *s, size_t from, struct pg_pipe *p)
{
	struct pg_rows r = { .types = "iiiii" };
	struct pg_args a = { 0 };

	pg_lease_check(s, p);
	for (size_t i = from; i < s->journal.n; i++) {
		const struct pg_noted *e = &s->journal.v[i];

		pg_rows_int(&r, e->row.cycle);
		pg_rows_int(&r, e->row.place);
		pg_rows_int(&r, e->row.page);
		pg_rows_int(&r, e->row.reason);
		pg_rows_int(&r, e->row.read);
		if (i + 1 < s->journal.n && e[1].token == e->token)
			continue;
		pg_shard_args(s, &a);
		pg_args_int(&a, e->token);
		pg_rows_take(&r, &a);
		pg_pipe_add(p, s->target.fence ? PG_SENT_ADD : PG_SENT_ADD_SOON, &a);
	}
	pg_rows_release(&r);
	pg_args_release(&a);
}

int pg_journal_repeat(struct store_pg *s, struct err *err)
{
	struct pg_pipe p = { .link = &s->link };
	int rc;

	if (!s->journal.n)
		return 0;
	add_entries(s, 0, &p);
	rc = pg_lease_run(s, &p, err);
	pg_pipe_release(&p);
	return rc;
}

/* Send what is noted; its results are read by pg_sent_done(). */
static int send_step(struct store_pg *s, void *arg, struct err *err)
{
	int rc = s->side.conn ? 0 : pg_link_connect(&s->side, err);

	(void)arg;
	if (rc < 0)
		return rc;
	pg_pipe_release(&s->noting.pipe);
	s->noting.pipe = (struct pg_pipe){ .link = &s->side };
	add_entries(s, s->noting.from, &s->noting.pipe);
	return pg_pipe_send(&s->noting.pipe, err);
}

static int send_and_wait_step(struct store_pg *s, void *arg, struct err *err)
{
	int rc = send_step(s, arg, err);

	return rc < 0 ? rc : pg_lease_run(s, &s->noting.pipe, err);
}

int pg_sent_start(struct store *base, const struct store_sent *sent, size_t n, struct err *err)
{
	struct store_pg *s = pg_beside(base);
	int64_t token;
	int rc = pg_sent_done(base, true, err);

	if (rc < 0 || !n)
		return rc < 0 ? rc : 0;
	if (getrandom(&token, sizeof token, 0) != sizeof token)
		err_no_memory();
	s->noting.from = s->journal.n;
	for (size_t i = 0; i < n; i++)
		vec_push(&s->journal, ((struct pg_noted){ sent[i], token }));
	rc = pg_try_aside(s, send_step, NULL, err);
	s->noting.is_under_way = rc == 0;
	return rc;
}

int pg_sent_done(struct store *base, bool wait, struct err *err)
{
	struct store_pg *s = pg_beside(base);
	int rc;

	if (!s->noting.is_under_way)
		return 1;
	if (!wait && s->side.conn && !pg_link_readable(&s->side))
		return 0;
	rc = pg_lease_run(s, &s->noting.pipe, err);
	if (rc == E_NET)
		rc = pg_try_aside(s, send_and_wait_step, NULL, err);
	pg_pipe_release(&s->noting.pipe);
	s->noting.is_under_way = false;
	return rc < 0 ? rc : 1;
}

struct journal { store_sent_each *each; void *arg; struct err *err; };

static int see_sent(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct journal *w = arg;
	struct store_sent sent = {
		.cycle = pg_row_count(r, 0), .place = pg_row_count(r, 1), .page = pg_row_count(r, 2),
		.reason = (uint8_t)pg_row_int(r, 3, 0, UINT8_MAX, "reason"), .read = pg_row_flag(r, 4),
	};

	(void)s;
	return r->rc < 0 ? r->rc : w->each(w->arg, &sent, w->err);
}

int pg_sent(struct store *base, store_sent_each *each, void *arg, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct journal w = { each, arg, err };
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_shard_args(s, &a);
	rc = pg_ask_apart(s, PG_SENT_SCAN, &a, &r, err);
	pg_args_release(&a);
	return rc < 0 ? rc : pg_walk(s, r, "sent", see_sent, &w, err);
}

int pg_sent_clear(struct store *base, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_args a = { 0 };
	int rc;

	(void)!pg_sent_done(base, true, NULL);  /* whatever came of them */
	s->journal.n = 0;
	pg_shard_args(s, &a);
	rc = pg_ask_apart(s, PG_SENT_CLEAR, &a, NULL, err);
	pg_args_release(&a);
	return rc;
}
