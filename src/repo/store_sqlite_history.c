/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite_history.c - captures, visits and cycles; see store_sqlite.c.
 *
 * Links and terms of a capture are long and mostly equal to those of the previous
 * capture. So each text is stored once, in `bodies`, found by a 64-bit hash.  Rows are
 * appended, and only the index is ordered by hash: a table ordered by hash took twice the
 * time, since every insert rewrote a page in its middle.
 */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "repo/store_sqlite.h"

/* Bind the key of a shared text; store the text if it is new. */
static int bind_body(struct store_sqlite *s, sqlite3_stmt *q, int i, struct text body,
                     struct err *err)
{
	sqlite3_stmt *insert;
	int64_t key;

	if (!body.s)
		return 0;
	key = (int64_t)hash_bytes(body.s, body.size, 3);
	sqlite3_bind_int64(q, i, key);
	insert = sql_get(s, SQL_BODY_INSERT, err);
	if (!insert)
		return E_STORE;
	sqlite3_bind_int64(insert, 1, key);
	sql_bind_text(insert, 2, body);
	return sql_run(s, insert, err);
}

static int bind_file(struct store_sqlite *s, sqlite3_stmt *q, int i, struct text name,
                     struct err *err)
{
	sqlite3_stmt *find;
	int rc;

	if (!name.s)
		return 0;
	if (s->last_file_id && strlen(s->last_file) == name.size &&
	    !memcmp(s->last_file, name.s, name.size)) {
		sqlite3_bind_int64(q, i, s->last_file_id);
		return 0;
	}
	find = sql_get(s, SQL_FILE_FIND, err);
	if (!find)
		return E_STORE;
	sql_bind_text(find, 1, name);
	rc = sql_step(s, find, err);
	if (rc > 0)
		s->last_file_id = sqlite3_column_int64(find, 0);
	sqlite3_reset(find);
	if (rc == 0) {
		find = sql_get(s, SQL_FILE_INSERT, err);
		if (!find)
			return E_STORE;
		sql_bind_text(find, 1, name);
		rc = sql_run(s, find, err);
		s->last_file_id = sqlite3_last_insert_rowid(s->db);
	}
	if (rc < 0)
		return rc;
	snprintf(s->last_file, sizeof s->last_file, "%.*s", (int)name.size, name.s);
	if (name.size >= sizeof s->last_file)
		s->last_file[0] = '\0';
	sqlite3_bind_int64(q, i, s->last_file_id);
	return 0;
}

static void bind_number(sqlite3_stmt *q, int i, int64_t v)
{
	if (v >= 0)
		sqlite3_bind_int64(q, i, v);
}

/* id 0: choose a new id */
static int insert_capture(struct store_sqlite *s, struct store_capture *c, int64_t id,
                          struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_CAPTURE_INSERT, err);
	const struct text texts[] = { c->mime, c->digest, c->prose, c->tags, c->title, c->etag,
	                              c->modified };
	const int64_t numbers[] = { c->length, c->bytes_text, c->words, c->images, c->tables,
	                            c->emails, c->outlinks };
	int rc;

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, c->page);
	sqlite3_bind_int64(q, 2, c->time);
	sqlite3_bind_int64(q, 3, c->status);
	sqlite3_bind_int64(q, 4, c->revisit);
	for (int i = 0; i < 7; i++) {
		sql_bind_text(q, 5 + i, texts[i]);
		bind_number(q, 13 + i, numbers[i]);
	}
	if (c->has_simhash)
		sqlite3_bind_int64(q, 12, (int64_t)c->simhash);
	if ((rc = bind_body(s, q, 20, c->links, err)) < 0 ||
	    (rc = bind_body(s, q, 21, c->terms, err)) < 0 ||
	    (rc = bind_file(s, q, 22, c->file, err)) < 0)
		return rc;
	bind_number(q, 23, c->offset);
	bind_number(q, 24, c->size);
	sql_bind_text(q, 25, c->target);
	sql_bind_text(q, 26, c->robots);
	if (id)
		sqlite3_bind_int64(q, 27, id);
	rc = sql_run(s, q, err);
	if (rc < 0 || !sqlite3_changes(s->db))
		return rc;
	c->id = (uint64_t)sqlite3_last_insert_rowid(s->db);
	return 1;
}

