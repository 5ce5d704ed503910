/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beside.c - a commit that goes on beside its caller; see store_pg.h.
 *
 * A thread sends what the batch has written and waits for the server's answer: one attempt, on
 * the main connection as it is.  Meanwhile that connection and the batch are the thread's.
 * Whoever wants one of them waits first: pg_self(), by which each function of the store begins.
 * Only the side connection is free, so the journal of requests goes on.
 *
 * If the connection is lost, the thread ends, and pg_settle() does what a commit does: it
 * connects again and looks whether the batch is there.  Any other error is told by what is
 * called next, until the batch is rolled back.
 */
#include <signal.h>

#include "repo/pg/store_pg.h"

static void *attempt(void *arg)
{
	struct store_pg *s = arg;

	s->beside.rc = pg_commit_step(s, NULL, &s->beside.err);
	s->beside.is_over = true;
	return NULL;
}

/* Signals are for the threads that the program had before. */
static bool start_thread(struct store_pg *s)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&s->beside.thread, NULL, attempt, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !failed;
}

int pg_commit_start(struct store *base, struct err *err)
{
	struct store_pg *s = pg_beside(base);
	int rc = pg_commit_done(base, true, err);       /* of the one before */

	if (rc < 0 || !s->in_batch)
		return rc < 0 ? rc : 0;
	rc = pg_commit_begin(s, err);
	if (rc < 0)
		return rc;
	s->beside.journal = s->journal.n;
	s->beside.is_over = false;
	s->beside.is_under_way = start_thread(s);
	return s->beside.is_under_way ? 0 : pg_commit(base, err);
}

void pg_settle(struct store_pg *s)
{
	struct pg_beside *b = &s->beside;

	pthread_join(b->thread, NULL);
	b->is_under_way = false;
	if (b->rc == E_NET)
		b->rc = pg_try(s, pg_commit_step, NULL, &b->err);
	else if (b->rc < 0)
		pg_end_failed(s);
	b->has_failed = b->rc < 0;
	if (!b->has_failed)
		pg_commit_end(s, b->journal);
}

int pg_commit_done(struct store *base, bool wait, struct err *err)
{
	struct store_pg *s = pg_beside(base);

	if (s->beside.is_under_way && !wait && !s->beside.is_over)
		return 0;
	s = pg_self(base);
	if (!s->beside.has_failed)
		return 1;
	*err = s->beside.err;
	return s->beside.rc;
}
