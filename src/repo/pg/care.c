/* SPDX-License-Identifier: Apache-2.0 */
/* care.c - which pages are under care, and their tags; see store_pg.h. */
#include "repo/pg/store_pg.h"

#define SCAN_PART 10000

/* A call for the rows so far: one statement changes a page once. */
static void take_care(struct store_pg *s, struct pg_rows *rows, int64_t time)
{
	struct pg_args *a;

	if (!rows->n)
		return;
	a = pg_batch_call(s, PG_CARE_PUT);
	pg_rows_take(rows, a);
	pg_args_int(a, s->batch.newest_cycle);
	pg_args_int(a, time);
}

int pg_care_put(struct store *base, const struct store_care *rows, size_t n, int64_t time,
                struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_rows out = { .types = "ii" };
	struct map seen = { 0 };
	bool own;
	int rc = pg_enter(s, &own, err);

	if (rc == 0 && n) {
		pg_batch_flush(s);              /* new pages come before what is said of them */
		s->batch.dirty |= PG_T_CARE;
	}
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct pg_page *p = pg_batch_page(s, rows[i].page, false);

		if (map_get(&seen, rows[i].page) != MAP_NONE) {
			take_care(s, &out, time);
			map_clear(&seen);
		}
		map_put(&seen, rows[i].page, 0);
		pg_rows_int(&out, rows[i].page);
		pg_rows_int(&out, rows[i].care);
		if (p && p->is_known)
			p->row.care = rows[i].care;
	}
	if (rc == 0)
		take_care(s, &out, time);
	pg_rows_release(&out);
	map_release(&seen);
	return pg_leave(s, own, rc, err);
}

struct walking { store_care_each *each; void *arg; struct err *err; };

static int see_care(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct walking *w = arg;
	struct store_care c = {
		.cycle = (uint32_t)pg_row_int(r, 0, 0, UINT32_MAX - 1, "number of a cycle"),
		.page = pg_row_page(r, 1), .care = (uint8_t)pg_row_int(r, 2, 0, UINT8_MAX, "care"),
		.time = pg_row_time(r, 3),
	};

	(void)s;
	return r->rc < 0 ? r->rc : w->each(w->arg, &c, w->err);
}

int pg_care_log(struct store *base, uint32_t page, uint32_t from, uint32_t to,
                store_care_each *each, void *arg, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct walking w = { each, arg, err };
	struct pg_args a = { 0 };
	int rc;

	pg_shard_args(s, &a);
	pg_args_int(&a, from);
	pg_args_int(&a, to);
	if (page != STORE_NONE)
		pg_args_int(&a, page);
	rc = pg_scan(s, page == STORE_NONE ? PG_CARE_SCAN : PG_CARE_PAGE, &a, SCAN_PART, "care",
	             see_care, &w, err);
	pg_args_release(&a);
	return rc;
}

int pg_tag_put(struct store *base, struct text tag, const uint32_t *pages, size_t n, bool on,
               struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_rows rows = { .types = "i" };
	struct pg_args *a;
	bool own;
	int rc = pg_enter(s, &own, err);

	if (rc == 0 && n) {
		s->batch.dirty |= PG_T_TAGS;
		for (size_t i = 0; i < n; i++)
			pg_rows_int(&rows, pages[i]);
		a = pg_batch_call(s, on ? PG_TAG_ON : PG_TAG_OFF);
		pg_args_text(a, tag);
		pg_rows_take(&rows, a);
	}
	pg_rows_release(&rows);
	return pg_leave(s, own, rc, err);
}

struct tags { store_tag_each *each; void *arg; struct err *err; };

static int see_tag(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct tags *w = arg;
	struct text tag = pg_row_text(r, 0);
	uint64_t n = pg_row_id(r, 1);

	(void)s;
	return r->rc < 0 ? r->rc : w->each(w->arg, tag, n, w->err);
}

int pg_tags(struct store *base, uint32_t page, store_tag_each *each, void *arg,
            struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct tags w = { each, arg, err };
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_show_writes(s, PG_T_TAGS);
	pg_shard_args(s, &a);
	if (page != STORE_NONE)
		pg_args_int(&a, page);
	rc = pg_ask(s, page == STORE_NONE ? PG_TAG_SCAN : PG_TAG_PAGE, &a, &r, err);
	pg_args_release(&a);
	return rc < 0 ? rc : pg_walk(s, r, "tagged", see_tag, &w, err);
}

struct tagged { store_tagged_each *each; void *arg; struct err *err; };

static int see_tagged(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct tagged *w = arg;
	uint32_t page = pg_row_page(r, 0);

	(void)s;
	return r->rc < 0 ? r->rc : w->each(w->arg, page, w->err);
}

int pg_tagged(struct store *base, struct text tag, store_tagged_each *each, void *arg,
              struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct tagged w = { each, arg, err };
	struct pg_args a = { 0 };
	int rc;

	pg_shard_args(s, &a);
	pg_args_text(&a, tag);
	rc = pg_scan(s, PG_TAGGED_SCAN, &a, SCAN_PART, "tagged", see_tagged, &w, err);
	pg_args_release(&a);
	return rc;
}