int sqlite_capture_add(struct store *base, struct store_capture *c, struct err *err)
{
	return insert_capture(self(base), c, 0, err);
}

int sqlite_capture_put(struct store *base, struct store_capture *c, struct err *err)
{
	struct store_sqlite *s = self(base);
	int rc = insert_capture(s, c, 0, err);
	unsigned other = 0;
	int64_t id = 0;
	sqlite3_stmt *q;

	if (rc)
		return rc;
	if (!(q = sql_get(s, SQL_CAPTURE_AT, err)))
		return E_STORE;
	sqlite3_bind_int64(q, 1, c->page);
	sqlite3_bind_int64(q, 2, c->time);
	rc = sql_step(s, q, err);
	if (rc > 0) {
		id = sqlite3_column_int64(q, 0);
		other = store_capture_rank(sqlite3_column_int(q, 1), sqlite3_column_int(q, 2) != 0);
	}
	sqlite3_reset(q);
	if (rc <= 0 || store_capture_rank(c->status, c->revisit) <= other)
		return rc < 0 ? rc : 0;
	if (!(q = sql_get(s, SQL_CAPTURE_DROP, err)))
		return E_STORE;
	sqlite3_bind_int64(q, 1, id);
	if ((rc = sql_run(s, q, err)) == 0)
		rc = insert_capture(s, c, id, err);
	return rc < 0 ? rc : 2;
}

static void read_capture(struct sql_row *r, struct store_capture *c)
{
	*c = (struct store_capture){
		.id = sql_id(r, 0), .page = sql_page(r, 1), .time = sql_time(r, 2),
		.status = sql_status(r, 3), .revisit = sql_flag(r, 4),
		.mime = sql_text_or_null(r, 5), .digest = sql_text_or_null(r, 6),
		.prose = sql_text_or_null(r, 7), .tags = sql_text_or_null(r, 8),
		.title = sql_text_or_null(r, 9), .etag = sql_text_or_null(r, 10),
		.modified = sql_text_or_null(r, 11),
		.has_simhash = sqlite3_column_type(r->q, 12) != SQLITE_NULL,
		.length = sql_size(r, 13), .bytes_text = sql_size(r, 14), .words = sql_size(r, 15),
		.images = sql_size(r, 16), .tables = sql_size(r, 17), .emails = sql_size(r, 18),
		.outlinks = sql_size(r, 19),
		.links = sql_text_or_null(r, 20), .terms = sql_text_or_null(r, 21),
		.file = sql_text_or_null(r, 22), .offset = sql_size(r, 23), .size = sql_size(r, 24),
		.target = sql_url_or_null(r, 25), .robots = sql_text_or_null(r, 26),
	};
	if (c->has_simhash)
		c->simhash = (uint64_t)sql_any(r, 12);
}

int sqlite_capture_get(struct store *base, uint64_t id, struct store_capture *ret,
                       struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_CAPTURE_GET, err);
	int rc;

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, (int64_t)id);
	rc = sql_step(s, q, err);
	if (rc > 0) {
		struct sql_row r = { .s = s, .q = q, .table = "captures", .n_pages = -1, .err = err };

		read_capture(&r, ret);
		rc = r.rc < 0 ? r.rc : rc;
	}
	return rc;
}

int sqlite_capture_refresh(struct store *base, uint64_t id, struct text etag,
                           struct text modified, struct text robots, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_CAPTURE_REFRESH, err);

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, (int64_t)id);
	sql_bind_text(q, 2, etag);
	sql_bind_text(q, 3, modified);
	sql_bind_text(q, 4, robots);
	return sql_run(s, q, err);
}

