/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite.c - the embedded store: statements, batches, and the table of its functions.
 *
 * WAL with synchronous=NORMAL: a commit survives a crash of the program.  After a crash
 * of the machine the tables may be older, but they are consistent.  Pages are found by a
 * 64-bit hash of their URL: that index has a quarter of the size of an index on the text.
 * URLs with the same hash are compared.
 *
 * Row ids start at 1, page numbers at 0: number = id - 1.
 */
#include "repo/sqlite/store_sqlite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static const char *const sql_texts[] = {
#define SQL(name, text) text,
#include "repo/sqlite/sql.def"
#undef SQL
};

int sql_error(struct store_sqlite *s, struct err *err)
{
	int code = sqlite3_errcode(s->db);
	const char *todo = code == SQLITE_FULL ? " (make room on the disk)" :
	                   code == SQLITE_IOERR ? " (is the disk full, or failing?)" :
	                   code == SQLITE_READONLY ? " (nothing can be written there)" :
	                   code == SQLITE_CORRUPT || code == SQLITE_NOTADB ?
	                   " (damaged, or no freshet repository)" : "";

	if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
		return err_set(err, E_BUSY, "%s: another program is writing to it, and did not end "
		               "within %d s: try again when it has, or stop it", s->path,
		               SQLITE_WAIT_MS / 1000);
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

int sql_execute(struct store_sqlite *s, const char *sql, struct err *err)
{
	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return sql_error(s, err);
	return 0;
}

int sql_reads_begin(struct store_sqlite *s, size_t n, bool *ret_began, struct err *err)
{
	sqlite3_stmt *q;
	int rc = 0;

	*ret_began = false;
	if (n < 2 || !sqlite3_get_autocommit(s->db))
		return 0;
	q = sql_get(s, SQL_READ, err);
	rc = q ? sql_run(s, q, err) : E_STORE;
	*ret_began = rc == 0;
	return rc;
}

int sql_reads_end(struct store_sqlite *s, bool began, int rc, struct err *err)
{
	sqlite3_stmt *q = began ? sql_get(s, SQL_COMMIT, err) : NULL;
	int ended = !began ? 0 : q ? sql_run(s, q, rc < 0 ? &(struct err){ 0 } : err) : E_STORE;

	return rc ? rc : ended;
}

static bool sqlite_takes(const char *where)
{
	return !strncmp(where, "sqlite:", 7);
}

static const char *sqlite_file(const struct store *base)
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
	sqlite3_value_free(s->bad_key);
	sqlite3_close(s->db);
	if (s->sent >= 0)
		close(s->sent);
	sqlite_unlock(base);
	free(s->filter);
	free(s);
}

/* A transaction of reads: all see the state at the first read. */
static int sqlite_freeze(struct store *base, struct err *err)
{
	struct store_sqlite *s = self(base);
	int rc = 0;

	if (sqlite3_get_autocommit(s->db))
		rc = sql_execute(s, "BEGIN", err);
	s->frozen = rc == 0 && !s->in_batch;
	return rc;
}

static void sqlite_thaw(struct store *base)
{
	struct store_sqlite *s = self(base);

	if (s->frozen && !s->reads_only)
		sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
	s->frozen = s->reads_only;
}

static int sqlite_open(struct store **ret, const char *where, enum store_mode mode,
                       struct err *err)
{
	struct store_sqlite *s = mem_zalloc(1, sizeof *s);
	int rc;

	s->base.ops = &store_sqlite_ops;
	s->sent = s->lock = -1;
	snprintf(s->path, sizeof s->path, "%s", where + (sqlite_takes(where) ? 7 : 0));
	rc = sqlite_connect(s, mode, err);
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
	int rc = q ? sql_run(s, q, err) : E_STORE;

	if (rc < 0)
		return rc;
	s->in_batch = true;
	rc = sqlite_last_page(s, &last, err);
	if (rc < 0)
		return rc;
	s->n_pages = (uint32_t)last;
	s->past_raised = false;
	s->ids.left = s->ids.drawn = 0;
	s->last_visit = 0;
	s->last_file_id = 0;            /* another program may have forgotten the file */
	rc = sqlite_last_cycle(s, &s->newest_cycle, err);
	return rc < 0 ? rc : sqlite_filter_check(s, err);
}

