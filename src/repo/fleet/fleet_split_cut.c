/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_split_cut.c - may a shard be divided, and where?  See fleet_split.c. */
#include "repo/fleet/fleet_split_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "web/url/url.h"

int fleet_split_look(struct splitting *s, struct err *err)
{
	struct pg_pipe p = { .link = &s->l->link };
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_args_int(&a, s->lease->shard);
	pg_args_int(&a, s->lease->fence);
	pg_pipe_add(&p, PG_LEASE_CHECK, &a);
	rc = pg_pipe_run(&p, err);
	if (rc < 0 && rc != E_NET)
		rc = err_set(err, E_BUSY, "%s: the lease of shard %d is lost: nothing was changed",
		             s->l->target.shown, s->lease->shard);
	pg_pipe_release(&p);
	pg_args_release(&a);
	if (rc < 0)
		return rc;
	rc = fleet_split_run(s,
		"SELECT (SELECT max(shard) + 1 FROM fleet_shards)::int8, f.done AND NOT EXISTS (SELECT 1 "
		"FROM cycles c WHERE c.shard = $1::int8 AND c.open) AND NOT EXISTS (SELECT 1 FROM sent "
		"WHERE shard = $1::int8), f.low, f.high FROM fleet_shards f WHERE f.shard = $1::int8 AND "
		ALL_ARGS, NULL, &r, err);
	if (rc < 0)
		return rc;
	s->ret->shard = PQntuples(r) ? (int32_t)fleet_int(r, 0, 0) : -1;
	s->ret->low = PQntuples(r) ? (uint64_t)fleet_int(r, 0, 2) : 0;
	s->ret->high = PQntuples(r) ? (uint64_t)fleet_int(r, 0, 3) : 0;
	if (s->ret->shard < 0)
		rc = err_set(err, E_USAGE, "%s: there is no shard %d", s->l->target.shown,
		             s->lease->shard);
	else if (!fleet_flag(r, 0, 1))
		rc = err_set(err, E_BUSY, "shard %d has not done its part of the cycle: let a worker end "
		             "it, then split", s->lease->shard);
	else if (s->ret->shard >= FLEET_SHARDS_MAX)
		rc = err_set(err, E_USAGE, "there are %d shards already", FLEET_SHARDS_MAX);
	PQclear(r);
	return rc;
}

int fleet_split_read(struct splitting *s, struct err *err)
{
	struct pg_pipe p = { .link = &s->l->link };
	char declare[160], fetch[60];
	struct arena room = { 0 };
	int rc, n = 1;

	snprintf(declare, sizeof declare, "DECLARE split NO SCROLL CURSOR FOR SELECT number, url FROM "
	         "pages WHERE shard = %d ORDER BY number", s->lease->shard);
	snprintf(fetch, sizeof fetch, "FETCH FORWARD %d FROM split", FLEET_SPLIT_AT_ONCE);
	pg_pipe_text(&p, declare, NULL);
	rc = pg_pipe_run(&p, err);
	pg_pipe_release(&p);
	while (rc == 0 && n) {
		struct pg_pipe part = { .link = &s->l->link };

		fleet_split_say(s, "pages read", s->hashes.n, 0);
		pg_pipe_text(&part, fetch, NULL);
		rc = pg_pipe_run(&part, err);
		n = rc == 0 ? PQntuples(part.results.v[0]) : 0;
		for (int i = 0; i < n && rc == 0; i++) {
			const PGresult *r = part.results.v[0];
			struct text url = pg_text_in((struct text){ PQgetvalue(r, i, 1),
			                             (size_t)PQgetlength(r, i, 1) }, &room);

			if (fleet_int(r, i, 0) != (int64_t)s->hashes.n)
				rc = err_set(err, E_STORE, "%s: page %zu of shard %d is not there",
				             s->l->target.shown, s->hashes.n, s->lease->shard);
			vec_push(&s->hashes, shard_hash(url.s, url.size));
		}
		arena_reset(&room);
		pg_pipe_release(&part);
	}
	arena_release(&room);
	if (rc == 0)
		rc = pg_link_run(&s->l->link, "CLOSE split", NULL, err);
	return rc;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

int fleet_split_choose(struct splitting *s, struct err *err)
{
	size_t n = s->hashes.n, best = 0;
	uint32_t *sorted = mem_alloc((n + 1) * sizeof *sorted);

	if (n)
		memcpy(sorted, s->hashes.v, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_value);
	for (size_t i = 1; i < n; i++)
		if (sorted[i] != sorted[i - 1] && (!best || (i < n / 2 ? n / 2 - i : i - n / 2) <
		                                   (best < n / 2 ? n / 2 - best : best - n / 2)))
			best = i;
	s->ret->cut = best ? sorted[best] : 0;
	s->ret->pages[0] = best;
	s->ret->pages[1] = n - best;
	free(sorted);
	for (size_t i = 0; i < n; i++)
		if (s->hashes.v[i] < s->ret->low || s->hashes.v[i] >= s->ret->high)
			return err_set(err, E_STORE, "%s: page %zu of shard %d belongs to another one",
			               s->l->target.shown, i, s->lease->shard);
	return best ? 0 : err_set(err, E_USAGE, "shard %d has %s: there is nothing to divide",
	                          s->lease->shard, n ? "pages of one domain, which stay together" :
	                          "no pages");
}
