/* SPDX-License-Identifier: Apache-2.0 */
/* The store keeps what it is given: rows out equal rows in, batches are whole or
 * not there, a database of a newer program is refused. */
#include <math.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/cause.h"
#include "base/mem.h"
#include "repo/store.h"
#include "../../lib/scratch.h"
#include "../../lib/whole.h"

static char path[SCRATCH_PATH];

static int setup(void **state)
{
	struct err err;

	scratch_path(path, "db");
	assert_int_equal(store_open((struct store **)state, path, STORE_CREATE, &err), 0);
	return 0;
}

static int teardown(void **state)
{
	store_close(*state);
	return 0;
}

static struct text text(const char *s)
{
	return (struct text){ s, strlen(s) };
}

static void add(struct store *s, const char *url, int expect, uint32_t number)
{
	struct err err;
	uint32_t n = 99;

	assert_int_equal(store_page_add(s, text(url), 7, &n, &err), expect);
	assert_int_equal(n, number);
}

static void test_pages_are_numbered_once(void **state)
{
	struct store *s = *state;
	struct store_page p;
	struct err err;

	assert_int_equal(store_begin(s, &err), 0);
	add(s, "http://a/", 1, 0);
	add(s, "http://b/", 1, 1);
	add(s, "http://a/", 0, 0);
	assert_int_equal(store_commit(s, &err), 0);
	assert_int_equal(store_begin(s, &err), 0);
	add(s, "http://c/", 1, 2);
	assert_int_equal(store_commit(s, &err), 0);
	assert_int_equal(store_page_find(s, text("http://b/"), &p, &err), 1);
	assert_int_equal(p.number, 1);
	assert_int_equal(p.added, 7);
	assert_int_equal(store_page_find(s, text("http://nobody/"), &p, &err), 0);
}

static void test_an_open_batch_is_as_if_never(void **state)
{
	struct store *s = *state;
	struct store_counts c;
	struct err err;

	assert_int_equal(store_begin(s, &err), 0);
	add(s, "http://a/", 1, 0);
	store_rollback(s);
	assert_int_equal(store_count(s, &c, &err), 0);
	assert_int_equal(c.pages, 0);
	assert_int_equal(store_begin(s, &err), 0);
	add(s, "http://z/", 1, 0);
	store_close(s);                 /* without a commit */
	assert_int_equal(store_open((struct store **)state, path, STORE_EXISTING, &err), 0);
	assert_int_equal(store_count(*state, &c, &err), 0);
	assert_int_equal(c.pages, 0);
}

static int same_capture(void *arg, const struct store_capture *c, struct err *err)
{
	const struct store_capture *e = arg;

	(void)err;
	assert_true(c->page == e->page && c->time == e->time && c->status == e->status);
	assert_memory_equal(c->digest.s, e->digest.s, e->digest.size);
	assert_memory_equal(c->links.s, e->links.s, e->links.size);
	assert_string_equal(c->terms.s, e->terms.s);
	assert_null(c->title.s);
	assert_true(c->has_simhash);
	assert_true(c->simhash == e->simhash);
	assert_true(c->words == 0 && c->images == -1);
	assert_string_equal(c->file.s, "a.warc.gz");
	assert_int_equal(c->offset, 0);
	return 0;
}

struct linked { const struct store_capture *c; uint64_t key, terms; uint32_t n_texts; };

static int same_linked(void *arg, const struct store_linked *c, struct err *err)
{
	struct linked *l = arg;
	const struct store_capture *e = l->c;

	(void)err;
	assert_true(c->id == e->id && c->page == e->page && c->time == e->time && c->has_links);
	assert_true(c->status == e->status && c->revisit == e->revisit && c->length == e->length &&
	            c->words == e->words);
	assert_string_equal(c->target.s, e->target.s);
	l->key = c->links;
	l->terms = c->has_terms ? c->terms : 0;
	return 0;
}

static int same_text(void *arg, uint32_t value, struct text text, struct err *err)
{
	struct linked *l = arg;
	struct text want = value == 78 ? l->c->terms : l->c->links;

	(void)err;
	l->n_texts += value;
	assert_int_equal(text.size, want.size);
	assert_memory_equal(text.s, want.s, text.size);
	return 0;
}

