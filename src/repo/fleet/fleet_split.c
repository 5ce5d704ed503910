/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_split.c - a shard that grew becomes two; see fleet_split().
 *
 * All of it is one transaction under the lease of the shard: whatever dies before its COMMIT,
 * nothing has happened, and after it there is nothing left to do.  The price is a transaction
 * that lasts as long as the rows take to be written anew, some minutes for a million pages.
 * Others read the shard as it was meanwhile.
 *
 * Domains whose hash is below the cut stay, the others go to the new shard.  The cut divides
 * the pages as evenly as their domains allow.  Page numbers must be dense, so those of both
 * shards are drawn anew, in the order of the old ones: a cycle that began with so many pages
 * still began with the first so many (cycles.pages).  Ids of captures, and cycle, order and
 * place of visits stay.  So both shards have a history that a policy can be told again, and
 * learn what they knew; caches made of the old numbers are refused, since `past` is raised.
 *
 * Rows go in chunks of old page numbers, from low to high.  A new number is never higher than
 * the old one, so what was written anew is not met again.
 *
 * Counts of past cycles are divided by what the visits say; the rest, such as requests without
 * an outcome, stays with the old shard, and sums over both are what they were.  Both name the
 * same WARC files.
 */
#include "repo/fleet/fleet_split_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "web/url/url.h"

void fleet_split_say(const struct splitting *s, const char *what, uint64_t done, uint64_t of)
{
	if (s->watch)
		s->watch->step(s->watch->arg, what, done, of);
}

/* The parameters of every statement: $1 is the shard, $2 the new one, $3 the cut; then more. */
static void give(const struct splitting *s, struct pg_rows *more, struct pg_args *ret)
{
	pg_args_int(ret, s->lease->shard);
	pg_args_int(ret, s->ret->shard);
	pg_args_int(ret, (int64_t)s->ret->cut);
	if (more)
		pg_rows_take(more, ret);
}

static int run_with(const struct splitting *s, const char *sql, const struct pg_args *a,
                    PGresult **ret, struct err *err)
{
	struct pg_pipe p = { .link = &s->l->link };
	int rc;

	pg_pipe_text(&p, sql, a);
	rc = pg_pipe_run(&p, err);
	if (rc == 0 && ret) {
		*ret = p.results.v[0];
		p.results.v[0] = NULL;
	}
	pg_pipe_release(&p);
	return rc;
}

int fleet_split_run(const struct splitting *s, const char *sql, struct pg_rows *more, PGresult **ret,
                    struct err *err)
{
	struct pg_args a = { 0 };
	int rc;

	give(s, more, &a);
	rc = run_with(s, sql, &a, ret, err);
	pg_args_release(&a);
	return rc;
}

/* ---- rows with a page number ---- */

#define MAP "unnest($4::int8[], $5::int8[], $6::int8[]) AS m (was, side, now)"
#define HALVES "shard IN ($1::int8, $2::int8)"

/* Keys are looked at row by row: where the page is part of one, its number goes by a negative
 * one, which no row has. */
