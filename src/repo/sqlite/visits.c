/* SPDX-License-Identifier: Apache-2.0 */
/* visits.c - visits and cycles; see store_sqlite.c. */
#include "repo/sqlite/store_sqlite.h"

int sqlite_last_cycle(struct store_sqlite *s, uint32_t *ret, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_CYCLE_LAST, err);
	struct sql_row r = { .s = s, .q = q, .table = "cycles", .err = err };
	int rc = q ? sql_step(s, q, err) : E_STORE;

	*ret = rc > 0 ? (uint32_t)sql_int(&r, 0, 0, UINT32_MAX - 1, "number of a cycle") : 0;
	if (q)
		sqlite3_reset(q);
	return rc < 0 ? rc : r.rc;
}

/* Something of a cycle is written: if that is past, so is what was learnt from it. */
static int note_past(struct store_sqlite *s, uint32_t cycle, struct err *err)
{
	if (s->past_raised || (cycle && cycle >= s->newest_cycle))
		return 0;
	s->past_raised = true;
	return sqlite_past_raise(&s->base, err);
}

static int add_visit(struct store_sqlite *s, const struct store_visit *v, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_VISIT_INSERT, err);
	int rc;

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, v->cycle);
	sqlite3_bind_int64(q, 2, v->page);
	sqlite3_bind_int64(q, 3, v->time);
	sqlite3_bind_int64(q, 4, v->outcome);
	sqlite3_bind_int64(q, 5, v->reason);
	sqlite3_bind_int64(q, 6, v->status);
	sqlite3_bind_int64(q, 7, v->hit);
	sql_bind_real(q, 8, (double)v->score);
	sql_bind_real(q, 9, (double)v->probability);
	sqlite3_bind_int64(q, 10, (int64_t)v->capture);
	/* Each cycle has its own range of ids, so imports cannot take an id that a
	 * resumed cycle needs. */
	if (v->order)
		sqlite3_bind_int64(q, 11, ((int64_t)v->cycle << 32) + v->order);
	else if (s->last_visit && (s->last_visit + 1) >> 32 == v->cycle)
		sqlite3_bind_int64(q, 11, s->last_visit + 1);
	else                    /* SQL takes the next id of the cycle */
		sqlite3_bind_null(q, 11);
	sqlite3_bind_int64(q, 12, (int64_t)v->cycle << 32);
	sqlite3_bind_int64(q, 13, ((int64_t)v->cycle + 1) << 32);
	sqlite3_bind_int64(q, 14, v->cause);
	sqlite3_bind_int64(q, 15, v->extra);
	sqlite3_bind_int64(q, 16, v->place);
	rc = sql_run(s, q, err);
	/* in a batch nobody else writes, so the next of the cycle follows */
	s->last_visit = s->in_batch && rc == 0 && !v->order ? sqlite3_last_insert_rowid(s->db) : 0;
	s->more.visits += rc == 0;
	return rc < 0 ? rc : note_past(s, v->cycle, err);
}

int sqlite_visits_add(struct store *base, const struct store_visit *rows, size_t n,
                      struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = add_visit(self(base), &rows[i], err);
	return sqlite_counts_alone(self(base), rc, err);
}

int sqlite_visits_forget(struct store *base, const uint32_t *pages, size_t n, struct err *err)
{
	struct store_sqlite *s = self(base);
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		sqlite3_stmt *q = sql_get(s, SQL_VISIT_FORGET, err);

		if (!q)
			return E_STORE;
		sqlite3_bind_int64(q, 1, pages[i]);
		rc = sql_run(s, q, err);
		s->last_visit = 0;
		s->more.visits -= rc == 0 ? sqlite3_changes(s->db) : 0;
	}
	rc = rc < 0 || !n ? rc : note_past(s, 0, err);
	return sqlite_counts_alone(s, rc, err);
}

static uint8_t read_goal(struct sql_row *r, int column)
{
	return (uint8_t)sql_int(r, column, 0, N_GOALS - 1, "goal");
}

static int cycle_goal(struct store_sqlite *s, uint32_t cycle, uint8_t *ret, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_CYCLE_GOAL, err);
	struct sql_row r = { .s = s, .q = q, .table = "cycles", .key_column = 1, .err = err };
	int rc;

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, cycle);
	rc = sql_step(s, q, err);
	*ret = rc > 0 ? read_goal(&r, 0) : 0;
	sqlite3_reset(q);
	return rc < 0 ? rc : r.rc;
}

static void read_visit(struct sql_row *r, struct store_visit *v)
{
	int64_t id = sql_any(r, 10);

	*v = (struct store_visit){
		.cycle = (uint32_t)sql_int(r, 0, 0, UINT32_MAX - 1, "number of a cycle"),
		.page = sql_page(r, 1),
		.time = sql_time(r, 2),
		.outcome = (uint8_t)sql_int(r, 3, 0, N_OUTCOMES - 1, "outcome"),
		.reason = (uint8_t)sql_int(r, 4, 0, UINT8_MAX, "reason"),
		.status = sql_status(r, 5),
		.hit = sql_flag(r, 6),
		.score = sql_score(r, 7), .probability = sql_chance(r, 8),
		.capture = sql_id(r, 9),
		.cause = (uint8_t)sql_int(r, 11, 0, UINT8_MAX, "cause"),
		.extra = (uint32_t)sql_int(r, 12, 0, STORE_EXTRA_MAX, "number of requests"),
		.place = (uint32_t)sql_int(r, 13, 0, UINT32_MAX, "place"),
	};
	v->order = id >> 32 == v->cycle ? (uint32_t)id : 0;
}

