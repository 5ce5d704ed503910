/* SPDX-License-Identifier: Apache-2.0 */
/* The URL of a store; its tables: made once, refused where rights lack or a newer program
 * made them; every statement fits them; every table and what is not plain has a comment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "repo/wire/link.h"
#include "repo/wire/pipe.h"
#include "repo/pg/schema.h"
#include "../../../lib/pg.h"

static void test_urls(void **state)
{
	struct pg_target t;
	struct err err;

	(void)state;
	assert_int_equal(pg_target_parse(&t, "postgresql://me:geheim@a,b:5433/db?sslmode=require&"
	                                 "schema=crawl_2&patience=7&shard=3&worker=north-1", &err), 0);
	assert_string_equal(t.schema, "crawl_2");
	assert_string_equal(t.worker, "north-1");
	assert_true(t.shard == 3 && t.patience == 7);
	assert_null(strstr(t.shown, "geheim"));
	assert_non_null(strstr(t.shown, "schema=crawl_2"));
	for (PQconninfoOption *o = t.options; o->keyword; o++)
		if (!strcmp(o->keyword, "sslmode"))
			assert_string_equal(o->val, "require");
	pg_target_release(&t);
	assert_int_equal(pg_target_parse(&t, "postgres:///db", &err), 0);
	assert_string_equal(t.schema, "freshet");
	assert_true(t.shard == 0 && t.patience == PG_PATIENCE && *t.worker);
	pg_target_release(&t);
}

/* What is wrong is said, and never the password. */
static void test_wrong_urls(void **state)
{
	static const char *const list[] = {
		"postgresql://me:geheim@h/db?schema=", "postgresql://me:geheim@h/db?schema=a;drop",
		"postgresql://me:geheim@h/db?schema=pg_catalog",
		"postgresql://me:geheim@h/db?schema=2", "postgresql://me:geheim@h/db?shard=-1",
		"postgresql://me:geheim@h/db?shard=x", "postgresql://me:geheim@h/db?patience=1e9",
		"postgresql://me:geheim@h/db?worker=a/b", "postgresql://me:geheim@h/db?nonsense=1",
		"postgresql://me:geheim@[h/db", "postgresql://me:geheim@h:port:9/db?%zz=1",
		("postgresql://me:geheim@h/db?schema=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaaaaaa"),
	};
	struct pg_target t;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		int rc = pg_target_parse(&t, list[i], &err);

		if (rc != E_USAGE)
			fail_msg("%s was taken", list[i]);
		assert_null(strstr(err.text, "geheim"));
		pg_target_release(&t);
	}
}

static bool prepared[N_PG_SQL];

static int open_link(struct pg_target *t, struct pg_link *l, const char *url, struct err *err)
{
	int rc = pg_target_parse(t, url, err);

	*l = (struct pg_link){ .target = t, .prepared = prepared };
	return rc < 0 ? rc : pg_link_connect(l, err);
}

static void close_link(struct pg_target *t, struct pg_link *l)
{
	pg_link_close(l);
	pg_target_release(t);
}

static void test_every_statement_fits_the_tables(void **state)
{
	struct pg_target t;
	struct pg_link l;
	char url[PG_URL];
	struct err err;

	(void)state;
	assert_int_equal(open_link(&t, &l, pg_url(url), &err), 0);
	assert_int_equal(pg_schema_check(&l, false, &err), E_STORE);    /* not unasked */
	assert_non_null(strstr(err.text, "freshet init"));
	for (int twice = 0; twice < 2; twice++)
		if (pg_schema_check(&l, true, &err) < 0)
			fail_msg("%s", err.text);
	for (int i = 0; i < N_PG_SQL; i++) {
		PGresult *r = PQprepare(l.conn, pg_sql_names[i], pg_sql_texts[i], 0, NULL);

		if (PQresultStatus(r) != PGRES_COMMAND_OK)
			fail_msg("%s: %s", pg_sql_names[i], PQerrorMessage(l.conn));
		PQclear(r);
	}
	close_link(&t, &l);
}

/* The first number that a statement gives. */
static int count(struct pg_link *l, const char *sql)
{
	PGresult *r = NULL;
	struct err err;
	int n;

	if (pg_link_run(l, sql, &r, &err) < 0)
		fail_msg("%s", err.text);
	n = atoi(PQgetvalue(r, 0, 0));
	PQclear(r);
	return n;
}

