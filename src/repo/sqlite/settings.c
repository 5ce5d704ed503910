/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - settings and state; see store_sqlite.c.
 *
 * All are rows of `settings`.  A key without a dot, or with an @ (NAME@HOST, of a site), is
 * the user's.  "state.KEY" and "worker.KEY" are what the program remembers, "store.KEY" is
 * what the store itself counts.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "repo/sqlite/store_sqlite.h"

#define KEY_SIZE 200

static struct text text_of(const char *s)
{
	return (struct text){ s, strlen(s) };
}

int sqlite_setting_put(struct store *base, const char *key, const char *value, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, value ? SQL_SETTING_PUT : SQL_SETTING_DROP, err);

	if (!q)
		return E_STORE;
	sql_bind_text(q, 1, text_of(key));
	if (value)
		sql_bind_text(q, 2, text_of(value));
	return sql_run(s, q, err);
}

int sqlite_setting_get(struct store *base, const char *key, char **ret, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_SETTING_GET, err);
	struct sql_row r = { .s = s, .q = q, .table = "settings", .err = err };
	int rc;

	if (!q)
		return E_STORE;
	sql_bind_text(q, 1, text_of(key));
	if ((rc = sql_step(s, q, err)) > 0) {
		struct text value = sql_text_there(&r, 1);

		if (r.rc < 0)
			rc = r.rc;
		else
			*ret = mem_strndup(value.s, value.size);
	}
	sqlite3_reset(q);
	return rc;
}

/* skip: bytes of the key that the caller does not know of */
static int scan(struct store_sqlite *s, const char *pattern, size_t skip,
                store_setting_each *each, void *arg, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, pattern ? SQL_STATE_SCAN : SQL_SETTING_SCAN, err);
	int rc = q ? 0 : E_STORE;

	if (q && pattern)
		sql_bind_text(q, 1, text_of(pattern));
	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct sql_row r = { .s = s, .q = q, .table = "settings", .err = err };
		struct text key = sql_text_there(&r, 0), value = sql_text_there(&r, 1);

		rc = r.rc < 0 ? r.rc : each(arg, key.s + skip, value.s, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}

int sqlite_settings(struct store *base, store_setting_each *each, void *arg, struct err *err)
{
	return scan(self(base), NULL, 0, each, arg, err);
}

static const char *const prefixes[] = {
	[STORE_OF_SHARD] = "state.", [STORE_OF_WORKER] = "worker.", [STORE_OF_FLEET] = "state.",
};

int sqlite_state_put(struct store *base, enum store_owner owner, const char *key,
                     const char *value, struct err *err)
{
	char name[KEY_SIZE];

	snprintf(name, sizeof name, "%s%s", prefixes[owner], key);
	return sqlite_setting_put(base, name, value, err);
}

int sqlite_state_get(struct store *base, enum store_owner owner, const char *key, char **ret,
                     struct err *err)
{
	char name[KEY_SIZE];

	snprintf(name, sizeof name, "%s%s", prefixes[owner], key);
	return sqlite_setting_get(base, name, ret, err);
}

int sqlite_states(struct store *base, enum store_owner owner, store_setting_each *each,
                  void *arg, struct err *err)
{
	char pattern[KEY_SIZE];

	snprintf(pattern, sizeof pattern, "%s*", prefixes[owner]);
	return scan(self(base), pattern, strlen(prefixes[owner]), each, arg, err);
}

int sqlite_past(struct store *base, uint64_t *ret, struct err *err)
{
	char *text = NULL;
	int rc = sqlite_setting_get(base, "store.past", &text, err);

	*ret = rc > 0 ? strtoull(text, NULL, 10) : 0;
	free(text);
	return rc < 0 ? rc : 0;
}

/* SQLite counts the commits of other connections. */
int sqlite_others(struct store *base, uint64_t *ret, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_OTHERS, err);
	int rc = q ? sql_step(s, q, err) : E_STORE;

	*ret = rc > 0 ? (uint64_t)sqlite3_column_int64(q, 0) + 1 : 0;
	if (q)
		sqlite3_reset(q);
	return rc < 0 ? rc : 0;
}

int sqlite_past_raise(struct store *base, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_PAST_RAISE, err);

	return q ? sql_run(s, q, err) : E_STORE;
}