/* Its links and its terms come by their keys, and no other text of the store does. */
static void links_come_back(struct store *s, const struct store_capture *c)
{
	struct linked l = { .c = c };
	struct map keys = { 0 };
	struct err err;

	assert_int_equal(store_captures_linked(s, same_linked, &l, &err), 0);
	map_put(&keys, l.key + 1, 1);
	assert_int_equal(store_links(s, &keys, same_text, &l, &err), 0);
	map_put(&keys, l.key, 77);
	assert_int_equal(store_links(s, &keys, same_text, &l, &err), 0);
	map_release(&keys);
	map_put(&keys, l.terms, 78);
	assert_int_equal(store_terms(s, &keys, same_text, &l, &err), 0);
	assert_int_equal(l.n_texts, 77 + 78);
	map_release(&keys);
}

static void test_a_capture_comes_back_whole(void **state)
{
	struct store *s = *state;
	struct store_capture c = {
		.page = 0, .time = 1000, .status = 200, .digest = text("ABC"),
		.links = text("/x /y"), .terms = text("3:1"), .has_simhash = true, .simhash = 0xfedcba9876543210u,
		.length = 5, .bytes_text = 4, .words = 0, .images = -1, .tables = -1, .emails = -1,
		.outlinks = 2, .file = text("a.warc.gz"), .offset = 0, .size = 77,
		.target = text("http://a/there"),
	}, twice = c, got;
	struct err err;

	assert_int_equal(store_begin(s, &err), 0);
	add(s, "http://a/", 1, 0);
	assert_int_equal(store_capture_add(s, &c, &err), 1);
	assert_int_equal(store_capture_add(s, &twice, &err), 0);        /* same second */
	assert_int_equal(store_commit(s, &err), 0);
	assert_int_equal(store_captures(s, &(uint32_t){ 0 }, 1, same_capture, &c, &err), 0);
	assert_int_equal(store_captures(s, NULL, 0, same_capture, &c, &err), 0);
	links_come_back(s, &c);
	assert_int_equal(store_capture_get(s, c.id, &got, &err), 1);
	same_capture(&c, &got, &err);
}

/* Of one second the better answer stays, of equals the first. */
static void test_one_capture_a_second(void **state)
{
	static const struct { int status; bool revisit; int rc; } came[] = {
		{ 503, false, 1 }, { 404, false, 2 }, { 410, false, 0 }, { 301, false, 2 },
		{ 200, true, 2 }, { 304, false, 0 }, { 302, false, 0 }, { 206, false, 0 },
		{ 200, false, 2 }, { 200, true, 0 }, { 0, false, 0 },
	};
	struct store *s = *state;
	struct store_capture got;
	uint64_t id = 0;
	struct err err;

	assert_int_equal(store_begin(s, &err), 0);
	add(s, "http://a/", 1, 0);
	for (size_t i = 0; i < sizeof came / sizeof *came; i++) {
		struct store_capture c = { .time = 1000, .status = came[i].status,
			.revisit = came[i].revisit, .digest = text("ABC"), .offset = (int64_t)i };

		assert_int_equal(store_capture_put(s, &c, STORE_BEST, &err), came[i].rc);
		id = id ? id : c.id;
		assert_true(came[i].rc == 0 || c.id == id);
	}
	assert_int_equal(store_commit(s, &err), 0);
	assert_int_equal(store_capture_get(s, id, &got, &err), 1);
	assert_true(got.status == 200 && got.offset == 8);
}

static int collect_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct store_visit *out = arg;

	(void)err;
	while (out->page != UINT32_MAX)
		out++;
	*out = *v;
	return 0;
}

