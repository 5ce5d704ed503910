/* SPDX-License-Identifier: Apache-2.0 */
/* recall_made.c - see recall_made.h. */
#include "recall_made.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/math/rng.h"
#include "base/numbers.h"
#include "base/when.h"
#include "repo/sqlite/store_sqlite.h"

struct made {
	sqlite3 *db;
	sqlite3_stmt *page, *body, *capture, *visit, *cycle;
	struct buf indexes;             /* how they are made again */
	uint32_t n_pages;
};

int64_t made_time(uint32_t cycle)
{
	return INT64_C(1700000000) + (int64_t)cycle * DAY_SECONDS;
}

static int make_url(uint32_t i, char *ret, size_t size)
{
	return snprintf(ret, size, "http://www.site%u.example/section%u/topic%u/page-%u.html",
	                i / MADE_PER_SITE, i / 100 % 10, i / 20 % 5, i);
}

/* ---- SQLite ---- */

static void must(struct made *m, int rc)
{
	if (rc == SQLITE_OK || rc == SQLITE_DONE)
		return;
	fprintf(stderr, "%s\n", sqlite3_errmsg(m->db));
	exit(1);
}

static void run(struct made *m, sqlite3_stmt *q)
{
	must(m, sqlite3_step(q));
	must(m, sqlite3_reset(q));
}

static void bind_text(sqlite3_stmt *q, int i, const char *s, int n)
{
	sqlite3_bind_text(q, i, s, n, SQLITE_STATIC);
}

static void execute(struct made *m, const char *sql)
{
	must(m, sqlite3_exec(m->db, sql, NULL, NULL, NULL));
}

/* Indexes go while rows are written: sorted at the end they take a tenth of the time. */
static void drop_indexes(struct made *m)
{
	sqlite3_stmt *q;
	struct buf drop;

	buf_init(&m->indexes, BUF_NO_LIMIT);
	buf_init(&drop, BUF_NO_LIMIT);
	must(m, sqlite3_prepare_v2(m->db, "SELECT name, sql FROM sqlite_master WHERE type = 'index' "
	                           "AND sql IS NOT NULL", -1, &q, NULL));
	while (sqlite3_step(q) == SQLITE_ROW) {
		buf_printf(&drop, "DROP INDEX %s;", (const char *)sqlite3_column_text(q, 0));
		buf_printf(&m->indexes, "%s;", (const char *)sqlite3_column_text(q, 1));
	}
	must(m, sqlite3_finalize(q));
	execute(m, buf_text(&drop));
	buf_release(&drop);
}

static void made_open(struct made *m, const char *path, uint32_t n_pages)
{
	static const char *const sql[] = {
		"INSERT INTO pages (id, key, url, added) VALUES (?1, ?2, ?3, ?4)",
		"INSERT INTO bodies (key, body) VALUES (?1, ?2)",
		"INSERT INTO captures (page, time, status, revisit, digest, length, bytes_text, words, "
		"images, outlinks, links) VALUES (?1, ?2, 200, 0, ?3, 9000, 3000, 400, 3, 3, ?4)",
		"INSERT INTO visits (id, cycle, page, time, outcome, reason, status, hit, score, "
		"capture) VALUES (?1, ?2, ?3, ?4, ?5, 0, 200, ?6, ?7, ?8)",
		"INSERT INTO cycles (number, time, open, policy, seed, budget, downloads, fresh, "
		"changed, same, gone, failed, blocked, seconds_plan, seconds_total, pages) VALUES "
		"(?1, ?2, 0, 'tide', 1, ?3, ?3, 0, 0, 0, 0, 0, 0, 0, 0, ?4)",
	};

	*m = (struct made){ .n_pages = n_pages };
	must(m, sqlite3_open(path, &m->db));
	execute(m, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; "
	        "PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; BEGIN");
	drop_indexes(m);
	for (int i = 0; i < 5; i++)
		must(m, sqlite3_prepare_v2(m->db, sql[i], -1, (sqlite3_stmt **[]){ &m->page,
		     &m->body, &m->capture, &m->visit, &m->cycle }[i], NULL));
}

static void made_close(struct made *m)
{
	sqlite3_stmt *all[] = { m->page, m->body, m->capture, m->visit, m->cycle };

	for (int i = 0; i < 5; i++)
		sqlite3_finalize(all[i]);
	execute(m, buf_text(&m->indexes));
	buf_release(&m->indexes);
	execute(m, COUNTS_FILL);
	execute(m, "COMMIT; PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL");
	must(m, sqlite3_close(m->db));
}

/* ---- rows ---- */

