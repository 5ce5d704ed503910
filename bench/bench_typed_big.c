/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_typed_big - what a person types, on a large repository: time and memory of each.
 *
 *   bench_typed_big [PAGES [VISITS [DIR]]]       default: 10,000,000 and 50,000,000
 *
 * With DIR, the repository stays there, and is measured again if it is there already.
 * Rows are written straight into the tables: pages of sites of 1000, 25 cycles, every page
 * visited equally often in a mixed order, a first copy of each, and one later visit in 40
 * that found a change; each copy has 100 of 20,000 words, and 1,000,000 copies have different
 * ones.  10,000,000 pages need 9 GB of disk and some minutes.
 * A command should take 2 s at most, unless it reads everything by its nature.
 */
#include "child.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

#define CYCLES 25
#define SITE_PAGES 1000
#define STRIDE 6700417u         /* a prime: consecutive visits are of pages far apart */
#define BEGIN 1700000000
#define WEEK 604800
#define WORDS 20000
#define WORDS_PAGE 100          /* different ones, of a copy */
#define TEXTS 1000000           /* lists of words, at most; later pages have those of earlier ones */

struct made {
	uint32_t *capture, *changed, *changes;
	int64_t *terms;                 /* keys of the lists of words */
	uint32_t n_pages;
	uint64_t n_visits;
};

static void sql(sqlite3 *db, const char *text)
{
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", text, sqlite3_errmsg(db));
		exit(1);
	}
}

