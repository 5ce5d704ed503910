/* SPDX-License-Identifier: Apache-2.0 */
/* visits.c - visits and cycles; see store_pg.h. */
#include <math.h>
#include <string.h>

#include "repo/pg/store_pg.h"

#define AT_ONCE 2000            /* pages whose visits are asked for in one statement */
#define SCAN_PART 20000
#define ROWS_AT_ONCE 20000      /* of a statement */

static void raise_past(struct store_pg *s)
{
	s->batch.dirty |= PG_T_PAST;
	pg_batch_call(s, PG_PAST_RAISE);
}

/* Something of a cycle is written: if that is past, so is what was learnt from it. */
static void note_past(struct store_pg *s, uint32_t cycle)
{
	if (s->batch.past_raised || (cycle && cycle >= s->batch.newest_cycle))
		return;
	s->batch.past_raised = true;
	raise_past(s);
}

int pg_past_raise(struct store *base, struct err *err)
{
	struct store_pg *s = pg_self(base);
	bool own;
	int rc = pg_enter(s, &own, err);

	if (rc == 0)
		raise_past(s);
	return pg_leave(s, own, rc, err);
}

/* The order of the next visit of a cycle. */
static int next_order(struct store_pg *s, uint32_t cycle, uint32_t *ret, struct err *err)
{
	uint32_t last = map_get(&s->batch.last_order, cycle);
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc = 0;

	if (last == MAP_NONE) {
		struct pg_row row = { .table = "visits", .where = s->target.shown, .err = err };

		pg_shard_args(s, &a);
		pg_args_int(&a, cycle);
		rc = pg_ask(s, PG_VISIT_LAST, &a, &r, err);
		pg_args_release(&a);
		row.r = r;
		if (rc == 0) {
			last = (uint32_t)pg_row_int(&row, 0, 0, UINT32_MAX - 2, "order of a visit");
			rc = row.rc;
		}
		PQclear(r);
	}
	*ret = last + 1;
	return rc;
}

static int add_visit(struct store_pg *s, const struct store_visit *v, struct err *err)
{
	struct pg_rows *r = &s->batch.visits;
	uint32_t order = 0, last;
	int rc = pg_need_part(s, PG_OF_VISITS, v->time, err);

	if (rc == 0)                    /* also where it is told: the next without one follows */
		rc = next_order(s, v->cycle, &order, err);
	if (rc < 0)
		return rc;
	last = order - 1;
	order = v->order ? v->order : order;
	map_put(&s->batch.last_order, v->cycle, order > last ? order : last);
	if (!v->cycle)
		map_put(&s->batch.imported, v->page, 0);
	pg_rows_int(r, v->cycle);
	pg_rows_int(r, order);
	pg_rows_int(r, v->page);
	pg_rows_int(r, v->time);
	pg_rows_int(r, v->outcome);
	pg_rows_int(r, v->reason);
	pg_rows_int(r, v->status);
	pg_rows_int(r, v->hit);
	pg_rows_real(r, (double)v->score);
	pg_rows_real(r, (double)v->probability);
	pg_rows_int(r, (int64_t)v->capture);
	pg_rows_int(r, v->cause);
	pg_rows_int(r, v->extra);
	pg_rows_int(r, v->place);
	note_past(s, v->cycle);
	if (r->n >= ROWS_AT_ONCE)
		pg_visits_flush(s);
	return 0;
}

void pg_visits_flush(struct store_pg *s)
{
	pg_batch_take(s, PG_VISIT_FORGET, &s->batch.forget);
	pg_batch_take_new(s, PG_VISIT_INSERT, PG_VISIT_COPY, &s->batch.visits);
	map_clear(&s->batch.imported);
}

int pg_visits_add(struct store *base, const struct store_visit *rows, size_t n,
                  struct err *err)
{
	struct store_pg *s = pg_self(base);
	bool own;
	int rc = pg_enter(s, &own, err);

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = add_visit(s, &rows[i], err);
	return pg_leave(s, own, rc, err);
}

