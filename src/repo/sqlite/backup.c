/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backup.c - the tables of one moment into a new file, by SQLite's own copy of pages.
 *
 * The connection reads one moment (it is open for reading), whatever others write meanwhile.
 * The new file is written without a log; it is on the disk when the call returns.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "repo/sqlite/store_sqlite.h"

#define PAGES_AT_ONCE 1000

static int sync_file(const char *path, struct err *err)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), rc = 0;

	if (fd < 0 || fsync(fd))
		rc = err_errno(err, E_IO, "%s", path);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int copy_pages(struct store_sqlite *s, sqlite3 *to, store_backup_each *each, void *arg,
                      struct err *err)
{
	sqlite3_backup *b = sqlite3_backup_init(to, "main", s->db, "main");
	int rc = SQLITE_OK, code = 0;

	while (b && code == 0 && (rc = sqlite3_backup_step(b, PAGES_AT_ONCE)) == SQLITE_OK)
		if (each(arg, (uint64_t)(sqlite3_backup_pagecount(b) - sqlite3_backup_remaining(b)),
		         (uint64_t)sqlite3_backup_pagecount(b)))
			code = err_set(err, E_STOP, "stopped");
	if (b)
		sqlite3_backup_finish(b);
	if (code == 0 && (!b || rc != SQLITE_DONE))
		code = err_set(err, rc == SQLITE_BUSY || rc == SQLITE_LOCKED ? E_BUSY : E_IO,
		               "the copy of the tables: %s", sqlite3_errmsg(to));
	return code;
}

int sqlite_backup(struct store *base, const char *to, store_backup_each *each, void *arg,
                  struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3 *db = NULL;
	int rc = 0;

	if (unlink(to) && errno != ENOENT)
		return err_errno(err, E_IO, "%s", to);
	if (sqlite3_open_v2(to, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
	                    SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
	    sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;", NULL, NULL,
	                 NULL) != SQLITE_OK)
		rc = err_set(err, E_IO, "%s: %s", to, sqlite3_errmsg(db));
	/* a moment that lasts as long as the copy */
	if (rc == 0)
		rc = store_freeze(base, err);
	if (rc == 0 && sqlite3_exec(s->db, "SELECT 1 FROM pages LIMIT 1", NULL, NULL, NULL) !=
	    SQLITE_OK)
		rc = sql_error(s, err);
	if (rc == 0)
		rc = copy_pages(s, db, each, arg, err);
	if (sqlite3_close(db) != SQLITE_OK && rc == 0)
		rc = err_set(err, E_IO, "%s: cannot be closed", to);
	return rc < 0 ? rc : sync_file(to, err);
}