/* Links to neighbours, and one across; returns their key in bodies. */
static uint64_t make_links(const struct made *m, uint32_t page, char *ret, size_t size,
                           size_t *ret_n)
{
	size_t n = 0;

	for (uint32_t k = 0; k < 3; k++) {
		uint32_t to = k < 2 ? page / MADE_PER_SITE * MADE_PER_SITE +
			(page + k + 1) % MADE_PER_SITE :
			(uint32_t)(rng_draw(1, 0, page, RNG_USER) % m->n_pages);

		if (k)
			ret[n++] = ' ';
		n += (size_t)make_url(to < m->n_pages ? to : 0, ret + n, size - n);
	}
	*ret_n = n;
	return hash_bytes(ret, n, 3);
}

/* The links of a page stay the same: only its first copy stores them. */
static int64_t add_capture(struct made *m, uint32_t page, int64_t time, bool first)
{
	char links[400], digest[40];
	size_t n;
	int64_t key = (int64_t)make_links(m, page, links, sizeof links, &n);
	int digits = snprintf(digest, sizeof digest, "sha1:%u-%lld", page, (long long)time);

	if (first) {
		sqlite3_bind_int64(m->body, 1, key);
		bind_text(m->body, 2, links, (int)n);
		run(m, m->body);
	}
	sqlite3_bind_int64(m->capture, 1, page);
	sqlite3_bind_int64(m->capture, 2, time);
	bind_text(m->capture, 3, digest, digits);
	sqlite3_bind_int64(m->capture, 4, key);
	run(m, m->capture);
	return sqlite3_last_insert_rowid(m->db);
}

/* The visit `order` of a cycle, from 1 on. */
static void add_visit(struct made *m, uint32_t cycle, uint32_t order, uint32_t page, bool hit,
                      int64_t capture)
{
	sqlite3_bind_int64(m->visit, 1, ((int64_t)cycle << 32) + order);
	sqlite3_bind_int64(m->visit, 2, cycle);
	sqlite3_bind_int64(m->visit, 3, page);
	sqlite3_bind_int64(m->visit, 4, made_time(cycle));
	sqlite3_bind_int64(m->visit, 5, hit ? OUTCOME_CHANGED : OUTCOME_SAME);
	sqlite3_bind_int64(m->visit, 6, hit);
	if (cycle)
		sqlite3_bind_double(m->visit, 7, 0.5);
	else
		sqlite3_bind_null(m->visit, 7);
	sqlite3_bind_int64(m->visit, 8, capture);
	run(m, m->visit);
}

static void make_pages(struct made *m)
{
	char url[120];

	for (uint32_t i = 0; i < m->n_pages; i++) {
		int n = make_url(i, url, sizeof url);

		sqlite3_bind_int64(m->page, 1, i + 1);
		sqlite3_bind_int64(m->page, 2, (int64_t)hash_bytes(url, (size_t)n, 0));
		bind_text(m->page, 3, url, n);
		sqlite3_bind_int64(m->page, 4, made_time(0) - 1);
		run(m, m->page);
		add_visit(m, 0, i + 1, i, false, add_capture(m, i, made_time(0), true));
	}
}

static void make_cycle(struct made *m, uint32_t cycle)
{
	uint32_t budget = m->n_pages / 50;

	sqlite3_bind_int64(m->cycle, 1, cycle);
	sqlite3_bind_int64(m->cycle, 2, made_time(cycle));
	sqlite3_bind_int64(m->cycle, 3, budget);
	sqlite3_bind_int64(m->cycle, 4, m->n_pages);
	run(m, m->cycle);
	for (uint32_t k = 0; k < budget; k++) {
		/* each page once in 50 cycles, far apart */
		uint32_t page = (uint32_t)(((uint64_t)k * 50 + cycle % 50) % m->n_pages);
		bool hit = rng_draw(2, cycle, page, RNG_USER) % 3 == 0;

		add_visit(m, cycle, k + 1, page, hit,
		          hit ? add_capture(m, page, made_time(cycle), false) : 0);
	}
}

static void make_tables(const char *path)
{
	struct store *s;
	struct err err;

	if (store_open(&s, path, STORE_CREATE, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	store_close(s);
}

void made_cycles(const char *path, uint32_t n_pages, uint32_t from, uint32_t to)
{
	struct made m;

	if (from == 1)
		make_tables(path);
	made_open(&m, path, n_pages);
	if (from == 1)
		make_pages(&m);
	for (uint32_t cycle = from; cycle <= to; cycle++)
		make_cycle(&m, cycle);
	made_close(&m);
}
