/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_lease.c - leases of shards; see fleet.h.
 *
 * tests/unit/repo/fleet/model_test.c has these statements as a small machine, and looks at
 * every order in which workers may run them, die, hang and lose what they sent.  A change
 * here is a change there.
 */
#include "repo/fleet/fleet_inner.h"

#include <stdio.h>
#include <string.h>

/* A text that C has. */
static struct text text(const char *s)
{
	return (struct text){ s, strlen(s) };
}

/* One statement is one transaction.  A writer that hangs in one holds the row of the fence:
 * the server ends it after PG_IDLE_LEASED seconds, and until then the claim waits. */
int fleet_claim(struct fleet *l, const char *worker, uint32_t cycle, int32_t only,
                 struct fleet_lease *ret, struct err *err)
{
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	double sent = fleet_clock();
	int rc;

	pg_args_text(&a, text(worker));
	pg_args_int(&a, cycle);
	pg_args_int(&a, only);
	pg_args_int(&a, LEASE_SECONDS);
	rc = fleet_ask(l,
		"WITH pick AS (SELECT shard, lost, cycle, done FROM "
		"fleet_shards f WHERE until <= clock_timestamp() AND (CASE WHEN $3::int8 >= 0 THEN shard "
		"= $3::int8 WHEN splitting IS NOT NULL THEN false WHEN $2::int8 > 0 THEN cycle < "
		"$2::int8 OR NOT done ELSE EXISTS (SELECT 1 FROM fleet_inbox i WHERE i.shard = f.shard) "
		"END) ORDER BY greatest(until, free), shard LIMIT 1 FOR UPDATE SKIP LOCKED), "
		"lease AS (UPDATE fleet_shards f SET worker = $1::text, until = clock_timestamp() + "
		"make_interval(secs => $4::int8::float8), lost = true, state = 'loading' FROM pick WHERE "
		"f.shard = pick.shard RETURNING f.shard, pick.lost, pick.cycle, pick.done) UPDATE "
		"fleet_fences n SET fence = n.fence + 1 FROM lease WHERE n.shard = lease.shard RETURNING "
		"lease.shard, n.fence, lease.lost, lease.cycle, lease.done", &a, &r, err);
	pg_args_release(&a);
	if (rc < 0)
		return rc;
	if (PQntuples(r))
		*ret = (struct fleet_lease){
			.shard = (int32_t)fleet_int(r, 0, 0), .fence = fleet_int(r, 0, 1),
			.lost = fleet_flag(r, 0, 2), .cycle = fleet_count(r, 0, 3),
			.done = fleet_flag(r, 0, 4), .sent = sent,
		};
	rc = PQntuples(r) > 0;
	PQclear(r);
	return rc;
}

int fleet_renew(struct fleet *l, const struct fleet_lease *leases, size_t n, bool *held,
                 struct err *err)
{
	struct pg_rows rows = { .types = "ii" };
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	if (!n)
		return 0;
	pg_args_int(&a, LEASE_SECONDS);
	for (size_t i = 0; i < n; i++) {
		pg_rows_int(&rows, leases[i].shard);
		pg_rows_int(&rows, leases[i].fence);
	}
	pg_rows_take(&rows, &a);
	/* the fence is read, not held: who claims raises it in the transaction that sets until,
	 * and the row of fleet_shards keeps the two apart */
	rc = fleet_ask(l,
		"WITH mine AS (SELECT f.shard, u.fence FROM unnest($2::int8[], $3::int8[]) AS u (shard, "
		"fence) JOIN fleet_shards f ON f.shard = u.shard ORDER BY f.shard FOR UPDATE OF f) UPDATE "
		"fleet_shards f SET until = clock_timestamp() + make_interval(secs => "
		"$1::int8::float8) FROM mine JOIN fleet_fences n ON n.shard = mine.shard AND n.fence = "
		"mine.fence WHERE f.shard = mine.shard AND f.until >= f.free RETURNING f.shard::int8", &a,
		&r, err);
	pg_args_release(&a);
	pg_rows_release(&rows);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		held[i] = false;
		for (int k = 0; k < PQntuples(r); k++)
			held[i] |= fleet_int(r, k, 0) == leases[i].shard;
	}
	PQclear(r);
	return 0;
}

int fleet_release(struct fleet *l, const struct fleet_lease *lease, struct err *err)
{
	struct pg_args a = { 0 };
	int rc;

	pg_args_int(&a, lease->shard);
	rc = fleet_ask_leased(l, lease,
		"UPDATE fleet_shards SET until = clock_timestamp(), free = clock_timestamp() + "
		"interval '1 microsecond', lost = false, state = '' WHERE shard = $1::int8", &a, NULL,
		err);
	pg_args_release(&a);
	return rc;
}

int fleet_say(struct fleet *l, const struct fleet_lease *lease, const char *state,
               int64_t here, struct err *err)
{
	struct pg_args a = { 0 };
	int rc;

	pg_args_int(&a, lease->shard);
	pg_args_text(&a, text(state));
	pg_args_int(&a, here);
	rc = fleet_ask_leased(l, lease,
		"UPDATE fleet_shards SET state = $2::text, here = CASE WHEN $3::int8 < 0 THEN here ELSE "
		"$3::int8 END WHERE shard = $1::int8", &a, NULL, err);
	pg_args_release(&a);
	return rc;
}