int sqlite_captures(struct store *base, uint32_t page, store_capture_each *each, void *arg,
                    struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, page == STORE_NONE ? SQL_CAPTURE_SCAN : SQL_CAPTURE_PAGE, err);
	struct sql_row r = { .s = s, .q = q, .table = "captures", .n_pages = -1, .err = err };
	int rc = q ? 0 : E_STORE;

	if (q && page != STORE_NONE)
		sqlite3_bind_int64(q, 1, page);
	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct store_capture c;

		read_capture(&r, &c);
		rc = r.rc < 0 ? r.rc : each(arg, &c, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}

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
	sqlite3_stmt *q;

	if (s->past_raised || (cycle && cycle >= s->newest_cycle))
		return 0;
	q = sql_get(s, SQL_PAST_RAISE, err);
	if (!q)
		return E_STORE;
	sql_bind_text(q, 1, (struct text){ STORE_PAST_KEY, strlen(STORE_PAST_KEY) });
	s->past_raised = true;
	return sql_run(s, q, err);
}

int sqlite_visit_add(struct store *base, const struct store_visit *v, struct err *err)
{
	struct store_sqlite *s = self(base);
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
	if (v->order)           /* else SQL takes the next id of the cycle */
		sqlite3_bind_int64(q, 11, ((int64_t)v->cycle << 32) + v->order);
	else
		sqlite3_bind_null(q, 11);
	sqlite3_bind_int64(q, 12, (int64_t)v->cycle << 32);
	sqlite3_bind_int64(q, 13, ((int64_t)v->cycle + 1) << 32);
	sqlite3_bind_int64(q, 14, v->cause);
	sqlite3_bind_int64(q, 15, v->extra);
	sqlite3_bind_int64(q, 16, v->place);
	rc = sql_run(s, q, err);
	return rc < 0 ? rc : note_past(s, v->cycle, err);
}

int sqlite_visits_forget(struct store *base, uint32_t page, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_VISIT_FORGET, err);
	int rc;

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, page);
	rc = sql_run(s, q, err);
	return rc < 0 ? rc : note_past(s, 0, err);
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

/* The first id of a cycle's range: visits.id = (cycle << 32) + order. */
static int64_t first_id(uint32_t cycle)
{
	return cycle <= INT32_MAX ? (int64_t)cycle << 32 : INT64_MAX;
}

int sqlite_visits(struct store *base, uint32_t page, uint32_t from, uint32_t to,
                  store_visit_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, page == STORE_NONE ? SQL_VISIT_SCAN : SQL_VISIT_PAGE, err);
	uint32_t cycle = 0;             /* of the previous row; imported visits have no goal */
	uint8_t goal = 0;
	struct sql_row r = { .s = s, .q = q, .table = "visits", .key_column = 10, .n_pages = -1,
	                     .err = err };
	int rc = q ? 0 : E_STORE;

	if (q && page == STORE_NONE) {
		sqlite3_bind_int64(q, 1, first_id(from));
		sqlite3_bind_int64(q, 2, first_id(to));
	} else if (q) {
		sqlite3_bind_int64(q, 1, from);
		sqlite3_bind_int64(q, 2, to);
		sqlite3_bind_int64(q, 3, page);
	}
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
	if (q)
		sqlite3_reset(q);
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
	if ((rc = sql_run(s, q, err)) < 0 || (rc = note_past(s, c->number, err)) < 0)
		return rc;
	if (c->number > s->newest_cycle)
		s->newest_cycle = c->number;
	return 0;
}

int sqlite_cycles(struct store *base, store_cycle_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_CYCLE_SCAN, err);
	int rc = q ? 0 : E_STORE;

	for (uint32_t n = 1; rc == 0 && (rc = sql_step(s, q, err)) > 0; n++) {
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
			.clients = sql_flag(&r, 16),
		};

		rc = r.rc < 0 ? r.rc : each(arg, &c, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}
