/* SPDX-License-Identifier: Apache-2.0 */
/* COPY into PostgreSQL waits only for what is left to send: a server that reads slowly makes us
 * wait, and says nothing when it has caught up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdbool.h>

#include "../../../lib/pg.h"

#define PARTS 20
#define PART_BYTES 70000       /* more than what libpq is given at a time */

static bool is_busy, puts_rows;

/* Every second time it says that something is left: the server takes it just after that. */
static int flush_late(PGconn *conn)
{
	int left = PQflush(conn);

	is_busy = !is_busy;
	return left == 0 && is_busy ? 1 : left;
}

static int put_data(PGconn *conn, const char *data, int size)
{
	puts_rows = true;
	return PQputCopyData(conn, data, size);
}

static int put_end(PGconn *conn, const char *why)
{
	puts_rows = false;
	return PQputCopyEnd(conn, why);
}

/* While rows go out, the server has nothing to say. */
static int poll_noted(struct pollfd *p, nfds_t n, int ms)
{
	assert_true(!puts_rows || p->events & POLLOUT);
	return poll(p, n, ms);
}

#define PQflush flush_late
#define PQputCopyData put_data
#define PQputCopyEnd put_end
#define poll poll_noted
#include "repo/wire/link.c"
#undef poll

static void test_copy_to_a_slow_server(void **state)
{
	char url[PG_URL], *rows = malloc(PARTS * PART_BYTES);
	struct pg_target target;
	struct pg_link l = { .target = &target };
	PGresult *r = NULL;
	struct err err;

	(void)state;
	for (size_t i = 0; i < PARTS * PART_BYTES; i++)
		rows[i] = i % 2 ? '\n' : 'x';
	assert_int_equal(pg_target_parse(&target, pg_url(url), &err), 0);
	assert_int_equal(pg_link_connect(&l, &err), 0);
	assert_int_equal(pg_link_run(&l, "CREATE TEMP TABLE t (x text)", NULL, &err), 0);
	assert_int_equal(pg_link_copy(&l, "COPY t FROM STDIN", rows, PARTS * PART_BYTES, &err), 0);
	assert_int_equal(pg_link_run(&l, "SELECT count(*) FROM t WHERE x = 'x'", &r, &err), 0);
	assert_int_equal(atoi(pg_link_cell(r, 0)), PARTS * PART_BYTES / 2);
	PQclear(r);
	pg_link_close(&l);
	pg_target_release(&target);
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_copy_to_a_slow_server) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
