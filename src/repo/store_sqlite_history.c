/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite_history.c - captures, visits and cycles; see store_sqlite.c.
 *
 * Links and terms of a capture are long and mostly equal to those of the capture
 * before, so their texts are kept once, under a 64-bit hash.  New ones go to the end
 * of their table, and only its index is in the hashes' order: a table in that order
 * had some place in its middle written anew for every text, at twice the time.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "repo/store_sqlite.h"

/* Bind the key of a shared text, keeping the text if it is new. */
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

static int64_t number(sqlite3_stmt *q, int column)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(q, column);
}

/* id 0: a new one */
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

static void read_capture(sqlite3_stmt *q, struct store_capture *c)
{
	*c = (struct store_capture){
		.id = (uint64_t)sqlite3_column_int64(q, 0),
		.page = (uint32_t)sqlite3_column_int64(q, 1),
		.time = sqlite3_column_int64(q, 2),
		.status = sqlite3_column_int(q, 3),
		.revisit = sqlite3_column_int(q, 4) != 0,
		.mime = sql_text(q, 5), .digest = sql_text(q, 6), .prose = sql_text(q, 7),
		.tags = sql_text(q, 8), .title = sql_text(q, 9), .etag = sql_text(q, 10),
		.modified = sql_text(q, 11),
		.has_simhash = sqlite3_column_type(q, 12) != SQLITE_NULL,
		.simhash = (uint64_t)sqlite3_column_int64(q, 12),
		.length = number(q, 13), .bytes_text = number(q, 14), .words = number(q, 15),
		.images = number(q, 16), .tables = number(q, 17), .emails = number(q, 18),
		.outlinks = number(q, 19),
		.links = sql_text(q, 20), .terms = sql_text(q, 21), .file = sql_text(q, 22),
		.offset = number(q, 23), .size = number(q, 24), .target = sql_text(q, 25),
		.robots = sql_text(q, 26),
	};
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
	if (rc > 0)
		read_capture(q, ret);
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
	int rc = q ? 0 : E_STORE;

	if (q && page != STORE_NONE)
		sqlite3_bind_int64(q, 1, page);
	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct store_capture c;

		read_capture(q, &c);
		rc = each(arg, &c, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}

static void bind_real(sqlite3_stmt *q, int i, double v)
{
	if (!isnan(v))
		sqlite3_bind_double(q, i, v);
}

static float real(sqlite3_stmt *q, int column)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL ? NAN :
	       (float)sqlite3_column_double(q, column);
}

int sqlite_visit_add(struct store *base, const struct store_visit *v, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_VISIT_INSERT, err);

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, v->cycle);
	sqlite3_bind_int64(q, 2, v->page);
	sqlite3_bind_int64(q, 3, v->time);
	sqlite3_bind_int64(q, 4, v->outcome);
	sqlite3_bind_int64(q, 5, v->reason);
	sqlite3_bind_int64(q, 6, v->status);
	sqlite3_bind_int64(q, 7, v->hit);
	bind_real(q, 8, (double)v->score);
	bind_real(q, 9, (double)v->probability);
	sqlite3_bind_int64(q, 10, (int64_t)v->capture);
	/* A cycle's visits have numbers of its own: others (imports) must not take those
	 * that it needs when it is gone on with. */
	if (v->order)           /* else the next of the cycle */
		sqlite3_bind_int64(q, 11, ((int64_t)v->cycle << 32) + v->order);
	else
		sqlite3_bind_null(q, 11);
	sqlite3_bind_int64(q, 12, (int64_t)v->cycle << 32);
	sqlite3_bind_int64(q, 13, ((int64_t)v->cycle + 1) << 32);
	sqlite3_bind_int64(q, 14, v->cause);
	return sql_run(s, q, err);
}

int sqlite_visits_forget(struct store *base, uint32_t page, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_VISIT_FORGET, err);

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, page);
	return sql_run(s, q, err);
}

static int cycle_goal(struct store_sqlite *s, uint32_t cycle, uint8_t *ret, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_CYCLE_GOAL, err);
	int rc;

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, cycle);
	rc = sql_step(s, q, err);
	*ret = rc > 0 ? (uint8_t)sqlite3_column_int(q, 0) : 0;
	sqlite3_reset(q);
	return rc < 0 ? rc : 0;
}

int sqlite_visits(struct store *base, uint32_t page, uint32_t from, uint32_t to,
                  store_visit_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, page == STORE_NONE ? SQL_VISIT_SCAN : SQL_VISIT_PAGE, err);
	uint32_t cycle = 0;             /* the one before; imported history has no goal */
	uint8_t goal = 0;
	int rc = q ? 0 : E_STORE;

	if (q) {
		sqlite3_bind_int64(q, 1, from);
		sqlite3_bind_int64(q, 2, to);
		if (page != STORE_NONE)
			sqlite3_bind_int64(q, 3, page);
	}
	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct store_visit v = {
			.cycle = (uint32_t)sqlite3_column_int64(q, 0),
			.page = (uint32_t)sqlite3_column_int64(q, 1),
			.time = sqlite3_column_int64(q, 2),
			.outcome = (uint8_t)sqlite3_column_int(q, 3),
			.reason = (uint8_t)sqlite3_column_int(q, 4),
			.status = sqlite3_column_int(q, 5),
			.hit = sqlite3_column_int(q, 6) != 0,
			.score = real(q, 7), .probability = real(q, 8),
			.capture = (uint64_t)sqlite3_column_int64(q, 9),
			.cause = (uint8_t)sqlite3_column_int(q, 11),
		};
		int64_t id = sqlite3_column_int64(q, 10);

		v.order = id >> 32 == v.cycle ? (uint32_t)id : 0;

		rc = 0;
		if (v.cycle != cycle)
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
	return sql_run(s, q, err);
}

int sqlite_cycles(struct store *base, store_cycle_each *each, void *arg, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_CYCLE_SCAN, err);
	int rc = q ? 0 : E_STORE;

	while (rc == 0 && (rc = sql_step(s, q, err)) > 0) {
		struct store_cycle c = {
			.number = (uint32_t)sqlite3_column_int64(q, 0),
			.time = sqlite3_column_int64(q, 1),
			.open = sqlite3_column_int(q, 2) != 0,
			.policy = sql_text(q, 3),
			.seed = (uint64_t)sqlite3_column_int64(q, 4),
			.budget = (uint32_t)sqlite3_column_int64(q, 5),
			.downloads = (uint32_t)sqlite3_column_int64(q, 6),
			.fresh = (uint32_t)sqlite3_column_int64(q, 7),
			.changed = (uint32_t)sqlite3_column_int64(q, 8),
			.same = (uint32_t)sqlite3_column_int64(q, 9),
			.gone = (uint32_t)sqlite3_column_int64(q, 10),
			.failed = (uint32_t)sqlite3_column_int64(q, 11),
			.blocked = (uint32_t)sqlite3_column_int64(q, 12),
			.seconds_plan = sqlite3_column_double(q, 13),
			.seconds_total = sqlite3_column_double(q, 14),
			.goal = (uint8_t)sqlite3_column_int(q, 15),
		};

		rc = each(arg, &c, err);
	}
	if (q)
		sqlite3_reset(q);
	return rc;
}
