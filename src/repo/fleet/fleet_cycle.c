/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_cycle.c - cycles of the fleet, grants and bids; see fleet.h. */
#include "repo/fleet/fleet_inner.h"

#include <string.h>

int fleet_cycles(struct fleet *l, uint32_t from, fleet_cycle_each *each, void *arg,
                  struct err *err)
{
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_args_int(&a, from);
	rc = fleet_ask(l,
		"SELECT c.number, c.slot, c.opened, c.every, c.policy, c.aim, c.pages, c.budget, "
		"c.granted, c.price, sum(g.downloads)::int8, sum(g.fresh)::int8, sum(g.changed)::int8, "
		"sum(g.same)::int8, sum(g.gone)::int8, sum(g.failed)::int8, sum(g.blocked)::int8, "
		"coalesce(max(g.seconds), 0), count(g.shard), (SELECT count(*) FROM fleet_shards f WHERE "
		"f.cycle > c.number OR (f.cycle = c.number AND f.done)) FROM fleet_cycles c LEFT JOIN "
		"fleet_grants g ON g.cycle = c.number WHERE CASE WHEN $1::int8 = 0 THEN c.number = "
		"(SELECT max(number) FROM fleet_cycles) ELSE c.number >= $1::int8 END GROUP BY c.number "
		"ORDER BY c.number", &a, &r, err);
	pg_args_release(&a);
	if (rc < 0)
		return rc;
	for (int i = 0; i < PQntuples(r) && rc == 0; i++) {
		struct fleet_cycle c = {
			.number = fleet_count(r, i, 0), .slot = fleet_int(r, i, 1),
			.opened = fleet_int(r, i, 2), .every = fleet_int(r, i, 3),
			.pages = (uint64_t)fleet_int(r, i, 6), .budget = fleet_count(r, i, 7),
			.granted = fleet_count(r, i, 8), .price = fleet_real(r, i, 9),
			.downloads = (uint64_t)fleet_int(r, i, 10),
			.fresh = (uint64_t)fleet_int(r, i, 11),
			.changed = (uint64_t)fleet_int(r, i, 12),
			.same = (uint64_t)fleet_int(r, i, 13), .gone = (uint64_t)fleet_int(r, i, 14),
			.failed = (uint64_t)fleet_int(r, i, 15),
			.blocked = (uint64_t)fleet_int(r, i, 16), .seconds = fleet_real(r, i, 17),
			.shards = fleet_count(r, i, 18), .done = fleet_count(r, i, 19),
		};

		fleet_text(r, i, 4, c.policy, sizeof c.policy);
		fleet_text(r, i, 5, c.aim, sizeof c.aim);
		rc = each(arg, &c, err);
	}
	PQclear(r);
	return rc;
}

static int keep_cycle(void *arg, const struct fleet_cycle *c, struct err *err)
{
	(void)err;
	*(struct fleet_cycle *)arg = *c;
	return 0;
}

int fleet_cycle_last(struct fleet *l, struct fleet_cycle *ret, struct err *err)
{
	*ret = (struct fleet_cycle){ 0 };
	return fleet_cycles(l, 0, keep_cycle, ret, err);
}

int fleet_cycle_own(struct fleet *l, uint32_t cycle, int32_t shard, uint32_t *ret,
                    struct err *err)
{
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_args_int(&a, shard);
	pg_args_int(&a, cycle);
	rc = fleet_ask(l, "SELECT coalesce(max(own), 0) FROM fleet_grants WHERE shard = $1::int8 AND "
	               "cycle = $2::int8", &a, &r, err);
	pg_args_release(&a);
	if (rc == 0) {
		*ret = fleet_count(r, 0, 0);
		PQclear(r);
	}
	return rc;
}

int fleet_pages(struct fleet *l, uint64_t *ret, struct err *err)
{
	PGresult *r = NULL;
	/* what a shard said itself; else they are counted: pages that are here, under care */
	int rc = fleet_ask(l,
		"SELECT sum(coalesce(f.here, (SELECT count(*) FROM pages p WHERE p.shard = f.shard AND "
		"p.state = 0 AND p.care = 0)))::int8 FROM fleet_shards f", NULL, &r, err);

	if (rc == 0) {
		*ret = (uint64_t)fleet_int(r, 0, 0);
		PQclear(r);
	}
	return rc;
}