static void test_visits_in_order_by_cycle_and_page(void **state)
{
	struct store *s = *state;
	struct store_visit in[4] = {
		{ .cycle = 0, .page = 1, .time = 5, .score = NAN, .probability = NAN },
		{ .cycle = 1, .page = 1, .time = 9, .outcome = 1, .hit = true, .score = 0.5f,
		  .probability = 0.25f, .reason = 3, .status = 200, .capture = 8, .cause = 250,
		  .extra = 7 },
		{ .cycle = 1, .page = 0, .time = 9, .score = NAN, .probability = NAN },
		{ .cycle = 2, .page = 0, .time = 11, .score = NAN, .probability = NAN },
	}, out[5];
	struct err err;

	assert_int_equal(store_begin(s, &err), 0);
	add(s, "http://a/", 1, 0);
	add(s, "http://b/", 1, 1);      /* a visit is of a page that there is */
	for (int i = 0; i < 4; i++)
		assert_int_equal(store_visit_add(s, &in[i], &err), 0);
	assert_int_equal(store_commit(s, &err), 0);
	for (int i = 0; i < 5; i++)
		out[i].page = UINT32_MAX;
	assert_int_equal(store_visits(s, 1, 2, collect_visit, out, &err), 0);
	assert_int_equal(out[0].page, 1);
	assert_int_equal(out[1].page, 0);
	assert_int_equal(out[2].page, UINT32_MAX);
	assert_true(out[0].hit && out[0].score > 0.49f && out[0].probability < 0.26f);
	assert_int_equal(out[0].reason, 3);
	assert_int_equal(out[0].capture, 8);
	assert_int_equal(out[0].cause, 250);
	assert_int_equal(out[1].cause, 0);
	assert_int_equal(out[0].extra, 7);
	assert_int_equal(out[1].extra, 0);
	assert_true(isnan(out[1].score));
	assert_int_equal(store_visits_forget(s, &(uint32_t){ 1 }, 1, &err), 0);
	for (int i = 0; i < 5; i++)
		out[i].page = UINT32_MAX;
	assert_int_equal(store_visits_of(s, &(uint32_t){ 1 }, 1, 0, UINT32_MAX, collect_visit, out, &err), 0);
	assert_int_equal(out[0].cycle, 1);      /* the imported one is gone */
	assert_int_equal(out[1].page, UINT32_MAX);
}

static int count_orders(void *arg, const struct store_visit *v, struct err *err)
{
	uint32_t *n = arg;

	(void)err;
	assert_int_equal(v->order, ++*n);
	return 0;
}

/* What is imported between two parts of a cycle takes no number of its visits. */
static void test_imported_visits_leave_room_for_a_cycle(void **state)
{
	static const struct { uint32_t cycle, order; } v[] = { { 0, 0 }, { 1, 1 }, { 1, 2 },
		{ 0, 0 }, { 0, 0 }, { 1, 3 }, { 2, 0 }, { 2, 0 }, { 1, 4 }, { 3, 1 } };
	struct store *s = *state;
	uint32_t n = 0;
	struct err err;

	assert_int_equal(store_begin(s, &err), 0);
	add(s, "http://a.example/", 1, 0);
	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		struct store_visit row = { .cycle = v[i].cycle, .order = v[i].order, .time = 5 };

		if (store_visit_add(s, &row, &err) < 0)
			fail_msg("visit %zu: %s", i, err.text);
	}
	assert_int_equal(store_commit(s, &err), 0);
	assert_int_equal(store_visits(s, 1, 2, count_orders, &n, &err), 0);
	assert_int_equal(n, 4);
}

/* An import reads pages until it commits, and its log must not grow for all that. */
static void test_the_log_goes_into_the_file(void **state)
{
	struct store *s = *state;
	struct store_page p;
	struct stat file, log;
	char url[1100], log_path[SCRATCH_PATH + 4];
	struct err err;

	for (uint32_t batch = 0; batch < 8; batch++) {
		assert_int_equal(store_begin(s, &err), 0);
		for (uint32_t i = 0; i < 6000; i++) {
			snprintf(url, sizeof url, "http://a/%01000u", batch * 6000 + i);
			add(s, url, 1, batch * 6000 + i);
		}
		assert_int_equal(store_page_get(s, 1, &p, &err), 1);
		assert_int_equal(store_commit(s, &err), 0);
	}
	snprintf(log_path, sizeof log_path, "%s-wal", path);
	assert_int_equal(stat(path, &file), 0);
	assert_int_equal(stat(log_path, &log), 0);
	assert_true(file.st_size > 32 << 20);
	assert_true(log.st_size < file.st_size);
}

