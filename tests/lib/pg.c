/* SPDX-License-Identifier: Apache-2.0 */
/* pg.c - see pg.h. */
#include "pg.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char server[PG_URL];             /* URL without our parameters */
static unsigned n_schemas;
static pid_t owner;                     /* a child of fork() leaves the schemas alone */

static void die(const char *what)
{
	fprintf(stderr, "no PostgreSQL for the test: %s\n", what);
	exit(1);
}

/* Our own server ends when its standard input does: that is, with us. */
static void start_own(void)
{
	int in[2], out[2];
	FILE *answer;
	pid_t child = pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) ? -1 : fork();

	if (child < 0)
		die("pipe");
	if (!child) {
		const char *root = getenv("SRC");

		dup2(in[0], 0);
		dup2(out[1], 1);
		if (root && chdir(root))
			_exit(127);
		execl("tests/lib/postgres.sh", "postgres.sh", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	answer = fdopen(out[0], "r");
	if (!answer || !fgets(server, sizeof server, answer))
		die("tests/lib/postgres.sh did not start; run the test from the top folder");
	server[strcspn(server, "\n")] = '\0';
	fclose(answer);
}

static PGconn *connect_to(const char *url)
{
	PGconn *conn;
	char plain[PG_URL];
	char *ours;

	snprintf(plain, sizeof plain, "%s", url);
	if ((ours = strstr(plain, "&schema=")))
		*ours = '\0';
	conn = PQconnectdb(plain);
	if (PQstatus(conn) != CONNECTION_OK)
		die(PQerrorMessage(conn));
	return conn;
}

static PGresult *run(const char *url, const char *sql)
{
	const char *schema = strstr(url, "&schema=");
	PGconn *conn = connect_to(url);
	char path[200];
	PGresult *r;

	snprintf(path, sizeof path, "SET client_min_messages = error; SET lock_timeout = 2000; SET search_path TO %s",
	         schema ? schema + 8 : "public");
	path[strcspn(path, "&")] = '\0';
	PQclear(PQexec(conn, path));
	r = PQexec(conn, sql);
	if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK) {
		fprintf(stderr, "%s", PQerrorMessage(conn));
		PQclear(r);
		r = NULL;
	}
	PQfinish(conn);
	return r;
}

int pg_sql(const char *url, const char *sql)
{
	PGresult *r = run(url, sql);
	bool ok = r != NULL;

	PQclear(r);
	return ok;
}

long long pg_number(const char *url, const char *sql)
{
	PGresult *r = run(url, sql);
	long long n = r && PQntuples(r) ? atoll(PQgetvalue(r, 0, 0)) : -1;

	PQclear(r);
	return n;
}

static void drop_schemas(void)
{
	char sql[100];

	for (unsigned i = 1; getpid() == owner && i <= n_schemas; i++) {
		snprintf(sql, sizeof sql, "DROP SCHEMA IF EXISTS t%d_%u CASCADE", (int)owner, i);
		pg_sql(server, sql);
	}
}

char *pg_url(char ret[PG_URL])
{
	const char *given = getenv("FRESHET_TEST_PG");

	if (!*server) {
		if (given && *given)
			snprintf(server, sizeof server, "%s", given);
		else
			start_own();
		owner = getpid();
		atexit(drop_schemas);
	}
	if (snprintf(ret, PG_URL, "%.300s&schema=t%d_%u&patience=5", server, (int)owner,
	             ++n_schemas) >= PG_URL)
		die("its URL is too long");
	return ret;
}
