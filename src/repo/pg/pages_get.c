/* SPDX-License-Identifier: Apache-2.0 */
/* pages_get.c - pages are read: by number, ahead of their use, or all; see store_pg.h. */
#include "repo/pg/store_pg.h"

#define AT_ONCE 10000           /* pages that are asked for in one statement */
#define COPIES_AT_ONCE 500      /* with their newest copies */
#define SCAN_PART 20000
#define CAPTURED 19             /* column of PG_PAGE_GET */
#define KNOWN_MAX 1000000       /* pages that a batch remembers: what it changes it has anyway */

static void read_page(struct pg_row *r, struct store_page *p)
{
	r->null_is_zero = true;
	*p = (struct store_page){
		.number = (uint32_t)pg_row_int(r, 0, 0, STORE_NONE - 1, "number of a page"),
		.url = pg_row_url(r, 1), .added = pg_row_time(r, 2), .last_visit = pg_row_time(r, 3),
		.last_change = pg_row_time(r, 4), .visits = pg_row_count(r, 5),
		.changes = pg_row_count(r, 6), .fails = pg_row_count(r, 7),
		.state = (uint8_t)pg_row_int(r, 8, 0, STORE_PAGE_LEFT, "state of a page"),
		.capture = pg_row_id(r, 9), .hint = pg_row_time(r, 10),
		.hint_seen = pg_row_time(r, 11), .found = pg_row_count(r, 12),
		.weight = pg_row_null(r, 13) ? 1 :
		          pg_row_real(r, 13, 0, STORE_WEIGHT_MAX, "weight"),
		.given = pg_row_text_or_null(r, 14),
		.care = (uint8_t)pg_row_int(r, 15, 0, UINT8_MAX, "care"),
		.fails_gone = pg_row_count(r, 16), .touched = pg_row_time(r, 17),
		.notifier = pg_row_count(r, 18),
	};
}

struct getting {
	store_page_each *each;
	void *arg;
	const uint32_t *numbers;
	size_t n;
	bool copies;                    /* their newest copies, too */
	struct map rows;                /* page -> row of the result */
};

static int note_row(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct getting *g = arg;

	(void)s;
	map_put(&g->rows, (uint64_t)pg_row_any(r, 0), (uint32_t)r->i);
	return 0;
}

struct asking { const struct pg_args *args; bool copies; PGresult **ret, **ret_newest; };

/* Pages; and their newest copies, if they are wanted, in the same round trip. */
static int ask_pages(struct store_pg *s, void *arg, struct err *err)
{
	struct asking *q = arg;
	struct pg_pipe p = { .link = &s->link };
	int rc;

	pg_pipe_add(&p, PG_PAGE_GET, q->args);
	if (q->copies)
		pg_pipe_add(&p, PG_CAPTURE_NEWEST, q->args);
	rc = pg_pipe_run(&p, err);
	if (rc == 0) {
		*q->ret = p.results.v[0];
		if (q->copies)
			*q->ret_newest = p.results.v[1];
		p.results.n = 0;
	}
	pg_pipe_release(&p);
	return rc;
}

/* A batch remembers the pages that it has read: nobody else writes meanwhile. */
static void remember(struct store_pg *s, struct pg_row *r, const struct store_page *row)
{
	struct pg_page *p;

	if (!s->in_batch || s->batch.pages.n >= KNOWN_MAX)
		return;
	p = pg_batch_page(s, row->number, true);
	p->row = *row;
	p->row.url = pg_batch_text(&s->batch, row->url);
	p->row.given = pg_batch_text(&s->batch, row->given);
	if (!pg_row_null(r, CAPTURED) && pg_row_any(r, CAPTURED) > p->captured)
		p->captured = pg_row_any(r, CAPTURED);
	p->is_known = true;
	map_intern(&s->batch.by_url, hash_bytes(row->url.s, row->url.size, 0),
	           (uint32_t)(p - s->batch.pages.v), NULL);
}