static sqlite3_stmt *prepared(sqlite3 *db, const char *text)
{
	sqlite3_stmt *q;

	if (sqlite3_prepare_v2(db, text, -1, &q, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", text, sqlite3_errmsg(db));
		exit(1);
	}
	return q;
}

static void row(sqlite3_stmt *q)
{
	if (sqlite3_step(q) != SQLITE_DONE) {
		fprintf(stderr, "%s\n", sqlite3_errmsg(sqlite3_db_handle(q)));
		exit(1);
	}
	sqlite3_reset(q);
}

static int url_of(uint32_t page, char *ret, size_t size)
{
	return snprintf(ret, size, "http://www.site%u.example/section%u/topic%u/page-%u.html",
	                page / SITE_PAGES, page / 100 % 10, page / 20 % 5, page);
}

static int64_t time_of(const struct made *m, uint64_t visit)
{
	uint64_t per = m->n_visits / CYCLES;

	return BEGIN + (int64_t)(visit / per * WEEK + visit % per * 86400 / per);
}

static void put_bodies(sqlite3 *db, const struct made *m)
{
	sqlite3_stmt *q = prepared(db, "INSERT INTO bodies (key, body) VALUES (?1, ?2)");

	for (uint32_t site = 0; site * (uint64_t)SITE_PAGES < m->n_pages; site++) {
		char text[1000];
		int n = 0;

		for (uint32_t i = 0; i < 5; i++) {
			n += url_of(site * SITE_PAGES + i * 100, text + n, sizeof text - (size_t)n);
			text[n++] = ' ';
		}
		sqlite3_bind_int64(q, 1, (int64_t)hash_bytes(text, (size_t)n - 1, 3));
		sqlite3_bind_text(q, 2, text, n - 1, SQLITE_TRANSIENT);
		row(q);
	}
	sqlite3_finalize(q);
}

static void put_words(sqlite3 *db)
{
	sqlite3_stmt *q = prepared(db, "INSERT INTO words (id, word) VALUES (?1, ?2)");

	for (int i = 0; i < WORDS; i++) {
		char word[20];

		snprintf(word, sizeof word, "word%d", i);
		sqlite3_bind_int(q, 1, i + 1);
		sqlite3_bind_text(q, 2, word, -1, SQLITE_TRANSIENT);
		row(q);
	}
	sqlite3_finalize(q);
}

static void put_terms(sqlite3 *db, struct made *m)
{
	sqlite3_stmt *q = prepared(db, "INSERT INTO bodies (key, body) VALUES (?1, ?2)");

	for (uint32_t v = 0; v < m->n_pages; v++) {             /* as first visits bring them */
		uint32_t t = (uint32_t)((uint64_t)v * STRIDE % m->n_pages) % TEXTS;
		char text[WORDS_PAGE * 10];
		int n = 0;

		if (m->terms[t])
			continue;

		for (uint32_t i = 0; i < WORDS_PAGE; i++) {
			uint32_t of[] = { t, i };
			uint64_t draw = hash_bytes(of, sizeof of, 5);

			n += snprintf(text + n, sizeof text - (size_t)n, "%s%u:%u", i ? " " : "",
			              i * (WORDS / WORDS_PAGE) + (uint32_t)(draw % (WORDS / WORDS_PAGE)),
			              (uint32_t)(draw >> 60) + 1);
		}
		m->terms[t] = (int64_t)hash_bytes(text, (size_t)n, 3);
		sqlite3_bind_int64(q, 1, m->terms[t]);
		sqlite3_bind_text(q, 2, text, n, SQLITE_TRANSIENT);
		row(q);
	}
	sqlite3_finalize(q);
}

static void put_capture(sqlite3_stmt *q, const struct made *m, uint32_t id, uint32_t page,
                        int64_t time)
{
	static int64_t keys[1 << 20];           /* of bodies, by site */
	uint32_t site = page / SITE_PAGES;
	char digest[40], title[40];

	if (!keys[site & 0xfffff]) {
		char text[1000];
		int n = 0;

		for (uint32_t i = 0; i < 5; i++) {
			n += url_of(site * SITE_PAGES + i * 100, text + n, sizeof text - (size_t)n);
			text[n++] = ' ';
		}
		keys[site & 0xfffff] = (int64_t)hash_bytes(text, (size_t)n - 1, 3);
	}
	snprintf(digest, sizeof digest, "sha1:%032u", id);
	snprintf(title, sizeof title, "The page of the number %u", page);
	sqlite3_bind_int64(q, 1, id);
	sqlite3_bind_int64(q, 2, page);
	sqlite3_bind_int64(q, 3, time);
	sqlite3_bind_text(q, 4, digest, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(q, 5, title, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(q, 6, (int64_t)hash_bytes(&id, sizeof id, 0));
	sqlite3_bind_int64(q, 7, keys[site & 0xfffff]);
	sqlite3_bind_int64(q, 8, (int64_t)id * 5000);
	sqlite3_bind_int64(q, 9, m->terms[page % TEXTS]);
	row(q);
}

static void put_visits(sqlite3 *db, struct made *m)
{
	sqlite3_stmt *visit = prepared(db, "INSERT INTO visits (id, cycle, page, time, outcome, "
		"reason, status, hit, score, probability, capture, place) VALUES (?1, ?2, ?3, ?4, "
		"?5, 1, 200, ?5, 0.5, 0.25, ?6, ?7)");
	sqlite3_stmt *capture = prepared(db, "INSERT INTO captures (id, page, time, status, "
		"revisit, mime, digest, title, simhash, length, words, outlinks, links, terms, file, "
		"offset, size) VALUES (?1, ?2, ?3, 200, 0, 'text/html', ?4, ?5, ?6, 20000, 900, 5, "
		"?7, ?9, 1, ?8, 5000)");
	uint64_t per = m->n_visits / CYCLES;
	uint32_t id = 0;

	for (uint64_t i = 0; i < per * CYCLES; i++) {
		uint32_t page = (uint32_t)(i * STRIDE % m->n_pages);
		uint64_t cycle = i / per + 1;
		bool changed = i < m->n_pages || hash_bytes(&i, sizeof i, 1) % 40 == 0;

		if (changed) {
			put_capture(capture, m, ++id, page, time_of(m, i));
			m->capture[page] = id;
			m->changed[page] = (uint32_t)time_of(m, i);
			m->changes[page] += i >= m->n_pages;
		}
		sqlite3_bind_int64(visit, 1, (int64_t)((cycle << 32) + i % per + 1));
		sqlite3_bind_int64(visit, 2, (int64_t)cycle);
		sqlite3_bind_int64(visit, 3, page);
		sqlite3_bind_int64(visit, 4, time_of(m, i));
		sqlite3_bind_int(visit, 5, changed);
		sqlite3_bind_int64(visit, 6, changed ? id : 0);
		sqlite3_bind_int64(visit, 7, (int64_t)(i % per + 1));
		row(visit);
	}
	sqlite3_finalize(visit);
	sqlite3_finalize(capture);
}

static void put_pages(sqlite3 *db, const struct made *m)
{
	sqlite3_stmt *q = prepared(db, "INSERT INTO pages (id, key, url, added, last_visit, "
		"last_change, visits, changes, capture) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");

	for (uint32_t page = 0; page < m->n_pages; page++) {
		char url[100];
		int n = url_of(page, url, sizeof url);

		sqlite3_bind_int64(q, 1, (int64_t)page + 1);
		sqlite3_bind_int64(q, 2, (int64_t)hash_bytes(url, (size_t)n, 0));
		sqlite3_bind_text(q, 3, url, n, SQLITE_TRANSIENT);
		sqlite3_bind_int64(q, 4, BEGIN);
		sqlite3_bind_int64(q, 5, time_of(m, m->n_visits - 1));
		sqlite3_bind_int64(q, 6, m->changes[page] ? m->changed[page] : 0);
		sqlite3_bind_int64(q, 7, (int64_t)(m->n_visits / m->n_pages));
		sqlite3_bind_int64(q, 8, m->changes[page]);
		sqlite3_bind_int64(q, 9, m->capture[page]);
		row(q);
	}
	sqlite3_finalize(q);
}

static void put_cycles(sqlite3 *db, const struct made *m)
{
	char text[700];

	snprintf(text, sizeof text, "INSERT INTO cycles (number, time, open, policy, seed, budget, "
		"downloads, fresh, changed, same, gone, failed, blocked, seconds_plan, "
		"seconds_total, pages) SELECT cycle, min(time), 0, 'tide', 1, count(*), count(*), "
		"sum((id - (cycle << 32) + (cycle - 1) * %llu) <= %u), sum(outcome), "
		"sum(outcome = 0), 0, 0, 0, 10, 3600, %u FROM visits GROUP BY id >> 32",
		(unsigned long long)(m->n_visits / CYCLES), m->n_pages, m->n_pages);
	sql(db, text);
	sql(db, "UPDATE cycles SET changed = changed - fresh");
	sql(db, "UPDATE counts SET captures = (SELECT count(*) FROM captures), visits = (SELECT "
	    "count(*) FROM visits), first = (SELECT min(time) FROM captures), last = (SELECT "
	    "max(time) FROM captures)");
}

static void make(const char *program, const char *dir, uint32_t n_pages, uint64_t n_visits)
{
	struct made m = { .n_pages = n_pages, .n_visits = n_visits };
	char command[2 * PATH_MAX + 100];
	sqlite3 *db;

	m.capture = calloc(n_pages, sizeof *m.capture);
	m.changed = calloc(n_pages, sizeof *m.changed);
	m.changes = calloc(n_pages, sizeof *m.changes);
	m.terms = calloc(TEXTS, sizeof *m.terms);
	if (!m.capture || !m.changed || !m.changes || !m.terms)
		exit(1);
	snprintf(command, sizeof command, "'%s' --quiet init '%s'", program, dir);
	child_must(command);
	snprintf(command, sizeof command, "%s/freshet.db", dir);
	if (sqlite3_open(command, &db) != SQLITE_OK)
		exit(1);
	sql(db, "PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA cache_size = -500000; "
	    "DROP INDEX pages_key; DROP INDEX visits_page; DROP INDEX captures_page; "
	    "DROP INDEX visits_found; BEGIN; "
	    "INSERT INTO files (id, worker, name) VALUES (1, '', 'warc/made.warc.gz')");
	put_words(db);
	put_bodies(db, &m);
	put_terms(db, &m);
	put_visits(db, &m);
	put_pages(db, &m);
	put_cycles(db, &m);
	sql(db, "COMMIT; CREATE INDEX pages_key ON pages (key); CREATE INDEX visits_page ON visits "
	    "(page); CREATE UNIQUE INDEX captures_page ON captures (page, time); "
	    "CREATE INDEX visits_found ON visits (id) WHERE outcome IN (1, 2); "
	    "PRAGMA journal_mode = wal;");
	sqlite3_close(db);
	free(m.capture);
	free(m.changed);
	free(m.changes);
	free(m.terms);
}

static void measure(const char *program, const char *dir)
{
	static const char *const typed[] = {
		"status", "status", "log", "export changed --since last", "doctor",
		"show http://www.site7.example/section3/topic0/page-7300.html",
		"plan --budget 100", "plan --budget 100",
		"explain http://www.site7.example/section3/topic0/page-7300.html",
		"report . --clusters 0 --out report.html", "report . --clusters 0 --out report.html",
		"report . --out report.html",
		"search word2300 word7777", "search word2300 word7777",
	};

	for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
		char command[2 * PATH_MAX + 300];
		struct child c;

		snprintf(command, sizeof command, "cd '%s' && exec '%s' --quiet %s >/dev/null 2>&1 "
		         "</dev/null", dir, program, typed[i]);
		c = child_run(command);
		printf("%-64s %7.2f s  processor %7.2f s  %5ld MiB%s\n", typed[i], c.wall, c.cpu,
		       c.peak_kib >> 10, c.status ? "  FAILED" : "");
		fflush(stdout);
	}
}

/* Without DIR: this program with a folder of its own, which is removed. */
static int with_folder(const char *self, const char *pages, const char *visits)
{
	char folder[] = "/tmp/freshet-bench-XXXXXX", command[PATH_MAX + 200];

	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	snprintf(command, sizeof command, "'%s' %s %s %s/d; rm -rf %s", self, pages, visits, folder,
	         folder);
	return child_run(command).status != 0;
}

int main(int argc, char **argv)
{
	const char *pages = argc > 1 ? argv[1] : "10000000", *dir = argc > 3 ? argv[3] : NULL;
	const char *visits = argc > 2 ? argv[2] : "50000000";
	char program[PATH_MAX], whole[PATH_MAX];
	double t0 = wall_now();

	child_program(argv[0], program, sizeof program);
	if (!realpath(program, whole)) {
		perror(program);
		return 1;
	}
	if (!dir)
		return with_folder(argv[0], pages, visits);
	if (access(dir, F_OK)) {
		make(whole, dir, (uint32_t)atol(pages), (uint64_t)atoll(visits));
		printf("%s pages, %s visits written in %.0f s\n", pages, visits, wall_now() - t0);
		fflush(stdout);
		execv(argv[0], argv);   /* or its own peak would count as that of the commands */
	}
	measure(whole, dir);
	return 0;
}
