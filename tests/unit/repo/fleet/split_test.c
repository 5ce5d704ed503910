/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shard is split: what is known of each page is the same before and after, by its URL; and so
 * it is when the program is killed at any step.
 *
 * Sanitized only.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "repo/fleet/fleet.h"
#include "repo/store.h"
#include "../../../lib/pg.h"
#include "../../../lib/rows.h"
#include "../../../lib/whole.h"

#define N_PAGES 60
#define N_DOMAINS 9

static char url[PG_URL];
static struct fleet *fleet;

static void good(int rc, const struct err *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

static struct text text(const char *s)
{
	return (struct text){ s, strlen(s) };
}

static struct store *open_shard(int32_t shard, int64_t fence)
{
	struct store *s;
	struct buf where;
	struct err err;

	buf_init(&where, 4096);
	fleet_url(url, shard, fence, NULL, &where);
	good(store_open(&s, buf_text(&where), fence ? STORE_EXISTING : STORE_READ, &err), &err);
	buf_release(&where);
	return s;
}

static struct fleet_lease claim(int32_t shard)
{
	struct fleet_lease l;
	struct err err;
	int rc = fleet_claim(fleet, "north", 0, shard, &l, &err);

	good(rc, &err);
	assert_int_equal(rc, 1);
	return l;
}

/* ---- a shard with something of everything ---- */

static const char *page_url(unsigned i, char out[100])
{
	snprintf(out, 100, "http://%s.domain%u.example/p%u", i % 2 ? "www" : "news",
	         i * i % N_DOMAINS, i);
	return out;
}

static void add_pages(struct store *s, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		char name[100];
		uint32_t number;
		struct err err;

		good(store_page_add(s, text(page_url(i, name)), 1000 + i, &number, &err), &err);
		assert_int_equal(number, i);
	}
}

static void add_captures(struct store *s)
{
	for (unsigned i = 0; i < N_PAGES; i++)
		for (unsigned k = 0; k < i % 3; k++) {
			char digest[40], links[60];
			struct store_page was, now;
			struct err err;
			struct store_capture c = {
				.page = i, .time = 1700000000 + 100 * k + i, .status = 200, .mime = text("text/html"),
				.digest = text(digest), .length = 7, .bytes_text = -1, .words = -1, .images = -1,
				.tables = -1, .emails = -1, .outlinks = 2, .links = text(links),
				.terms = text("0:3 1:1"), .worker = text("w"), .file = text("w/shard-0/a.warc.gz"),
				.offset = 50 * i, .size = 50,
			};

			snprintf(digest, sizeof digest, "sha1:%u-%u", i, k);
			snprintf(links, sizeof links, "http://x.example/%u", i % 7);
			c.digest = text(digest);
			c.links = text(links);
			good(store_capture_add(s, &c, &err), &err);
			good(store_page_get(s, i, &was, &err), &err);
			now = was;
			now.capture = c.id;
			now.changes++;
			good(store_page_update(s, &was, &now, &err), &err);
		}
}

static void add_cycle(struct store *s, uint32_t number, uint32_t pages)
{
	struct store_cycle c = { .number = number, .time = 1700000000 + 1000 * number,
	                         .policy = text("tide"), .seed = 5, .budget = pages + 5,
	                         .pages = pages };
	struct err err;

	for (uint32_t i = 0; i < pages; i++) {
		struct store_visit v = {
			.cycle = number, .page = (i * 7) % pages, .time = c.time + i, .status = 200,
			.outcome = (uint8_t)((i + number) % 5), .extra = i % 2, .place = i + 1,
			.score = (float)i, .probability = 1,
		};

		if (pages % 7 == 0)
			v.page = i;
		good(store_visit_add(s, &v, &err), &err);
		c.downloads += (v.outcome != OUTCOME_BLOCKED) + v.extra;
		c.same += v.outcome == OUTCOME_SAME;
		c.changed += v.outcome == OUTCOME_CHANGED;
		c.gone += v.outcome == OUTCOME_GONE;
		c.failed += v.outcome == OUTCOME_FAILED;
		c.blocked += v.outcome == OUTCOME_BLOCKED;
	}
	c.downloads += 2;               /* without an outcome */
	good(store_rounds_add(s, number, 1, (uint32_t[]){ 0, 9 }, 2, &err), &err);
	good(store_cycle_put(s, &c, &err), &err);
}

