/* SPDX-License-Identifier: Apache-2.0 */
/* open.c - the open cycle: its rounds, and the leases of other crawlers. */
#include "repo/sqlite/store_sqlite.h"

int sqlite_rounds_add(struct store *base, uint32_t cycle, uint32_t first,
                      const uint32_t *after, size_t n, struct err *err)
{
	struct store_sqlite *s = self(base);
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		sqlite3_stmt *q = sql_get(s, SQL_ROUND_ADD, err);

		if (!q)
			return E_STORE;
		sqlite3_bind_int64(q, 1, cycle);
		sqlite3_bind_int64(q, 2, first + (int64_t)i);
		sqlite3_bind_int64(q, 3, after[i]);
		rc = sql_run(s, q, err);
	}
	return rc;
}

int sqlite_rounds(struct store *base, uint32_t cycle, store_round_each *each, void *arg,
                  struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_ROUND_SCAN, err);
	struct sql_row r = { .s = s, .q = q, .table = "rounds", .key_column = 0, .err = err };
	int rc;

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, cycle);
	while ((rc = sql_step(s, q, err)) > 0) {
		uint32_t number = (uint32_t)sql_int(&r, 0, 1, UINT32_MAX, "number of a round");
		uint32_t after = (uint32_t)sql_int(&r, 1, 0, UINT32_MAX, "number of events");

		rc = r.rc < 0 ? r.rc : each(arg, number, after, err);
		if (rc)
			break;
	}
	sqlite3_reset(q);
	return rc;
}

static int put_lease(struct store_sqlite *s, const struct store_lease *l, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_LEASE_PUT, err);

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, l->cycle);
	sqlite3_bind_int64(q, 2, l->place);
	sqlite3_bind_int64(q, 3, l->page);
	sql_bind_text(q, 4, l->client.s ? l->client : (struct text){ "", 0 });
	sqlite3_bind_int64(q, 5, l->from);
	sqlite3_bind_int64(q, 6, l->until);
	sqlite3_bind_int64(q, 7, l->requests);
	sqlite3_bind_int64(q, 8, l->order);
	sqlite3_bind_int64(q, 9, l->state);
	sqlite3_bind_int64(q, 10, l->reason);
	sql_bind_real(q, 11, (double)l->score);
	sql_bind_real(q, 12, (double)l->probability);
	return sql_run(s, q, err);
}

int sqlite_leases_put(struct store *base, const struct store_lease *rows, size_t n,
                      struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = put_lease(self(base), &rows[i], err);
	return rc;
}

int sqlite_leases(struct store *base, uint32_t cycle, store_lease_each *each, void *arg,
                  struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_LEASE_SCAN, err);
	struct sql_row r = { .s = s, .q = q, .table = "leases", .key_column = 0, .n_pages = -1,
	                     .err = err };
	int rc;

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, cycle);
	while ((rc = sql_step(s, q, err)) > 0) {
		struct store_lease l = {
			.cycle = cycle, .place = (uint32_t)sql_int(&r, 0, 1, UINT32_MAX, "place"),
			.page = sql_page(&r, 1), .client = sql_text_there(&r, 2),
			.from = sql_time(&r, 3), .until = sql_time(&r, 4),
			.requests = (uint32_t)sql_int(&r, 5, 0, UINT32_MAX, "number of requests"),
			.order = (uint32_t)sql_int(&r, 6, 0, UINT32_MAX, "number of an event"),
			.state = (uint8_t)sql_int(&r, 7, 0, STORE_LEASE_DROPPED, "state of a lease"),
			.reason = (uint8_t)sql_int(&r, 8, 0, UINT8_MAX, "reason"),
			.score = sql_score(&r, 9), .probability = sql_chance(&r, 10),
		};

		rc = r.rc < 0 ? r.rc : each(arg, &l, err);
		if (rc)
			break;
	}
	sqlite3_reset(q);
	return rc;
}

int sqlite_leases_forget(struct store *base, uint32_t but_cycle, struct err *err)
{
	struct store_sqlite *s = self(base);
	sqlite3_stmt *q = sql_get(s, SQL_LEASE_FORGET, err);

	if (!q)
		return E_STORE;
	sqlite3_bind_int64(q, 1, but_cycle);
	return sql_run(s, q, err);
}
