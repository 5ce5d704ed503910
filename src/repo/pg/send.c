/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send.c - a batch on its way to the server: its lock, its statements, its commit; see
 * store_pg.h.  session.c calls this for each connection anew, as far as that has it not yet.
 */
#include <string.h>

#include "repo/pg/store_pg.h"

static int lost_batch(struct store_pg *s, struct err *err)
{
	return err_set(err, E_STORE, "%s: another program wrote to it while the connection was "
	               "lost: what was not yet committed is given up; run the command again",
	               s->target.shown);
}

static int read_shard(struct store_pg *s, const PGresult *r, struct err *err)
{
	struct pg_batch *b = &s->batch;

	if (!PQntuples(r))
		return err_set(err, E_STORE, "%s: there is no shard %d", s->target.shown,
		               s->target.shard);
	if (b->is_begun) {
		int64_t number = pg_cell(r, 0);

		if (b->is_committing && number == b->number + 1 && pg_cell(r, 1) == b->token)
			b->is_committed = true;
		else if (number != b->number)
			return lost_batch(s, err);
		return 0;
	}
	b->number = pg_cell(r, 0);
	if (b->carried != b->number) {
		pg_batch_forget(b);
		s->base.others_wrote = true;
		pg_forget_known(s);     /* another program may have tidied up */
	}
	b->n_pages = pg_cell(r, 2);
	b->n_files = pg_cell(r, 3);
	b->newest_cycle = (uint32_t)pg_cell(r, 4);
	if (b->n_pages < 0 || b->n_pages >= STORE_NONE)
		return err_set(err, E_STORE, "%s: table shards, column pages: %lld pages: damaged, or "
		               "not made by freshet; restore a backup", s->target.shown,
		               (long long)b->n_pages);
	b->first_new = (uint32_t)b->n_pages;
	b->is_begun = true;
	return 0;
}

int pg_batch_enter(struct store_pg *s, struct err *err)
{
	struct pg_pipe p = { .link = &s->link };
	struct pg_args a = { 0 };
	int rc;

	pg_args_int(&a, s->lock_key);
	pg_pipe_add(&p, PG_LOCK, &a);
	pg_pipe_mark(&p);               /* the next statement sees what was written before */
	pg_shard_args(s, &a);
	pg_pipe_add(&p, PG_SHARD_READ, &a);
	if (!s->target.fence)
		pg_pipe_add(&p, PG_LEASE_HOLDER, &a);
	rc = pg_pipe_run(&p, err);
	s->has.batch = rc == 0;
	if (rc == 0 && !s->target.fence && PQntuples(p.results.v[2])) {
		rc = pg_leased_by_other(s, p.results.v[2], err);
		pg_args_release(&a);
		pg_pipe_release(&p);
		return rc;
	}
	if (rc == 0)
		rc = read_shard(s, p.results.v[1], err);
	pg_args_release(&a);
	pg_pipe_release(&p);
	return rc == E_BUSY ? pg_tell_holder(s, s->lock_key, err) : rc;
}

/* The batch failed at one of its first statements: what does that mean? */
static int explain_failure(struct store_pg *s, const struct pg_pipe *p, int rc, struct err *err)
{
	if (!p->is_check)               /* a right that lacks, a full disk */
		return rc;
	if (s->target.fence && p->failed == 1)
		return pg_lost_lease(s, err);
	return p->failed == 1 + (s->target.fence != 0) ? lost_batch(s, err) : rc;
}

/* Add to the pipe what has to be sent of the batch. */
static int add_batch(struct store_pg *s, struct pg_pipe *p, struct err *err)
{
	struct pg_batch *b = &s->batch;
	struct pg_args a = { 0 };
	int rc = 0;

	if (!s->has.writing) {
		pg_pipe_add(p, PG_BEGIN, NULL);
		pg_lease_check(s, p);
		pg_shard_args(s, &a);
		pg_args_int(&a, b->number);
		pg_args_int(&a, b->token);
		pg_args_int(&a, b->n_pages);
		pg_args_int(&a, b->n_files);
		pg_pipe_add(p, PG_SHARD_FENCE, &a);
		s->has.n_sent = 0;
	}
	for (size_t i = s->has.n_sent; i < b->log.n && rc == 0; i++) {
		const struct pg_call *c = &b->log.v[i];

		if (c->sql < 0)
			pg_pipe_text(p, c->text, NULL);
		else if (c->is_copy)
			rc = pg_pipe_copy(p, (enum pg_sql)c->sql, &c->args, err);
		else
			pg_pipe_add(p, (enum pg_sql)c->sql, &c->args);
	}
	pg_args_release(&a);
	return rc;
}

