/* SPDX-License-Identifier: Apache-2.0 */
/* tidy.c - captures that go or move, and what is left over of them; see store_pg.h. */
#include <stdio.h>

#include "repo/pg/store_pg.h"

#define SCAN_PART 1000

void pg_forget_known(struct store_pg *s)
{
	map_clear(&s->bodies_known);
	strtab_release(&s->files_known);
	s->file_ids.n = 0;
}

/* What was read of captures is forgotten, and the next reads see what is written here. */
static void forget_read(struct store_pg *s)
{
	s->batch.read.n = 0;
	map_clear(&s->batch.read_by_id);
	pg_show_writes(s, PG_ALL_TABLES);
}

int pg_captures_drop(struct store *base, const uint64_t *ids, size_t n, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_rows rows = { .types = "i" };
	bool own;
	int rc = pg_enter(s, &own, err);

	if (rc == 0) {
		for (size_t i = 0; i < n; i++)
			pg_rows_int(&rows, (int64_t)ids[i]);
		pg_batch_take(s, PG_CAPTURE_DROP, &rows);
		rc = pg_past_raise(base, err);
		forget_read(s);
	}
	pg_rows_release(&rows);
	return pg_leave(s, own, rc, err);
}

int pg_captures_move(struct store *base, const struct store_moved *moved, size_t n,
                     struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_rows rows = { .types = "iiii" };
	bool own;
	int rc = pg_enter(s, &own, err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		struct store_capture c = { .worker = moved[i].worker, .file = moved[i].file };
		int64_t file = 0;

		if (c.file.s)
			rc = pg_file_id(s, &c, &file, err);
		pg_rows_int(&rows, (int64_t)moved[i].capture);
		pg_rows_int(&rows, file);
		pg_rows_int(&rows, moved[i].offset);
		pg_rows_int(&rows, moved[i].size);
	}
	if (rc == 0) {
		pg_batch_take(s, PG_CAPTURE_MOVE, &rows);
		forget_read(s);
	}
	pg_rows_release(&rows);
	return pg_leave(s, own, rc, err);
}

struct walking { store_file_each *each; void *arg; struct err *err; };

static int see_file(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct walking *w = arg;
	struct text worker = pg_row_text_or_null(r, 0), name = pg_row_text(r, 1);

	(void)s;
	return r->rc < 0 ? r->rc : w->each(w->arg, worker, name, w->err);
}

static int scan_files(struct store *base, enum pg_sql which, store_file_each *each, void *arg,
                      struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct walking w = { each, arg, err };
	struct pg_args a = { 0 };
	int rc;

	pg_show_writes(s, PG_ALL_TABLES);
	pg_shard_args(s, &a);
	rc = pg_scan(s, which, &a, SCAN_PART, "files", see_file, &w, err);
	pg_args_release(&a);
	return rc;
}

int pg_files(struct store *base, store_file_each *each, void *arg, struct err *err)
{
	return scan_files(base, PG_FILE_SCAN, each, arg, err);
}

int pg_files_shared(struct store *base, store_file_each *each, void *arg, struct err *err)
{
	return scan_files(base, PG_FILE_SHARED, each, arg, err);
}

int pg_file_drop(struct store *base, struct text worker, struct text name, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_args *a;
	bool own;
	int rc = pg_enter(s, &own, err);

	if (rc == 0) {
		pg_batch_flush(s);
		a = pg_batch_call(s, PG_FILE_DROP);
		pg_args_text(a, worker);
		pg_args_text(a, name);
		pg_forget_known(s);
	}
	return pg_leave(s, own, rc, err);
}

int pg_file_leave(struct store *base, struct text worker, struct text name, bool *ret_last,
                  struct err *err)
{
	static const enum pg_sql calls[] = { PG_FILE_LOCK, PG_FILE_LEAVE };
	struct store_pg *s = pg_self(base);
	struct pg_args find = { 0 };
	PGresult *r = NULL;
	bool own;
	int rc = pg_enter(s, &own, err);

	if (rc == 0) {
		pg_batch_flush(s);
		for (size_t i = 0; i < 2; i++) {
			struct pg_args *a = pg_batch_call(s, calls[i]);

			pg_args_text(a, worker);
			pg_args_text(a, name);
		}
		pg_forget_known(s);
	}
	rc = pg_leave(s, own, rc, err);
	if (rc < 0)
		return rc;
	pg_shard_args(s, &find);
	pg_args_text(&find, worker);
	pg_args_text(&find, name);
	rc = pg_ask(s, PG_FILE_FIND, &find, &r, err);
	if (rc == 0)
		*ret_last = PQntuples(r) > 0;
	PQclear(r);
	pg_args_release(&find);
	return rc;
}

/* VACUUM lets the space be used again; it takes no lock that others would wait for. */
static int vacuum(struct store_pg *s, void *arg, struct err *err)
{
	static const char *const tables[] = { "captures", "bodies", "files", "visits", "pages" };
	int rc = 0;

	(void)arg;
	for (size_t i = 0; i < sizeof tables / sizeof *tables && rc == 0; i++) {
		char sql[60];

		snprintf(sql, sizeof sql, "VACUUM (ANALYZE) %s", tables[i]);
		rc = pg_link_run(&s->link, sql, NULL, err);
	}
	return rc;
}

int pg_tidy(struct store *base, bool whole, struct err *err)
{
	struct store_pg *s = pg_self(base);
	bool own;
	int rc = pg_enter(s, &own, err);

	if (rc == 0) {
		pg_batch_call(s, PG_BODY_TIDY);
		pg_forget_known(s);
	}
	rc = pg_leave(s, own, rc, err);
	return rc < 0 || !whole ? rc : pg_try(s, vacuum, NULL, err);
}