static void fill(struct store *s)
{
	struct err err;

	good(store_begin(s, &err), &err);
	good(store_words_add(s, 0, (struct text[]){ text("a"), text("b") }, 2, &err), &err);
	add_pages(s, 0, 40);
	good(store_visit_add(s, &(struct store_visit){ .page = 3, .time = 1600000000,
	                     .outcome = OUTCOME_CHANGED, .score = 0, .probability = 1 }, &err), &err);
	add_cycle(s, 1, 40);
	add_pages(s, 40, N_PAGES);
	add_captures(s);
	add_cycle(s, 2, N_PAGES);
	good(store_care_put(s, (struct store_care[]){ { .page = 5, .care = 1 }, { .page = 41,
	                    .care = 2 }, { .page = 6, .care = 1 } }, 3, 1700009000, &err), &err);
	good(store_tag_put(s, text("red"), (uint32_t[]){ 1, 2, 3, 4, 5, 44, 45 }, 7, true, &err), &err);
	good(store_tag_put(s, text("blue"), (uint32_t[]){ 2, 50 }, 2, true, &err), &err);
	for (unsigned i = 0; i < N_DOMAINS; i++) {
		char site[60], origin[60];

		snprintf(site, sizeof site, "news.domain%u.example", i);
		snprintf(origin, sizeof origin, "http://news.domain%u.example:80", i);
		good(store_hints_change(s, &(struct store_hint_change){ .site = text(site),
		                        .checks = i + 1 }, 1, &err), &err);
		good(store_robots_put(s, &(struct store_robots){ .origin = text(origin), .time = 17,
		                      .status = 200, .body = text("Disallow: /x"), .tried = 17 }, 1, &err), &err);
	}
	for (unsigned i = 10; i < 20; i++) {
		char key[30], name[100];

		snprintf(key, sizeof key, "moved.%u", i);
		good(store_state_put(s, STORE_OF_SHARD, key, page_url(i, name), &err), &err);
	}
	good(store_state_put(s, STORE_OF_SHARD, "pauses", "h 1", &err), &err);
	good(store_state_put(s, STORE_OF_SHARD, "tokens", "secret", &err), &err);
	good(store_state_put(s, STORE_OF_WORKER, "warc", "open", &err), &err);
	good(store_commit(s, &err), &err);
}

/* ---- what is known of each page ---- */

struct knowing {
	struct rows rows;
	struct store *s;
	struct text tag;
	VEC(char *) urls, lines;
};

static int see_url(void *arg, const struct store_page *p, struct err *err)
{
	struct knowing *k = arg;

	(void)err;
	assert_int_equal(p->number, k->urls.n);         /* dense */
	vec_push(&k->urls, mem_strndup(p->url.s, p->url.size));
	return 0;
}

/* The row that was written last, with the URL before it. */
static int keep(struct knowing *k, uint32_t page, const char *table)
{
	char *line;

	assert_true(page == STORE_NONE || page < k->urls.n);
	assert_true(asprintf(&line, "%s %s %s", page == STORE_NONE ? "" : k->urls.v[page], table,
	                     buf_text(&k->rows.out)) > 0);
	buf_clear(&k->rows.out);
	vec_push(&k->lines, line);
	return 0;
}

static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	struct knowing *k = arg;
	struct store_page row = *p;

	row.number = 0;
	rows_page(&k->rows, &row, err);
	return keep(k, p->number, "page");
}

static int see_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct knowing *k = arg;
	struct store_capture row = *c;

	row.page = 0;
	rows_capture(&k->rows, &row, err);
	return keep(k, c->page, "capture");
}

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct knowing *k = arg;
	struct store_visit row = *v;

	row.page = 0;
	rows_visit(&k->rows, &row, err);
	return keep(k, v->page, "visit");
}

