/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - what only SQLite can check: its own file, the hashes that rows are found by,
 * references between tables that no read shows; and rows that make no sense, which can be
 * taken out of the tables where no number depends on them.
 */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "repo/sqlite/store_sqlite.h"

#define INTEGRITY_MAX "20"      /* messages of SQLite */
#define BODY_SEED 3             /* of the hash of a body: captures.c */

struct checking {
	struct store_sqlite *s;
	store_problem_each *each;
	void *arg;
	struct err *err;
};

/* A row that is to be mended, and what by. */
struct wrong { int64_t id, value; };

/* 1: it is to be mended. */
static int tell(const struct checking *c, const char *table, const char *text, const char *was)
{
	struct store_problem p = { .table = table, .text = text, .was = was };

	return c->each(c->arg, &p, c->err);
}

/* A text as JSON, each byte that is not plain ASCII as \u00XX. */
static void add_text(struct buf *b, struct text t)
{
	buf_byte(b, '"');
	for (size_t i = 0; i < t.size; i++) {
		unsigned char ch = (unsigned char)t.s[i];

		if (ch < 0x20 || ch >= 0x7f || ch == '"' || ch == '\\')
			buf_printf(b, "\\u%04x", ch);
		else
			buf_byte(b, (char)ch);
	}
	buf_byte(b, '"');
}

/* ---- the file ---- */

/* Indexes can be made anew out of their tables. */
static int check_file(const struct checking *c)
{
	sqlite3_stmt *q;
	bool mend = false;
	int rc = 0;

	if (sqlite3_prepare_v2(c->s->db, "PRAGMA integrity_check(" INTEGRITY_MAX ")", -1, &q,
	                       NULL) != SQLITE_OK)
		return sql_error(c->s, c->err);
	while (rc >= 0 && (rc = sql_step(c->s, q, c->err)) > 0) {
		struct text t = sql_text(q, 0);
		char *text;

		if (!t.s || (t.size == 2 && !memcmp(t.s, "ok", 2)))
			continue;
		text = mem_strndup(t.s, t.size);
		rc = tell(c, "", text, strstr(text, "index") ? "{\"table\":\"\"}" : NULL);
		mend |= rc > 0;
		free(text);
	}
	sqlite3_finalize(q);
	return rc < 0 || !mend ? rc : sql_execute(c->s, "REINDEX", c->err);
}

/* ---- hashes ---- */

static int run_on(struct store_sqlite *s, enum sql which, int64_t id, int64_t value,
                  struct err *err)
{
	sqlite3_stmt *q = sql_get(s, which, err);

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, id);
	if (sqlite3_bind_parameter_count(q) > 1)
		sqlite3_bind_int64(q, 2, value);
	return sql_run(s, q, err);
}

/* Rows are id, key, text, and the key is a hash of the text. */
static int check_keys(const struct checking *c, const char *table, enum sql scan,
                      enum sql mend, uint64_t seed)
{
	VEC(struct wrong) wrong = { 0 };
	sqlite3_stmt *q = sql_get(c->s, scan, c->err);
	struct buf was;
	int rc = q ? 0 : E_STORE;

	buf_init(&was, BUF_NO_LIMIT);
	while (rc >= 0 && (rc = sql_step(c->s, q, c->err)) > 0) {
		struct text t = sql_text(q, 2);
		int64_t id = sqlite3_column_int64(q, 0), key = sqlite3_column_int64(q, 1);
		int64_t right = t.s ? (int64_t)hash_bytes(t.s, t.size, seed) : key;
		char text[200];

		if (key == right)
			continue;
		snprintf(text, sizeof text, "table %s, row %lld: its key is not the hash of its text",
		         table, (long long)id);
		buf_clear(&was);
		buf_printf(&was, "{\"table\":\"%s\",\"id\":%lld,\"key\":%lld,\"text\":", table,
		           (long long)id, (long long)key);
		add_text(&was, t);
		buf_byte(&was, '}');
		rc = tell(c, table, text, buf_text(&was));
		if (rc > 0)
			vec_push(&wrong, ((struct wrong){ id, right }));
	}
	if (q)
		sqlite3_reset(q);
	for (size_t i = 0; i < wrong.n && rc >= 0; i++)
		rc = run_on(c->s, mend, wrong.v[i].id, wrong.v[i].value, c->err);
	vec_release(&wrong);
	buf_release(&was);
	return rc;
}