static int sqlite_commit(struct store *base, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_COMMIT, err);
	int rc = q ? sqlite_ids_return(s, err) : E_STORE;

	s->last_visit = 0;
	if (rc == 0)
		rc = sqlite_counts_write(s, err);
	if (rc == 0)
		rc = sql_run(s, q, err);
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
	s->more = (struct counted){ 0 };
	s->ids.left = s->ids.drawn = 0;
	s->last_visit = s->last_file_id = 0;
}

const struct store_ops store_sqlite_ops = {
	.name = "sqlite",
	.takes = sqlite_takes,
	.open = sqlite_open,
	.close = sqlite_close,
	.file = sqlite_file,
	.lock = sqlite_lock,
	.unlock = sqlite_unlock,
	.freeze = sqlite_freeze,
	.thaw = sqlite_thaw,
	.begin = sqlite_begin,
	.commit = sqlite_commit,
	.rollback = sqlite_rollback,
	.pages_add = sqlite_pages_add,
	.pages_find = sqlite_pages_find,
	.pages_get = sqlite_pages_get,
	.pages_change = sqlite_pages_change,
	.pages = sqlite_pages,
	.pages_brief = sqlite_pages_brief,
	.pages_touched = sqlite_pages_touched,
	.captures_put = sqlite_captures_put,
	.capture_ids = sqlite_capture_ids,
	.captures_get = sqlite_captures_get,
	.copies_get = sqlite_copies_get,
	.captures_refresh = sqlite_captures_refresh,
	.captures = sqlite_captures,
	.captures_linked = sqlite_captures_linked,
	.links = sqlite_texts,
	.terms = sqlite_texts,
	.captures_since = sqlite_captures_since,
	.captures_drop = sqlite_captures_drop,
	.captures_move = sqlite_captures_move,
	.files = sqlite_files,
	.file_drop = sqlite_file_drop,
	.sync = sqlite_sync,
	.tidy = sqlite_tidy,
	.leave_log = sqlite_leave_log,
	.carry_log = sqlite_carry_log,
	.cache = sqlite_cache,
	.visits_add = sqlite_visits_add,
	.visits_forget = sqlite_visits_forget,
	.visits = sqlite_visits,
	.visits_found = sqlite_visits_found,
	.visits_of = sqlite_visits_of,
	.past = sqlite_past,
	.past_raise = sqlite_past_raise,
	.others = sqlite_others,
	.cycle_put = sqlite_cycle_put,
	.cycles = sqlite_cycles,
	.rounds_add = sqlite_rounds_add,
	.rounds = sqlite_rounds,
	.leases_put = sqlite_leases_put,
	.leases = sqlite_leases,
	.leases_forget = sqlite_leases_forget,
	.sent_start = sqlite_sent_start,
	.sent = sqlite_sent,
	.sent_clear = sqlite_sent_clear,
	.care_put = sqlite_care_put,
	.care_log = sqlite_care_log,
	.tag_put = sqlite_tag_put,
	.tags = sqlite_tags,
	.tagged = sqlite_tagged,
	.setting_put = sqlite_setting_put,
	.setting_get = sqlite_setting_get,
	.settings = sqlite_settings,
	.state_put = sqlite_state_put,
	.state_get = sqlite_state_get,
	.states = sqlite_states,
	.hints_get = sqlite_hints_get,
	.hints_change = sqlite_hints_change,
	.hints = sqlite_hints,
	.robots_put = sqlite_robots_put,
	.robots = sqlite_robots,
	.robots_size = sqlite_robots_size,
	.robots_forget = sqlite_robots_forget,
	.words_add = sqlite_words_add,
	.words = sqlite_words,
	.count = sqlite_count,
	.backup = sqlite_backup,
	.check = sqlite_check,
	.bad_row = sqlite_bad_row,
	.bad_row_drop = sqlite_bad_row_drop,
};
