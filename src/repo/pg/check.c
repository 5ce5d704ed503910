/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - what no read shows: references between tables, and the hashes that rows are found
 * by.  Nothing is mended here: PostgreSQL has its own tools for its files (pg_amcheck), and a
 * row that makes no sense was written by somebody else.
 */
#include <stdio.h>

#include "repo/pg/store_pg.h"

#define SCAN_PART 1000
#define BODY_SEED 3             /* of the hash of a body: captures.c */

struct checking {
	const char *table, *what;
	bool keys;                      /* rows are id, key, text; else id, what it names */
	uint64_t seed;
	store_problem_each *each;
	void *arg;
	struct err *err;
};

static int see(struct store_pg *s, struct pg_row *r, void *arg)
{
	const struct checking *c = arg;
	int64_t id = pg_row_any(r, 0), named = pg_row_any(r, 1);
	struct text t = { 0 };
	char text[300];
	struct store_problem p = { .table = c->table, .text = text };
	int rc;

	(void)s;
	if (c->keys)
		t = pg_row_text(r, 2);
	if (r->rc < 0)
		return r->rc;
	if (c->keys && named == (int64_t)hash_bytes(t.s, t.size, c->seed))
		return 0;
	snprintf(text, sizeof text, "table %s, row %lld: %s (%lld)", c->table, (long long)id,
	         c->what, (long long)named);
	rc = c->each(c->arg, &p, c->err);
	return rc < 0 ? rc : 0;
}

int pg_check(struct store *base, store_problem_each *each, void *arg, struct err *err)
{
	static const struct { enum pg_sql sql; struct checking c; } list[] = {
		{ PG_CHECK_PAGE_KEYS, { .table = "pages", .keys = true,
		  .what = "its key is not the hash of its URL" } },
		{ PG_CHECK_BODY_KEYS, { .table = "bodies", .keys = true, .seed = BODY_SEED,
		  .what = "its key is not the hash of its text" } },
		{ PG_CHECK_LINKS, { .table = "captures",
		  .what = "names a text of links that is not there" } },
		{ PG_CHECK_TERMS, { .table = "captures",
		  .what = "names a text of words that is not there" } },
		{ PG_CHECK_FILES, { .table = "captures",
		  .what = "names an archive file that is not there" } },
		{ PG_CHECK_DRAWN, { .table = "captures",
		  .what = "its id is higher than any that was given out" } },
		{ PG_CHECK_TWICE, { .table = "captures", .what = "so many captures have this id" } },
		{ PG_CHECK_ROUNDS, { .table = "rounds", .what = "is of a cycle that is not there" } },
		{ PG_CHECK_LEASES, { .table = "leases", .what = "is of a cycle that is not there" } },
	};
	struct store_pg *s = pg_self(base);
	struct pg_args a = { 0 };
	int rc = 0;

	pg_show_writes(s, PG_ALL_TABLES);
	pg_shard_args(s, &a);
	for (size_t i = 0; i < sizeof list / sizeof *list && rc == 0; i++) {
		struct checking c = list[i].c;
		struct err why = { 0 };

		c.each = each;
		c.arg = arg;
		c.err = err;
		rc = pg_scan(s, list[i].sql, &a, SCAN_PART, c.table, see, &c, &why);
		if (rc == E_STORE) {            /* a row that makes no sense */
			struct store_problem p = { .table = c.table, .text = why.text };

			rc = each(arg, &p, err);
			rc = rc < 0 ? rc : 0;
		} else if (rc < 0 && err && !err->code) {
			*err = why;
		}
	}
	pg_args_release(&a);
	return rc;
}