int pg_batch_send(struct store_pg *s, struct err *err)
{
	struct pg_pipe p = { .link = &s->link };
	bool fenced = s->has.writing;
	int rc = add_batch(s, &p, err);

	if (rc == 0)
		rc = pg_pipe_run(&p, err);
	if (rc == 0) {
		s->has.writing = true;
		s->has.n_sent = s->batch.log.n;
	} else if (rc != E_NET && !fenced) {
		rc = explain_failure(s, &p, rc, err);
	}
	pg_pipe_release(&p);
	return rc;
}

int pg_commit_step(struct store_pg *s, void *arg, struct err *err)
{
	struct pg_pipe p = { .link = &s->link };
	struct pg_batch *b = &s->batch;
	struct pg_args a = { 0 };
	bool fenced = s->has.writing;
	int rc = 0;

	(void)arg;
	if (!b->is_committed && (b->log.n || s->writing)) {
		rc = add_batch(s, &p, err);
		if (rc == 0 && fenced) {        /* counts have changed since then */
			pg_shard_args(s, &a);
			pg_args_int(&a, b->n_pages);
			pg_args_int(&a, b->n_files);
			pg_pipe_add(&p, PG_SHARD_COUNTS, &a);
		}
		if (rc == 0) {
			pg_pipe_add(&p, PG_COMMIT, NULL);
			pg_pipe_mark(&p);
			b->is_committing = true;
		}
	}
	if (rc == 0) {
		pg_args_clear(&a);
		pg_args_int(&a, s->lock_key);
		pg_pipe_add(&p, PG_UNLOCK, &a);
		rc = pg_pipe_run(&p, err);
	}
	if (rc < 0 && rc != E_NET && !fenced)
		rc = explain_failure(s, &p, rc, err);
	if (rc == 0)
		s->has.batch = false;
	pg_args_release(&a);
	pg_pipe_release(&p);
	return rc;
}

int pg_commit_begin(struct store_pg *s, struct err *err)
{
	pg_batch_flush(s);
	/* before the batch, which outlasts the journal */
	return pg_sent_done(&s->base, true, err);
}

/* So many entries of the journal are in the log before the batch. */
void pg_commit_end(struct store_pg *s, size_t journal)
{
	s->in_batch = s->writing = s->has.writing = s->has.batch = false;
	s->has.n_sent = 0;
	s->journal.n -= journal;
	if (s->journal.n)
		memmove(s->journal.v, s->journal.v + journal, s->journal.n * sizeof *s->journal.v);
	s->noting.from -= journal;
	pg_batch_carry(&s->batch);
}

int pg_commit(struct store *base, struct err *err)
{
	struct store_pg *s = pg_self(base);
	int rc;

	if (!s->in_batch)
		return 0;
	rc = pg_commit_begin(s, err);
	if (rc >= 0)
		rc = pg_try(s, pg_commit_step, NULL, err);
	if (rc < 0)
		return rc;
	pg_commit_end(s, s->journal.n);
	return 0;
}

void pg_unlock_batch(struct store_pg *s)
{
	struct pg_pipe p = { .link = &s->link };
	struct pg_args a = { 0 };

	if (s->link.conn && s->has.generation == s->link.generation && s->has.batch) {
		if (s->has.writing) {
			pg_pipe_add(&p, PG_ROLLBACK, NULL);
			pg_pipe_mark(&p);
		}
		pg_args_int(&a, s->lock_key);
		pg_pipe_add(&p, PG_UNLOCK, &a);
		if (pg_pipe_run(&p, NULL) < 0)
			pg_link_close(&s->link);        /* its locks end with it */
	}
	s->has.writing = s->has.batch = false;
	s->has.n_sent = 0;
	pg_args_release(&a);
	pg_pipe_release(&p);
}
