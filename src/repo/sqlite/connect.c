/* SPDX-License-Identifier: Apache-2.0 */
/* connect.c - open the file: to write, to read only, and with distrust. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "repo/sqlite/store_sqlite.h"

#define CACHE_KIB "49152"       /* page cache: 48 MiB */
#define LOG_PAGES "4096"        /* when the log is carried into the tables: 16 MiB */
#define CELL_SIZE_MAX (256 << 20) /* bytes of a text: far more than we ever write */

/*
 * Open a database without write permission for it or its folder: on a read-only disk, or
 * of another user.  If no program has it open, there is no log: open it as immutable.  If
 * one has, read its log and index, too.
 */
static int open_read_only(struct store_sqlite *s, struct err *err)
{
	char log[sizeof s->path + 8];
	struct buf uri;
	struct stat st;
	int rc;

	snprintf(log, sizeof log, "%s-wal", s->path);
	if (stat(log, &st) == 0 && st.st_size > 0) {
		rc = sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
		                     NULL);
		if (rc == SQLITE_OK && sqlite3_exec(s->db, "SELECT 1 FROM sqlite_schema", NULL, NULL,
		                                    NULL) == SQLITE_OK)
			return 0;
		return err_set(err, E_STORE, "%s: read-only for you, and a program that did not end "
		               "left a log beside it (%s): let somebody who may write there run "
		               "`freshet status` once", s->path, sqlite3_errmsg(s->db));
	}
	buf_init(&uri, BUF_NO_LIMIT);
	buf_str(&uri, "file:");
	for (const char *c = s->path; *c; c++)
		if (strchr("?#%", *c))
			buf_printf(&uri, "%%%02X", (unsigned)*c);
		else
			buf_byte(&uri, *c);
	buf_str(&uri, "?immutable=1");
	rc = sqlite3_open_v2(buf_text(&uri), &s->db,
	                     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	buf_release(&uri);
	return rc == SQLITE_OK ? 0 : sql_error(s, err);
}

/* Where a disk is full we may write, but cannot: the index of the log finds no room. */
static bool has_no_room(struct store_sqlite *s)
{
	return sqlite3_exec(s->db, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL) != SQLITE_OK &&
		(sqlite3_errcode(s->db) == SQLITE_IOERR || sqlite3_errcode(s->db) == SQLITE_FULL);
}

/* True: we may not write to the database, or not create its log in the same folder. */
static bool is_read_only(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[4096] = ".";

	if (slash)
		snprintf(folder, sizeof folder, "%.*s", (int)(slash - path + (slash == path)), path);
	return access(path, W_OK) || access(folder, W_OK);
}

/* The file may come from anywhere: run no code in it, and trust no size in it. */
static int distrust(struct store_sqlite *s, struct err *err)
{
	static const struct { int what, most; } limits[] = {
		{ SQLITE_LIMIT_LENGTH, CELL_SIZE_MAX }, { SQLITE_LIMIT_SQL_LENGTH, 100000 },
		{ SQLITE_LIMIT_COLUMN, 100 }, { SQLITE_LIMIT_EXPR_DEPTH, 100 },
		{ SQLITE_LIMIT_ATTACHED, 0 }, { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
	};
	static const struct { int what, on; } ways[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 }, { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 }, { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
	};

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		sqlite3_limit(s->db, limits[i].what, limits[i].most);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (sqlite3_db_config(s->db, ways[i].what, ways[i].on, NULL) != SQLITE_OK)
			return sql_error(s, err);
	return sql_execute(s, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;", err);
}

int sqlite_connect(struct store_sqlite *s, enum store_mode mode, struct err *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
		(mode == STORE_CREATE ? SQLITE_OPEN_CREATE : 0);
	bool there = access(s->path, F_OK) == 0, closed = there && is_read_only(s->path);
	int rc = 0;

	if (mode != STORE_CREATE && !there)
		return errno == EACCES ? err_errno(err, E_STORE, "%s", s->path) :
		       err_set(err, E_STORE, "%s: no repository here; -C DIR names one, "
		               "`freshet init DIR` makes one", s->path);
	if (closed && mode != STORE_READ)
		return err_set(err, E_STORE, "%s: read-only for you (nothing can be written there): "
		               "commands that only read work", s->path);
	if (closed)
		rc = open_read_only(s, err);
	else if (sqlite3_open_v2(s->path, &s->db, flags, NULL) != SQLITE_OK)
		rc = sql_error(s, err);
	if (rc == 0 && there && !closed && mode == STORE_READ && has_no_room(s)) {
		sqlite3_close(s->db);
		s->db = NULL;
		closed = true;
		rc = open_read_only(s, err);
	}
	if (rc < 0)
		return rc;
	sqlite3_busy_timeout(s->db, SQLITE_WAIT_MS);
	if ((rc = distrust(s, err)) < 0 ||
	    (!closed && (rc = sql_execute(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; "
	                              "PRAGMA wal_autocheckpoint = " LOG_PAGES ";", err)) < 0) ||
	    (rc = sql_execute(s, "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -" CACHE_KIB ";",
	                  err)) < 0)
		return rc;
	return sqlite_migrate(s, closed, err);
}
