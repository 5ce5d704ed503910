/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite.c - the embedded store: connection, schema, batches, settings.
 *
 * WAL with synchronous=NORMAL: a commit survives a crash of the program.  After a crash
 * of the machine the tables may be older, but they are consistent.  Pages are found by a
 * 64-bit hash of their URL: that index has a quarter of the size of an index on the text.
 * URLs with the same hash are compared.
 *
 * Row ids start at 1, page numbers at 0: number = id - 1.
 */
#include "repo/store_sqlite.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define CACHE_KIB "131072"      /* page cache: 128 MiB */
#define CELL_SIZE_MAX (256 << 20) /* bytes of a text: far more than we ever write */
#define BUSY_MS 30000            /* a cycle pauses every 5 s: engine/crawl/crawl_keep.c */

static const char *const sql_texts[] = {
#define SQL(name, text) text,
#include "repo/sqlite_sql.def"
#undef SQL
};

/* migrations[v] takes a database from version v to v + 1. */
static const char *const migrations[STORE_SCHEMA] = {
	"CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE pages (id INTEGER PRIMARY KEY, key INTEGER NOT NULL, url TEXT NOT NULL,"
	" added INTEGER NOT NULL, last_visit INTEGER NOT NULL DEFAULT 0,"
	" last_change INTEGER NOT NULL DEFAULT 0, visits INTEGER NOT NULL DEFAULT 0,"
	" changes INTEGER NOT NULL DEFAULT 0, fails INTEGER NOT NULL DEFAULT 0,"
	" state INTEGER NOT NULL DEFAULT 0, capture INTEGER NOT NULL DEFAULT 0,"
	" hint INTEGER NOT NULL DEFAULT 0, hint_seen INTEGER NOT NULL DEFAULT 0);"
	"CREATE INDEX pages_key ON pages (key);"
	"CREATE TABLE hints (site TEXT PRIMARY KEY, checks INTEGER NOT NULL,"
	" hits INTEGER NOT NULL, told INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL);"
	"CREATE TABLE bodies (key INTEGER PRIMARY KEY, body TEXT NOT NULL);"
	"CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
	"CREATE TABLE captures (id INTEGER PRIMARY KEY, page INTEGER NOT NULL,"
	" time INTEGER NOT NULL, status INTEGER NOT NULL, revisit INTEGER NOT NULL,"
	" mime TEXT, digest TEXT, prose TEXT, tags TEXT, title TEXT, etag TEXT, modified TEXT,"
	" simhash INTEGER, length INTEGER, bytes_text INTEGER, words INTEGER, images INTEGER,"
	" tables INTEGER, emails INTEGER, outlinks INTEGER, links INTEGER, terms INTEGER,"
	" file INTEGER, offset INTEGER, size INTEGER);"
	"CREATE UNIQUE INDEX captures_page ON captures (page, time);"
	"CREATE TABLE visits (id INTEGER PRIMARY KEY, cycle INTEGER NOT NULL,"
	" page INTEGER NOT NULL, time INTEGER NOT NULL, outcome INTEGER NOT NULL,"
	" reason INTEGER NOT NULL, status INTEGER NOT NULL, hit INTEGER NOT NULL,"
	" score REAL, probability REAL, capture INTEGER NOT NULL);"
	"CREATE INDEX visits_page ON visits (page);"
	"CREATE TABLE cycles (number INTEGER PRIMARY KEY, time INTEGER NOT NULL,"
	" open INTEGER NOT NULL, policy TEXT NOT NULL, seed INTEGER NOT NULL,"
	" budget INTEGER NOT NULL, downloads INTEGER NOT NULL, fresh INTEGER NOT NULL,"
	" changed INTEGER NOT NULL, same INTEGER NOT NULL, gone INTEGER NOT NULL,"
	" failed INTEGER NOT NULL, blocked INTEGER NOT NULL, seconds_plan REAL NOT NULL,"
	" seconds_total REAL NOT NULL);",
	"ALTER TABLE cycles ADD COLUMN goal INTEGER NOT NULL DEFAULT 0;",
	"ALTER TABLE pages ADD COLUMN found INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE captures ADD COLUMN target TEXT;"
	"ALTER TABLE hints ADD COLUMN read INTEGER NOT NULL DEFAULT 0;",
	"CREATE TABLE robots (id INTEGER PRIMARY KEY, origin TEXT NOT NULL UNIQUE,"
	" time INTEGER NOT NULL, status INTEGER NOT NULL, cut INTEGER NOT NULL, body BLOB,"
	" tried INTEGER NOT NULL, failing INTEGER NOT NULL);"
	"ALTER TABLE captures ADD COLUMN robots TEXT;"
	"ALTER TABLE hints ADD COLUMN doubt INTEGER NOT NULL DEFAULT 0;"
	/* cycles that cannot be resumed any more */
	"UPDATE cycles SET open = 0 WHERE policy = 'told' OR"
	" number < (SELECT max(number) FROM cycles);",
	"ALTER TABLE bodies RENAME TO bodies_by_key;"
	"CREATE TABLE bodies (id INTEGER PRIMARY KEY, key INTEGER NOT NULL, body TEXT NOT NULL);"
	"INSERT INTO bodies (key, body) SELECT key, body FROM bodies_by_key;"
	"CREATE UNIQUE INDEX bodies_key ON bodies (key);"
	"DROP TABLE bodies_by_key;",
	"ALTER TABLE visits ADD COLUMN cause INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE visits ADD COLUMN extra INTEGER NOT NULL DEFAULT 0;"
	/* failed or blocked with an answer: CAUSE_STATUS */
	"UPDATE visits SET cause = 1 WHERE outcome >= 3 AND status > 0;"
	"ALTER TABLE pages ADD COLUMN weight REAL NOT NULL DEFAULT 1;"
	/* visits.id = (cycle << 32) + order, so the visits of a cycle are a range of ids
	 * */
	"UPDATE OR IGNORE visits SET id = (cycle << 32) + id WHERE id >> 32 <> cycle;"
	"ALTER TABLE visits ADD COLUMN place INTEGER NOT NULL DEFAULT 0;"
	"CREATE TABLE rounds (cycle INTEGER NOT NULL, number INTEGER NOT NULL,"
	" after INTEGER NOT NULL, PRIMARY KEY (cycle, number)) WITHOUT ROWID;"
	"CREATE TABLE leases (cycle INTEGER NOT NULL, place INTEGER NOT NULL,"
	" page INTEGER NOT NULL, client TEXT NOT NULL, since INTEGER NOT NULL,"
	" until INTEGER NOT NULL, requests INTEGER NOT NULL, event INTEGER NOT NULL,"
	" state INTEGER NOT NULL, reason INTEGER NOT NULL, score REAL, probability REAL,"
	" PRIMARY KEY (cycle, place)) WITHOUT ROWID;"
	"ALTER TABLE cycles ADD COLUMN clients INTEGER NOT NULL DEFAULT 0;",
};