int fleet_cycle_open(struct fleet *l, const struct fleet_cycle *c, struct err *err)
{
	struct pg_args a = { 0 };
	int rc;

	pg_args_int(&a, c->number);
	pg_args_int(&a, c->slot);
	pg_args_int(&a, c->every);
	pg_args_text(&a, (struct text){ c->policy, strlen(c->policy) });
	pg_args_text(&a, (struct text){ c->aim, strlen(c->aim) });
	pg_args_int(&a, (int64_t)c->pages);
	pg_args_int(&a, c->budget);
	rc = fleet_ask(l,
		"INSERT INTO fleet_cycles (number, slot, opened, every, policy, aim, pages, budget) "
		"SELECT $1::int8, $2::int8, extract(epoch FROM clock_timestamp())::int8, $3::int8, "
		"$4::text, $5::text, $6::int8, $7::int8 WHERE $1::int8 = 1 + (SELECT "
		"coalesce(max(number), 0) FROM fleet_cycles) ON CONFLICT DO NOTHING", &a, NULL, err);
	pg_args_release(&a);
	return rc;
}

int fleet_join(struct fleet *l, const struct fleet_lease *lease, uint32_t cycle,
                uint32_t *ret_granted, uint32_t *ret_own, struct err *err)
{
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_args_int(&a, lease->shard);
	pg_args_int(&a, cycle);
	rc = fleet_ask_leased(l, lease,
		"WITH s AS (UPDATE fleet_shards SET cycle = $2::int8, done = false WHERE shard = "
		"$1::int8 AND cycle <= $2::int8) INSERT INTO fleet_grants (cycle, shard, granted, "
		"worker) SELECT $2::int8, $1::int8, 0, worker FROM fleet_shards WHERE shard = $1::int8 "
		"ON CONFLICT (shard, cycle) DO UPDATE SET worker = excluded.worker RETURNING granted, "
		"own", &a, &r, err);
	pg_args_release(&a);
	if (rc == 0) {
		*ret_granted = fleet_count(r, 0, 0);
		*ret_own = fleet_count(r, 0, 1);
		PQclear(r);
	}
	return rc;
}

int fleet_grant(struct fleet *l, const struct fleet_lease *lease, uint32_t cycle, uint32_t n,
                 uint32_t *ret, struct err *err)
{
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_args_int(&a, lease->shard);
	pg_args_int(&a, cycle);
	pg_args_int(&a, n);
	/* the row of the cycle is locked first, then read: what is left is what is left now */
	rc = fleet_ask_leased(l, lease,
		"WITH c AS (SELECT number, least($3::int8, budget - granted) AS n FROM fleet_cycles "
		"WHERE number = $2::int8 FOR UPDATE), paid AS (UPDATE fleet_cycles y SET granted = "
		"y.granted + c.n FROM c WHERE y.number = c.number RETURNING c.n) UPDATE fleet_grants g "
		"SET granted = g.granted + paid.n FROM paid WHERE g.shard = $1::int8 AND g.cycle = "
		"$2::int8 RETURNING g.granted", &a, &r, err);
	pg_args_release(&a);
	if (rc < 0)
		return rc;
	if (PQntuples(r))
		*ret = fleet_count(r, 0, 0);
	else
		rc = err_set(err, E_STORE, "%s: shard %d has no part in cycle %u", fleet_shown(l),
		             lease->shard, cycle);
	PQclear(r);
	return rc;
}