static int see_care(void *arg, const struct store_care *c, struct err *err)
{
	struct knowing *k = arg;
	struct store_care row = *c;

	row.page = 0;
	rows_care(&k->rows, &row, err);
	return keep(k, c->page, "care");
}

static int see_tagged(void *arg, uint32_t page, struct err *err)
{
	struct knowing *k = arg;

	(void)err;
	buf_add(&k->rows.out, k->tag.s, k->tag.size);
	return keep(k, page, "tagged");
}

static int see_tag(void *arg, struct text tag, uint64_t n, struct err *err)
{
	struct knowing *k = arg;

	(void)n;
	k->tag = tag;
	return store_tagged(k->s, tag, see_tagged, k, err);
}

static int see_hint(void *arg, struct text site, const struct store_hint *h, struct err *err)
{
	struct knowing *k = arg;

	rows_hint(&k->rows, site, h, err);
	return keep(k, STORE_NONE, "hint");
}

static int see_robots(void *arg, const struct store_robots *r, struct err *err)
{
	struct knowing *k = arg;

	rows_robots(&k->rows, r, err);
	return keep(k, STORE_NONE, "robots");
}

static int see_state(void *arg, const char *key, const char *value, struct err *err)
{
	struct knowing *k = arg;

	(void)err;
	if (strncmp(key, "moved.", 6))
		return 0;
	assert_string_equal(value, k->urls.v[atoi(key + 6)]);
	buf_str(&k->rows.out, value);
	return keep(k, (uint32_t)atoi(key + 6), "moved");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Everything of all shards, in one text; the shards must be whole and hold what is theirs. */
static char *know_all(size_t *ret_shards)
{
	static uint64_t ids[1000];
	static const size_t n_ids = 1000;
	struct knowing k = { .rows = { .ids = ids, .n_ids = &n_ids } };
	struct fleet_shard *shards;
	uint64_t at = 0;
	struct err err;
	struct buf all;

	for (size_t i = 0; i < n_ids; i++)
		ids[i] = i + 1;
	good(fleet_shards(fleet, &shards, ret_shards, &err), &err);
	buf_init(&all, BUF_NO_LIMIT);
	for (size_t i = 0; i < *ret_shards; i++) {
		assert_int_equal(shards[i].shard, i);
		at += shards[i].high - shards[i].low;
		/* each hash is one shard's */
		assert_int_equal(fleet_shard_of(shards, *ret_shards, (uint32_t)shards[i].low), i);
		assert_int_equal(fleet_shard_of(shards, *ret_shards, (uint32_t)(shards[i].high - 1)), i);
		k.s = k.rows.s = open_shard((int32_t)i, 0);
		buf_init(&k.rows.out, BUF_NO_LIMIT);
		for (size_t n = 0; n < k.urls.n; n++)
			free(k.urls.v[n]);
		k.urls.n = 0;
		good(whole_check(k.s, &err), &err);
		good(store_pages(k.s, 0, see_url, &k, &err), &err);
		for (size_t n = 0; n < k.urls.n; n++) {
			assert_int_equal(fleet_shard_of(shards, *ret_shards,
			                 shard_hash(k.urls.v[n], strlen(k.urls.v[n]))), i);
			/* in the order that they had */
			assert_true(!n || atoi(strrchr(k.urls.v[n], 'p') + 1) >
			            atoi(strrchr(k.urls.v[n - 1], 'p') + 1));
		}
		good(store_pages(k.s, 0, see_page, &k, &err), &err);
		good(store_captures(k.s, NULL, 0, see_capture, &k, &err), &err);
		good(store_visits(k.s, 0, UINT32_MAX, see_visit, &k, &err), &err);
		good(store_care_log(k.s, STORE_NONE, 0, UINT32_MAX, see_care, &k, &err), &err);
		good(store_tags(k.s, STORE_NONE, see_tag, &k, &err), &err);
		good(store_hints(k.s, see_hint, &k, &err), &err);
		good(store_robots(k.s, NULL, 0, see_robots, &k, &err), &err);
		good(store_states(k.s, STORE_OF_SHARD, see_state, &k, &err), &err);
		store_close(k.s);
		buf_release(&k.rows.out);
	}
	assert_int_equal(at, FLEET_HASHES);
	for (size_t n = 0; n < k.urls.n; n++)
		free(k.urls.v[n]);
	qsort(k.lines.v, k.lines.n, sizeof *k.lines.v, by_text);
	for (size_t i = 0; i < k.lines.n; i++) {
		buf_printf(&all, "%s\n", k.lines.v[i]);
		free(k.lines.v[i]);
	}
	vec_release(&k.urls);
	vec_release(&k.lines);
	free(shards);
	return all.data;
}

static int setup(void **state)
{
	struct fleet_lease l;
	struct store *s;
	struct err err;

	(void)state;
	good(store_open(&s, pg_url(url), STORE_CREATE, &err), &err);
	store_close(s);
	good(fleet_open(&fleet, url, &err), &err);
	l = claim(0);
	s = open_shard(0, l.fence);
	fill(s);
	store_close(s);
	good(fleet_release(fleet, &l, &err), &err);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fleet_close(fleet);
	return 0;
}

/* Counts of cycles: sums as before, and each shard's as its visits are. */
static void check_cycles(void)
{
	static const struct { const char *column; long long sum; } sums[] = {
		{ "budget", 110 }, { "same", 20 }, { "changed", 20 }, { "gone", 20 }, { "failed", 20 },
		{ "blocked", 20 }, { "pages", 100 }, { "downloads", 80 + 50 + 4 },
	};

	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
		char sql[200];

		snprintf(sql, sizeof sql, "SELECT sum(%s) FROM cycles", sums[i].column);
		assert_int_equal(pg_number(url, sql), sums[i].sum);
	}
	assert_int_equal(pg_number(url, "SELECT count(*) FROM cycles c WHERE (SELECT count(*) FROM "
		"visits v WHERE v.shard = c.shard AND v.cycle = c.number) <> c.fresh + c.changed + c.same "
		"+ c.gone + c.failed + c.blocked"), 0);
	/* the first cycle began with the first 40 pages */
	assert_int_equal(pg_number(url, "SELECT count(*) FROM cycles c WHERE c.number = 1 AND c.pages "
		"<> (SELECT count(*) FROM pages p WHERE p.shard = c.shard AND p.added < 1040)"), 0);
}

