/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_copy_pg - the two ways of many rows into PostgreSQL, both in one run: arrays, one for
 * each column (INSERT ... SELECT FROM unnest(), which the store does with few), and binary COPY
 * (with many).  The rows are new pages, in the store's own table with its indexes; batches of both
 * ways take turns.
 *
 *     bench_copy_pg [PAGES]
 */
#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "repo/wire/args.h"
#include "repo/wire/sql.h"
#include "repo/store.h"
#include "../tests/lib/pg.h"
#include "clock.h"

#define BATCH 200000            /* rows of a transaction, as `freshet import` has it */
#define PART 20000              /* of a statement: repo/pg/batch.c */

struct times { double wall, client, server; };

static void die(PGconn *c, const char *what)
{
	fprintf(stderr, "%s: %s", what, PQerrorMessage(c));
	exit(1);
}

static void run(PGconn *c, const char *sql)
{
	PGresult *r = PQexec(c, sql);

	if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK)
		die(c, sql);
	PQclear(r);
}

/* Processor time of the server's process, in seconds. */
static double server_cpu(PGconn *c)
{
	char path[40], line[1000], *p;
	unsigned long user = 0, system = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", PQbackendPID(c));
	f = fopen(path, "r");
	p = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
	if (!p || sscanf(p, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
	                 &system) != 2)
		die(c, path);
	fclose(f);
	return (double)(user + system) / 100;
}

/* New pages from..., as the store writes them, a statement for each PART. */
static void put_rows(PGconn *c, uint32_t from, uint32_t n,
                     void (*send)(PGconn *, struct pg_rows *, struct pg_args *))
{
	struct pg_rows r = { .types = "iitiiiiiisiiiirtsiiii" };
	struct pg_args a = { 0 };

	for (uint32_t i = from; i < from + n; i++) {
		char url[80];
		size_t size = (size_t)snprintf(url, sizeof url, "http://www.site%u.example/section%u/"
		                               "page-%u.html", i % 1000, i / 7919 % 50, i);

		pg_rows_int(&r, i);
		pg_rows_int(&r, (int64_t)hash_bytes(url, size, 0));
		pg_rows_text(&r, (struct text){ url, size });
		for (int k = 0; k < 11; k++)
			pg_rows_int(&r, k == 0);
		pg_rows_real(&r, 1);
		pg_rows_text(&r, (struct text){ 0 });
		for (int k = 0; k < 5; k++)
			pg_rows_int(&r, 0);
		if (r.n == PART || i + 1 == from + n) {
			pg_args_clear(&a);
			send(c, &r, &a);
		}
	}
	pg_rows_release(&r);
	pg_args_release(&a);
}

static void send_arrays(PGconn *c, struct pg_rows *r, struct pg_args *a)
{
	const char *values[PG_ARGS_MAX];
	int sizes[PG_ARGS_MAX], formats[PG_ARGS_MAX];
	PGresult *result;

	pg_args_int(a, 1);              /* the shard */
	pg_rows_take(r, a);
	for (int k = 0; k < a->n; k++) {
		values[k] = a->bytes.data + a->arg[k].from;
		sizes[k] = a->arg[k].size;
		formats[k] = 1;
	}
	result = PQexecPrepared(c, "arrays", a->n, values, sizes, formats, 1);
	if (PQresultStatus(result) != PGRES_COMMAND_OK)
		die(c, "arrays");
	PQclear(result);
}

static void send_copy(PGconn *c, struct pg_rows *rows, struct pg_args *a)
{
	PGresult *r = PQexec(c, pg_sql_texts[PG_PAGE_COPY]);

	if (PQresultStatus(r) != PGRES_COPY_IN || !pg_rows_copy(rows, 2, a))
		die(c, "COPY");
	PQclear(r);
	if (PQputCopyData(c, a->bytes.data, a->arg[0].size) != 1 || PQputCopyEnd(c, NULL) != 1)
		die(c, "COPY");
	while ((r = PQgetResult(c))) {
		if (PQresultStatus(r) != PGRES_COMMAND_OK)
			die(c, "COPY");
		PQclear(r);
	}
}

static void by_arrays(PGconn *c, uint32_t from, uint32_t n)
{
	put_rows(c, from, n, send_arrays);
}

static void by_copy(PGconn *c, uint32_t from, uint32_t n)
{
	put_rows(c, from, n, send_copy);
}

static void timed(PGconn *c, void (*way)(PGconn *, uint32_t, uint32_t), uint32_t from,
                  uint32_t n, struct times *t)
{
	double wall = wall_now(), client = cpu_now(), server = server_cpu(c);

	run(c, "BEGIN");
	way(c, from, n);
	run(c, "COMMIT");
	t->wall += wall_now() - wall;
	t->client += cpu_now() - client;
	t->server += server_cpu(c) - server;
}

static void print(const char *name, const struct times *t, uint32_t n)
{
	printf("  %-7s %8.0f rows/s; processor: ours %5.2f s, the server's %5.2f s\n", name,
	       n / t->wall, t->client, t->server);
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000000;
	struct times arrays = { 0 }, copy = { 0 };
	char url[PG_URL], plain[PG_URL], path[100];
	struct store *s;
	struct err err;
	PGconn *c;
	char *ours;

	setenv("PG_FSYNC", "on", 0);
	setenv("PG_BUFFERS", "128MB", 0);
	if (store_open(&s, pg_url(url), STORE_CREATE, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	store_close(s);
	snprintf(plain, sizeof plain, "%s", url);
	ours = strstr(plain, "&schema=");
	snprintf(path, sizeof path, "SET search_path TO %s", ours + strlen("&schema="));
	path[strcspn(path, "&")] = '\0';
	*ours = '\0';
	c = PQconnectdb(plain);
	if (PQstatus(c) != CONNECTION_OK)
		die(c, "connect");
	run(c, path);
	PQclear(PQprepare(c, "arrays", pg_sql_texts[PG_PAGE_INSERT], 0, NULL));
	for (uint32_t from = 0; from < n; from += BATCH) {
		uint32_t count = n - from < BATCH ? n - from : BATCH;

		timed(c, by_arrays, from, count, &arrays);
		timed(c, by_copy, from, count, &copy);
	}
	print("arrays", &arrays, n);
	print("COPY", &copy, n);
	printf("  ratio of COPY to arrays: rows/s %.2f, processor time %.2f\n",
	       arrays.wall / copy.wall, (copy.client + copy.server) /
	       (arrays.client + arrays.server));
	PQfinish(c);
	return 0;
}
