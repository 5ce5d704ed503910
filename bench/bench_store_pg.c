/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_store_pg - the store on PostgreSQL against SQLite, both in the same run: import of
 * 1,000,000 URLs (at least 50,000/s), opening them (at most 3 s), and rows one by one.
 * `bench_fetch postgres` has the whole of a cycle on both.  The server is our own, as Debian's
 * package sets it up (tests/lib/postgres.sh), with fsync.
 *
 *     bench_store_pg [PAGES]          bench_store_pg_big: 10,000,000
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "repo/store.h"
#include "../tests/lib/pg.h"
#include "clock.h"

#define BATCH 200000            /* as `freshet import` has it */
#define GETS 2000
#define URL_MAX 80

struct times { double import, again, open, get, size; };

static void must(int rc, const struct err *err)
{
	if (rc < 0) {
		fprintf(stderr, "%s\n", err->text);
		exit(1);
	}
}

static void import(struct store *s, uint32_t n)
{
	struct store_page *rows = mem_array(BATCH, sizeof *rows);
	char (*urls)[URL_MAX] = mem_array(BATCH, sizeof *urls);
	bool *fresh = mem_array(BATCH, sizeof *fresh);
	struct err err;

	for (uint32_t from = 0; from < n; from += BATCH) {
		uint32_t count = n - from < BATCH ? n - from : BATCH;

		for (uint32_t i = 0; i < count; i++) {
			int size = snprintf(urls[i], URL_MAX, "http://www.site%u.example/section%u/page-%u"
			                    ".html", (from + i) % 1000, (from + i) / 7919 % 50, from + i);

			rows[i] = (struct store_page){ .url = { urls[i], (size_t)size }, .added = 1,
			                               .weight = 1 };
		}
		must(store_begin(s, &err), &err);
		must(store_pages_add(s, rows, count, fresh, &err), &err);
		must(store_commit(s, &err), &err);
	}
	free(rows);
	free(urls);
	free(fresh);
}

static int count_page(void *arg, const struct store_page *p, struct err *err)
{
	(void)p, (void)err;
	++*(uint32_t *)arg;
	return 0;
}

static struct times run(const char *where, uint32_t n)
{
	struct times t = { 0 };
	struct store_page p;
	uint32_t seen = 0;
	struct store *s;
	struct err err;

	must(store_open(&s, where, STORE_CREATE, &err), &err);
	t.import = wall_now();
	import(s, n);
	t.import = wall_now() - t.import;
	t.again = wall_now();
	import(s, n);                   /* all are known */
	t.again = wall_now() - t.again;
	store_close(s);
	t.open = wall_now();
	must(store_open(&s, where, STORE_READ, &err), &err);
	must(store_pages(s, 0, count_page, &seen, &err), &err);
	t.open = wall_now() - t.open;
	if (seen != n) {
		fprintf(stderr, "%s: %u pages, not %u\n", where, seen, n);
		exit(1);
	}
	t.get = wall_now();
	for (uint32_t i = 0; i < GETS; i++)
		must(store_page_get(s, (uint32_t)((uint64_t)i * 7919 % n), &p, &err), &err);
	t.get = (wall_now() - t.get) / GETS;
	store_close(s);
	return t;
}

static void print(const char *name, const struct times *t, uint32_t n)
{
	printf("  %-11s import %8.0f URLs/s, again %8.0f/s; open %u pages in %5.2f s; a row by "
	       "itself %6.1f us; %.0f MB\n", name, n / t->import, n / t->again, n, t->open,
	       t->get * 1e6, t->size / 1e6);
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000000;
	char folder[] = "/tmp/freshet-bench-XXXXXX", db[100], url[PG_URL], clean[120];
	struct times lite, pg;
	struct stat st;

	setenv("PG_FSYNC", "on", 0);
	setenv("PG_BUFFERS", "128MB", 0);
	if (!mkdtemp(folder))
		return 1;
	snprintf(db, sizeof db, "%s/db", folder);
	lite = run(db, n);
	lite.size = stat(db, &st) ? 0 : (double)st.st_size;
	snprintf(clean, sizeof clean, "rm -rf '%s'", folder);
	if (system(clean))
		return 1;
	pg = run(pg_url(url), n);
	pg.size = (double)pg_number(url, "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c "
	                            "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname "
	                            "= current_schema() AND c.relkind = 'r'");
	print("SQLite", &lite, n);
	print("PostgreSQL", &pg, n);
	printf("  ratio of PostgreSQL to SQLite: import %.2f (target: 50,000 URLs/s), again %.2f, "
	       "open %.2f (target: 3 s)\n", lite.import / pg.import, lite.again / pg.again,
	       lite.open / pg.open);
	return 0;
}
