/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c - what the user has set, and what the program has to remember; see store_pg.h. */
#include <string.h>

#include "repo/pg/store_pg.h"

static struct text text(const char *s)
{
	return (struct text){ s, strlen(s) };
}

/* Settings are of the whole fleet: they lie with shard 0. */
static void settings_args(struct pg_args *a)
{
	pg_args_clear(a);
	pg_args_int(a, 0);
}

int pg_setting_put(struct store *base, const char *key, const char *value, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_args *a;
	bool own;
	int rc = pg_enter(s, &own, err);

	if (rc == 0) {
		s->batch.dirty |= PG_T_SETTINGS;
		a = pg_batch_call(s, value ? PG_SETTING_PUT : PG_SETTING_DROP);
		settings_args(a);
		pg_args_text(a, text(key));
		if (value)
			pg_args_text(a, text(value));
	}
	return pg_leave(s, own, rc, err);
}

/* The text in the first cell, in a new string.  1: there is one. */
static int one_text(struct store_pg *s, enum pg_sql sql, const struct pg_args *a,
                    const char *table, char **ret, struct err *err)
{
	PGresult *r = NULL;
	int rc = pg_ask(s, sql, a, &r, err);

	if (rc == 0 && PQntuples(r)) {
		struct arena room = { 0 };
		struct pg_row row = { .r = r, .table = table, .where = s->target.shown, .room = &room,
		                      .err = err };
		struct text t = pg_row_text(&row, 0);

		rc = row.rc < 0 ? row.rc : 1;
		if (rc > 0)
			*ret = mem_strndup(t.s, t.size);
		arena_release(&room);
	}
	PQclear(r);
	return rc;
}

int pg_setting_get(struct store *base, const char *key, char **ret, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_args a = { 0 };
	int rc;

	pg_show_writes(s, PG_T_SETTINGS);
	settings_args(&a);
	pg_args_text(&a, text(key));
	rc = one_text(s, PG_SETTING_GET, &a, "settings", ret, err);
	pg_args_release(&a);
	return rc;
}

struct pairs { store_setting_each *each; void *arg; struct err *err; };

static int see_pair(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct pairs *w = arg;
	struct text key = pg_row_text(r, 0), value = pg_row_text(r, 1);

	(void)s;
	return r->rc < 0 ? r->rc : w->each(w->arg, key.s, value.s, w->err);
}

int pg_settings(struct store *base, store_setting_each *each, void *arg, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pairs w = { each, arg, err };
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_show_writes(s, PG_T_SETTINGS);
	settings_args(&a);
	rc = pg_ask(s, PG_SETTING_SCAN, &a, &r, err);
	pg_args_release(&a);
	return rc < 0 ? rc : pg_walk(s, r, "settings", see_pair, &w, err);
}

static void owner_args(struct store_pg *s, enum store_owner owner, struct pg_args *a)
{
	if (owner == STORE_OF_FLEET)
		settings_args(a);
	else
		pg_shard_args(s, a);
	pg_args_text(a, text(owner == STORE_OF_WORKER ? s->target.worker : ""));
}

int pg_state_put(struct store *base, enum store_owner owner, const char *key,
                 const char *value, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_args *a;
	bool own;
	int rc = pg_enter(s, &own, err);

	if (rc == 0) {
		s->batch.dirty |= PG_T_STATES;
		a = pg_batch_call(s, value ? PG_STATE_PUT : PG_STATE_DROP);
		owner_args(s, owner, a);
		pg_args_text(a, text(key));
		if (value)
			pg_args_text(a, text(value));
	}
	return pg_leave(s, own, rc, err);
}

int pg_state_get(struct store *base, enum store_owner owner, const char *key, char **ret,
                 struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_args a = { 0 };
	int rc;

	pg_show_writes(s, PG_T_STATES);
	owner_args(s, owner, &a);
	pg_args_text(&a, text(key));
	rc = one_text(s, PG_STATE_GET, &a, "states", ret, err);
	pg_args_release(&a);
	return rc;
}

int pg_states(struct store *base, enum store_owner owner, store_setting_each *each, void *arg,
              struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pairs w = { each, arg, err };
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_show_writes(s, PG_T_STATES);
	owner_args(s, owner, &a);
	rc = pg_ask(s, PG_STATE_SCAN, &a, &r, err);
	pg_args_release(&a);
	return rc < 0 ? rc : pg_walk(s, r, "states", see_pair, &w, err);
}