int pg_visits_forget(struct store *base, const uint32_t *pages, size_t n, struct err *err)
{
	struct store_pg *s = pg_self(base);
	bool own;
	int rc = pg_enter(s, &own, err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		if (map_get(&s->batch.imported, pages[i]) != MAP_NONE)
			pg_visits_flush(s);     /* forget those of this batch, too */
		pg_rows_int(&s->batch.forget, pages[i]);
	}
	if (rc == 0 && n) {
		s->batch.has_forgotten = true;
		note_past(s, 0);
	}
	return pg_leave(s, own, rc, err);
}

struct walking { store_visit_each *each; void *arg; struct err *err; };

static int see_visit(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct walking *w = arg;
	struct store_visit v = {
		.cycle = (uint32_t)pg_row_int(r, 0, 0, UINT32_MAX - 1, "number of a cycle"),
		.page = pg_row_page(r, 1), .time = pg_row_time(r, 2),
		.outcome = (uint8_t)pg_row_int(r, 3, 0, N_OUTCOMES - 1, "outcome"),
		.reason = (uint8_t)pg_row_int(r, 4, 0, UINT8_MAX, "reason"),
		.status = pg_row_status(r, 5), .hit = pg_row_flag(r, 6),
		.score = pg_row_score(r, 7), .probability = pg_row_chance(r, 8),
		.capture = pg_row_id(r, 9),
		.order = (uint32_t)pg_row_int(r, 10, 1, UINT32_MAX, "order of a visit"),
		.cause = (uint8_t)pg_row_int(r, 11, 0, UINT8_MAX, "cause"),
		.extra = (uint32_t)pg_row_int(r, 12, 0, STORE_EXTRA_MAX, "number of requests"),
		.place = (uint32_t)pg_row_int(r, 13, 0, UINT32_MAX, "place"),
		.goal = (uint8_t)pg_row_int(r, 14, 0, N_GOALS - 1, "goal"),
	};

	(void)s;
	return r->rc < 0 ? r->rc : w->each(w->arg, &v, w->err);
}

static int scan_cycles(struct store_pg *s, enum pg_sql which, uint32_t from, uint32_t to,
                       store_visit_each *each, void *arg, struct err *err)
{
	struct walking w = { each, arg, err };
	struct pg_args a = { 0 };
	int rc;

	pg_shard_args(s, &a);
	pg_args_int(&a, from);
	pg_args_int(&a, to);
	rc = pg_scan(s, which, &a, SCAN_PART, "visits", see_visit, &w, err);
	pg_args_release(&a);
	return rc;
}

int pg_visits(struct store *base, uint32_t from, uint32_t to, store_visit_each *each,
              void *arg, struct err *err)
{
	return scan_cycles(pg_self(base), PG_VISIT_SCAN, from, to, each, arg, err);
}

int pg_visits_found(struct store *base, uint32_t from, uint32_t to, store_visit_each *each,
                    void *arg, struct err *err)
{
	return scan_cycles(pg_self(base), PG_VISIT_FOUND, from, to, each, arg, err);
}

int pg_visits_of(struct store *base, const uint32_t *pages, size_t n, uint32_t from,
                 uint32_t to, store_visit_each *each, void *arg, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct walking w = { each, arg, err };
	struct pg_args a = { 0 };
	int rc = 0;

	if (n)
		pg_show_writes(s, PG_ALL_TABLES);
	for (size_t at = 0; at < n && rc == 0; at += AT_ONCE) {
		struct pg_rows some = { .types = "i" };
		PGresult *r = NULL;

		for (size_t i = at; i < n && i < at + AT_ONCE; i++)
			pg_rows_int(&some, pages[i]);
		pg_shard_args(s, &a);
		pg_args_int(&a, from);
		pg_args_int(&a, to);
		pg_rows_take(&some, &a);
		rc = pg_ask(s, PG_VISIT_OF, &a, &r, err);
		if (rc == 0)
			rc = pg_walk(s, r, "visits", see_visit, &w, err);
		pg_rows_release(&some);
	}
	pg_args_release(&a);
	return rc;
}

