/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - the connection in the state that we want, also after it was lost.
 *
 * A state is: the lock of the repository, the lock of the batch, the statements of the
 * batch sent so far, one moment that all reads see.  ready() brings a connection there from
 * whatever it has, so the first time and the time after a loss are the same.  Where a loss
 * let another program write, the number of its batch tells, and we give up.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "repo/pg/store_pg.h"

#define DELAY_FIRST_MS 50       /* before a new attempt; then twice as long, */
#define DELAY_MAX_MS 1000       /* up to this */
#define TRIES_MAX 100           /* a statement that kills the server each time is given up */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void pg_shard_args(const struct store_pg *s, struct pg_args *a)
{
	pg_args_clear(a);
	pg_args_int(a, s->target.shard);
}

int64_t pg_cell(const PGresult *r, int column)
{
	struct pg_row row = { .r = r };

	return pg_row_any(&row, column);
}

/* After an error nothing works in a transaction but its end. */
void pg_end_failed(struct store_pg *s)
{
	if (s->link.conn && PQtransactionStatus(s->link.conn) != PQTRANS_IDLE) {
		struct pg_pipe p = { .link = &s->link };

		pg_pipe_add(&p, PG_ROLLBACK, NULL);
		(void)!pg_pipe_run(&p, NULL);
		pg_pipe_release(&p);
		s->has.writing = s->has.frozen = false;
		s->has.n_sent = 0;
	}
}

int pg_tell_holder(struct store_pg *s, int64_t key, struct err *err)
{
	struct pg_pipe p = { .link = &s->link };
	struct pg_args a = { 0 };
	char who[200] = "another program";

	pg_args_int(&a, key);
	pg_args_int(&a, s->target.shard);
	pg_pipe_add(&p, PG_LOCK_HOLDER, &a);
	if (pg_pipe_run(&p, NULL) == 0 && PQntuples(p.results.v[0])) {
		struct pg_row r = { .r = p.results.v[0] };

		if (pg_row_null(&r, 0))
			snprintf(who, sizeof who, "the server's process %lld", (long long)pg_row_any(&r, 3));
		else
			snprintf(who, sizeof who, "process %lld on %.100s", (long long)pg_row_any(&r, 1),
			         PQgetvalue(r.r, 0, 0));
	}
	pg_args_release(&a);
	pg_pipe_release(&p);
	return err_set(err, E_BUSY, "%s: %s is at work on it; wait until it has ended, or stop it",
	               s->target.shown, who);
}

static int retake_lock(struct store_pg *s, struct err *err)
{
	struct pg_pipe p = { .link = &s->link };
	struct pg_args a = { 0 };
	int rc;

	pg_args_int(&a, s->lock_key + 1);
	pg_pipe_add(&p, PG_LOCK, &a);
	rc = pg_pipe_run(&p, err);
	s->has.held = rc == 0;
	pg_args_release(&a);
	pg_pipe_release(&p);
	return rc == E_BUSY ? pg_tell_holder(s, s->lock_key + 1, err) : rc;
}

/* The lease is over, and another may have the shard. */
int pg_lost_lease(struct store_pg *s, struct err *err)
{
	return err_set(err, E_BUSY, "%s: the lease of shard %d is lost: another worker has it, or "
	               "will; what was not yet committed is given up", s->target.shown,
	               s->target.shard);
}

void pg_lease_check(const struct store_pg *s, struct pg_pipe *p)
{
	struct pg_args a = { 0 };

	if (!s->target.fence)
		return;
	pg_shard_args(s, &a);
	pg_args_int(&a, s->target.fence);
	pg_pipe_add(p, PG_LEASE_CHECK, &a);
	pg_args_release(&a);
}

int pg_leased_by_other(struct store_pg *s, const PGresult *r, struct err *err)
{
	return err_set(err, E_BUSY, "%s: the worker %.*s has the lease of shard %d; what may wait "
	               "goes to the shard's inbox (add, remove, tell, import), all else must wait until "
	               "the worker has given it back", s->target.shown,
	               PQgetlength(r, 0, 0) < 100 ? PQgetlength(r, 0, 0) : 100, PQgetvalue(r, 0, 0),
	               s->target.shard);
}

