/* SPDX-License-Identifier: Apache-2.0 */
/* link.c - see link.h. */
#include "repo/wire/link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "repo/wire/sql.h"

/* What libpq does unless the user says otherwise, in the URL, the environment or a
 * service file. */
static const struct { const char *key, *value; } wishes[] = {
	{ "fallback_application_name", "freshet" }, { "client_encoding", "UTF8" },
	{ "connect_timeout", "10" }, { "tcp_user_timeout", "30000" },
	{ "keepalives_idle", "15" }, { "keepalives_interval", "5" }, { "keepalives_count", "3" },
};

#define SILENCE_MIN_MS 1000     /* after this (patience, between both) a server that does not */
#define SILENCE_MAX_MS 30000    /* answer is asked by another connection whether it lives */

#define N_WISHES (sizeof wishes / sizeof *wishes)

/* One line of a message, without its end. */
static size_t first_line(const char *s)
{
	return strcspn(s, "\r\n");
}

/* Is the connection lost, or the failure a passing one, so that trying again helps? */
static bool is_lost(const struct pg_link *l, const char *state)
{
	static const char *const again[] = {
		"08", "57P01", "57P02", "57P03", "57P05", "25P03", "53300", "40001", "40P01",
	};

	if (!l->conn || PQstatus(l->conn) != CONNECTION_OK)
		return true;
	for (size_t i = 0; state && i < sizeof again / sizeof *again; i++)
		if (!strncmp(state, again[i], strlen(again[i])))
			return true;
	return false;
}

static const char *advice(const char *state)
{
	static const struct { const char *state, *todo; } list[] = {
		{ "42501", "; docs/stores.md lists the rights that the role needs" },
		{ "28", "; is the role right, and its password in ~/.pgpass?" },
		{ "3D000", "; `createdb` makes it" },
		{ "53100", " (make room on the server's disk)" },
		{ "57014", " (it took too long: statement_timeout)" },
		{ "25006", " (this server only reads: name the one that writes, or "
		  "target_session_attrs=read-write)" },
		{ "42P01", "; `freshet init --store URL` makes the tables" },
		{ "3F000", "; `freshet init --store URL` makes the schema" },
	};

	for (size_t i = 0; state && i < sizeof list / sizeof *list; i++)
		if (!strncmp(state, list[i].state, strlen(list[i].state)))
			return list[i].todo;
	return "";
}

int pg_link_failed(struct pg_link *l, const PGresult *r, struct err *err)
{
	const char *state = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
	const char *text = r ? PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	bool lost = is_lost(l, state);
	char shown[300];

	if (!text)
		text = l->conn ? PQerrorMessage(l->conn) : "not connected";
	if (!*text)
		text = "the connection was lost";
	log_quote(text, first_line(text), shown, sizeof shown);
	err_set(err, lost ? E_NET : state && !strncmp(state, "55P03", 5) ? E_BUSY : E_STORE,
	        "%s: %s%s", l->target->shown, shown, advice(state));
	if (lost)
		pg_link_close(l);
	return lost ? E_NET : state && !strncmp(state, "55P03", 5) ? E_BUSY : E_STORE;
}

const char *pg_link_cell(const PGresult *r, int column)
{
	return PQntuples(r) > 0 && column < PQnfields(r) ? PQgetvalue(r, 0, column) : "";
}

/* Say nothing of "NOTICE: relation exists, skipping". */
static void ignore_notice(void *arg, const PGresult *r)
{
	(void)arg, (void)r;
}

static int set_up(struct pg_link *l, bool *ret_pooled, struct err *err)
{
	PGresult *r = NULL;
	char sql[1200];
	int rc;

	/* what the administrator has set for the role stays, if it is not "for ever" */
	snprintf(sql, sizeof sql,
	         "SELECT set_config('search_path', '%s', false);"
	         "SELECT set_config(name, want, false) FROM (VALUES ('statement_timeout', '%ds'), "
	         "('lock_timeout', '%ds'), ('idle_in_transaction_session_timeout', '%ds')) "
	         "AS w (name, want) WHERE current_setting(name) = '0';"
	         "SET client_min_messages = warning; SET jit = off;%s"
	         "SELECT pg_backend_pid()", l->target->schema,
	         PG_STATEMENT_SECONDS, PG_LOCK_SECONDS,
	         l->target->fence ? PG_IDLE_LEASED : PG_IDLE_SECONDS,
	         PQserverVersion(l->conn) >= 140000 ?
	         " SET client_connection_check_interval = '5s';" : "");
	rc = pg_link_run(l, sql, &r, err);
	*ret_pooled = rc == 0 && atoi(pg_link_cell(r, 0)) != PQbackendPID(l->conn);
	PQclear(rc == 0 ? r : NULL);
	return rc;
}

/* What libpq is told of the connection. */
struct told { const char *keys[66 + N_WISHES], *values[66 + N_WISHES]; };

