/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg.h - a PostgreSQL for tests.
 *
 * scripts/run-tests starts one for all tests and names it in $FRESHET_TEST_PG.  A test that
 * runs without it starts its own at first use, which ends with the test
 * (tests/lib/postgres.sh).
 */
#ifndef TESTS_LIB_PG_H
#define TESTS_LIB_PG_H

#define PG_URL 400

/* A URL of a repository that is not there yet: each call gives another schema, which is
 * removed when the test ends. */
char *pg_url(char ret[PG_URL]);
/* Run SQL on the server, as a stranger would; false: it failed. */
int pg_sql(const char *url, const char *sql);
/* The first number that it gives; -1: it failed. */
long long pg_number(const char *url, const char *sql);

#endif