static int freeze(struct store_pg *s, struct err *err)
{
	struct pg_pipe p = { .link = &s->link };
	struct pg_args a = { 0 };
	int rc;

	pg_pipe_add(&p, PG_BEGIN_READ, NULL);
	pg_pipe_add(&p, PG_READ_IDLE, NULL);
	pg_shard_args(s, &a);
	pg_pipe_add(&p, PG_SHARD_READ, &a);
	rc = pg_pipe_run(&p, err);
	s->has.frozen = rc == 0;
	if (rc == 0 && !PQntuples(p.results.v[2]))
		rc = err_set(err, E_STORE, "%s: there is no shard %d", s->target.shown,
		             s->target.shard);
	if (rc == 0 && s->frozen_batch >= 0 && s->frozen_batch != pg_cell(p.results.v[2], 0))
		rc = err_set(err, E_STORE, "%s: another program wrote to it while the connection was "
		             "lost, in the middle of a read; run the command again", s->target.shown);
	if (rc == 0) {
		s->frozen_batch = pg_cell(p.results.v[2], 0);
		s->frozen_pages = pg_cell(p.results.v[2], 2);
	}
	pg_args_release(&a);
	pg_pipe_release(&p);
	return rc;
}

static int ready(struct store_pg *s, struct err *err)
{
	int rc;

	pg_scan_collect(s);
	rc = s->link.conn ? 0 : pg_link_connect(&s->link, err);
	if (rc < 0)
		return rc;
	if (s->has.generation != s->link.generation) {
		memset(&s->has, 0, sizeof s->has);
		s->has.generation = s->link.generation;
	}
	if (s->held && !s->has.held && (rc = retake_lock(s, err)) < 0)
		return rc;
	if (!s->has.journal && (rc = pg_journal_repeat(s, err)) < 0)
		return rc;
	s->has.journal = true;
	if (s->in_batch && !s->has.batch && (rc = pg_batch_enter(s, err)) < 0)
		return rc;
	if (s->in_batch && s->writing && !s->batch.is_committed &&
	    (!s->has.writing || s->has.n_sent < s->batch.log.n) && (rc = pg_batch_send(s, err)) < 0)
		return rc;
	if (s->frozen && !s->in_batch && !s->has.frozen)
		return freeze(s, err);
	return 0;
}

static int give_up(struct store_pg *s, int n, struct err *err)
{
	char why[300];

	snprintf(why, sizeof why, "%.290s", err->text);
	if (n == TRIES_MAX)
		return err_set(err, E_STORE, "%s; lost %d times in the same place: given up; what was "
		               "committed is there; the server's log may say more", why, n);
	return err_set(err, E_STORE, "%s; given up after %lld s: what was committed is there; run "
	               "the command again when the server is back", why,
	               (long long)s->target.patience);
}

