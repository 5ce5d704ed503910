/* SPDX-License-Identifier: Apache-2.0 */
/* open.c - the open cycle: its rounds, and the leases of other crawlers; see store_pg.h. */
#include "repo/pg/store_pg.h"

int pg_rounds_add(struct store *base, uint32_t cycle, uint32_t first, const uint32_t *after,
                  size_t n, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_rows rows = { .types = "ii" };
	struct pg_args *a;
	bool own;
	int rc = pg_enter(s, &own, err);

	if (rc == 0 && n) {
		s->batch.dirty |= PG_T_ROUNDS;
		for (size_t i = 0; i < n; i++) {
			pg_rows_int(&rows, (int64_t)first + (int64_t)i);
			pg_rows_int(&rows, after[i]);
		}
		a = pg_batch_call(s, PG_ROUND_ADD);
		pg_args_int(a, cycle);
		pg_rows_take(&rows, a);
	}
	pg_rows_release(&rows);
	return pg_leave(s, own, rc, err);
}

struct rounds { store_round_each *each; void *arg; struct err *err; };

static int see_round(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct rounds *w = arg;
	uint32_t number = (uint32_t)pg_row_int(r, 0, 1, UINT32_MAX, "number of a round");
	uint32_t after = (uint32_t)pg_row_int(r, 1, 0, UINT32_MAX, "number of events");

	(void)s;
	return r->rc < 0 ? r->rc : w->each(w->arg, number, after, w->err);
}

/* The rows of a cycle. */
static int walk_cycle(struct store_pg *s, enum pg_sql sql, uint32_t cycle, const char *table,
                      pg_row_each *each, void *arg, struct err *err)
{
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_shard_args(s, &a);
	pg_args_int(&a, cycle);
	rc = pg_ask(s, sql, &a, &r, err);
	pg_args_release(&a);
	return rc < 0 ? rc : pg_walk(s, r, table, each, arg, err);
}

int pg_rounds(struct store *base, uint32_t cycle, store_round_each *each, void *arg,
              struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct rounds w = { each, arg, err };

	pg_show_writes(s, PG_T_ROUNDS);
	return walk_cycle(s, PG_ROUND_SCAN, cycle, "rounds", see_round, &w, err);
}

int pg_leases_put(struct store *base, const struct store_lease *rows, size_t n,
                  struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_rows r = { .types = "iiitiiiiiirr" };
	bool own;
	int rc = pg_enter(s, &own, err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct store_lease *l = &rows[i];

		pg_rows_int(&r, l->cycle);
		pg_rows_int(&r, l->place);
		pg_rows_int(&r, l->page);
		pg_rows_text(&r, l->client.s ? l->client : (struct text){ "", 0 });
		pg_rows_int(&r, l->from);
		pg_rows_int(&r, l->until);
		pg_rows_int(&r, l->requests);
		pg_rows_int(&r, l->order);
		pg_rows_int(&r, l->state);
		pg_rows_int(&r, l->reason);
		pg_rows_real(&r, (double)l->score);
		pg_rows_real(&r, (double)l->probability);
	}
	if (rc == 0 && n) {
		s->batch.dirty |= PG_T_LEASES;
		pg_batch_take(s, PG_LEASE_PUT, &r);
	}
	pg_rows_release(&r);
	return pg_leave(s, own, rc, err);
}

struct leases { store_lease_each *each; void *arg; uint32_t cycle; struct err *err; };

static int see_lease(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct leases *w = arg;
	struct store_lease l = {
		.cycle = w->cycle, .place = (uint32_t)pg_row_int(r, 0, 1, UINT32_MAX, "place"),
		.page = pg_row_page(r, 1), .client = pg_row_text(r, 2),
		.from = pg_row_time(r, 3), .until = pg_row_time(r, 4),
		.requests = (uint32_t)pg_row_int(r, 5, 0, UINT32_MAX, "number of requests"),
		.order = (uint32_t)pg_row_int(r, 6, 0, UINT32_MAX, "number of an event"),
		.state = (uint8_t)pg_row_int(r, 7, 0, STORE_LEASE_DROPPED, "state of a lease"),
		.reason = (uint8_t)pg_row_int(r, 8, 0, UINT8_MAX, "reason"),
		.score = pg_row_score(r, 9), .probability = pg_row_chance(r, 10),
	};

	(void)s;
	return r->rc < 0 ? r->rc : w->each(w->arg, &l, w->err);
}

int pg_leases(struct store *base, uint32_t cycle, store_lease_each *each, void *arg,
              struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct leases w = { each, arg, cycle, err };

	pg_show_writes(s, PG_T_LEASES);
	return walk_cycle(s, PG_LEASE_SCAN, cycle, "leases", see_lease, &w, err);
}

int pg_leases_forget(struct store *base, uint32_t but_cycle, struct err *err)
{
	struct store_pg *s = pg_self(base);
	bool own;
	int rc = pg_enter(s, &own, err);

	if (rc == 0) {
		s->batch.dirty |= PG_T_LEASES;
		pg_args_int(pg_batch_call(s, PG_LEASE_FORGET), but_cycle);
	}
	return pg_leave(s, own, rc, err);
}
