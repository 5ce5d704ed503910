/* SPDX-License-Identifier: Apache-2.0 */
/* Leases, fences, grants, inboxes and workers, on a PostgreSQL of our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "repo/fleet/fleet.h"
#include "repo/store.h"
#include "../../../lib/pg.h"

static char url[PG_URL];
static struct fleet *fleet;

static void good(int rc, const struct err *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

static int setup(void **state)
{
	struct store *s;
	struct err err;

	(void)state;
	good(store_open(&s, pg_url(url), STORE_CREATE, &err), &err);
	store_close(s);
	good(fleet_open(&fleet, url, &err), &err);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fleet_close(fleet);
	return 0;
}

static struct store *open_shard(const struct fleet_lease *lease)
{
	struct store *s;
	struct buf where;
	struct err err;

	buf_init(&where, 4096);
	fleet_url(url, lease->shard, lease->fence, NULL, &where);
	good(store_open(&s, buf_text(&where), STORE_EXISTING, &err), &err);
	buf_release(&where);
	return s;
}

/* As if the lease had ended: nobody can wait half a minute in a test. */
static void end_leases(void)
{
	assert_true(pg_sql(url, "UPDATE fleet_shards SET until = clock_timestamp()"));
}

static struct fleet_lease claim(const char *worker, uint32_t cycle, int32_t only)
{
	struct fleet_lease l;
	struct err err;
	int rc = fleet_claim(fleet, worker, cycle, only, &l, &err);

	good(rc, &err);
	assert_int_equal(rc, 1);
	return l;
}

static int add_page(struct store *s, const char *address, struct err *err)
{
	uint32_t number;

	return store_page_add(s, (struct text){ address, strlen(address) }, 7, &number, err);
}

/* The domains below were hashed by another program (python: FNV-1a, four zeros). */
static void test_hash(void **state)
{
	static const struct { const char *url; uint32_t hash; } list[] = {
		{ "http://example.org/", 0x51a51654u },
		{ "https://www.example.org/a?b", 0x51a51654u },
		{ "http://a.b.example.co.uk:8080/", 0x0e7cd26fu },
		{ "http://one.github.io/", 0xbe5ba7a9u },
		{ "http://127.0.0.1:8000/x", 0xf010596cu },
	};

	(void)state;
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		assert_int_equal(shard_hash(list[i].url, strlen(list[i].url)), list[i].hash);
}

static void test_shards_cover_all(void **state)
{
	struct fleet_shard *shards;
	struct err err;
	size_t n;

	(void)state;
	good(fleet_make(fleet, 7, &err), &err);
	good(fleet_make(fleet, 7, &err), &err);       /* there already */
	assert_int_equal(fleet_make(fleet, 8, &err), E_USAGE);
	good(fleet_shards(fleet, &shards, &n, &err), &err);
	assert_int_equal(n, 7);
	assert_int_equal(shards[0].low, 0);
	assert_int_equal(shards[6].high, FLEET_HASHES);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(shards[i].shard, i);
		assert_int_equal(shards[i].low, i ? shards[i - 1].high : 0);
		assert_int_equal(fleet_shard_of(shards, n, (uint32_t)shards[i].low), i);
		assert_int_equal(fleet_shard_of(shards, n, (uint32_t)(shards[i].high - 1)), i);
	}
	free(shards);
}

static void test_lease(void **state)
{
	struct fleet_lease a, b, none;
	struct err err;
	bool held;

	(void)state;
	a = claim("north", 1, -1);
	assert_false(a.lost);
	assert_int_equal(fleet_claim(fleet, "south", 1, -1, &none, &err), 0);
	good(fleet_renew(fleet, &a, 1, &held, &err), &err);
	assert_true(held);
	end_leases();
	good(fleet_renew(fleet, &a, 1, &held, &err), &err);
	assert_true(held);              /* over, but nobody has taken it */
	end_leases();
	b = claim("south", 1, -1);
	assert_true(b.lost);
	assert_int_equal(b.fence, a.fence + 1);
	good(fleet_renew(fleet, &a, 1, &held, &err), &err);
	assert_false(held);
	assert_int_equal(fleet_release(fleet, &a, &err), E_BUSY);
	good(fleet_release(fleet, &b, &err), &err);
	good(fleet_renew(fleet, &b, 1, &held, &err), &err);
	assert_false(held);             /* a renewal that was under way does not bring it back */
	a = claim("north", 1, -1);
	assert_false(a.lost);           /* it was given back */
}