static void test_split(void **state)
{
	struct fleet_lease l;
	struct fleet_split done;
	size_t n_before, n_after;
	char *before, *after;
	long long past;
	struct err err;

	(void)state;
	before = know_all(&n_before);
	assert_int_equal(n_before, 1);
	past = pg_number(url, "SELECT past FROM shards");
	l = claim(0);
	good(fleet_split(fleet, &l, NULL, &done, &err), &err);
	assert_int_equal(done.shard, 1);
	assert_int_equal(done.pages[0] + done.pages[1], N_PAGES);
	assert_in_range(done.pages[0], N_PAGES / 4, 3 * N_PAGES / 4);
	good(fleet_release(fleet, &l, &err), &err);
	after = know_all(&n_after);
	assert_int_equal(n_after, 2);
	assert_string_equal(before, after);
	check_cycles();
	assert_int_equal(pg_number(url, "SELECT sum(pages) FROM shards"), N_PAGES);
	assert_int_equal(pg_number(url, "SELECT min(past) FROM shards"), past + 1);
	assert_int_equal(pg_number(url, "SELECT epoch FROM fleet"), 2);
	/* states of hosts go along; those of the service and of workers stay */
	assert_int_equal(pg_number(url, "SELECT count(*) FROM states WHERE key = 'pauses'"), 2);
	assert_int_equal(pg_number(url, "SELECT count(*) FROM states WHERE key IN ('tokens', "
	                 "'warc') AND shard = 0"), 2);
	assert_int_equal(pg_number(url, "SELECT count(*) FROM states WHERE key IN ('tokens', "
	                 "'warc') AND shard = 1"), 0);
	/* no text that captures share is missing, and none is left over */
	assert_int_equal(pg_number(url, "SELECT count(*) FROM captures c WHERE NOT EXISTS (SELECT 1 "
	                 "FROM bodies b WHERE b.shard = c.shard AND b.key = c.links)"), 0);
	assert_int_equal(pg_number(url, "SELECT count(*) FROM bodies b WHERE NOT EXISTS (SELECT 1 "
	                 "FROM captures c WHERE c.shard = b.shard AND b.key IN (c.links, c.terms))"), 0);
	free(before);
	free(after);
}

