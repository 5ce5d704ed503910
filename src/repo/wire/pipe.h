/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe.h - statements that go out together, and their results, in one round trip.
 *
 *     pg_pipe_add(&p, PG_BEGIN, NULL);
 *     pg_pipe_add(&p, PG_VISIT_INSERT, &args);
 *     pg_pipe_add(&p, PG_COMMIT, NULL);
 *     rc = pg_pipe_run(&p, err);
 *
 * Statements between two marks (pg_pipe_mark(), and the end) succeed together: after one
 * that fails the server skips those up to the next mark.
 */
#ifndef REPO_WIRE_PIPE_H
#define REPO_WIRE_PIPE_H

#include "repo/wire/args.h"
#include "repo/wire/link.h"
#include "repo/wire/sql.h"

/* Zeroed but for the link, it is empty. */
struct pg_pipe {
	struct pg_link *link;
	VEC(int) sent;                  /* what results are of; see pipe.c */
	VEC(PGresult *) results;        /* of the statements; NULL: it failed, or was skipped */
	int failed;                     /* the first statement that failed; -1: none */
	bool is_check;                  /* by 1 / 0: a check said no, the server is well */
	bool broken;                    /* could not be sent */
	bool is_sent;                   /* its results were not read yet */
};

void pg_pipe_add(struct pg_pipe *p, enum pg_sql sql, const struct pg_args *args);
void pg_pipe_text(struct pg_pipe *p, const char *sql, const struct pg_args *args);
void pg_pipe_mark(struct pg_pipe *p);
/* Rows by COPY (pg_rows_copy()): runs what was added before, then this.  An error: nothing can be
 * added any more. */
int pg_pipe_copy(struct pg_pipe *p, enum pg_sql sql, const struct pg_args *rows,
                 struct err *err);
/* Send it and do not wait.  Until pg_pipe_run() has read the results, nothing else can go by its
 * link. */
int pg_pipe_send(struct pg_pipe *p, struct err *err);
/* Send it, unless that was done, and wait for all results.  An error is that of the first statement that failed. */
int pg_pipe_run(struct pg_pipe *p, struct err *err);
void pg_pipe_release(struct pg_pipe *p);        /* and the results */

#endif