/* A worker that wakes up after its lease was taken writes nothing, in any way. */
static void test_zombie(void **state)
{
	struct fleet_lease a = claim("north", 1, -1), b;
	struct store *zombie = open_shard(&a), *s;
	struct store_sent sent = { .cycle = 1, .page = 0, .place = 1, .reason = 1 };
	uint32_t got = 77;
	struct err err;
	uint64_t id;

	(void)state;
	good(store_lock(zombie, &err), &err);
	good(add_page(zombie, "http://a.example/1", &err), &err);
	good(store_begin(zombie, &err), &err);
	good(add_page(zombie, "http://a.example/2", &err), &err);       /* in its batch */
	end_leases();
	b = claim("south", 1, -1);
	s = open_shard(&b);
	good(store_lock(s, &err), &err);        /* though the zombie still has its locks */
	good(add_page(s, "http://a.example/3", &err), &err);
	assert_int_equal(store_commit(zombie, &err), E_BUSY);
	store_rollback(zombie);
	assert_int_equal(add_page(zombie, "http://a.example/4", &err), E_BUSY);
	store_rollback(zombie);
	assert_int_equal(store_sent_add(zombie, &sent, 1, &err), E_BUSY);
	assert_int_equal(store_sent_clear(zombie, &err), E_BUSY);
	assert_int_equal(store_capture_ids(zombie, 5, &id, &err), E_BUSY);
	assert_int_equal(fleet_say(fleet, &a, "x", 1, &err), E_BUSY);
	assert_int_equal(fleet_join(fleet, &a, 1, &got, &got, &err), E_BUSY);
	assert_int_equal(got, 77);
	assert_int_equal(pg_number(url, "SELECT count(*) FROM pages"), 2);
	assert_int_equal(pg_number(url, "SELECT count(*) FROM sent"), 0);
	assert_int_equal(pg_number(url, "SELECT count(*) FROM pages WHERE url LIKE '%/3'"), 1);
	store_close(zombie);
	store_close(s);
}

/* Who needs no lease (one machine, no workers) and who has one keep apart. */
static void test_without_lease(void **state)
{
	struct fleet_lease a = claim("north", 1, -1);
	struct store *plain, *leased;
	struct err err;

	(void)state;
	good(store_open(&plain, url, STORE_EXISTING, &err), &err);
	assert_int_equal(store_lock(plain, &err), E_BUSY);
	assert_non_null(strstr(err.text, "north"));
	assert_int_equal(add_page(plain, "http://a.example/", &err), E_BUSY);
	good(fleet_release(fleet, &a, &err), &err);
	good(store_lock(plain, &err), &err);
	good(add_page(plain, "http://a.example/", &err), &err);
	a = claim("north", 1, -1);
	leased = open_shard(&a);
	assert_int_equal(store_lock(leased, &err), E_BUSY);
	store_close(plain);
	good(store_lock(leased, &err), &err);
	store_close(leased);
}

static struct fleet_cycle a_cycle(uint32_t number, uint32_t budget)
{
	return (struct fleet_cycle){ .number = number, .slot = 1000, .every = 60, .policy = "tide",
	                              .aim = "changes", .pages = 5, .budget = budget };
}

static void test_budget(void **state)
{
	struct fleet_cycle c = a_cycle(1, 100), last;
	struct fleet_lease l[3];
	struct fleet_result done = { .own = 1, .downloads = 25, .done = true };
	uint32_t got, own;
	struct err err;

	(void)state;
	good(fleet_make(fleet, 3, &err), &err);
	good(fleet_cycle_open(fleet, &c, &err), &err);
	c.budget = 999;
	good(fleet_cycle_open(fleet, &c, &err), &err);        /* the first wins */
	c.number = 7;
	good(fleet_cycle_open(fleet, &c, &err), &err);        /* no number is left out */
	for (int i = 0; i < 3; i++) {
		l[i] = claim("north", 1, -1);
		assert_int_equal(l[i].shard, i);
		good(fleet_join(fleet, &l[i], 1, &got, &own, &err), &err);
		assert_int_equal(got, 0);
	}
	good(fleet_grant(fleet, &l[0], 1, 40, &got, &err), &err);
	assert_int_equal(got, 40);
	good(fleet_grant(fleet, &l[1], 1, 30, &got, &err), &err);
	good(fleet_grant(fleet, &l[1], 1, 20, &got, &err), &err);
	assert_int_equal(got, 50);
	good(fleet_grant(fleet, &l[2], 1, 40, &got, &err), &err);
	assert_int_equal(got, 10);      /* all that was left */
	good(fleet_grant(fleet, &l[2], 1, 40, &got, &err), &err);
	assert_int_equal(got, 10);
	good(fleet_result(fleet, &l[0], 1, &done, &err), &err);
	good(fleet_grant(fleet, &l[2], 1, 40, &got, &err), &err);
	assert_int_equal(got, 25);      /* what shard 0 did not spend */
	good(fleet_cycle_last(fleet, &last, &err), &err);
	assert_int_equal(last.number, 1);
	assert_int_equal(last.budget, 100);
	assert_int_equal(last.granted, 100);
	assert_int_equal(last.downloads, 25);
	assert_int_equal(last.done, 1);
	assert_false(pg_sql(url, "UPDATE fleet_cycles SET granted = 101"));
	good(fleet_release(fleet, &l[0], &err), &err);        /* done: not claimed again */
	assert_int_equal(fleet_claim(fleet, "south", 1, -1, &l[0], &err), 0);
	good(fleet_release(fleet, &l[1], &err), &err);
	assert_int_equal(claim("south", 1, -1).shard, 1);
}