int pg_past(struct store *base, uint64_t *ret, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_show_writes(s, PG_T_PAST);
	pg_shard_args(s, &a);
	rc = pg_ask(s, PG_PAST_READ, &a, &r, err);
	if (rc == 0) {
		struct pg_row row = { .r = r, .table = "shards", .where = s->target.shown, .err = err };

		*ret = PQntuples(r) ? pg_row_id(&row, 0) : 0;
		rc = row.rc;
	}
	PQclear(r);
	pg_args_release(&a);
	return rc;
}

int pg_cycle_put(struct store *base, const struct store_cycle *c, struct err *err)
{
	struct store_pg *s = pg_self(base);
	const int64_t numbers[] = { c->budget, c->downloads, c->fresh, c->changed, c->same,
	                            c->gone, c->failed, c->blocked };
	struct pg_args *a;
	bool own;
	int rc = pg_enter(s, &own, err);

	if (rc == 0) {
		s->batch.dirty |= PG_T_CYCLES;
		a = pg_batch_call(s, PG_CYCLE_PUT);
		pg_args_int(a, c->number);
		pg_args_int(a, c->time);
		pg_args_int(a, c->open);
		pg_args_text(a, c->policy.s ? c->policy : (struct text){ "", 0 });
		pg_args_int(a, (int64_t)c->seed);
		for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
			pg_args_int(a, numbers[i]);
		pg_args_real(a, c->seconds_plan);
		pg_args_real(a, c->seconds_total);
		pg_args_int(a, c->goal);
		pg_args_int(a, c->clients);
		pg_args_int(a, c->pages);
		pg_args_int(a, c->owed);
		note_past(s, c->number);
		if (c->number > s->batch.newest_cycle)
			s->batch.newest_cycle = c->number;
	}
	return pg_leave(s, own, rc, err);
}

struct cycles { store_cycle_each *each; void *arg; uint32_t next; struct err *err; };

static int see_cycle(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct cycles *w = arg;
	/* numbers have no gaps: callers index arrays by them */
	uint32_t min = w->next ? w->next : 1, max = w->next ? w->next : UINT32_MAX - 1;
	struct store_cycle c = {
		.number = (uint32_t)pg_row_int(r, 0, min, max, "number of the next cycle"),
		.time = pg_row_time(r, 1), .open = pg_row_flag(r, 2), .policy = pg_row_text(r, 3),
		.seed = (uint64_t)pg_row_any(r, 4), .budget = pg_row_count(r, 5),
		.downloads = pg_row_count(r, 6), .fresh = pg_row_count(r, 7),
		.changed = pg_row_count(r, 8), .same = pg_row_count(r, 9), .gone = pg_row_count(r, 10),
		.failed = pg_row_count(r, 11), .blocked = pg_row_count(r, 12),
		.seconds_plan = pg_row_real(r, 13, -HUGE_VAL, HUGE_VAL, "number"),
		.seconds_total = pg_row_real(r, 14, -HUGE_VAL, HUGE_VAL, "number"),
		.goal = (uint8_t)pg_row_int(r, 15, 0, N_GOALS - 1, "goal"),
		.clients = pg_row_flag(r, 16), .pages = pg_row_count(r, 17),
		.owed = pg_row_count(r, 18),
	};

	(void)s;
	if (w->next)
		w->next++;
	return r->rc < 0 ? r->rc : w->each(w->arg, &c, w->err);
}

int pg_cycles(struct store *base, uint32_t from, store_cycle_each *each, void *arg,
              struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct cycles w = { each, arg, from == STORE_NEWEST ? 0 : from ? from : 1, err };
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_show_writes(s, PG_T_CYCLES);
	pg_shard_args(s, &a);
	if (from != STORE_NEWEST)
		pg_args_int(&a, from);
	rc = pg_ask(s, from == STORE_NEWEST ? PG_CYCLE_NEWEST : PG_CYCLE_SCAN, &a, &r, err);
	pg_args_release(&a);
	return rc < 0 ? rc : pg_walk(s, r, "cycles", see_cycle, &w, err);
}