int sql_error(struct store_sqlite *s, struct err *err)
{
	int code = sqlite3_errcode(s->db);
	const char *todo = code == SQLITE_BUSY ? " (another freshet is writing to it)" :
	                   code == SQLITE_FULL ? " (make room on the disk)" :
	                   code == SQLITE_IOERR ? " (is the disk full, or failing?)" :
	                   code == SQLITE_READONLY ? " (nothing can be written there)" :
	                   code == SQLITE_CORRUPT || code == SQLITE_NOTADB ?
	                   " (damaged, or no freshet repository)" : "";

	return err_set(err, E_STORE, "%s: %s%s", s->path, sqlite3_errmsg(s->db), todo);
}

sqlite3_stmt *sql_get(struct store_sqlite *s, enum sql which, struct err *err)
{
	sqlite3_stmt **q = &s->statements[which];

	if (!*q && sqlite3_prepare_v3(s->db, sql_texts[which], -1, SQLITE_PREPARE_PERSISTENT, q,
	                              NULL) != SQLITE_OK) {
		sql_error(s, err);
		return NULL;
	}
	sqlite3_reset(*q);
	sqlite3_clear_bindings(*q);
	return *q;
}

int sql_step(struct store_sqlite *s, sqlite3_stmt *q, struct err *err)
{
	int rc = sqlite3_step(q);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE)
		return 0;
	rc = sql_error(s, err);
	sqlite3_reset(q);
	return rc;
}

int sql_run(struct store_sqlite *s, sqlite3_stmt *q, struct err *err)
{
	int rc = sql_step(s, q, err);

	sqlite3_reset(q);
	return rc < 0 ? rc : 0;
}

void sql_bind_text(sqlite3_stmt *q, int i, struct text t)
{
	if (t.s)
		sqlite3_bind_text64(q, i, t.s, t.size, SQLITE_STATIC, SQLITE_UTF8);
}

void sql_bind_real(sqlite3_stmt *q, int i, double v)
{
	if (!isnan(v))
		sqlite3_bind_double(q, i, v);
}

struct text sql_text(sqlite3_stmt *q, int column)
{
	const char *s = (const char *)sqlite3_column_text(q, column);

	return (struct text){ s, s ? (size_t)sqlite3_column_bytes(q, column) : 0 };
}