static int see_entry(void *arg, const struct fleet_entry *e, struct err *err)
{
	int64_t *ids = arg;

	(void)err;
	ids[++ids[0]] = e->id;
	assert_string_equal(e->kind, ids[0] == 1 ? "add" : "remove");
	assert_int_equal(e->body.size, ids[0] == 1 ? 4 : 3);
	assert_memory_equal(e->body.s, ids[0] == 1 ? "a\xff\n" "b" : "xyz", e->body.size);
	return 0;
}

static void test_inbox(void **state)
{
	struct fleet_entry e[] = { { 0, 0, "add", { "a\xff\n" "b", 4 } },
	                            { 0, 0, "remove", { "xyz", 3 } } };
	struct fleet_lease l;
	int64_t ids[3] = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(fleet_claim(fleet, "north", 0, -1, &l, &err), 0);
	good(fleet_inbox_put(fleet, e, 2, &err), &err);
	l = claim("north", 0, -1);      /* there is something to do */
	good(fleet_inbox(fleet, 0, 10, see_entry, ids, &err), &err);
	assert_int_equal(ids[0], 2);
	good(fleet_inbox_drop(fleet, &l, ids + 1, 2, &err), &err);
	ids[0] = 0;
	good(fleet_inbox(fleet, 0, 10, see_entry, ids, &err), &err);
	assert_int_equal(ids[0], 0);
}

static void test_one_worker_of_a_name(void **state)
{
	struct fleet_worker w = { .worker = "north", .host = "h", .process = 1, .take = 2 };
	struct err err;

	(void)state;
	good(fleet_hello(fleet, &w, &err), &err);
	w.process = 2;
	assert_int_equal(fleet_hello(fleet, &w, &err), E_BUSY);
	assert_true(pg_sql(url, "UPDATE fleet_workers SET seen = seen - interval '41 s'"));
	good(fleet_hello(fleet, &w, &err), &err);
	w.stopped = true;
	good(fleet_beat(fleet, &w, &err), &err);
	w.process = 3;
	w.stopped = false;
	good(fleet_hello(fleet, &w, &err), &err);
	w.process = 2;
	good(fleet_beat(fleet, &w, &err), &err);      /* no longer its row */
	assert_int_equal(pg_number(url, "SELECT process FROM fleet_workers"), 3);
}

/* ---- two shards at once ---- */

/* The first visits of a year: another has just made their table, and has not committed it. */
static void test_same_year(void **state)
{
	static const char waits[] = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid "
	                            "= 7311142 AND database = (SELECT oid FROM pg_database WHERE "
	                            "datname = current_database())";
	struct store_visit v = { .cycle = 1, .time = 1930000000, .status = 200 };       /* 2031 */
	struct fleet_lease l = claim("north", 0, 0);
	struct store *s = open_shard(&l);
	struct err err;
	int status;
	pid_t other = fork();

	(void)state;
	if (other == 0)
		_exit(!pg_sql(url, "SELECT pg_advisory_xact_lock(7311142); CREATE TABLE visits_2031 (LIKE "
		              "visits INCLUDING ALL); ALTER TABLE visits ATTACH PARTITION visits_2031 FOR "
		              "VALUES FROM (1924992000) TO (1956528000); SELECT pg_sleep(1)"));
	while (pg_number(url, waits) < 1)
		usleep(10000);
	good(store_begin(s, &err), &err);
	good(add_page(s, "http://a.example/", &err), &err);
	good(store_visits_add(s, &v, 1, &err), &err);
	good(store_commit(s, &err), &err);
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(status, 0);
	assert_int_equal(pg_number(url, "SELECT count(*) FROM visits_2031"), 1);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash),
		cmocka_unit_test_setup_teardown(test_shards_cover_all, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lease, setup, teardown),
		cmocka_unit_test_setup_teardown(test_zombie, setup, teardown),
		cmocka_unit_test_setup_teardown(test_without_lease, setup, teardown),
		cmocka_unit_test_setup_teardown(test_budget, setup, teardown),
		cmocka_unit_test_setup_teardown(test_inbox, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_worker_of_a_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_same_year, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
