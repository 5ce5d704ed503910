/* SPDX-License-Identifier: Apache-2.0 */
/* store_sqlite_check.c - check everything: SQLite's own integrity check, then every row
 * with the checks of store_sqlite_row.c. */
#include <string.h>

#include "repo/store_sqlite.h"

static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	(void)arg, (void)p, (void)err;
	return 0;
}

static int see_capture(void *arg, const struct store_capture *c, struct err *err)
{
	(void)arg, (void)c, (void)err;
	return 0;
}

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	(void)arg, (void)v, (void)err;
	return 0;
}

static int see_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	(void)arg, (void)c, (void)err;
	return 0;
}

static int see_word(void *arg, uint32_t number, struct text word, struct err *err)
{
	(void)arg, (void)number, (void)word, (void)err;
	return 0;
}

static int see_setting(void *arg, const char *key, const char *value, struct err *err)
{
	(void)arg, (void)key, (void)value, (void)err;
	return 0;
}

/* Check a table that has no scan: get each row by its key, a text. */
static int check_keys(struct store_sqlite *s, enum sql which, const char *table,
                      struct err *err)
{
	sqlite3_stmt *q = sql_get(s, which, err);
	int rc = q ? 0 : E_STORE;

	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct sql_row r = { .s = s, .q = q, .table = table, .err = err };
		struct text key = sql_text_there(&r, 0);
		struct store_robots robots;
		struct store_hint hint;

		rc = r.rc < 0 ? r.rc : which == SQL_HINT_SITES ?
			sqlite_hint_get(&s->base, key, &hint, err) :
			sqlite_robots_get(&s->base, key, &robots, err);
		rc = rc < 0 ? rc : 0;
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}

static int check_file(struct store_sqlite *s, struct err *err)
{
	sqlite3_stmt *q;
	int rc = 0;

	if (sqlite3_prepare_v2(s->db, "PRAGMA integrity_check(1)", -1, &q, NULL) != SQLITE_OK)
		return sql_error(s, err);
	if (sqlite3_step(q) != SQLITE_ROW)
		rc = sql_error(s, err);
	else if (strcmp((const char *)sqlite3_column_text(q, 0), "ok"))
		rc = err_set(err, E_STORE, "%s: %s", s->path, (const char *)sqlite3_column_text(q, 0));
	sqlite3_finalize(q);
	return rc;
}

int sqlite_check(struct store *base, struct err *err)
{
	struct store_sqlite *s = self(base);
	int rc;

	if ((rc = check_file(s, err)) < 0 ||
	    (rc = sqlite_pages(base, see_page, NULL, err)) < 0 ||
	    (rc = sqlite_captures(base, STORE_NONE, see_capture, NULL, err)) < 0 ||
	    (rc = sqlite_visits(base, STORE_NONE, 0, UINT32_MAX, see_visit, NULL, err)) < 0 ||
	    (rc = sqlite_cycles(base, see_cycle, NULL, err)) < 0 ||
	    (rc = sqlite_words(base, 0, see_word, NULL, err)) < 0 ||
	    (rc = sqlite_settings(base, see_setting, NULL, err)) < 0 ||
	    (rc = check_keys(s, SQL_HINT_SITES, "hints", err)) < 0)
		return rc;
	return check_keys(s, SQL_ROBOTS_ORIGINS, "robots", err);
}