int fleet_result(struct fleet *l, const struct fleet_lease *lease, uint32_t cycle,
                  const struct fleet_result *q, struct err *err)
{
	struct pg_args a = { 0 };
	int rc;

	pg_args_int(&a, lease->shard);
	pg_args_int(&a, cycle);
	pg_args_int(&a, q->own);
	pg_args_int(&a, q->downloads);
	pg_args_int(&a, q->fresh);
	pg_args_int(&a, q->changed);
	pg_args_int(&a, q->same);
	pg_args_int(&a, q->gone);
	pg_args_int(&a, q->failed);
	pg_args_int(&a, q->blocked);
	pg_args_real(&a, q->seconds);
	pg_args_int(&a, q->done);
	/* what was not spent is free for others, while the cycle lasts */
	rc = fleet_ask_leased(l, lease,
		"WITH was AS (SELECT granted, CASE WHEN $12::int8 <> 0 THEN greatest(granted - $4::int8, "
		"0) ELSE 0 END AS free FROM fleet_grants WHERE shard = $1::int8 AND cycle = $2::int8 FOR "
		"UPDATE), g AS (UPDATE fleet_grants g SET own = $3::int8, downloads = $4::int8, fresh = "
		"$5::int8, changed = $6::int8, same = $7::int8, gone = $8::int8, failed = $9::int8, "
		"blocked = $10::int8, seconds = $11::float8, granted = g.granted - was.free FROM was "
		"WHERE g.shard = $1::int8 AND g.cycle = $2::int8), s AS (UPDATE fleet_shards SET done = "
		"true WHERE shard = $1::int8 AND cycle = $2::int8 AND $12::int8 <> 0) UPDATE "
		"fleet_cycles c SET granted = c.granted - was.free FROM was WHERE c.number = $2::int8",
		&a, NULL, err);
	pg_args_release(&a);
	return rc;
}

int fleet_bid(struct fleet *l, const struct fleet_lease *lease, struct text bid,
               struct err *err)
{
	struct pg_args a = { 0 };
	int rc;

	pg_args_int(&a, lease->shard);
	pg_args_bytes(&a, bid);
	rc = fleet_ask_leased(l, lease,
		"UPDATE fleet_shards SET bid = $2::bytea WHERE shard = $1::int8", &a, NULL, err);
	pg_args_release(&a);
	return rc;
}

int fleet_bids(struct fleet *l, uint32_t cycle, fleet_bid_each *each, void *arg,
                struct err *err)
{
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_args_int(&a, cycle);
	rc = fleet_ask(l,
		"SELECT f.shard, f.bid, coalesce(f.here, s.pages), g.granted, b.granted, "
		"f.cycle >= $1::int8 AND f.done FROM "
		"fleet_shards f JOIN shards s USING (shard) LEFT JOIN fleet_grants g ON g.shard = "
		"f.shard AND g.cycle = $1::int8 LEFT JOIN fleet_grants b ON b.shard = f.shard AND "
		"b.cycle = $1::int8 - 1 ORDER BY f.shard", &a, &r,
		err);
	pg_args_release(&a);
	if (rc < 0)
		return rc;
	for (int i = 0; i < PQntuples(r) && rc == 0; i++) {
		struct fleet_bid b = {
			.shard = (int32_t)fleet_int(r, i, 0),
			.bid = { PQgetvalue(r, i, 1), (size_t)PQgetlength(r, i, 1) },
			.pages = fleet_int(r, i, 2), .granted = fleet_count(r, i, 3),
			.last = fleet_count(r, i, 4), .done = fleet_flag(r, i, 5),
		};

		rc = each(arg, &b, err);
	}
	PQclear(r);
	return rc;
}

int fleet_price(struct fleet *l, uint32_t cycle, double price, struct err *err)
{
	struct pg_args a = { 0 };
	int rc;

	pg_args_int(&a, cycle);
	pg_args_real(&a, price);
	rc = fleet_ask(l, "UPDATE fleet_cycles SET price = $2::float8 WHERE number = $1::int8 AND "
	                "price <> $2::float8", &a, NULL, err);
	pg_args_release(&a);
	return rc;
}

int fleet_waiting(struct fleet *l, uint32_t cycle, bool *ret, struct err *err)
{
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_args_int(&a, cycle);
	rc = fleet_ask(l, "SELECT EXISTS (SELECT 1 FROM fleet_shards WHERE until <= "
	                "clock_timestamp() AND splitting IS NULL AND (cycle < $1::int8 OR NOT done))",
	                &a, &r, err);
	pg_args_release(&a);
	if (rc == 0) {
		*ret = fleet_flag(r, 0, 0);
		PQclear(r);
	}
	return rc;
}