static const char *const with_pages[] = {
	"UPDATE pages t SET shard = m.side, number = -1 - m.now FROM " MAP " WHERE t.shard = "
	"$1::int8 AND t.number = m.was AND " ALL_ARGS,
	"UPDATE captures t SET shard = m.side, page = -1 - m.now FROM " MAP " WHERE t.shard = "
	"$1::int8 AND t.page = m.was AND " ALL_ARGS,
	"UPDATE tagged t SET shard = m.side, page = -1 - m.now FROM " MAP " WHERE t.shard = "
	"$1::int8 AND t.page = m.was AND " ALL_ARGS,
	"UPDATE states t SET shard = m.side, key = 'splitting.' || m.now FROM " MAP " WHERE t.shard "
	"= $1::int8 AND t.worker = '' AND t.key = 'moved.' || m.was AND " ALL_ARGS,
	"UPDATE visits t SET shard = m.side, page = m.now FROM " MAP " WHERE t.shard = $1::int8 AND "
	"t.page = m.was AND " ALL_ARGS,
	"UPDATE care t SET shard = m.side, page = m.now FROM " MAP " WHERE t.shard = $1::int8 AND "
	"t.page = m.was AND " ALL_ARGS,
};
static const char *const after_pages[] = {
	"UPDATE pages SET number = -1 - number WHERE " HALVES " AND number < 0 AND " ALL_ARGS,
	"UPDATE captures SET page = -1 - page WHERE " HALVES " AND page < 0 AND " ALL_ARGS,
	"UPDATE tagged SET page = -1 - page WHERE " HALVES " AND page < 0 AND " ALL_ARGS,
	"UPDATE states SET key = 'moved.' || substr(key, 11) WHERE " HALVES " AND worker = '' AND "
	"starts_with(key, 'splitting.') AND " ALL_ARGS,
};

static int write_chunk(const struct splitting *s, struct pg_rows *rows, struct err *err)
{
	struct pg_args a = { 0 };
	int rc = 0;

	give(s, rows, &a);
	for (size_t i = 0; i < sizeof with_pages / sizeof *with_pages && rc == 0; i++) {
		fleet_split_say(s, "rows", i, sizeof with_pages / sizeof *with_pages);
		rc = run_with(s, with_pages[i], &a, NULL, err);
	}
	for (size_t i = 0; i < sizeof after_pages / sizeof *after_pages && rc == 0; i++)
		rc = fleet_split_run(s, after_pages[i], NULL, NULL, err);
	pg_args_release(&a);
	return rc;
}

static int write_pages(const struct splitting *s, struct err *err)
{
	struct pg_rows rows = { .types = "iii" };
	int64_t next[2] = { 0, 0 };
	int rc = 0;

	for (size_t i = 0; i < s->hashes.n && rc == 0; i++) {
		bool upper = s->hashes.v[i] >= s->ret->cut;
		int64_t now = next[upper]++;

		if (upper || now != (int64_t)i) {
			pg_rows_int(&rows, (int64_t)i);
			pg_rows_int(&rows, upper ? s->ret->shard : s->lease->shard);
			pg_rows_int(&rows, now);
		}
		if (rows.n == FLEET_SPLIT_AT_ONCE || (i + 1 == s->hashes.n && rows.n)) {
			fleet_split_say(s, "pages written", i, s->hashes.n);
			rc = write_chunk(s, &rows, err);
		}
	}
	pg_rows_release(&rows);
	return rc;
}

/* ---- sites ---- */

/* Those of the table's sites that are above the cut go. */
static int move_sites(const struct splitting *s, const char *read, const char *update,
                      struct err *err)
{
	struct pg_rows rows = { .types = "t" };
	struct arena room = { 0 };
	PGresult *r = NULL;
	struct buf url;
	int rc = fleet_split_run(s, read, NULL, &r, err);

	if (rc < 0)
		return rc;
	buf_init(&url, BUF_NO_LIMIT);
	for (int i = 0; i < PQntuples(r); i++) {
		struct text name = pg_text_in((struct text){ PQgetvalue(r, i, 0),
		                              (size_t)PQgetlength(r, i, 0) }, &room);

		buf_clear(&url);
		if (!memmem(name.s, name.size, "://", 3))
			buf_str(&url, "http://");
		buf_add(&url, name.s, name.size);
		buf_byte(&url, '/');
		if (shard_hash(url.data, url.size) >= s->ret->cut)
			pg_rows_text(&rows, name);
	}
	PQclear(r);
	if (rows.n)
		rc = fleet_split_run(s, update, &rows, NULL, err);
	pg_rows_release(&rows);
	arena_release(&room);
	buf_release(&url);
	return rc;
}

/* ---- what is of the whole shard ---- */