static void tell_libpq(const struct pg_link *l, struct told *ret)
{
	const char **keys = ret->keys, **values = ret->values;
	PQconninfoOption *defaults = PQconndefaults();
	const char *host = pg_target_option(l->target->options, "host");
	size_t n = 0;

	for (const PQconninfoOption *o = l->target->options; o->keyword && n < 64; o++)
		if (o->val)
			keys[n] = o->keyword, values[n++] = o->val;
	for (size_t i = 0; i < N_WISHES; i++)
		if (!pg_target_option(l->target->options, wishes[i].key) && !pg_target_option(defaults, wishes[i].key))
			keys[n] = wishes[i].key, values[n++] = wishes[i].value;
	if (host && strchr(host, ',') && !l->reads_only &&
	    !pg_target_option(l->target->options, "target_session_attrs"))
		keys[n] = "target_session_attrs", values[n++] = "read-write";
	keys[n] = values[n] = NULL;
	PQconninfoFree(defaults);
}

/* The process of the server that answers on this connection; 0: none does. */
static int answering(PGconn *conn)
{
	PGresult *r = PQexec(conn, "SELECT pg_backend_pid()");
	int pid = atoi(pg_link_cell(r, 0));

	PQclear(r);
	return pid;
}

/* A pooler is between us and the server: it told us another process than the one that answers.
 * Does it give out transactions instead of sessions?  Then a second connection, made while ours
 * is idle, is answered by the process that is ours. */
static int check_pooler(const struct pg_link *l, const struct told *told, struct err *err)
{
	PGconn *other = PQconnectdbParams(told->keys, told->values, 0);
	int pid = other && PQstatus(other) == CONNECTION_OK ? answering(other) : 0;

	PQfinish(other);
	if (!pid || pid != answering(l->conn))
		return 0;
	return err_set(err, E_STORE, "%s: a pooler gives out transactions here, and locks and prepared "
	               "statements need whole sessions: set pool_mode = session for this database, or "
	               "name the server itself", l->target->shown);
}

int pg_link_connect(struct pg_link *l, struct err *err)
{
	const char *encoding;
	bool pooled = false;
	struct told told;
	int rc = 0;

	tell_libpq(l, &told);
	pg_link_close(l);
	l->conn = PQconnectdbParams(told.keys, told.values, 0);
	if (!l->conn)
		err_no_memory();
	if (l->prepared)
		memset(l->prepared, 0, N_PG_SQL * sizeof *l->prepared);
	if (PQstatus(l->conn) != CONNECTION_OK) {
		/* A wrong password does not get better by waiting.  Who gave a right one may be refused,
		 * too: all connections are taken, the server stops.  libpq tells that by words only. */
		bool refused = PQconnectionNeedsPassword(l->conn) ||
			(PQconnectionUsedPassword(l->conn) && strstr(PQerrorMessage(l->conn), "assw"));
		char role[100];

		snprintf(role, sizeof role, "%s", PQuser(l->conn));
		pg_link_failed(l, NULL, err);
		return refused ? err_set(err, E_STORE, "%s: no way in for the role %s: there is no "
		                         "such role, or the password is missing or wrong; ~/.pgpass or "
		                         "PGPASSFILE hold it", l->target->shown, role) : E_NET;
	}
	PQsetNoticeReceiver(l->conn, ignore_notice, NULL);
	PQsetnonblocking(l->conn, 1);   /* pg_link_next() sends what the server did not take yet */
	encoding = PQparameterStatus(l->conn, "server_encoding");
	if (encoding && strcmp(encoding, "UTF8"))
		rc = err_set(err, E_STORE, "%s: the database is encoded in %s: make one with "
		             "`createdb --encoding UTF8 --template template0`", l->target->shown,
		             encoding);
	else if (PQserverVersion(l->conn) < 120000)
		rc = err_set(err, E_STORE, "%s: PostgreSQL %d is too old: 12 is the oldest that works",
		             l->target->shown, PQserverVersion(l->conn) / 10000);
	if (rc == 0)
		rc = set_up(l, &pooled, err);
	if (rc == 0 && pooled && !l->generation)
		rc = check_pooler(l, &told, err);
	if (rc < 0)
		pg_link_close(l);
	else
		l->generation++;
	return rc;
}