static int execute(struct store_sqlite *s, const char *sql, struct err *err)
{
	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return sql_error(s, err);
	return 0;
}

static int schema_version(struct store_sqlite *s, int *ret, struct err *err)
{
	sqlite3_stmt *q;

	if (sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &q, NULL) != SQLITE_OK ||
	    sqlite3_step(q) != SQLITE_ROW) {
		sqlite3_finalize(q);
		return sql_error(s, err);
	}
	*ret = sqlite3_column_int(q, 0);
	sqlite3_finalize(q);
	return 0;
}

/* Migrate one version up, unless another program has done so meanwhile. */
static int migrate_once(struct store_sqlite *s, int version, struct err *err)
{
	char done[64];
	int now = version, rc = execute(s, "BEGIN IMMEDIATE", err);

	snprintf(done, sizeof done, "PRAGMA user_version = %d", version + 1);
	if (rc < 0 || (rc = schema_version(s, &now, err)) < 0 ||
	    (now == version && ((rc = execute(s, migrations[version], err)) < 0 ||
	                        (rc = execute(s, done, err)) < 0)) ||
	    (rc = execute(s, "COMMIT", err)) < 0)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

static int migrate(struct store_sqlite *s, bool closed, struct err *err)
{
	int version = 0, rc = schema_version(s, &version, err);

	if (rc < 0)
		return rc;
	if (version > STORE_SCHEMA)
		return err_set(err, E_STORE, "%s: made by a newer freshet (schema %d, this one knows "
		               "%d): upgrade", s->path, version, STORE_SCHEMA);
	if (closed && version < STORE_SCHEMA)
		return err_set(err, E_STORE, "%s: made by an older freshet (schema %d, not %d) and "
		               "read-only: copy it to where it can be brought up to date", s->path,
		               version, STORE_SCHEMA);
	for (; rc == 0 && version < STORE_SCHEMA; version++)
		rc = migrate_once(s, version, err);
	return rc;
}

static const char *sqlite_path(const struct store *base)
{
	return ((const struct store_sqlite *)base)->path;
}

static void sqlite_close(struct store *base)
{
	struct store_sqlite *s = self(base);

	if (s->in_batch)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	for (size_t i = 0; i < N_SQL; i++)
		sqlite3_finalize(s->statements[i]);
	sqlite3_close(s->db);
	if (s->sent >= 0)
		close(s->sent);
	free(s->filter);
	buf_release(&s->robots);
	free(s);
}

extern const struct store_ops store_sqlite_ops;

/* A transaction of reads: all see the state at the first read. */
static int sqlite_freeze(struct store *base, struct err *err)
{
	struct store_sqlite *s = self(base);
	int rc = 0;

	if (sqlite3_get_autocommit(s->db))
		rc = execute(s, "BEGIN", err);
	s->frozen = rc == 0 && !s->in_batch;
	return rc;
}

/* An unreset SELECT holds an old snapshot: we would not see another program's commit, and
 * writing from that snapshot fails with BUSY. */
static void end_reads(struct store_sqlite *s)
{
	sqlite3_reset(s->statements[SQL_PAGE_GET]);
	sqlite3_reset(s->statements[SQL_CAPTURE_GET]);
}

static void sqlite_thaw(struct store *base)
{
	struct store_sqlite *s = self(base);

	end_reads(s);
	if (s->frozen && !s->reads_only)
		sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
	s->frozen = s->reads_only;
}

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
	return execute(s, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;", err);
}

static int open_database(struct store_sqlite *s, enum store_mode mode, struct err *err)
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
	sqlite3_busy_timeout(s->db, BUSY_MS);
	if ((rc = distrust(s, err)) < 0 ||
	    (!closed && (rc = execute(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;",
	                              err)) < 0) ||
	    (rc = execute(s, "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -" CACHE_KIB ";",
	                  err)) < 0)
		return rc;
	return migrate(s, closed, err);
}

static int sqlite_open(struct store **ret, const char *path, enum store_mode mode,
                       struct err *err)
{
	struct store_sqlite *s = mem_zalloc(1, sizeof *s);
	int rc;

	s->base.ops = &store_sqlite_ops;
	s->sent = -1;
	buf_init(&s->robots, BUF_NO_LIMIT);
	snprintf(s->path, sizeof s->path, "%s", path);
	rc = open_database(s, mode, err);
	if (rc == 0 && mode == STORE_READ)
		rc = sqlite_freeze(&s->base, err);
	if (rc < 0) {
		sqlite_close(&s->base);
		return rc;
	}
	s->reads_only = mode == STORE_READ;
	*ret = &s->base;
	return 0;
}