static void test_settings(void **state)
{
	struct store *s = *state;
	struct err err;
	char *value = NULL;

	assert_int_equal(store_begin(s, &err), 0);
	assert_int_equal(store_setting_put(s, "contact", "me", &err), 0);
	assert_int_equal(store_setting_put(s, "contact", "you", &err), 0);
	assert_int_equal(store_commit(s, &err), 0);
	assert_int_equal(store_setting_get(s, "contact", &value, &err), 1);
	assert_string_equal(value, "you");
	free(value);
	assert_int_equal(store_setting_put(s, "contact", NULL, &err), 0);
	assert_int_equal(store_setting_get(s, "contact", &value, &err), 0);
}

static void test_refuses_what_it_does_not_know(void **state)
{
	struct store *other;
	struct err err;
	sqlite3 *db;
	FILE *f;

	store_close(*state);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 999", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(store_open(&other, path, STORE_EXISTING, &err), E_STORE);
	assert_non_null(strstr(err.text, "newer"));
	f = fopen(path, "w");
	for (int i = 0; i < 2000; i++)
		fputs("this is not a database ", f);
	fclose(f);
	assert_int_equal(store_open(&other, path, STORE_EXISTING, &err), E_STORE);
	unlink(path);
	assert_int_equal(store_open(&other, path, STORE_EXISTING, &err), E_STORE);
	assert_non_null(strstr(err.text, "freshet init"));
	assert_int_equal(store_open(&other, "oracle:x", STORE_CREATE, &err), E_USAGE);
	assert_int_equal(store_open((struct store **)state, path, STORE_CREATE, &err), 0);
	assert_int_equal(whole_check(*state, &err), 0);
}

static void test_robots_come_back(void **state)
{
	static const char body[] = "User-agent: *\0\377\nDisallow: /";
	struct store *s = *state;
	struct text origin = text("https://a.example:8443");
	struct store_robots r = { .origin = origin, .time = 5, .status = 200, .cut = true, .tried = 6, .failing = 7,
		.body = { body, sizeof body } }, got;
	struct err err;

	assert_int_equal(store_robots_get(s, origin, &got, &err), 0);
	assert_int_equal(store_robots_put(s, &r, 1, &err), 0);
	assert_int_equal(store_robots_get(s, origin, &got, &err), 1);
	assert_int_equal(got.time, 5);
	assert_int_equal(got.status, 200);
	assert_true(got.cut);
	assert_int_equal(got.tried, 6);
	assert_int_equal(got.failing, 7);
	assert_int_equal(got.body.size, sizeof body);
	assert_memory_equal(got.body.s, body, sizeof body);
	r.body = (struct text){ 0 };
	assert_int_equal(store_robots_put(s, &r, 1, &err), 0);
	assert_int_equal(store_robots_get(s, origin, &got, &err), 1);
	assert_int_equal(got.body.size, 0);
	assert_int_equal(store_robots_get(s, text("http://a.example:8443"), &got, &err), 0);
	assert_int_equal(store_robots_forget(s, 6, &err), 0);
	assert_int_equal(store_robots_get(s, origin, &got, &err), 1);
	assert_int_equal(store_robots_forget(s, 7, &err), 0);
	assert_int_equal(store_robots_get(s, origin, &got, &err), 0);
}

static void execute(const char *sql)
{
	sqlite3 *db;
	char *why = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s", why);
	sqlite3_close(db);
}

/* Several programs that come to it together: one brings it up, all open it. */
static void open_at_once(void)
{
	pid_t child[8];
	int gate[2], status;
	char byte;

	assert_int_equal(pipe(gate), 0);
	for (int i = 0; i < 8; i++) {
		child[i] = fork();
		if (!child[i]) {
			struct store *s;
			struct err err;

			close(gate[1]);
			(void)!read(gate[0], &byte, 1); /* until all are there */
			if (store_open(&s, path, STORE_EXISTING, &err) == 0)
				_exit(0);
			fprintf(stderr, "%s\n", err.text);
			_exit(1);
		}
	}
	close(gate[0]);
	close(gate[1]);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_int_equal(status, 0);
	}
}

static int count_open(void *arg, const struct store_cycle *c, struct err *err)
{
	(void)err;
	*(uint32_t *)arg |= c->open ? 1u << c->number : 0;
	return 0;
}

/* As schemas 1 to 6 had it: what was there stays, what is new has a
 * value that says nothing. */
