/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.c - how much there is.  To count 50 million visits takes seconds, so the table
 * `counts` has one row: captures, visits, and the first and last time of a capture.  Whoever
 * writes rows notes it in s->more, and the row is brought up to date before the batch ends.
 * Pages that are gone or kept out have an index of their own and are counted there.
 *
 * When captures go, their times are not known any more (NULL) until sqlite_tidy(): then they
 * are looked for in all rows.
 */
#include <stdio.h>

#include "repo/sqlite/store_sqlite.h"

void sqlite_counts_capture(struct store_sqlite *s, int64_t time)
{
	struct counted *m = &s->more;

	m->first = m->captures_new && m->first < time ? m->first : time;
	m->last = m->captures_new && m->last > time ? m->last : time;
	m->captures_new++;
}

int sqlite_counts_write(struct store_sqlite *s, struct err *err)
{
	struct counted m = s->more;
	sqlite3_stmt *q;
	int rc = 0;

	if (!m.captures_new && !m.captures_gone && !m.visits)
		return 0;
	if (!(q = sql_get(s, SQL_COUNTS_ADD, err)))
		return E_STORE;
	sqlite3_bind_int64(q, 1, m.captures_new - m.captures_gone);
	sqlite3_bind_int64(q, 2, m.visits);
	if (m.captures_new) {
		sqlite3_bind_int64(q, 3, m.first);
		sqlite3_bind_int64(q, 4, m.last);
	}
	sqlite3_bind_int(q, 5, m.captures_gone > 0);
	rc = sql_run(s, q, err);
	if (rc == 0)
		s->more = (struct counted){ 0 };
	return rc;
}

int sqlite_counts_alone(struct store_sqlite *s, int rc, struct err *err)
{
	return rc < 0 || s->in_batch ? rc : sqlite_counts_write(s, err);
}

int sqlite_counts_times(struct store_sqlite *s, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_COUNTS_TIMES, err);

	return q ? sql_run(s, q, err) : E_STORE;
}

int sqlite_count(struct store *base, struct store_counts *ret, struct err *err)
{
	struct store_sqlite *s = self(base);
	int rc = sqlite_counts_write(s, err);           /* those of the open batch */
	sqlite3_stmt *q = rc < 0 ? NULL : sql_get(s, SQL_COUNT, err);
	struct sql_row r = { .s = s, .q = q, .table = "counts", .err = err };

	if (rc == 0)
		rc = q ? sql_step(s, q, err) : E_STORE;
	if (rc == 0)
		rc = err_set(err, E_STORE, "%s: table counts, row 1, column id: the row is missing; run "
		             "`freshet check --repair`", s->path);
	if (rc < 0)
		return rc;
	*ret = (struct store_counts){
		.captures = (uint64_t)sql_int(&r, 1, 0, INT64_MAX, "number of captures"),
		.visits = (uint64_t)sql_int(&r, 2, 0, INT64_MAX, "number of visits"),
		.pages = (uint64_t)sql_int(&r, 3, 0, STORE_NONE, "number of pages"),
		.cycles = (uint64_t)sqlite3_column_int64(q, 4),
		.gone = (uint64_t)sqlite3_column_int64(q, 5),
		.removed = (uint64_t)sqlite3_column_int64(q, 6),
		.outside = (uint64_t)sqlite3_column_int64(q, 7),
		.paused = (uint64_t)sqlite3_column_int64(q, 8),
	};
	if (ret->captures) {
		ret->first_capture = sql_time(&r, 9);
		ret->last_capture = sql_time(&r, 10);
	}
	sqlite3_reset(q);
	return r.rc;
}

int sqlite_counts_check(struct store_sqlite *s, store_problem_each *each, void *arg,
                        struct err *err)
{
	struct store_problem p = { .table = "counts" };
	sqlite3_stmt *q = sql_get(s, SQL_COUNTS_CHECK, err);
	char text[300], was[200];
	int rc = q ? sql_step(s, q, err) : E_STORE;

	if (rc > 0) {
		long long captures = sqlite3_column_int64(q, 0), visits = sqlite3_column_int64(q, 1);

		snprintf(text, sizeof text, "table counts: it has %lld captures and %lld visits, or "
		         "their times, wrong: there are %lld and %lld", captures, visits,
		         sqlite3_column_int64(q, 2), sqlite3_column_int64(q, 3));
		snprintf(was, sizeof was, "{\"table\":\"counts\",\"captures\":%lld,\"visits\":%lld}",
		         captures, visits);
		p.text = text;
		p.was = was;
	}
	if (q)
		sqlite3_reset(q);
	if (rc > 0)
		rc = each(arg, &p, err);
	return rc <= 0 ? rc : sql_execute(s, COUNTS_FILL, err);
}