/* Of a visit: requests; did it find the page for the first time? */
#define REQUESTS "(CASE WHEN v.outcome = 4 THEN 0 ELSE 1 END + v.extra)"
#define FIRST "(v.outcome = 1 AND v.capture > 0 AND NOT EXISTS (SELECT 1 FROM captures b JOIN " \
	"captures o ON o.shard = b.shard AND o.page = b.page AND o.time < b.time WHERE b.shard = " \
	"v.shard AND b.id = v.capture))"

static const char *const of_shard[] = {
	/* texts that captures share, files, words */
	"INSERT INTO bodies (shard, key, body) SELECT $2::int8, key, body FROM bodies WHERE shard = "
	"$1::int8 AND key IN (SELECT links FROM captures WHERE shard = $2::int8 UNION SELECT terms "
	"FROM captures WHERE shard = $2::int8) AND " ALL_ARGS,
	"DELETE FROM bodies WHERE shard = $1::int8 AND key IN (SELECT key FROM bodies WHERE shard = "
	"$2::int8) AND key NOT IN (SELECT links FROM captures WHERE shard = $1::int8 AND links IS "
	"NOT NULL UNION SELECT terms FROM captures WHERE shard = $1::int8 AND terms IS NOT NULL) AND "
	ALL_ARGS,
	"INSERT INTO files (shard, id, worker, name) SELECT $2::int8, id, worker, name FROM files "
	"WHERE shard = $1::int8 AND " ALL_ARGS,
	"INSERT INTO words (shard, number, word) SELECT $2::int8, number, word FROM words WHERE "
	"shard = $1::int8 AND " ALL_ARGS,
	/* what the program remembers, but for what is of the service, of the last cycle, or of a
	 * page, which has gone already */
	"INSERT INTO states (shard, worker, key, value) SELECT $2::int8, '', key, value FROM states "
	"WHERE shard = $1::int8 AND worker = '' AND key NOT IN ('tokens', 'clients', 'grants', "
	"'report', 'live', 'copy') AND key !~ '^(moved[.]|webhook[.]|told[.]|index )' AND " ALL_ARGS,
	"DELETE FROM leases WHERE shard = $1::int8 AND " ALL_ARGS,
	/* cycles: the new shard first, then what is left */
	"INSERT INTO rounds (shard, cycle, number, after) SELECT $2::int8, cycle, number, after FROM "
	"rounds WHERE shard = $1::int8 AND " ALL_ARGS,
	"INSERT INTO cycles (shard, number, time, open, policy, seed, budget, downloads, fresh, "
	"changed, same, gone, failed, blocked, seconds_plan, seconds_total, goal, clients, pages, "
	"owed) SELECT $2::int8, c.number, c.time, c.open, c.policy, c.seed, CASE WHEN c.downloads > 0 "
	"THEN least(c.budget, (c.budget * least(coalesce(n.requests, 0), c.downloads)) / "
	"c.downloads) ELSE 0 END, least(coalesce(n.requests, 0), c.downloads), "
	"least(coalesce(n.fresh, 0), c.fresh), least(coalesce(n.changed - least(n.fresh, c.fresh), "
	"0), c.changed), least(coalesce(n.same, 0), c.same), least(coalesce(n.gone, 0), c.gone), "
	"least(coalesce(n.failed, 0), c.failed), least(coalesce(n.blocked, 0), c.blocked), "
	"c.seconds_plan, c.seconds_total, c.goal, c.clients, c.pages, 0 FROM cycles c LEFT JOIN "
	"(SELECT v.cycle, sum(" REQUESTS ")::int8 AS requests, count(*) FILTER (WHERE " FIRST ") AS "
	"fresh, count(*) FILTER (WHERE v.outcome = 1) AS changed, count(*) FILTER (WHERE v.outcome = "
	"0) AS same, count(*) FILTER (WHERE v.outcome = 2) AS gone, count(*) FILTER (WHERE v.outcome "
	"= 3) AS failed, count(*) FILTER (WHERE v.outcome = 4) AS blocked FROM visits v WHERE v.shard "
	"= $2::int8 AND v.cycle > 0 GROUP BY v.cycle) AS n ON n.cycle = c.number WHERE c.shard = "
	"$1::int8 AND " ALL_ARGS,
	"UPDATE cycles c SET budget = c.budget - n.budget, downloads = c.downloads - n.downloads, "
	"fresh = c.fresh - n.fresh, changed = c.changed - n.changed, same = c.same - n.same, gone = "
	"c.gone - n.gone, failed = c.failed - n.failed, blocked = c.blocked - n.blocked FROM cycles n "
	"WHERE c.shard = $1::int8 AND n.shard = $2::int8 AND n.number = c.number AND " ALL_ARGS,
};