static void test_who_looks_can_read_it(void **state)
{
	struct pg_target t;
	struct pg_link l;
	char url[PG_URL];
	struct err err;

	(void)state;
	assert_int_equal(open_link(&t, &l, pg_url(url), &err), 0);
	assert_int_equal(pg_schema_check(&l, true, &err), 0);
	assert_int_equal(count(&l, "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = "
	                       "c.relnamespace WHERE n.nspname = current_schema() AND c.relkind IN "
	                       "('r', 'p') AND obj_description(c.oid, 'pg_class') IS NULL"), 0);
	assert_true(count(&l, "SELECT count(*) FROM pg_description d JOIN pg_class c ON c.oid = "
	                  "d.objoid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = "
	                  "current_schema() AND d.objsubid > 0") >= 30);
	/* every key and every unique index begins with the shard; every table has a key */
	assert_int_equal(count(&l, "SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = "
	                       "i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace JOIN "
	                       "pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0] WHERE "
	                       "n.nspname = current_schema() AND a.attname <> 'shard' AND c.relname NOT IN "
	                       /* of the fleet as a whole: a few rows, the same for all */
	                       "('fleet', 'fleet_cycles', 'fleet_workers')"), 0);
	assert_int_equal(count(&l, "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = "
	                       "c.relnamespace WHERE n.nspname = current_schema() AND c.relkind IN "
	                       "('r', 'p') AND c.relname <> 'freshet' AND NOT EXISTS (SELECT 1 FROM "
	                       "pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)"), 0);
	/* the settings of the session */
	assert_int_equal(count(&l, "SELECT (current_setting('application_name') = 'freshet' AND "
	                       "current_setting('statement_timeout') <> '0' AND "
	                       "current_setting('idle_in_transaction_session_timeout') <> '0' AND "
	                       "current_setting('lock_timeout') <> '0')::int"), 1);
	close_link(&t, &l);
}

static void test_a_newer_program_made_it(void **state)
{
	struct pg_target t;
	struct pg_link l;
	char url[PG_URL];
	struct err err;

	(void)state;
	assert_int_equal(open_link(&t, &l, pg_url(url), &err), 0);
	assert_int_equal(pg_schema_check(&l, true, &err), 0);
	assert_true(pg_sql(url, "UPDATE freshet SET version = 99"));
	assert_int_equal(pg_schema_check(&l, true, &err), E_STORE);
	assert_non_null(strstr(err.text, "newer"));
	close_link(&t, &l);
}

