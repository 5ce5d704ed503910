/* SPDX-License-Identifier: Apache-2.0 */
/* pipe.c - see pipe.h. */
#include <string.h>

#include "repo/wire/pipe.h"

/* In `sent`: a mark, a statement, or (from 0 on) the preparation of statement n. */
enum { MARK = -2, STATEMENT = -1 };

static bool start(struct pg_pipe *p)
{
	if (!p->link->conn || p->broken ||
	    (PQpipelineStatus(p->link->conn) == PQ_PIPELINE_OFF &&
	     !PQenterPipelineMode(p->link->conn)))
		p->broken = true;
	return !p->broken;
}

/* The parameters as libpq wants them. */
struct given {
	const char *values[PG_ARGS_MAX];
	int sizes[PG_ARGS_MAX], formats[PG_ARGS_MAX];
};

static int give(const struct pg_args *a, struct given *g)
{
	for (int i = 0; a && i < a->n; i++) {
		g->values[i] = a->arg[i].size < 0 ? NULL : a->bytes.data + a->arg[i].from;
		g->sizes[i] = a->arg[i].size < 0 ? 0 : a->arg[i].size;
		g->formats[i] = 1;
	}
	return a ? a->n : 0;
}

void pg_pipe_add(struct pg_pipe *p, enum pg_sql sql, const struct pg_args *args)
{
	struct given g;
	int n = give(args, &g);

	if (!start(p))
		return;
	if (!p->link->prepared[sql]) {
		p->link->prepared[sql] = true;
		vec_push(&p->sent, (int)sql);
		p->broken = !PQsendPrepare(p->link->conn, pg_sql_names[sql], pg_sql_texts[sql], 0,
		                           NULL);
	}
	vec_push(&p->sent, STATEMENT);
	if (!p->broken)
		p->broken = !PQsendQueryPrepared(p->link->conn, pg_sql_names[sql], n, g.values,
		                                 g.sizes, g.formats, 1);
}

void pg_pipe_text(struct pg_pipe *p, const char *sql, const struct pg_args *args)
{
	struct given g;
	int n = give(args, &g);

	if (!start(p))
		return;
	vec_push(&p->sent, STATEMENT);
	p->broken = !PQsendQueryParams(p->link->conn, sql, n, NULL, g.values, g.sizes, g.formats,
	                               1);
}

void pg_pipe_mark(struct pg_pipe *p)
{
	if (!start(p))
		return;
	vec_push(&p->sent, MARK);
	p->broken = !PQpipelineSync(p->link->conn);
}

static bool is_good(const PGresult *r)
{
	ExecStatusType status = PQresultStatus(r);

	return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

/* The result of what was sent as number i. */
static int read_one(struct pg_pipe *p, size_t i, int *first, struct err *err)
{
	int what = p->sent.v[i];
	PGresult *r = NULL, *end = NULL;
	int rc = pg_link_next(p->link, &r, err);

	if (rc < 0)
		return rc;
	if (!r)
		return pg_link_failed(p->link, NULL, err);
	if (what == MARK) {
		PQclear(r);
		return 0;
	}
	if (is_good(r) || PQresultStatus(r) == PGRES_PIPELINE_ABORTED) {
		bool good = is_good(r);

		if (!good && what >= 0)
			p->link->prepared[what] = false;
		if (what == STATEMENT && good)
			vec_push(&p->results, r);
		else
			PQclear(r);
		if (what == STATEMENT && !good)
			vec_push(&p->results, NULL);
	} else {
		const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
		bool is_check = state && !strcmp(state, "22012");
		int code = pg_link_failed(p->link, r, *first ? NULL : err);

		PQclear(r);
		if (code == E_NET)
			return code;
		*first = *first ? *first : code;
		if (what >= 0)
			p->link->prepared[what] = false;
		if (p->failed < 0) {
			p->failed = (int)p->results.n;
			p->is_check = is_check;
		}
		if (what == STATEMENT)
			vec_push(&p->results, NULL);
	}
	rc = pg_link_next(p->link, &end, err);          /* NULL ends the results of each */
	PQclear(end);
	return rc;
}

int pg_pipe_send(struct pg_pipe *p, struct err *err)
{
	int rc = 0;

	pg_pipe_mark(p);
	if (p->broken || PQflush(p->link->conn) < 0) {
		rc = pg_link_failed(p->link, NULL, err);
		pg_link_close(p->link);         /* half a pipe is under way */
	}
	p->is_sent = rc == 0;
	return rc;
}

int pg_pipe_run(struct pg_pipe *p, struct err *err)
{
	int rc = p->is_sent ? 0 : pg_pipe_send(p, err), first = 0;

	p->failed = -1;
	p->is_sent = false;
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < p->sent.n && rc == 0; i++)
		rc = read_one(p, i, &first, err);
	p->sent.n = 0;
	if (rc == 0 && p->link->conn && !PQexitPipelineMode(p->link->conn))
		rc = pg_link_failed(p->link, NULL, err);
	return rc < 0 ? rc : first;
}

int pg_pipe_copy(struct pg_pipe *p, enum pg_sql sql, const struct pg_args *rows,
                 struct err *err)
{
	int rc = pg_pipe_run(p, err);

	if (rc == 0)
		rc = pg_link_copy(p->link, pg_sql_texts[sql], rows->bytes.data + rows->arg[0].from,
		                  (size_t)rows->arg[0].size, err);
	if (rc == 0)
		vec_push(&p->results, NULL);
	return rc;
}

void pg_pipe_release(struct pg_pipe *p)
{
	for (size_t i = 0; i < p->results.n; i++)
		PQclear(p->results.v[i]);
	vec_release(&p->results);
	vec_release(&p->sent);
}