/* Pages of each half when a cycle began: those among the first so many. */
static int count_pages(const struct splitting *s, struct err *err)
{
	struct pg_rows rows = { .types = "iii" };
	PGresult *r = NULL;
	uint64_t below = 0;
	size_t at = 0;
	int rc = fleet_split_run(s, "SELECT number, pages FROM cycles WHERE shard = $1::int8 AND " ALL_ARGS
	             " ORDER BY pages", NULL, &r, err);

	if (rc < 0)
		return rc;
	for (int i = 0; i < PQntuples(r); i++) {
		uint64_t had = (uint64_t)fleet_int(r, i, 1);

		for (; at < s->hashes.n && at < had; at++)
			below += s->hashes.v[at] < s->ret->cut;
		pg_rows_int(&rows, fleet_int(r, i, 0));
		pg_rows_int(&rows, (int64_t)below);
		pg_rows_int(&rows, (int64_t)(had < s->hashes.n ? had - below : s->hashes.n - below));
	}
	PQclear(r);
	if (rows.n)
		rc = fleet_split_run(s, "UPDATE cycles c SET pages = CASE WHEN c.shard = $1::int8 THEN u.old ELSE "
		         "u.new END FROM unnest($4::int8[], $5::int8[], $6::int8[]) AS u (number, old, "
		         "new) WHERE c." HALVES " AND c.number = u.number AND c.pages > 0 AND " ALL_ARGS,
		         &rows, NULL, err);
	pg_rows_release(&rows);
	return rc;
}

/* The last statements: from the COMMIT on there are two. */
static const char *const of_ledger[] = {
	"INSERT INTO shards (shard, batch, token, pages, files, past) SELECT $2::int8, 0, 0, (SELECT "
	"count(*) FROM pages WHERE shard = $2::int8), files, past + 1 FROM shards WHERE shard = "
	"$1::int8 AND " ALL_ARGS,
	"INSERT INTO drawn (shard, captures) SELECT $2::int8, captures FROM drawn WHERE shard = "
	"$1::int8 AND " ALL_ARGS,
	"UPDATE shards SET batch = batch + 1, past = past + 1, pages = (SELECT count(*) FROM pages "
	"WHERE shard = $1::int8) WHERE shard = $1::int8 AND " ALL_ARGS,
	"INSERT INTO fleet_fences (shard) SELECT $2::int8 WHERE " ALL_ARGS,
	"INSERT INTO fleet_shards (shard, low, high, cycle, done, free, lost) SELECT $2::int8, "
	"$3::int8, high, cycle, done, clock_timestamp(), lost FROM fleet_shards WHERE shard = "
	"$1::int8 AND " ALL_ARGS,
	"UPDATE fleet_shards SET high = $3::int8, here = NULL, bid = NULL WHERE shard = $1::int8 AND "
	ALL_ARGS,
	"UPDATE fleet SET epoch = epoch + 1 WHERE " ALL_ARGS,
	/* rules of scope that were set meanwhile went to the old shard alone */
	"INSERT INTO fleet_inbox (shard, kind, body) SELECT $2::int8, 'decide', 'split' WHERE "
	ALL_ARGS,
};