/* Tables of version 2, which had no `touched` and `notifier`: each step is whole or not there. */
static void test_older_tables(void **state)
{
	struct pg_target t;
	struct pg_link l;
	char url[PG_URL];
	struct err err;

	(void)state;
	assert_int_equal(open_link(&t, &l, pg_url(url), &err), 0);
	assert_int_equal(pg_schema_bring(&l, -2, 2, &err), 0);
	assert_int_equal(count(&l, "SELECT version FROM freshet"), 2);
	assert_true(pg_sql(url, "INSERT INTO pages SELECT 0, n, n, n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, "
	                   "NULL, 0, 0, (-9223372036854775808)::int8 FROM generate_series(0, 9) AS n"));
	assert_true(pg_sql(url, "INSERT INTO pages VALUES (0, 10, 10, 'u', 11, 12, 13, 14, 15, 16, 1, 18, 19, "
	                   "20, 21, 2, 'g', 4, 25, 26)"));
	assert_true(pg_sql(url, "INSERT INTO sent (shard, token, cycle, place, page, reason, read) SELECT "
	                   "0, n, 3, n, 10 - n, 1, n % 2 = 0 FROM generate_series(1, 5) AS n"));
	/* captures that a copy brought, and whose ids it did not draw */
	assert_true(pg_sql(url, "CREATE TABLE captures_2026 PARTITION OF captures FOR VALUES FROM (0) TO "
	                   "(9000000000); INSERT INTO captures (shard, id, page, time, status, revisit) "
	                   "VALUES (0, 77, 0, 1, 200, false)"));
	/* the second statement of the step fails: the first is undone, too */
	assert_true(pg_sql(url, "ALTER TABLE pages ADD COLUMN notifier int"));
	assert_int_equal(pg_schema_check(&l, true, &err), E_STORE);
	assert_non_null(strstr(err.text, "not brought up to date"));
	assert_int_equal(count(&l, "SELECT version FROM freshet"), 2);
	assert_int_equal(count(&l, "SELECT count(*) FROM pg_attribute WHERE attrelid = "
	                       "'pages'::regclass AND attname = 'touched'"), 0);
	/* who only reads is told so, and changes nothing */
	assert_true(pg_sql(url, "ALTER TABLE pages DROP COLUMN notifier"));
	l.reads_only = true;
	assert_int_equal(pg_schema_check(&l, false, &err), E_STORE);
	assert_non_null(strstr(err.text, "made by an older freshet"));
	l.reads_only = false;
	if (pg_schema_check(&l, false, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(count(&l, "SELECT version FROM freshet"), PG_SCHEMA);
	/* what is usual is NULL; all else is as it was */
	assert_int_equal(count(&l, "SELECT count(*) FROM pages WHERE num_nonnulls(last_visit, last_change, "
	                       "visits, changes, fails, capture, hint, hint_seen, found, weight, given, "
	                       "fails_gone, captured, touched, notifier) = 0 AND url = number::text AND "
	                       "state = 0 AND care = 0"), 10);
	assert_int_equal(count(&l, "SELECT count(*) FROM pages p WHERE p::text = "
	                       "'(0,10,10,u,11,12,13,14,15,16,1,18,19,20,21,2,g,4,25,26,,)'"), 1);
	assert_int_equal(count(&l, "SELECT captures FROM drawn WHERE shard = 0"), 77);
	/* the journal of a cycle that was interrupted is still there: a row for each write */
	assert_int_equal(count(&l, "SELECT count(*) FROM sent WHERE cycle = '{3}' AND place = "
	                       "ARRAY[token] AND page = ARRAY[10 - token] AND read[1] = "
	                       "(token % 2 = 0)::int"), 5);
	/* shared texts are compressed by lz4 where the server has it */
	assert_int_equal(count(&l, "SELECT count(*) FROM pg_attribute WHERE attrelid = "
	                       "'bodies'::regclass AND attname = 'body' AND attcompression = 'l'"),
	                 count(&l, "SELECT count(*) FROM pg_settings WHERE name = "
	                       "'default_toast_compression' AND 'lz4' = ANY (enumvals)"));
	close_link(&t, &l);
}

/* A role without rights is told which; one with those of docs/stores.md is enough. */
static void test_rights(void **state)
{
	char url[PG_URL], as[PG_URL + 40], sql[600];
	struct pg_target t;
	struct pg_link l;
	struct err err;
	char *user;

	(void)state;
	pg_url(url);
	snprintf(as, sizeof as, "%s", url);
	user = strstr(as, "user=freshet");
	assert_non_null(user);
	memcpy(user, "user=t_guest", 12);
	pg_sql(url, "DO $$BEGIN CREATE ROLE t_guest LOGIN; EXCEPTION WHEN duplicate_object THEN "
	       "NULL; END$$");
	assert_int_equal(open_link(&t, &l, as, &err), 0);
	assert_int_equal(pg_schema_check(&l, true, &err), E_STORE);
	assert_non_null(strstr(err.text, "CREATE SCHEMA"));
	snprintf(sql, sizeof sql, "CREATE SCHEMA %s", t.schema);
	assert_true(pg_sql(url, sql));
	assert_int_equal(pg_schema_check(&l, true, &err), E_STORE);
	assert_non_null(strstr(err.text, "USAGE"));
	snprintf(sql, sizeof sql, "DROP SCHEMA %s; CREATE SCHEMA %s AUTHORIZATION t_guest", t.schema,
	         t.schema);
	assert_true(pg_sql(url, sql));
	if (pg_schema_check(&l, true, &err) < 0)
		fail_msg("%s", err.text);
	close_link(&t, &l);
	snprintf(sql, sizeof sql, "DROP SCHEMA %s CASCADE", t.schema);
	assert_true(pg_sql(url, sql));
}

static void test_nobody_there(void **state)
{
	struct pg_target t;
	struct pg_link l;
	struct err err;

	(void)state;
	assert_int_equal(open_link(&t, &l, "postgresql://me:geheim@/db?host=/nowhere", &err), E_NET);
	assert_null(strstr(err.text, "geheim"));
	assert_non_null(strstr(err.text, "/nowhere"));
	close_link(&t, &l);
}

/* Where a time lies; by hand. */
static void test_parts(void **state)
{
	char name[8];

	(void)state;
	assert_int_equal(pg_schema_part(946684799), 0);                 /* 1999-12-31 23:59:59 */
	assert_int_equal(pg_schema_part(946684800), 1);
	assert_int_equal(pg_schema_part(4102444799), 100);              /* 2099-12-31 23:59:59 */
	assert_int_equal(pg_schema_part(4102444800), 101);
	assert_int_equal(pg_schema_part(-62135596800), 0);
	pg_schema_part_name(27, name);
	assert_string_equal(name, "2026");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_urls),
		cmocka_unit_test(test_wrong_urls),
		cmocka_unit_test(test_every_statement_fits_the_tables),
		cmocka_unit_test(test_who_looks_can_read_it),
		cmocka_unit_test(test_a_newer_program_made_it),
		cmocka_unit_test(test_older_tables),
		cmocka_unit_test(test_rights),
		cmocka_unit_test(test_nobody_there),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
