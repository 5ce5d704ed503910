/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_store_pg - the store on PostgreSQL against SQLite, both in the same run: import of
 * 1,000,000 URLs (at least 50,000/s), opening them (at most 3 s), rows one by one, and a plan of
 * one page in a hundred by `freshet plan`.
 * `bench_fetch postgres` has the whole of a cycle on both.  The server is our own, as Debian's
 * package sets it up (tests/lib/postgres.sh), with fsync.
 *
 *     bench_store_pg [PAGES]          bench_store_pg_big: 10,000,000
 *
 * More than 1,000,000 pages: PostgreSQL alone, and each thing once.
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
#include "child.h"

#define USUAL 1000000
#define BATCH 200000            /* as `freshet import` has it */
#define GETS 2000
#define URL_MAX 80

struct times {
	double import, again, open, get, size;
	double ours, server;            /* processor time of all but the plan, seconds */
	struct child plan;
};

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

/* Processor time of the server's processes that have ended, in seconds; 0: there is none. */
static double server_cpu(const char *url)
{
	long long pid = url ? pg_number(url, "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', "
	                                "1)::int8") : 0;
	unsigned long user = 0, system = 0;
	char path[40], line[1000], *p;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%lld/stat", pid);
	if (pid <= 0 || !(f = fopen(path, "r")))
		return 0;
	p = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
	if (p && sscanf(p, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %lu %lu", &user,
	                &system) != 2)
		user = system = 0;
	fclose(f);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static struct times run(const char *where, const char *pg, const char *program, uint32_t n)
{
	struct times t = { .ours = cpu_now() };
	char command[PG_URL + 5000];
	struct store_page p;
	uint32_t seen = 0;
	struct store *s;
	struct err err;

	must(store_open(&s, where, STORE_CREATE, &err), &err);
	t.import = wall_now();
	import(s, n);
	t.import = wall_now() - t.import;
	t.again = wall_now();
	if (n <= USUAL)
		import(s, n);           /* all are known */
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
	t.ours = cpu_now() - t.ours;
	t.server = server_cpu(pg);
	snprintf(command, sizeof command, "%s --store '%s%s' plan --policy tide --budget 1%% --json > "
	         "/dev/null", program, pg ? "" : "sqlite:", where);
	t.plan = child_must(command);
	return t;
}

static void print(const char *name, const struct times *t, uint32_t n)
{
	printf("  %-11s import %8.0f URLs/s, ", name, n / t->import);
	if (n <= USUAL)
		printf("again %8.0f/s; ", n / t->again);
	printf("open %u pages in %5.2f s; a row by itself %6.1f us; %.0f MB\n", n, t->open,
	       t->get * 1e6, t->size / 1e6);
	printf("  %-11s processor time of that: ours %.1f s, the server's %.1f s; plan %.1f s (processor "
	       "%.1f s, %.0f MB)\n", "", t->ours, t->server, t->plan.wall, t->plan.cpu,
	       (double)t->plan.peak_kib / 1024);
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : USUAL;
	char folder[] = "/tmp/freshet-bench-XXXXXX", db[100], url[PG_URL], clean[120], program[4096];
	struct times lite = { 0 }, pg;
	struct stat st;

	setenv("PG_FSYNC", "on", 0);
	setenv("PG_BUFFERS", "128MB", 0);
	if (!mkdtemp(folder))
		return 1;
	snprintf(db, sizeof db, "%s/db", folder);
	snprintf(program, sizeof program, "%.*s../freshet -C %s", (int)(strrchr(argv[0], '/') ?
	         strrchr(argv[0], '/') + 1 - argv[0] : 0), argv[0], folder);
	if (n <= USUAL) {
		lite = run(db, NULL, program, n);
		lite.size = stat(db, &st) ? 0 : (double)st.st_size;
	}
	remove(db);                     /* it is large */
	pg = run(pg_url(url), url, program, n);
	snprintf(clean, sizeof clean, "rm -rf '%s'", folder);
	if (system(clean))
		return 1;
	pg.size = (double)pg_number(url, "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c "
	                            "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname "
	                            "= current_schema() AND c.relkind = 'r'");
	if (n <= USUAL)
		print("SQLite", &lite, n);
	print("PostgreSQL", &pg, n);
	if (n > USUAL)
		return 0;
	printf("  ratio of PostgreSQL to SQLite: import %.2f (target: 50,000 URLs/s), again %.2f, "
	       "open %.2f (target: 3 s)\n", lite.import / pg.import, lite.again / pg.again,
	       lite.open / pg.open);
	printf("  plans: %.2f of SQLite's speed\n", lite.plan.wall / pg.plan.wall);
	return 0;
}