/* What was in the settings is where it is looked for now. */
static void check_state(struct store *s)
{
	struct err err;
	uint64_t past;
	char *text;

	assert_int_equal(store_state_get(s, STORE_OF_WORKER, "warc", &text, &err), 1);
	assert_string_equal(text, "open");
	free(text);
	assert_int_equal(store_state_get(s, STORE_OF_SHARD, "live", &text, &err), 1);
	assert_string_equal(text, "one");
	free(text);
	assert_int_equal(store_state_get(s, STORE_OF_SHARD, "warc", &text, &err), 0);
	assert_int_equal(store_setting_get(s, "budget", &text, &err), 1);
	assert_string_equal(text, "1%");
	free(text);
	assert_int_equal(store_past(s, &past, &err), 0);
	assert_int_equal(past, 8);
}

/* The rows of old databases below have keys that are no hashes of their texts. */
static int only_keys(void *arg, const struct store_problem *p, struct err *err)
{
	(void)arg;
	return strstr(p->text, "is not the hash of its text") ? 0 :
		err_set(err, E_STORE, "%s", p->text);
}

static void test_an_old_database_is_brought_up(void **state)
{
	struct store *s = *state;
	struct err err;

	for (int version = 1; version <= 6; version++) {
		struct store_hint h = { 9, 9, 9, 9, 9 };
		struct store_robots robots;
		uint32_t open = 0;
		struct store_capture c;
		struct store_visit visits[5];
		struct store_page p;

		store_close(s);
		unlink(path);
		assert_int_equal(store_open(&s, path, STORE_CREATE, &err), 0);
		store_close(s);
		execute("DROP INDEX pages_aside; DROP INDEX visits_found; DROP TABLE counts;"
		        "DROP INDEX pages_touched; ALTER TABLE pages DROP COLUMN touched;"
		        "ALTER TABLE pages DROP COLUMN notifier;"
		        "ALTER TABLE pages DROP COLUMN given; ALTER TABLE pages DROP COLUMN care;"
		        "ALTER TABLE pages DROP COLUMN fails_gone;"
		        "ALTER TABLE cycles DROP COLUMN owed;"
		        "ALTER TABLE cycles DROP COLUMN pages; DROP TABLE care; DROP TABLE tags;"
		        "DROP TABLE tagged; DROP TABLE files; CREATE TABLE files"
		        " (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE); INSERT INTO files (id,"
		        " name) VALUES (5, 'old.warc.gz'); INSERT INTO settings (key, value) VALUES"
		        " ('state.warc', 'open'), ('state.past', '8'), ('state.live', 'one'),"
		        " ('budget', '1%'); PRAGMA user_version = 6;"
		        "INSERT INTO bodies (key, body) VALUES (-7, '/new /old'), (9, 'w:1')");
		if (version < 6)
			execute("ALTER TABLE visits DROP COLUMN cause; ALTER TABLE visits DROP COLUMN extra;"
			        "ALTER TABLE visits DROP COLUMN place; DROP TABLE rounds; DROP TABLE leases;"
			        "ALTER TABLE pages DROP COLUMN weight; ALTER TABLE cycles DROP COLUMN clients;"
			        "PRAGMA user_version = 5;");
		if (version < 5)
			execute("CREATE TABLE old (key INTEGER PRIMARY KEY, body TEXT NOT NULL);"
			        "INSERT INTO old SELECT key, body FROM bodies; DROP TABLE bodies;"
			        "ALTER TABLE old RENAME TO bodies; PRAGMA user_version = 4");
		if (version < 4)
			execute("DROP TABLE robots; ALTER TABLE captures DROP COLUMN robots;"
			        "ALTER TABLE hints DROP COLUMN doubt; PRAGMA user_version = 3");
		if (version < 3)
			execute("ALTER TABLE pages DROP COLUMN found; ALTER TABLE captures DROP COLUMN target;"
			        "ALTER TABLE hints DROP COLUMN read; PRAGMA user_version = 2");
		if (version == 1)
			execute("ALTER TABLE cycles DROP COLUMN goal; PRAGMA user_version = 1");
		/* 131075 = 2 * 65536 + 3: failed three times, and was gone in two of them */
		execute("INSERT INTO pages (id, key, url, added, capture, fails) VALUES (1, 1, "
		        "'http://old.example/', 3, 1, 131075), (2, 2, 'http://old.example/2', 3, 0, 5),"
		        " (3, 3, 'http://old.example/3', 3, 0, 0),"
		        " (4, 4, 'http://old.example/4', 3, 0, 0);"
		        "INSERT INTO captures (id, page, time, status, revisit, digest, links, terms,"
		        " file) VALUES (1, 0, 4, 200, 0, 'OLD', -7, 9, 5);"
		        "INSERT INTO hints (site, checks, hits, told) VALUES ('old.example', 5, 4, 3);"
		        /* broken off, then told; a tell that was broken off; one to go on with */
		        "INSERT INTO cycles (number, time, open, policy, seed, budget, downloads, fresh,"
		        " changed, same, gone, failed, blocked, seconds_plan, seconds_total) VALUES"
		        " (1, 1, 1, 'tide', 1, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0),"
		        " (2, 2, 1, 'told', 1, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0),"
		        " (3, 3, 1, 'tide', 1, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0);"
		        /* the same, failed with a status, failed without, blocked */
		        "INSERT INTO visits (cycle, page, time, outcome, reason, status, hit, capture) "
		        "VALUES (3, 0, 4, 0, 1, 200, 0, 1), (3, 1, 5, 3, 1, 503, 0, 0),"
		        " (3, 2, 6, 3, 1, 0, 0, 0), (3, 3, 7, 4, 1, 0, 0, 0)");
		if (version == 6)
			execute("UPDATE visits SET id = (cycle << 32) + id");
		open_at_once();
		assert_int_equal(store_open(&s, path, STORE_EXISTING, &err), 0);
		*state = s;
		assert_int_equal(store_page_get(s, 0, &p, &err), 1);
		assert_int_equal(p.added, 3);
		assert_int_equal(p.found, 0);
		assert_true(p.weight >= 1 && p.weight <= 1);
		assert_null(p.given.s);
		assert_int_equal(p.care, 0);
		assert_int_equal(p.touched, 0);
		assert_int_equal(p.fails, 3);
		assert_int_equal(p.fails_gone, 2);
		assert_int_equal(store_page_get(s, 1, &p, &err), 1);
		assert_int_equal(p.fails, 5);
		assert_int_equal(p.fails_gone, 0);
		assert_int_equal(store_capture_get(s, 1, &c, &err), 1);
		assert_int_equal(c.status, 200);
		assert_string_equal(c.links.s, "/new /old");
		assert_string_equal(c.terms.s, "w:1");
		assert_null(c.target.s);
		assert_string_equal(c.file.s, "old.warc.gz");
		assert_null(c.worker.s);
		check_state(s);
		assert_int_equal(store_hint_get(s, text("old.example"), &h, &err), 0);
		assert_int_equal(h.checks, 5);
		assert_int_equal(h.read, 0);
		assert_int_equal(h.doubt, 0);
		assert_null(c.robots.s);
		assert_int_equal(store_robots_get(s, text("http://old.example"), &robots, &err), 0);
		assert_int_equal(store_cycles(s, 0, count_open, &open, &err), 0);
		assert_int_equal(open, version < 4 ? 1 << 3 : 7 << 1);
		for (int i = 0; i < 5; i++)
			visits[i].page = UINT32_MAX;
		assert_int_equal(store_visits(s, 3, 4, collect_visit, visits, &err), 0);
		for (unsigned i = 0; i < 4; i++) {
			assert_int_equal(visits[i].page, i);
			assert_int_equal(visits[i].cause,
			                 i == 1 && version < 6 ? CAUSE_STATUS : CAUSE_NONE);
		}
		assert_int_equal(store_check(s, only_keys, NULL, &err), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_pages_are_numbered_once),
		T(test_an_open_batch_is_as_if_never),
		T(test_a_capture_comes_back_whole),
		T(test_one_capture_a_second),
		T(test_visits_in_order_by_cycle_and_page),
		T(test_imported_visits_leave_room_for_a_cycle),
		T(test_an_old_database_is_brought_up),
		T(test_the_log_goes_into_the_file),
		T(test_settings),
		T(test_robots_come_back),
		T(test_refuses_what_it_does_not_know),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
