/* SPDX-License-Identifier: Apache-2.0 */
/* tidy.c - captures that go or move, and what is left over of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "repo/sqlite/store_sqlite.h"

#define LOG_PAGE 4096           /* bytes of a page of the database, about */
#define LOG_PAGES_MOST 524288

int sqlite_captures_drop(struct store *base, const uint64_t *ids, size_t n, struct err *err)
{
	struct store_sqlite *s = self(base);
	uint64_t unused;
	/* from now on ids come from a counter, and not from the highest that is there */
	int rc = sqlite_capture_ids(base, 1, &unused, err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		sqlite3_stmt *q = sql_get(s, SQL_CAPTURE_DROP, err);

		if (!q)
			return E_STORE;
		sqlite3_bind_int64(q, 1, (int64_t)ids[i]);
		rc = sql_run(s, q, err);
		s->more.captures_gone += rc == 0 ? sqlite3_changes(s->db) : 0;
	}
	rc = rc < 0 ? rc : sqlite_past_raise(base, err);
	return sqlite_counts_alone(s, rc, err);
}

int sqlite_captures_move(struct store *base, const struct store_moved *rows, size_t n,
                         struct err *err)
{
	struct store_sqlite *s = self(base);
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		sqlite3_stmt *q = sql_get(s, SQL_CAPTURE_MOVE, err);

		if (!q)
			return E_STORE;
		sqlite3_bind_int64(q, 1, (int64_t)rows[i].capture);
		sqlite3_bind_int64(q, 3, rows[i].offset);
		sqlite3_bind_int64(q, 4, rows[i].size);
		rc = sqlite_bind_file(s, q, 2, rows[i].worker, rows[i].file, err);
		if (rc == 0)
			rc = sql_run(s, q, err);
	}
	return rc;
}

int sqlite_files(struct store *base, store_file_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_FILE_SCAN, err);
	struct sql_row r = { .s = s, .q = q, .table = "files", .err = err };
	int rc = q ? 0 : E_STORE;

	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct text worker = sql_text_there(&r, 1), name = sql_text_there(&r, 2);

		if (!worker.size)
			worker.s = NULL;
		rc = r.rc < 0 ? r.rc : each(arg, worker, name, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}

int sqlite_file_drop(struct store *base, struct text worker, struct text name, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_FILE_DROP, err);

	if (!q)
		return E_STORE;
	s->last_file_id = 0;
	sql_bind_text(q, 1, name);
	sql_bind_text(q, 2, worker.s ? worker : (struct text){ "", 0 });
	return sql_run(s, q, err);
}

static int sync_path(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fsync(fd))
		rc = err_errno(err, E_IO, "%s", path);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Commits are in the log, which SQLite syncs only now and then (synchronous=NORMAL). */
int sqlite_sync(struct store *base, struct err *err)
{
	struct store_sqlite *s = self(base);
	char path[sizeof s->path + 4], *slash;
	int rc;

	snprintf(path, sizeof path, "%s-wal", s->path);
	rc = sync_path(path, err);
	if (rc == 0)
		rc = sync_path(s->path, err);
	slash = strrchr(path, '/');
	if (slash)
		slash[slash == path] = '\0';
	return rc < 0 ? rc : sync_path(slash ? path : ".", err);
}

void sqlite_leave_log(struct store *base)
{
	sqlite3_wal_autocheckpoint(self(base)->db, LOG_PAGES_MOST);
}

void sqlite_cache(struct store *base, uint64_t bytes)
{
	char text[64];

	snprintf(text, sizeof text, "PRAGMA cache_size = -%llu", (unsigned long long)bytes / 1024);
	sqlite3_exec(self(base)->db, text, NULL, NULL, NULL);
}

/* Nobody is waited for: what a reader still needs, or comes meanwhile, stays for the next time. */
int sqlite_carry_log(struct store *base, struct store_log *ret, struct err *err)
{
	struct store_sqlite *s = self(base);
	int all = 0, carried = 0;
	int rc = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &all, &carried);

	if (rc != SQLITE_OK && rc != SQLITE_BUSY)
		return sql_error(s, err);
	if (rc == SQLITE_OK && all > 0)
		*ret = (struct store_log){ .bytes = (uint64_t)all * LOG_PAGE,
		                           .left = (uint64_t)(all - carried) * LOG_PAGE };
	return 0;
}

/* VACUUM writes the tables anew; the log that it went through is then emptied. */
int sqlite_tidy(struct store *base, bool whole, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_BODY_TIDY, err);
	int rc = q ? sql_run(s, q, err) : E_STORE;

	if (rc == 0)
		rc = sqlite_counts_times(s, err);
	if (rc < 0 || !whole)
		return rc;
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 1);         /* VACUUM attaches its copy */
	rc = sql_execute(s, "VACUUM", err);
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	return rc < 0 ? rc : sql_execute(s, "PRAGMA wal_checkpoint(TRUNCATE)", err);
}
