/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_inbox.c - inboxes of shards, and workers with their heartbeats; see fleet.h. */
#include "repo/fleet/fleet_inner.h"

#include <string.h>

int fleet_inbox_put(struct fleet *l, const struct fleet_entry *e, size_t n, struct err *err)
{
	struct pg_rows rows = { .types = "itt" };
	struct pg_args a = { 0 };
	int rc;

	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		pg_rows_int(&rows, e[i].shard);
		pg_rows_text(&rows, (struct text){ e[i].kind, strlen(e[i].kind) });
		pg_rows_text(&rows, e[i].body);
	}
	pg_rows_take(&rows, &a);
	/* after a lost connection the same may come twice: adding a page again changes nothing,
	 * and what is told twice is known as told */
	rc = fleet_ask(l, "INSERT INTO fleet_inbox (shard, kind, body) SELECT u.* FROM "
	                "unnest($1::int8[], $2::text[], $3::text[]) AS u", &a, NULL, err);
	pg_args_release(&a);
	pg_rows_release(&rows);
	return rc;
}

int fleet_inbox(struct fleet *l, int32_t shard, uint32_t most, fleet_entry_each *each,
                 void *arg, struct err *err)
{
	struct arena room = { 0 };
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_args_int(&a, shard);
	pg_args_int(&a, most);
	rc = fleet_ask(l, "SELECT id, kind, body FROM fleet_inbox WHERE shard = $1::int8 ORDER BY id "
	                "LIMIT $2::int8", &a, &r, err);
	pg_args_release(&a);
	if (rc < 0)
		return rc;
	for (int i = 0; i < PQntuples(r) && rc == 0; i++) {
		char kind[FLEET_KIND_MAX];
		struct fleet_entry e = {
			.shard = shard, .id = fleet_int(r, i, 0), .kind = kind,
			.body = pg_text_in((struct text){ PQgetvalue(r, i, 2),
			                                  (size_t)PQgetlength(r, i, 2) }, &room),
		};

		fleet_text(r, i, 1, kind, sizeof kind);
		rc = each(arg, &e, err);
	}
	PQclear(r);
	arena_release(&room);
	return rc;
}

int fleet_inbox_drop(struct fleet *l, const struct fleet_lease *lease, const int64_t *ids,
                      size_t n, struct err *err)
{
	struct pg_rows rows = { .types = "i" };
	struct pg_args a = { 0 };
	int rc;

	if (!n)
		return 0;
	pg_args_int(&a, lease->shard);
	for (size_t i = 0; i < n; i++)
		pg_rows_int(&rows, ids[i]);
	pg_rows_take(&rows, &a);
	rc = fleet_ask_leased(l, lease, "DELETE FROM fleet_inbox WHERE shard = $1::int8 AND id = ANY "
	                       "($2::int8[])", &a, NULL, err);
	pg_args_release(&a);
	pg_rows_release(&rows);
	return rc;
}

int fleet_inbox_divide(struct fleet *l, const struct fleet_lease *lease, int64_t id,
                       struct text own, const struct fleet_entry *others, size_t n,
                       struct err *err)
{
	struct pg_rows rows = { .types = "itt" };
	struct pg_args a = { 0 };
	int rc;

	pg_args_int(&a, lease->shard);
	pg_args_int(&a, id);
	pg_args_text(&a, own.size ? own : (struct text){ "", 0 });
	for (size_t i = 0; i < n; i++) {
		pg_rows_int(&rows, others[i].shard);
		pg_rows_text(&rows, (struct text){ others[i].kind, strlen(others[i].kind) });
		pg_rows_text(&rows, others[i].body);
	}
	pg_rows_take(&rows, &a);
	/* once: repeated after a lost connection it finds the entry as it is to be */
	rc = fleet_ask_leased(l, lease,
		"WITH was AS (SELECT id FROM fleet_inbox WHERE shard = $1::int8 AND id = $2::int8 AND "
		"body <> $3::text FOR UPDATE), u AS (UPDATE fleet_inbox i SET body = $3::text FROM was "
		"WHERE i.shard = $1::int8 AND i.id = was.id AND $3::text <> ''), d AS (DELETE FROM "
		"fleet_inbox i USING was WHERE i.shard = $1::int8 AND i.id = was.id AND $3::text = '') "
		"INSERT INTO fleet_inbox (shard, kind, body) SELECT o.* FROM unnest($4::int8[], "
		"$5::text[], $6::text[]) AS o WHERE EXISTS (SELECT 1 FROM was)", &a, NULL, err);
	pg_args_release(&a);
	pg_rows_release(&rows);
	return rc;
}