void pg_link_close(struct pg_link *l)
{
	PQfinish(l->conn);
	l->conn = NULL;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Does a new connection get an answer?  A server that is frozen, or gone behind a network that
 * swallows everything, gives none, and the old connection would not tell. */
static bool is_alive(const struct pg_link *l)
{
	struct told told;

	tell_libpq(l, &told);
	return PQpingParams(told.keys, told.values, 0) != PQPING_NO_RESPONSE;
}

static int no_answer(struct pg_link *l, struct err *err)
{
	pg_link_close(l);
	return err_set(err, E_NET, "%s: the server does not answer", l->target->shown);
}

/* Patience with a server that says nothing; zeroed, it begins. */
struct silence { int64_t ask_at, until; };

/* Wait until something came or, if there is something left to send, could be sent; or a second
 * has passed. */
static int wait_some(struct pg_link *l, struct silence *quiet, int left, struct err *err)
{
	struct pollfd p = { .fd = PQsocket(l->conn), .events = POLLIN };
	int64_t now = now_ms(), silence = l->target->patience * 1000;

	silence = silence < SILENCE_MIN_MS ? SILENCE_MIN_MS :
	          silence > SILENCE_MAX_MS ? SILENCE_MAX_MS : silence;
	/* longer than the server itself gives a statement: it hangs, or the way there */
	quiet->until = quiet->until ? quiet->until : now + (PG_STATEMENT_SECONDS + 30) * 1000;
	quiet->ask_at = quiet->ask_at ? quiet->ask_at : now + silence;
	if (left < 0 || now > quiet->until || (now > quiet->ask_at && !is_alive(l)))
		return no_answer(l, err);
	if (now > quiet->ask_at)
		quiet->ask_at = now_ms() + silence;
	if (left)
		p.events |= POLLOUT;
	if (poll(&p, 1, 1000) < 0 && errno != EINTR)
		return no_answer(l, err);
	return p.revents && !PQconsumeInput(l->conn) ? pg_link_failed(l, NULL, err) : 0;
}

bool pg_link_readable(const struct pg_link *l)
{
	struct pollfd p = { .fd = PQsocket(l->conn), .events = POLLIN };

	return PQflush(l->conn) != 0 || poll(&p, 1, 0) != 0;
}

void pg_link_sip(struct pg_link *l)
{
	if (l->conn && PQconsumeInput(l->conn))
		(void)!PQisBusy(l->conn);       /* makes rows of it; an error comes with the results */
}

int pg_link_next(struct pg_link *l, PGresult **ret, struct err *err)
{
	struct silence quiet = { 0 };
	int rc = 0;

	while (l->conn && rc == 0 && PQisBusy(l->conn))
		rc = wait_some(l, &quiet, PQflush(l->conn), err);
	if (rc < 0)
		return rc;
	if (!l->conn)
		return no_answer(l, err);
	*ret = PQgetResult(l->conn);
	return 0;
}

/* The last result of what was sent, and what it says. */
static int last_result(struct pg_link *l, PGresult **ret, struct err *err)
{
	PGresult *r, *last = NULL;
	int rc = 0;

	while (l->conn && (rc = pg_link_next(l, &r, err)) == 0 && r) {
		PQclear(last);
		last = r;
		if (PQresultStatus(r) != PGRES_TUPLES_OK && PQresultStatus(r) != PGRES_COMMAND_OK)
			break;
	}
	*ret = last;
	if (rc == 0 && last && PQresultStatus(last) != PGRES_TUPLES_OK &&
	    PQresultStatus(last) != PGRES_COMMAND_OK && PQresultStatus(last) != PGRES_COPY_IN) {
		rc = pg_link_failed(l, last, err);
		while (l->conn && pg_link_next(l, &r, NULL) == 0 && r)
			PQclear(r);
	}
	return rc;
}

#define COPY_PART 65536         /* bytes that libpq is given at a time */

int pg_link_copy(struct pg_link *l, const char *sql, const char *data, size_t size,
                 struct err *err)
{
	PGresult *r = NULL;
	int rc;

	if (!l->conn || !PQsendQuery(l->conn, sql))
		return pg_link_failed(l, NULL, err);
	rc = last_result(l, &r, err);
	PQclear(r);
	for (size_t from = 0; rc == 0 && from < size; from += COPY_PART) {
		size_t part = size - from < COPY_PART ? size - from : COPY_PART;
		struct silence quiet = { 0 };

		if (PQputCopyData(l->conn, data + from, (int)part) != 1)
			return pg_link_failed(l, NULL, err);
		/* the server says nothing now: only what is left to send may be waited for */
		for (int left; rc == 0 && (left = PQflush(l->conn)) > 0;)
			rc = wait_some(l, &quiet, left, err);
	}
	if (rc < 0)
		return rc;
	if (PQputCopyEnd(l->conn, NULL) != 1)
		return pg_link_failed(l, NULL, err);
	rc = last_result(l, &r, err);
	PQclear(r);
	return rc;
}

int pg_link_run(struct pg_link *l, const char *sql, PGresult **ret, struct err *err)
{
	PGresult *last = NULL;
	int rc;

	if (!l->conn || !PQsendQuery(l->conn, sql))
		return pg_link_failed(l, NULL, err);
	rc = last_result(l, &last, err);
	if (rc == 0 && ret)
		*ret = last;
	else
		PQclear(last);
	return rc;
}