static int run_list(const struct splitting *s, const char *const *list, size_t n,
                    const char *what, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		fleet_split_say(s, what, i, n);
		rc = fleet_split_run(s, list[i], NULL, NULL, err);
	}
	return rc;
}

static int split(struct splitting *s, struct err *err)
{
	struct pg_link *link = &s->l->link;
	int rc;

	if ((rc = pg_link_run(link, "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL "
	                      "idle_in_transaction_session_timeout = '30s'", NULL, err)) < 0 ||
	    (rc = fleet_split_look(s, err)) < 0 || (rc = fleet_split_read(s, err)) < 0 ||
	    (rc = fleet_split_choose(s, err)) < 0 || (rc = write_pages(s, err)) < 0 ||
	    (rc = move_sites(s, "SELECT site FROM hints WHERE shard = $1::int8 AND " ALL_ARGS,
	                     "UPDATE hints SET shard = $2::int8 WHERE shard = $1::int8 AND site = ANY "
	                     "($4::text[]) AND " ALL_ARGS, err)) < 0 ||
	    (rc = move_sites(s, "SELECT origin FROM robots WHERE shard = $1::int8 AND " ALL_ARGS,
	                     "UPDATE robots SET shard = $2::int8 WHERE shard = $1::int8 AND origin = "
	                     "ANY ($4::text[]) AND " ALL_ARGS, err)) < 0 ||
	    (rc = run_list(s, of_shard, sizeof of_shard / sizeof *of_shard, "tables", err)) < 0 ||
	    (rc = count_pages(s, err)) < 0 ||
	    (rc = run_list(s, of_ledger, sizeof of_ledger / sizeof *of_ledger, "ledger", err)) < 0)
		return rc;
	fleet_split_say(s, "commit", 0, 1);
	rc = pg_link_run(link, "COMMIT", NULL, err);
	if (rc == 0)
		fleet_split_say(s, "commit", 1, 1);
	return rc;
}

/* The connection was lost: has it happened? */
static bool is_done(const struct splitting *s)
{
	struct pg_args a = { 0 };
	double since = fleet_clock();
	struct timespec pause = { 0, 200000000 };
	bool done = false;
	int rc;

	if (!s->ret->cut)
		return false;
	pg_args_int(&a, s->ret->shard);
	pg_args_int(&a, (int64_t)s->ret->cut);
	do {
		struct pg_pipe p = { .link = &s->l->link };

		rc = s->l->link.conn ? 0 : pg_link_connect(&s->l->link, NULL);
		if (rc == 0) {
			pg_pipe_text(&p, "SELECT 1 FROM fleet_shards WHERE shard = $1::int8 AND low = $2::int8",
			             &a);
			rc = pg_pipe_run(&p, NULL);
			done = rc == 0 && PQntuples(p.results.v[0]) > 0;
		}
		pg_pipe_release(&p);
		if (rc == E_NET)
			nanosleep(&pause, NULL);
	} while (rc == E_NET && fleet_clock() - since < (double)s->l->target.patience);
	pg_args_release(&a);
	return done;
}

int fleet_split(struct fleet *l, const struct fleet_lease *lease,
                const struct fleet_split_watch *watch, struct fleet_split *ret, struct err *err)
{
	struct splitting s = { .l = l, .lease = lease, .watch = watch, .ret = ret };
	int rc = 0;

	*ret = (struct fleet_split){ .shard = -1 };
	pthread_mutex_lock(&l->lock);
	if (!l->link.conn)
		rc = pg_link_connect(&l->link, err);
	if (rc == 0)
		rc = split(&s, err);
	if (rc == E_NET && is_done(&s))
		rc = 0;
	if (rc < 0 && l->link.conn)
		(void)!pg_link_run(&l->link, "ROLLBACK", NULL, NULL);
	pthread_mutex_unlock(&l->lock);
	vec_release(&s.hashes);
	if (rc == E_NET) {
		rc = err->code = E_STORE;
		err_prefix(err, "nothing was changed");
	}
	return rc;
}