/* ---- references ---- */

static const struct reference {
	const char *table, *what;
	const char *find;               /* rows: id, what they name */
	const char *mend;               /* ?1: id, ?2: what it names */
} references[] = {
	{ "captures", "names a text of links that is not there",
	  "SELECT id, links FROM captures WHERE links IS NOT NULL AND links NOT IN "
	  "(SELECT key FROM bodies)", "UPDATE captures SET links = NULL WHERE id = ?1" },
	{ "captures", "names a text of words that is not there",
	  "SELECT id, terms FROM captures WHERE terms IS NOT NULL AND terms NOT IN "
	  "(SELECT key FROM bodies)", "UPDATE captures SET terms = NULL WHERE id = ?1" },
	{ "captures", "names an archive file that is not there",
	  "SELECT id, file FROM captures WHERE file IS NOT NULL AND file NOT IN "
	  "(SELECT id FROM files)",
	  "UPDATE captures SET file = NULL, offset = NULL, size = NULL WHERE id = ?1" },
	{ "tagged", "has a tag that is not there",
	  "SELECT page, tag FROM tagged WHERE tag NOT IN (SELECT id FROM tags)",
	  "DELETE FROM tagged WHERE page = ?1 AND tag = ?2" },
	{ "rounds", "is of a cycle that is not there",
	  "SELECT number, cycle FROM rounds WHERE cycle NOT IN (SELECT number FROM cycles)",
	  "DELETE FROM rounds WHERE number = ?1 AND cycle = ?2" },
	{ "leases", "is of a cycle that is not there",
	  "SELECT place, cycle FROM leases WHERE cycle NOT IN (SELECT number FROM cycles)",
	  "DELETE FROM leases WHERE place = ?1 AND cycle = ?2" },
};

static int mend_reference(struct store_sqlite *s, const char *sql, int64_t id, int64_t named,
                          struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
		return sql_error(s, err);
	sqlite3_bind_int64(q, 1, id);
	if (sqlite3_bind_parameter_count(q) > 1)
		sqlite3_bind_int64(q, 2, named);
	rc = sql_run(s, q, err);
	sqlite3_finalize(q);
	return rc;
}

static int check_reference(const struct checking *c, const struct reference *r)
{
	VEC(struct wrong) wrong = { 0 };
	sqlite3_stmt *q;
	int rc = 0;

	if (sqlite3_prepare_v2(c->s->db, r->find, -1, &q, NULL) != SQLITE_OK)
		return sql_error(c->s, c->err);
	while (rc >= 0 && (rc = sql_step(c->s, q, c->err)) > 0) {
		int64_t id = sqlite3_column_int64(q, 0), named = sqlite3_column_int64(q, 1);
		char text[200], was[200];

		snprintf(text, sizeof text, "table %s, row %lld: %s", r->table, (long long)id,
		         r->what);
		snprintf(was, sizeof was, "{\"table\":\"%s\",\"id\":%lld,\"%s\":%lld}", r->table,
		         (long long)id, sqlite3_column_name(q, 1), (long long)named);
		rc = tell(c, r->table, text, was);
		if (rc > 0)
			vec_push(&wrong, ((struct wrong){ id, named }));
	}
	sqlite3_finalize(q);
	for (size_t i = 0; i < wrong.n && rc >= 0; i++)
		rc = mend_reference(c->s, r->mend, wrong.v[i].id, wrong.v[i].value, c->err);
	vec_release(&wrong);
	return rc;
}

int sqlite_check(struct store *base, store_problem_each *each, void *arg, struct err *err)
{
	struct checking c = { self(base), each, arg, err };
	int rc = check_file(&c);

	if (rc >= 0)
		rc = check_keys(&c, "pages", SQL_PAGE_HASHES, SQL_PAGE_REKEY, 0);
	if (rc >= 0)                    /* then references to it become none */
		rc = check_keys(&c, "bodies", SQL_BODY_SCAN, SQL_BODY_DROP, BODY_SEED);
	for (size_t i = 0; i < sizeof references / sizeof *references && rc >= 0; i++)
		rc = check_reference(&c, &references[i]);
	if (rc >= 0)
		rc = sqlite_counts_check(c.s, each, arg, err);
	return rc < 0 ? rc : 0;
}

