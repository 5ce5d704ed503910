/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.h - one connection to PostgreSQL: where it goes, how it is set up, and what went
 * wrong.
 *
 * A target is any URL that libpq knows, with parameters of our own:
 *
 *     postgresql://user@a,b/db?schema=crawl&shard=0&worker=north&patience=60&fence=7
 *
 * schema: where the tables are (freshet).  shard: which part of them (0).  worker: whose
 * WARC files are here (the name of the machine).  patience: seconds that we try to get a
 * lost connection back (60).  fence: the lease under which the shard is written
 * (repo/fleet/fleet.h); who has none writes only while nobody holds a lease.  Passwords
 * come from where libpq users keep them; no message of ours has one.
 *
 * Functions return 0, or a negative code and a message.  E_NET: the connection was lost,
 * and the same may work on a new one.  Any other code: the server refused.
 */
#ifndef REPO_WIRE_LINK_H
#define REPO_WIRE_LINK_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define PG_SHARDS_MAX 65536
#define PG_NAME_MAX 64          /* of a schema, with the NUL: as long as PostgreSQL's names */
#define PG_PATIENCE 60          /* seconds */
#define PG_STATEMENT_SECONDS 600        /* a statement that takes longer is given up */
#define PG_LOCK_SECONDS 30      /* who waits longer for a lock is told who has it */
#define PG_IDLE_SECONDS 60      /* a transaction that writes and is idle is ended; */
#define PG_IDLE_LEASED 10       /* one under a lease sooner: others may wait for the shard */

struct pg_target {
	PQconninfoOption *options;      /* of libpq */
	char schema[PG_NAME_MAX], worker[PG_NAME_MAX];
	int32_t shard;
	int64_t patience, fence;        /* fence 0: none */
	char shown[300];                /* for messages: no user, no password */
};

struct pg_link {
	const struct pg_target *target;
	PGconn *conn;                   /* NULL: not connected */
	uint64_t generation;            /* of the connection: 1, 2, ... */
	bool *prepared;                 /* by statement */
	bool reads_only;
};

int pg_target_parse(struct pg_target *t, const char *url, struct err *err);
void pg_target_release(struct pg_target *t);
/* The value of an option of libpq; NULL: none, or empty. */
const char *pg_target_option(const PQconninfoOption *options, const char *key);

/* Try once. */
int pg_link_connect(struct pg_link *l, struct err *err);
void pg_link_close(struct pg_link *l);
/* What the server says of the failure; closes the connection if it is lost.  NULL: of the
 * connection. */
int pg_link_failed(struct pg_link *l, const PGresult *r, struct err *err);

/* Wait for the next result of what was sent.  *ret may be NULL at the end of a
 * statement's results.  E_NET after PG_STATEMENT_SECONDS without an answer, and sooner if the
 * server does not answer to a new connection, either. */
int pg_link_next(struct pg_link *l, PGresult **ret, struct err *err);
/* Has the server answered something, or is the connection lost?  Does not wait. */
bool pg_link_readable(const struct pg_link *l);
/* Take in what has come of the results, so that the server can send more.  Does not wait. */
void pg_link_sip(struct pg_link *l);
/* Run a COPY ... FROM STDIN, outside of a pipeline. */
int pg_link_copy(struct pg_link *l, const char *sql, const char *data, size_t size,
                 struct err *err);
/* Run statements without parameters, outside of a pipeline; *ret, if wanted, is the last
 * result. */
int pg_link_run(struct pg_link *l, const char *sql, PGresult **ret, struct err *err);
/* A cell of its first row, as text; "": there is none, whatever the server thinks. */
const char *pg_link_cell(const PGresult *r, int column);

#endif