/* Read what the statement brings; it is bound. */
static int scan(struct store_sqlite *s, sqlite3_stmt *q, store_visit_each *each, void *arg,
                struct err *err)
{
	uint32_t cycle = 0;             /* of the previous row; imported visits have no goal */
	uint8_t goal = 0;
	struct sql_row r = { .s = s, .q = q, .table = "visits", .key_column = 10, .n_pages = -1,
	                     .err = err };
	int rc = 0;

	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct store_visit v;

		read_visit(&r, &v);
		rc = r.rc;
		if (rc == 0 && v.cycle != cycle)
			rc = cycle_goal(s, v.cycle, &goal, err);
		cycle = v.cycle;
		v.goal = goal;
		if (rc == 0)
			rc = each(arg, &v, err);
	}
	sqlite3_reset(q);
	return rc;
}

static int scan_cycles(struct store_sqlite *s, enum sql which, uint32_t from, uint32_t to,
                       store_visit_each *each, void *arg, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, which, err);

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, sqlite_first_id(from));
	sqlite3_bind_int64(q, 2, sqlite_first_id(to));
	return scan(s, q, each, arg, err);
}

int sqlite_visits(struct store *base, uint32_t from, uint32_t to, store_visit_each *each,
                  void *arg, struct err *err)
{
	return scan_cycles(self(base), SQL_VISIT_SCAN, from, to, each, arg, err);
}

int sqlite_visits_found(struct store *base, uint32_t from, uint32_t to, store_visit_each *each,
                        void *arg, struct err *err)
{
	return scan_cycles(self(base), SQL_VISIT_FOUND, from, to, each, arg, err);
}

int sqlite_visits_of(struct store *base, const uint32_t *pages, size_t n, uint32_t from,
                     uint32_t to, store_visit_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		sqlite3_stmt *q = sql_get(s, SQL_VISIT_PAGE, err);

		if (!q)
			return E_STORE;
		sqlite3_bind_int64(q, 1, from);
		sqlite3_bind_int64(q, 2, to);
		sqlite3_bind_int64(q, 3, pages[i]);
		rc = scan(s, q, each, arg, err);
	}
	return rc;
}

int sqlite_cycle_put(struct store *base, const struct store_cycle *c, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_CYCLE_PUT, err);
	const int64_t numbers[] = { c->budget, c->downloads, c->fresh, c->changed, c->same,
	                            c->gone, c->failed, c->blocked };
	int rc;

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, c->number);
	sqlite3_bind_int64(q, 2, c->time);
	sqlite3_bind_int64(q, 3, c->open);
	sql_bind_text(q, 4, c->policy.s ? c->policy : (struct text){ "", 0 });
	sqlite3_bind_int64(q, 5, (int64_t)c->seed);
	for (int i = 0; i < 8; i++)
		sqlite3_bind_int64(q, 6 + i, numbers[i]);
	sqlite3_bind_double(q, 14, c->seconds_plan);
	sqlite3_bind_double(q, 15, c->seconds_total);
	sqlite3_bind_int64(q, 16, c->goal);
	sqlite3_bind_int64(q, 17, c->clients);
	sqlite3_bind_int64(q, 18, c->pages);
	sqlite3_bind_int64(q, 19, c->owed);
	if ((rc = sql_run(s, q, err)) < 0 || (rc = note_past(s, c->number, err)) < 0)
		return rc;
	if (c->number > s->newest_cycle)
		s->newest_cycle = c->number;
	return 0;
}

int sqlite_cycles(struct store *base, uint32_t from, store_cycle_each *each, void *arg,
                  struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_CYCLE_SCAN, err);
	int rc = q ? 0 : E_STORE;

	if (rc == 0 && from == STORE_NEWEST)
		rc = sqlite_last_cycle(s, &from, err);
	from = from ? from : 1;
	if (q)
		sqlite3_bind_int64(q, 1, from);
	for (uint32_t n = from; rc == 0 && (rc = sql_step(s, q, err)) > 0; n++) {
		struct sql_row r = { .s = s, .q = q, .table = "cycles", .err = err };
		struct store_cycle c = {
			/* numbers have no gaps: callers index arrays by them */
			.number = (uint32_t)sql_int(&r, 0, n, n, "number of the next cycle"),
			.time = sql_time(&r, 1), .open = sql_flag(&r, 2),
			.policy = sql_text_there(&r, 3), .seed = (uint64_t)sql_any(&r, 4),
			.budget = sql_count(&r, 5), .downloads = sql_count(&r, 6),
			.fresh = sql_count(&r, 7), .changed = sql_count(&r, 8), .same = sql_count(&r, 9),
			.gone = sql_count(&r, 10), .failed = sql_count(&r, 11),
			.blocked = sql_count(&r, 12), .seconds_plan = sql_real(&r, 13),
			.seconds_total = sql_real(&r, 14), .goal = read_goal(&r, 15),
			.clients = sql_flag(&r, 16), .pages = sql_count(&r, 17),
			.owed = sql_count(&r, 18),
		};

		rc = r.rc < 0 ? r.rc : each(arg, &c, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}