/* Both halves can be written to and split again, down to single domains. */
static void test_again(void **state)
{
	struct fleet_split done;
	size_t n_before, n;
	char *before = know_all(&n_before), *after;
	struct err err;
	int rc;

	(void)state;
	for (int32_t shard = 0; shard < pg_number(url, "SELECT count(*) FROM fleet_shards"); shard++)
		do {
			struct fleet_lease l = claim(shard);

			rc = fleet_split(fleet, &l, NULL, &done, &err);
			assert_true(rc == 0 || rc == E_USAGE);
			good(fleet_release(fleet, &l, &err), &err);
		} while (rc == 0);
	after = know_all(&n);
	/* i * i mod 9 is 0, 1, 4 or 7 */
	assert_int_equal(n, 4);
	assert_string_equal(before, after);
	check_cycles();
	for (int32_t shard = 0; shard < 4; shard++) {
		struct fleet_lease l = claim(shard);
		struct store *s = open_shard(shard, l.fence);
		char sql[80];
		uint32_t number;

		snprintf(sql, sizeof sql, "SELECT pages FROM shards WHERE shard = %d", shard);
		good(store_page_add(s, text("http://new.example/"), 7, &number, &err), &err);
		assert_int_equal(number + 1, pg_number(url, sql));
		store_close(s);
		good(fleet_release(fleet, &l, &err), &err);
	}
	free(before);
	free(after);
}

static void test_not_now(void **state)
{
	struct fleet_lease l, old;
	struct fleet_split done;
	struct err err;

	(void)state;
	old = claim(0);
	assert_true(pg_sql(url, "UPDATE cycles SET open = true WHERE number = 2"));
	assert_int_equal(fleet_split(fleet, &old, NULL, &done, &err), E_BUSY);
	assert_true(pg_sql(url, "UPDATE cycles SET open = false; UPDATE fleet_shards SET done = false"));
	assert_int_equal(fleet_split(fleet, &old, NULL, &done, &err), E_BUSY);
	assert_true(pg_sql(url, "UPDATE fleet_shards SET done = true, until = clock_timestamp()"));
	l = claim(0);                   /* another has the shard now */
	assert_int_equal(fleet_split(fleet, &old, NULL, &done, &err), E_BUSY);
	good(fleet_split(fleet, &l, NULL, &done, &err), &err);
}

/* ---- kills ---- */

struct killing { unsigned at, n; };

static void die_at(void *arg, const char *what, uint64_t done, uint64_t of)
{
	struct killing *k = arg;

	(void)what, (void)done, (void)of;
	if (k->n++ == k->at)
		kill(getpid(), SIGKILL);
}

static void test_killed_at_every_step(void **state)
{
	struct fleet_lease l = claim(0);
	char *before, *after;
	size_t n = 0;
	int status = -1;

	(void)state;
	before = know_all(&n);
	for (unsigned at = 0; at < 1000 && status; at++) {
		pid_t child = fork();

		if (!child) {
			struct killing k = { .at = at };
			struct fleet_split_watch watch = { die_at, &k };
			struct fleet_split done;
			struct fleet *own;
			struct err err;

			if (fleet_open(&own, url, &err) < 0 || fleet_split(own, &l, &watch, &done, &err) < 0)
				_exit(1);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) || !WEXITSTATUS(status) || n == 2);
		after = know_all(&n);
		assert_in_range(n, 1, 2);
		assert_string_equal(before, after);
		free(after);
		if (n == 2)             /* it was killed after its COMMIT */
			break;
		assert_true(WIFSIGNALED(status));
	}
	assert_int_equal(n, 2);
	check_cycles();
	free(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_split, setup, teardown),
		cmocka_unit_test_setup_teardown(test_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_now, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed_at_every_step, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