static int sqlite_begin(struct store *base, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_BEGIN, err);
	int64_t last = 0;
	int rc;

	end_reads(s);
	rc = q ? sql_run(s, q, err) : E_STORE;

	if (rc < 0)
		return rc;
	s->in_batch = true;
	rc = sqlite_last_page(s, &last, err);
	if (rc < 0)
		return rc;
	s->n_pages = (uint32_t)last;
	s->past_raised = false;
	rc = sqlite_last_cycle(s, &s->newest_cycle, err);
	return rc < 0 ? rc : sqlite_filter_check(s, err);
}

static int sqlite_commit(struct store *base, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_COMMIT, err);
	int rc;

	end_reads(s);           /* first: an open read would block the checkpoint */
	rc = q ? sql_run(s, q, err) : E_STORE;
	if (rc == 0)
		s->in_batch = false;
	return rc;
}

static void sqlite_rollback(struct store *base)
{
	struct store_sqlite *s = self(base);

	if (s->in_batch)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	s->in_batch = false;
	s->last_file_id = 0;
}

static int sqlite_setting_put(struct store *base, const char *key, const char *value,
                              struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, value ? SQL_SETTING_PUT : SQL_SETTING_DROP, err);

	if (!q)
		return E_STORE;
	sql_bind_text(q, 1, (struct text){ key, strlen(key) });
	if (value)
		sql_bind_text(q, 2, (struct text){ value, strlen(value) });
	return sql_run(s, q, err);
}

int sqlite_settings(struct store *base, store_setting_each *each, void *arg,
                           struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_SETTING_SCAN, err);
	int rc = q ? 0 : E_STORE;

	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct sql_row r = { .s = s, .q = q, .table = "settings", .err = err };
		struct text key = sql_text_there(&r, 0), value = sql_text_there(&r, 1);

		rc = r.rc < 0 ? r.rc : each(arg, key.s, value.s, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}

static int sqlite_count(struct store *base, struct store_counts *ret, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_COUNT, err);
	int rc = q ? sql_step(s, q, err) : E_STORE;

	if (rc < 0)
		return rc;
	*ret = (struct store_counts){
		.pages = (uint64_t)sqlite3_column_int64(q, 0),
		.captures = (uint64_t)sqlite3_column_int64(q, 1),
		.visits = (uint64_t)sqlite3_column_int64(q, 2),
		.cycles = (uint64_t)sqlite3_column_int64(q, 3),
		.gone = (uint64_t)sqlite3_column_int64(q, 4),
		.first_capture = sqlite3_column_int64(q, 5),
		.last_capture = sqlite3_column_int64(q, 6),
	};
	sqlite3_reset(q);
	return 0;
}

const struct store_ops store_sqlite_ops = {
	.scheme = "sqlite",
	.open = sqlite_open,
	.close = sqlite_close,
	.path = sqlite_path,
	.freeze = sqlite_freeze,
	.thaw = sqlite_thaw,
	.begin = sqlite_begin,
	.commit = sqlite_commit,
	.rollback = sqlite_rollback,
	.page_add = sqlite_page_add,
	.page_find = sqlite_page_find,
	.page_get = sqlite_page_get,
	.page_weigh = sqlite_page_weigh,
	.page_update = sqlite_page_update,
	.capture_add = sqlite_capture_add,
	.capture_put = sqlite_capture_put,
	.capture_get = sqlite_capture_get,
	.capture_refresh = sqlite_capture_refresh,
	.visit_add = sqlite_visit_add,
	.visits_forget = sqlite_visits_forget,
	.cycle_put = sqlite_cycle_put,
	.setting_put = sqlite_setting_put,
	.hint_get = sqlite_hint_get,
	.hint_put = sqlite_hint_put,
	.robots_get = sqlite_robots_get,
	.robots_put = sqlite_robots_put,
	.robots_size = sqlite_robots_size,
	.robots_forget = sqlite_robots_forget,
	.word_add = sqlite_word_add,
	.words = sqlite_words,
	.pages = sqlite_pages,
	.captures = sqlite_captures,
	.visits = sqlite_visits,
	.cycles = sqlite_cycles,
	.settings = sqlite_settings,
	.round_add = sqlite_round_add,
	.rounds = sqlite_rounds,
	.lease_put = sqlite_lease_put,
	.leases = sqlite_leases,
	.leases_forget = sqlite_leases_forget,
	.sent_add = sqlite_sent_add,
	.sent = sqlite_sent,
	.sent_clear = sqlite_sent_clear,
	.count = sqlite_count,
	.check = sqlite_check,
};
