/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - the tables, and how older ones are brought up to date; README.md
 * draws them. */
#include <stdio.h>

#include "base/log.h"
#include "repo/sqlite/store_sqlite.h"

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
	"ALTER TABLE pages ADD COLUMN given TEXT;"
	"ALTER TABLE pages ADD COLUMN care INTEGER NOT NULL DEFAULT 0;"
	/* care.id = (cycle << 32) + order, as that of visits */
	"CREATE TABLE care (id INTEGER PRIMARY KEY, page INTEGER NOT NULL,"
	" care INTEGER NOT NULL, time INTEGER NOT NULL);"
	"CREATE INDEX care_page ON care (page);"
	"CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
	"CREATE TABLE tagged (tag INTEGER NOT NULL, page INTEGER NOT NULL,"
	" PRIMARY KEY (tag, page)) WITHOUT ROWID;"
	"ALTER TABLE cycles ADD COLUMN pages INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE cycles ADD COLUMN owed INTEGER NOT NULL DEFAULT 0;"
	/* before, the upper half of `fails` was what fails_gone is now */
	"ALTER TABLE pages ADD COLUMN fails_gone INTEGER NOT NULL DEFAULT 0;"
	"UPDATE pages SET fails_gone = fails >> 16, fails = fails & 65535 WHERE fails > 65535;"
	"CREATE TABLE files_of (id INTEGER PRIMARY KEY, worker TEXT NOT NULL DEFAULT '',"
	" name TEXT NOT NULL, UNIQUE (worker, name));"
	"INSERT INTO files_of (id, name) SELECT id, name FROM files;"
	"DROP TABLE files;"
	"ALTER TABLE files_of RENAME TO files;"
	/* settings: what belongs to a worker, and what the store itself counts */
	"UPDATE settings SET key = 'worker' || substr(key, 6) WHERE key = 'state.warc';"
	"UPDATE settings SET key = 'store.past' WHERE key = 'state.past';",
	"ALTER TABLE pages ADD COLUMN touched INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE pages ADD COLUMN notifier INTEGER NOT NULL DEFAULT 0;"
	"CREATE INDEX pages_touched ON pages (id) WHERE touched > 0;",
	"CREATE INDEX pages_aside ON pages (care, state) WHERE state <> 0 OR care <> 0;"
	/* OUTCOME_CHANGED and OUTCOME_GONE */
	"CREATE INDEX visits_found ON visits (id) WHERE outcome IN (1, 2);"
	"CREATE TABLE counts (id INTEGER PRIMARY KEY, captures INTEGER NOT NULL,"
	" visits INTEGER NOT NULL, first INTEGER, last INTEGER);"
	COUNTS_FILL,
};

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
	int now = version, rc = sql_execute(s, "BEGIN IMMEDIATE", err);

	snprintf(done, sizeof done, "PRAGMA user_version = %d", version + 1);
	if (rc < 0 || (rc = schema_version(s, &now, err)) < 0 ||
	    (now == version && ((rc = sql_execute(s, migrations[version], err)) < 0 ||
	                        (rc = sql_execute(s, done, err)) < 0)) ||
	    (rc = sql_execute(s, "COMMIT", err)) < 0)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

int sqlite_migrate(struct store_sqlite *s, bool closed, struct err *err)
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
	if (version > 0 && version < STORE_SCHEMA)
		log_info("%s: its tables are brought up to date, once; large ones take minutes",
		         s->path);
	for (; rc == 0 && version < STORE_SCHEMA; version++)
		rc = migrate_once(s, version, err);
	return rc;
}
