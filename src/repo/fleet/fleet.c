/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.c - the connection of a ledger, and the shards; see fleet.h. */
#include "repo/fleet/fleet_inner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "repo/pg/schema.h"
#include "web/url/url.h"

#define DELAY_MS 100            /* before a new attempt */

bool fleet_is_for(const char *where)
{
	return !strncmp(where, "postgresql://", 13) || !strncmp(where, "postgres://", 11);
}

double fleet_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double fleet_real(const PGresult *r, int row, int column)
{
	uint64_t bits = (uint64_t)fleet_int(r, row, column);
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

bool fleet_flag(const PGresult *r, int row, int column)
{
	return fleet_int(r, row, column) != 0;
}

void fleet_text(const PGresult *r, int row, int column, char *out, size_t size)
{
	snprintf(out, size, "%.*s", PQgetlength(r, row, column), PQgetvalue(r, row, column));
}

int fleet_open(struct fleet **ret, const char *url, struct err *err)
{
	struct fleet *l = mem_zalloc(1, sizeof *l);
	int rc;

	pthread_mutex_init(&l->lock, NULL);
	l->link = (struct pg_link){ .target = &l->target, .prepared = l->prepared };
	rc = pg_target_parse(&l->target, url, err);
	l->target.fence = 1;            /* its transactions may not idle: they hold rows of all */
	if (rc == 0)
		rc = pg_link_connect(&l->link, err);
	if (rc == 0)
		rc = pg_schema_check(&l->link, false, err);
	if (rc == E_NET)                /* a wrong name does not get better by waiting */
		rc = E_STORE;
	if (rc == E_STORE && err)
		err->code = rc;
	if (rc < 0) {
		fleet_close(l);
		return rc;
	}
	*ret = l;
	return 0;
}

void fleet_close(struct fleet *l)
{
	if (!l)
		return;
	pg_link_close(&l->link);
	pg_target_release(&l->target);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

const char *fleet_shown(const struct fleet *l)
{
	return l->target.shown;
}

const char *fleet_worker(const struct fleet *l)
{
	return l->target.worker;
}

void fleet_url(const char *url, int32_t shard, int64_t fence, const char *worker,
                struct buf *out)
{
	buf_str(out, url);
	/* the last of several wins */
	buf_printf(out, "%cshard=%d&fence=%lld", strchr(url, '?') ? '&' : '?', shard,
	           (long long)fence);
	if (worker)
		buf_printf(out, "&worker=%s", worker);
}

static int lost_lease(const struct fleet *l, const struct fleet_lease *lease, struct err *err)
{
	return err_set(err, E_BUSY, "%s: the lease of shard %d is lost: another worker has it, or "
	               "will", l->target.shown, lease->shard);
}

/* Try once. */
static int ask_once(struct fleet *l, const struct fleet_lease *lease, const char *sql,
                    const struct pg_args *args, PGresult **ret, struct err *err)
{
	struct pg_pipe p = { .link = &l->link };
	struct pg_args a = { 0 };
	int rc = l->link.conn ? 0 : pg_link_connect(&l->link, err);

	if (rc < 0)
		return rc;
	if (lease) {
		pg_args_int(&a, lease->shard);
		pg_args_int(&a, lease->fence);
		pg_pipe_add(&p, PG_LEASE_CHECK, &a);
	}
	pg_pipe_text(&p, sql, args);
	rc = pg_pipe_run(&p, err);
	if (lease && rc < 0 && rc != E_NET && p.failed == 0)
		rc = lost_lease(l, lease, err);
	if (rc == 0 && ret) {
		*ret = p.results.v[lease != NULL];
		p.results.v[lease != NULL] = NULL;
	}
	pg_args_release(&a);
	pg_pipe_release(&p);
	return rc;
}

int fleet_ask_leased(struct fleet *l, const struct fleet_lease *lease, const char *sql,
                      const struct pg_args *args, PGresult **ret, struct err *err)
{
	double since = fleet_clock();
	struct timespec pause = { 0, DELAY_MS * 1000000 };
	struct err mine;
	int rc;

	err = err ? err : &mine;
	pthread_mutex_lock(&l->lock);
	for (;;) {
		rc = ask_once(l, lease, sql, args, ret, err);
		if (rc != E_NET || fleet_clock() - since > (double)l->target.patience)
			break;
		nanosleep(&pause, NULL);
	}
	pthread_mutex_unlock(&l->lock);
	if (rc == E_NET)
		rc = err->code = E_STORE;
	return rc;
}

int fleet_ask(struct fleet *l, const char *sql, const struct pg_args *args, PGresult **ret,
               struct err *err)
{
	return fleet_ask_leased(l, NULL, sql, args, ret, err);
}

int fleet_now(struct fleet *l, double *ret_now, double *ret_ahead, struct err *err)
{
	struct timespec before, after;
	PGresult *r = NULL;
	int rc;

	clock_gettime(CLOCK_REALTIME, &before);
	rc = fleet_ask(l, "SELECT extract(epoch FROM clock_timestamp())::float8", NULL, &r, err);
	clock_gettime(CLOCK_REALTIME, &after);
	if (rc < 0)
		return rc;
	*ret_now = fleet_real(r, 0, 0);
	*ret_ahead = ((double)before.tv_sec + (double)after.tv_sec) / 2 +
		((double)before.tv_nsec + (double)after.tv_nsec) / 2e9 - *ret_now;
	PQclear(r);
	return 0;
}

uint32_t shard_hash(const char *url, size_t size)
{
	uint64_t h = 0xcbf29ce484222325ull;
	struct buf domain;

	buf_init(&domain, URL_SIZE_MAX);
	url_domain(url, size, &domain);
	for (size_t i = 0; i < domain.size; i++)
		h = (h ^ (unsigned char)domain.data[i]) * 0x100000001b3ull;
	buf_release(&domain);
	for (int i = 0; i < 4; i++)     /* a zero: else the last bytes do not reach the high bits */
		h *= 0x100000001b3ull;
	return (uint32_t)(h >> 32);
}

int32_t fleet_shard_of(const struct fleet_shard *shards, size_t n, uint32_t hash)
{
	for (size_t i = 0; i < n; i++)
		if (shards[i].low <= hash && hash < shards[i].high)
			return shards[i].shard;
	return -1;
}

int fleet_shards(struct fleet *l, struct fleet_shard **ret, size_t *ret_n, struct err *err)
{
	struct fleet_shard *all;
	PGresult *r = NULL;
	int rc = fleet_ask(l,
		"SELECT f.shard, f.low, f.high, f.worker, f.until > clock_timestamp(), f.lost, f.done, "
		"CASE WHEN f.until > clock_timestamp() THEN extract(epoch FROM f.until - "
		"clock_timestamp())::float8 ELSE 0 END, CASE WHEN f.until > clock_timestamp() OR "
		"f.free = '-infinity' THEN 0 ELSE extract(epoch FROM clock_timestamp() - "
		"f.free)::float8 END, f.cycle, s.pages, coalesce(f.here, -1), n.fence, (SELECT count(*) "
		"FROM fleet_inbox i WHERE i.shard = f.shard), coalesce(g.granted, 0), "
		"coalesce(g.downloads, 0), coalesce(f.splitting, -1), f.state, s.batch FROM fleet_shards f JOIN "
		"shards s USING (shard) JOIN fleet_fences n USING (shard) LEFT JOIN fleet_grants g ON "
		"g.shard = f.shard AND g.cycle = f.cycle ORDER BY f.shard", NULL, &r, err);

	if (rc < 0)
		return rc;
	*ret_n = (size_t)PQntuples(r);
	all = mem_zalloc(*ret_n + 1, sizeof *all);
	for (int i = 0; i < PQntuples(r); i++) {
		struct fleet_shard *s = &all[i];

		*s = (struct fleet_shard){
			.shard = (int32_t)fleet_int(r, i, 0), .low = (uint64_t)fleet_int(r, i, 1),
			.high = (uint64_t)fleet_int(r, i, 2), .held = fleet_flag(r, i, 4),
			.lost = fleet_flag(r, i, 5), .done = fleet_flag(r, i, 6),
			.left = fleet_real(r, i, 7), .waits = fleet_real(r, i, 8),
			.cycle = fleet_count(r, i, 9), .pages = fleet_int(r, i, 10),
			.here = fleet_int(r, i, 11), .fence = fleet_int(r, i, 12),
			.inbox = fleet_int(r, i, 13), .granted = fleet_count(r, i, 14),
			.downloads = fleet_count(r, i, 15),
			.splitting = (int32_t)fleet_int(r, i, 16), .batch = fleet_int(r, i, 18),
		};
		fleet_text(r, i, 3, s->worker, sizeof s->worker);
		fleet_text(r, i, 17, s->state, sizeof s->state);
	}
	PQclear(r);
	*ret = all;
	return 0;
}

int fleet_epoch(struct fleet *l, int64_t *ret, struct err *err)
{
	PGresult *r = NULL;
	int rc = fleet_ask(l, "SELECT epoch FROM fleet", NULL, &r, err);

	if (rc == 0) {
		*ret = fleet_int(r, 0, 0);
		PQclear(r);
	}
	return rc;
}

int fleet_make(struct fleet *l, uint32_t n, struct err *err)
{
	struct fleet_shard *shards;
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int64_t pages = 0;
	size_t n_now;
	int rc = fleet_shards(l, &shards, &n_now, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n_now; i++)
		pages += shards[i].pages;
	free(shards);
	if (n_now == n)
		return 0;
	if (n_now > 1 || pages)
		return err_set(err, E_USAGE, "%s: has %zu shard%s%s: their number is said once, before "
		               "there are pages; `freshet fleet split` divides one that grew",
		               l->target.shown, n_now, n_now == 1 ? "" : "s", pages ? " with pages" : "");
	/* one statement: all of it, or nothing; two programs at a time: one of them fails */
	pg_args_int(&a, n);
	rc = fleet_ask(l,
		"WITH first AS (UPDATE fleet_shards SET high = 4294967296 / $1::int8 WHERE shard = 0 "
		"AND high = 4294967296 AND NOT EXISTS (SELECT 1 FROM shards WHERE pages > 0) RETURNING "
		"1), k AS (SELECT k FROM generate_series(1, $1::int8 - 1) AS k WHERE EXISTS (SELECT 1 "
		"FROM first)), a AS (INSERT INTO shards (shard) SELECT k FROM k), b AS (INSERT INTO "
		"drawn (shard) SELECT k FROM k), c AS (INSERT INTO fleet_fences (shard) SELECT k FROM "
		"k), d AS (INSERT INTO fleet_shards (shard, low, high) SELECT k, k * 4294967296 / $1::int8, "
		"(k + 1) * 4294967296 / $1::int8 FROM k), e AS (UPDATE fleet SET epoch = epoch + 1) "
		"SELECT count(*) FROM first", &a, &r, err);
	if (rc == 0 && fleet_int(r, 0, 0) == 0)
		rc = err_set(err, E_BUSY, "%s: another program has just changed its shards; look again",
		             l->target.shown);
	PQclear(rc == 0 ? r : NULL);
	pg_args_release(&a);
	return rc;
}

int fleet_set(struct fleet *l, const char *key, const char *value, struct err *err)
{
	struct pg_args a = { 0 };
	int rc;

	pg_args_text(&a, (struct text){ key, strlen(key) });
	if (value)
		pg_args_text(&a, (struct text){ value, strlen(value) });
	rc = fleet_ask(l, value ? "INSERT INTO settings (shard, key, value) VALUES (0, $1::text, "
	               "$2::text) ON CONFLICT (shard, key) DO UPDATE SET value = excluded.value" :
	               "DELETE FROM settings WHERE shard = 0 AND key = $1::text", &a, NULL, err);
	pg_args_release(&a);
	return rc;
}

int fleet_state_get(struct fleet *l, const char *key, char **ret, struct err *err)
{
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_args_text(&a, (struct text){ key, strlen(key) });
	rc = fleet_ask(l, "SELECT value FROM states WHERE shard = 0 AND worker = '' AND key = $1::text",
	               &a, &r, err);
	if (rc == 0 && PQntuples(r)) {
		*ret = mem_strndup(PQgetvalue(r, 0, 0), (size_t)PQgetlength(r, 0, 0));
		rc = 1;
	}
	PQclear(r);
	pg_args_release(&a);
	return rc;
}

int fleet_state_swap(struct fleet *l, const char *key, const char *old, const char *value,
                     struct err *err)
{
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	if (!old && !value)
		return 1;
	pg_args_text(&a, (struct text){ key, strlen(key) });
	if (value)
		pg_args_text(&a, (struct text){ value, strlen(value) });
	if (old)
		pg_args_text(&a, (struct text){ old, strlen(old) });
	rc = fleet_ask(l, !old ? "INSERT INTO states (shard, worker, key, value) VALUES (0, '', $1::text, "
	               "$2::text) ON CONFLICT (shard, worker, key) DO NOTHING RETURNING 1" :
	               value ? "UPDATE states SET value = $2::text WHERE shard = 0 AND worker = '' AND key "
	               "= $1::text AND value = $3::text RETURNING 1" :
	               "DELETE FROM states WHERE shard = 0 AND worker = '' AND key = $1::text AND value = "
	               "$2::text RETURNING 1", &a, &r, err);
	if (rc == 0)
		rc = PQntuples(r) > 0;
	PQclear(r);
	pg_args_release(&a);
	return rc;
}