static void wait_ms(int64_t ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

int pg_try(struct store_pg *s, pg_step *step, void *arg, struct err *err)
{
	int64_t since = 0, delay = DELAY_FIRST_MS;
	uint64_t generation = s->link.generation;
	struct err mine;

	err = err ? err : &mine;
	if (s->beside.has_failed) {
		*err = s->beside.err;
		return s->beside.rc;
	}
	for (int n = 1; ; n++) {
		int rc = ready(s, err);

		if (rc == 0)
			rc = step(s, arg, err);
		if (rc != E_NET) {
			if (rc < 0)
				pg_end_failed(s);
			s->is_open |= rc >= 0;
			return rc;
		}
		if (!s->is_open) {      /* a wrong name does not get better by waiting */
			err->code = E_STORE;
			return E_STORE;
		}
		if (generation != s->link.generation) { /* it was there again, for a while */
			generation = s->link.generation;
			since = 0;
			delay = DELAY_FIRST_MS;
		}
		since = since ? since : now_ms();
		if (n == TRIES_MAX || now_ms() - since > s->target.patience * 1000)
			return give_up(s, n, err);
		log_debug("%s; trying again", err->text);
		wait_ms(delay);
		delay = delay * 2 < DELAY_MAX_MS ? delay * 2 : DELAY_MAX_MS;
	}
}

int pg_try_aside(struct store_pg *s, pg_step *step, void *arg, struct err *err)
{
	if (s->beside.is_under_way) {
		int rc = step(s, arg, err);

		if (rc != E_NET)
			return rc;
		pg_settle(s);
	}
	return pg_try(s, step, arg, err);
}

struct question { enum pg_sql sql; const struct pg_args *args; PGresult **ret; };

static int ask_link(struct pg_link *l, const struct question *q, struct err *err)
{
	struct pg_pipe p = { .link = l };
	int rc;

	pg_pipe_add(&p, q->sql, q->args);
	rc = pg_pipe_run(&p, err);
	if (rc == 0 && q->ret) {
		*q->ret = p.results.v[0];
		p.results.n = 0;
	}
	pg_pipe_release(&p);
	return rc;
}

static int ask_main(struct store_pg *s, void *arg, struct err *err)
{
	return ask_link(&s->link, arg, err);
}

int pg_ask(struct store_pg *s, enum pg_sql sql, const struct pg_args *args, PGresult **ret,
           struct err *err)
{
	struct question q = { sql, args, ret };

	return pg_try(s, ask_main, &q, err);
}

int pg_lease_run(struct store_pg *s, struct pg_pipe *p, struct err *err)
{
	int rc = pg_pipe_run(p, err);

	return rc < 0 && rc != E_NET && s->target.fence && p->failed == 0 && p->is_check ?
	       pg_lost_lease(s, err) : rc;
}

int pg_apart(struct store_pg *s, struct pg_link **ret, struct err *err)
{
	bool is_free = !s->beside.is_under_way && !s->has.writing && !s->has.frozen;
	int rc = is_free ? 0 : pg_sent_done(&s->base, true, err);

	*ret = is_free ? &s->link : &s->side;
	return rc < 0 ? rc : (*ret)->conn ? 0 : pg_link_connect(*ret, err);
}

static int ask_side(struct store_pg *s, void *arg, struct err *err)
{
	const struct question *q = arg;
	struct pg_pipe p = { 0 };
	int rc = pg_apart(s, &p.link, err);

	if (rc < 0)
		return rc;
	pg_lease_check(s, &p);
	pg_pipe_add(&p, q->sql, q->args);
	rc = pg_lease_run(s, &p, err);
	if (rc == 0 && q->ret)
		*q->ret = p.results.v[--p.results.n];
	pg_pipe_release(&p);
	return rc;
}

int pg_ask_apart(struct store_pg *s, enum pg_sql sql, const struct pg_args *args,
                 PGresult **ret, struct err *err)
{
	struct question q = { sql, args, ret };

	return pg_try_aside(s, ask_side, &q, err);
}

void pg_show_writes(struct store_pg *s, unsigned tables)
{
	if (!s->in_batch || (tables != PG_ALL_TABLES && !(s->batch.dirty & tables)))
		return;
	pg_batch_flush(s);
	if (s->batch.log.n)
		s->writing = true;
}

int pg_page_count(struct store_pg *s, int64_t *ret, struct err *err)
{
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	if (s->in_batch) {
		*ret = s->batch.n_pages;
		return 0;
	}
	if (s->frozen && s->has.frozen) {
		*ret = s->frozen_pages;
		return 0;
	}
	pg_shard_args(s, &a);
	rc = pg_ask(s, PG_SHARD_READ, &a, &r, err);
	pg_args_release(&a);
	if (rc == 0)
		*ret = PQntuples(r) ? pg_cell(r, 2) : 0;
	PQclear(rc == 0 ? r : NULL);
	return rc;
}