/* ---- rows that make no sense ---- */

/* Tables whose rows may go: no number depends on how many there are. */
static const struct { const char *table, *key; } may_go[] = {
	{ "visits", "id" }, { "captures", "id" }, { "care", "id" }, { "hints", "site" },
	{ "robots", "origin" },
};

static const char *key_of(const char *table)
{
	for (size_t i = 0; table && i < sizeof may_go / sizeof *may_go; i++)
		if (!strcmp(may_go[i].table, table))
			return may_go[i].key;
	return NULL;
}

void sqlite_bad_row_note(struct sql_row *r)
{
	struct store_sqlite *s = r->s;

	sqlite3_value_free(s->bad_key);
	s->bad_key = NULL;
	s->bad_table = r->table;
	if (!r->key.s)
		s->bad_key = sqlite3_value_dup(sqlite3_column_value(r->q, r->key_column));
}

static void add_cell(struct buf *b, sqlite3_stmt *q, int i)
{
	buf_printf(b, "%s\"%s\":", i ? "," : ",\"row\":{", sqlite3_column_name(q, i));
	add_text(b, sql_text(q, i));            /* quote(): numbers, 'texts', X'bytes' */
}

/* SELECT quote(a) AS a, quote(b) AS b, ... */
static int select_quoted(struct store_sqlite *s, const char *key, struct buf *sql,
                         struct err *err)
{
	sqlite3_stmt *q;
	char text[100];
	int rc;

	snprintf(text, sizeof text, "SELECT name FROM pragma_table_info('%s')", s->bad_table);
	if (sqlite3_prepare_v2(s->db, text, -1, &q, NULL) != SQLITE_OK)
		return sql_error(s, err);
	buf_str(sql, "SELECT ");
	for (int i = 0; (rc = sql_step(s, q, err)) > 0; i++)
		buf_printf(sql, "%squote(\"%s\") AS \"%s\"", i ? ", " : "",
		           (const char *)sqlite3_column_text(q, 0),
		           (const char *)sqlite3_column_text(q, 0));
	buf_printf(sql, " FROM %s WHERE %s = ?1", s->bad_table, key);
	sqlite3_finalize(q);
	return rc;
}

int sqlite_bad_row(struct store *base, const char *table, struct buf *ret, struct err *err)
{
	struct store_sqlite *s = self(base);
	const char *key = key_of(s->bad_table);
	sqlite3_stmt *q = NULL;
	struct buf sql;
	int rc = 0;

	if (!key || !s->bad_key || strcmp(table, s->bad_table))
		return 0;
	buf_init(&sql, BUF_NO_LIMIT);
	rc = select_quoted(s, key, &sql, err);
	if (rc == 0 && sqlite3_prepare_v2(s->db, buf_text(&sql), -1, &q, NULL) != SQLITE_OK)
		rc = sql_error(s, err);
	if (rc == 0) {
		sqlite3_bind_value(q, 1, s->bad_key);
		rc = sql_step(s, q, err);
	}
	if (rc > 0) {
		buf_printf(ret, "{\"table\":\"%s\"", s->bad_table);
		for (int i = 0; i < sqlite3_column_count(q); i++)
			add_cell(ret, q, i);
		buf_str(ret, "}}");
	}
	sqlite3_finalize(q);
	buf_release(&sql);
	return rc;
}

int sqlite_bad_row_drop(struct store *base, struct err *err)
{
	struct store_sqlite *s = self(base);
	char sql[100];
	sqlite3_stmt *q;
	int rc;

	snprintf(sql, sizeof sql, "DELETE FROM %s WHERE %s = ?1", s->bad_table,
	         key_of(s->bad_table));
	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
		return sql_error(s, err);
	sqlite3_bind_value(q, 1, s->bad_key);
	rc = sql_run(s, q, err);
	sqlite3_finalize(q);
	if (rc == 0) {
		int n = sqlite3_changes(s->db);

		s->more.visits -= strcmp(s->bad_table, "visits") ? 0 : n;
		s->more.captures_gone += strcmp(s->bad_table, "captures") ? 0 : n;
	}
	return sqlite_counts_alone(s, rc, err);
}