/* ---- workers ---- */

static void worker_args(const struct fleet_worker *w, struct pg_args *a)
{
	pg_args_text(a, (struct text){ w->worker, strlen(w->worker) });
	pg_args_text(a, (struct text){ w->host, strlen(w->host) });
	pg_args_int(a, w->process);
	pg_args_int(a, w->take);
	pg_args_real(a, w->ahead);
	pg_args_int(a, (int64_t)w->requests);
	pg_args_int(a, w->stopped);
}

int fleet_hello(struct fleet *l, const struct fleet_worker *w, struct err *err)
{
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	worker_args(w, &a);
	pg_args_text(&a, (struct text){ w->version, strlen(w->version) });
	pg_args_int(&a, FLEET_DEAD_SECONDS);
	rc = fleet_ask(l,
		"INSERT INTO fleet_workers AS o (worker, host, process, started, seen, version, take, "
		"ahead, requests, stopped) VALUES ($1::text, $2::text, $3::int8, clock_timestamp(), "
		"clock_timestamp(), $8::text, $4::int8, $5::float8, $6::int8, $7::int8 <> 0) ON CONFLICT "
		"(worker) DO UPDATE SET host = excluded.host, process = excluded.process, started = "
		"clock_timestamp(), seen = clock_timestamp(), version = excluded.version, take = "
		"excluded.take, ahead = excluded.ahead, requests = excluded.requests, stopped = "
		"excluded.stopped WHERE o.stopped OR o.seen < clock_timestamp() - make_interval(secs => "
		"$9::int8::float8) OR (o.host = excluded.host AND o.process = excluded.process) "
		"RETURNING 1", &a, &r, err);
	pg_args_release(&a);
	if (rc < 0)
		return rc;
	if (!PQntuples(r))
		rc = err_set(err, E_BUSY, "%s: a worker %s is alive, or was %d s ago: give this one "
		             "another name with --worker, or wait", fleet_shown(l), w->worker,
		             FLEET_DEAD_SECONDS);
	PQclear(r);
	return rc;
}

int fleet_beat(struct fleet *l, const struct fleet_worker *w, struct err *err)
{
	struct pg_args a = { 0 };
	int rc;

	worker_args(w, &a);
	rc = fleet_ask(l,
		"UPDATE fleet_workers SET seen = clock_timestamp(), take = $4::int8, ahead = $5::float8, "
		"requests = $6::int8, stopped = $7::int8 <> 0 WHERE worker = $1::text AND host = $2::text "
		"AND process = $3::int8", &a, NULL, err);
	pg_args_release(&a);
	return rc;
}

int fleet_workers(struct fleet *l, fleet_worker_each *each, void *arg, struct err *err)
{
	PGresult *r = NULL;
	int rc = fleet_ask(l,
		"SELECT w.worker, w.host, w.process, extract(epoch FROM clock_timestamp() - "
		"w.started)::float8, extract(epoch FROM clock_timestamp() - w.seen)::float8, w.version, "
		"w.take, w.ahead, w.requests, w.stopped, (SELECT count(*) FROM fleet_shards f WHERE "
		"f.worker = w.worker AND f.until > clock_timestamp()) FROM fleet_workers w ORDER BY "
		"w.worker", NULL, &r, err);

	if (rc < 0)
		return rc;
	for (int i = 0; i < PQntuples(r) && rc == 0; i++) {
		struct fleet_worker w = {
			.process = fleet_int(r, i, 2), .up = fleet_real(r, i, 3),
			.silent = fleet_real(r, i, 4), .take = fleet_count(r, i, 6),
			.ahead = fleet_real(r, i, 7), .requests = (uint64_t)fleet_int(r, i, 8),
			.stopped = fleet_flag(r, i, 9), .shards = fleet_count(r, i, 10),
		};

		fleet_text(r, i, 0, w.worker, sizeof w.worker);
		fleet_text(r, i, 1, w.host, sizeof w.host);
		fleet_text(r, i, 5, w.version, sizeof w.version);
		rc = each(arg, &w, err);
	}
	PQclear(r);
	return rc;
}