/* Some pages, in the order of their numbers in the array. */
static int get_some(struct store_pg *s, struct getting *g, struct err *err)
{
	struct arena room = { 0 };
	struct pg_rows numbers = { .types = "i" };
	struct pg_args a = { 0 };
	PGresult *result = NULL, *newest = NULL;
	int rc = 0;

	for (size_t i = 0; i < g->n; i++) {
		const struct pg_page *p = s->in_batch ? pg_batch_page(s, g->numbers[i], false) : NULL;

		if (!p || !p->is_known)
			pg_rows_int(&numbers, g->numbers[i]);
	}
	if (numbers.n) {
		struct asking q = { &a, s->in_batch && (g->copies || g->n == 1), &result, &newest };

		pg_shard_args(s, &a);
		pg_rows_take(&numbers, &a);
		rc = pg_try(s, ask_pages, &q, err);
	}
	if (rc == 0 && newest)
		pg_capture_keep(s, newest, s->batch.n_pages);
	if (rc == 0 && result) {
		struct pg_row r = { .r = result, .err = err };

		for (; r.i < PQntuples(result); r.i++)
			note_row(s, &r, g);
	}
	for (size_t i = 0; i < g->n && rc == 0; i++) {
		const struct pg_page *p = s->in_batch ? pg_batch_page(s, g->numbers[i], false) : NULL;
		uint32_t at = map_get(&g->rows, g->numbers[i]);
		struct pg_row r = { .r = result, .i = (int)at, .table = "pages", .room = &room,
		                    .where = s->target.shown, .err = err };
		struct store_page row;

		if (p && p->is_known) {
			row = p->row;
		} else if (at == MAP_NONE) {
			continue;
		} else {
			read_page(&r, &row);
			if (r.rc == 0 && p && p->is_changed)
				pg_page_apply(&row, &p->change);
			if (r.rc == 0)
				remember(s, &r, &row);
		}
		rc = r.rc < 0 ? r.rc : g->each(g->arg, &row, err);
	}
	PQclear(result);
	PQclear(newest);
	map_release(&g->rows);
	pg_rows_release(&numbers);
	pg_args_release(&a);
	arena_release(&room);
	return rc;
}

int pg_pages_get(struct store *base, const uint32_t *numbers, size_t n, store_page_each *each,
                 void *arg, struct err *err)
{
	int rc = 0;

	pg_show_writes(pg_self(base), PG_T_CARE);
	for (size_t from = 0; from < n && rc == 0; from += AT_ONCE) {
		struct getting g = { .each = each, .arg = arg, .numbers = numbers + from,
		                     .n = n - from < AT_ONCE ? n - from : AT_ONCE };

		rc = get_some(pg_self(base), &g, err);
	}
	return rc;
}

static int only_remember(void *arg, const struct store_page *p, struct err *err)
{
	(void)arg, (void)p, (void)err;
	return 0;
}

/* In a batch: nobody else writes meanwhile, so what is read now stays right. */
int pg_foresee(struct store *base, const struct store_ahead *want, struct err *err)
{
	struct store_pg *s = pg_self(base);
	uint32_t *found = mem_array(want->n_urls + 1, sizeof *found);
	VEC(uint32_t) pages = { 0 };
	int rc = s->in_batch ? pg_pages_find(base, want->urls, want->n_urls, found, err) : 0;

	for (size_t i = 0; i < want->n_urls && s->in_batch && rc == 0; i++)
		if (found[i] != STORE_NONE)
			vec_push(&pages, found[i]);
		else
			strtab_intern(&s->batch.absent, want->urls[i].s, want->urls[i].size, NULL);
	for (size_t i = 0; i < want->n_pages; i++)
		vec_push(&pages, want->pages[i]);
	if (pages.n)
		pg_show_writes(s, PG_T_CARE);
	for (size_t from = 0; from < pages.n && s->in_batch && rc == 0; from += COPIES_AT_ONCE) {
		struct getting g = { .each = only_remember, .copies = true, .numbers = pages.v + from,
		                     .n = pages.n - from < COPIES_AT_ONCE ? pages.n - from :
		                          COPIES_AT_ONCE };

		rc = get_some(s, &g, err);
	}
	vec_release(&pages);
	free(found);
	return rc;
}

struct walking { store_page_each *each; void *arg; uint32_t next; struct err *err; };

static int see_page(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct walking *w = arg;
	struct store_page p;

	read_page(r, &p);
	if (r->rc == 0 && p.number != w->next)
		return err_set(w->err, E_STORE, "%s: table pages, row %u, column number: page %u is "
		               "missing before it; restore a backup", s->target.shown, p.number,
		               w->next);
	w->next++;
	return r->rc < 0 ? r->rc : w->each(w->arg, &p, w->err);
}

int pg_pages(struct store *base, uint32_t from, store_page_each *each, void *arg,
             struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct walking w = { each, arg, from, err };
	struct pg_args a = { 0 };
	int rc;

	pg_shard_args(s, &a);
	pg_args_int(&a, from);
	rc = pg_scan(s, PG_PAGE_SCAN, &a, SCAN_PART, "pages", see_page, &w, err);
	pg_args_release(&a);
	return rc;
}

static int see_touched(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct walking *w = arg;
	struct store_page p;

	(void)s;
	read_page(r, &p);
	return r->rc < 0 ? r->rc : w->each(w->arg, &p, w->err);
}

int pg_pages_touched(struct store *base, store_page_each *each, void *arg, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct walking w = { each, arg, 0, err };
	struct pg_args a = { 0 };
	int rc;

	pg_shard_args(s, &a);
	rc = pg_scan(s, PG_PAGE_TOUCHED, &a, SCAN_PART, "pages", see_touched, &w, err);
	pg_args_release(&a);
	return rc;
}
