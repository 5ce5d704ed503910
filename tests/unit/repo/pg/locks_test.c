/* SPDX-License-Identifier: Apache-2.0 */
/* Who may write: the lock of a repository and of a batch, and what a program may still do
 * that lost its connection. */
#include <math.h>
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

#include "repo/store.h"
#include "../../../lib/pg.h"

static char url[PG_URL], name[40];

static struct store *open_one(enum store_mode mode)
{
	struct store *s;
	struct err err;

	if (store_open(&s, url, mode, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static int setup(void **state)
{
	pg_url(url);
	*state = open_one(STORE_CREATE);
	return 0;
}

static int teardown(void **state)
{
	store_close(*state);
	return 0;
}

static void add(struct store *s, const char *address, uint32_t number)
{
	struct err err;
	uint32_t got = STORE_NONE;

	if (store_page_add(s, (struct text){ address, strlen(address) }, 7, &got, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(got, number);
}

static uint64_t count(void)
{
	struct store *s = open_one(STORE_READ);
	struct store_counts c;
	struct err err;

	assert_int_equal(store_count(s, &c, &err), 0);
	store_close(s);
	return c.pages;
}

/* All connections of freshet to this database but our own new one are cut. */
static void cut_all(void)
{
	char sql[300];

	snprintf(sql, sizeof sql, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
	         "application_name = '%s' AND pid <> pg_backend_pid()", name);
	assert_true(pg_sql(url, sql));
}

static void test_the_second_is_told_who_was_first(void **state)
{
	struct store *first = *state, *second = open_one(STORE_EXISTING);
	char process[40], host[100] = "";
	struct err err;

	assert_int_equal(store_lock(first, &err), 0);
	assert_int_equal(store_lock(first, &err), 0);           /* has it already */
	assert_int_equal(store_lock(second, &err), E_BUSY);
	snprintf(process, sizeof process, "process %d on ", (int)getpid());
	gethostname(host, sizeof host - 1);
	assert_non_null(strstr(err.text, process));
	assert_non_null(strstr(err.text, host));
	store_unlock(first);
	assert_int_equal(store_lock(second, &err), 0);
	assert_int_equal(store_lock(first, &err), E_BUSY);
	store_close(second);
}

/* A connection ends at the server some time after it is closed; the lock does not wait for that. */
static void test_the_lock_of_a_closed_store_is_free(void **state)
{
	struct store *next = *state;
	struct err err;

	for (int i = 0; i < 100; i++) {
		struct store *s = open_one(STORE_EXISTING);

		assert_int_equal(store_lock(s, &err), 0);
		store_close(s);
		assert_int_equal(store_lock(next, &err), 0);
		store_unlock(next);
	}
}

static void test_the_lock_of_a_killed_program_is_free(void **state)
{
	struct store *s = *state;
	struct err err;
	char c;
	int said[2], rc = E_BUSY;
	pid_t child;

	assert_int_equal(pipe(said), 0);
	child = fork();
	if (!child) {
		struct store *own;

		if (store_open(&own, url, STORE_EXISTING, &err) < 0 || store_lock(own, &err) < 0 ||
		    write(said[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(said[0], &c, 1), 1);
	assert_int_equal(store_lock(s, &err), E_BUSY);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	for (int i = 0; i < 500 && rc == E_BUSY; i++, usleep(20000))
		rc = store_lock(s, &err);
	assert_int_equal(rc, 0);
	close(said[0]);
	close(said[1]);
}

/* Others may write between two batches, and wait for one that is open. */
static void test_batches_of_two_programs(void **state)
{
	struct store *a = *state, *b = open_one(STORE_EXISTING);
	struct err err;

	assert_int_equal(store_lock(a, &err), 0);
	assert_int_equal(store_begin(a, &err), 0);
	add(a, "http://a/", 0);
	assert_int_equal(count(), 0);
	assert_int_equal(store_begin(b, &err), E_BUSY);         /* lock_timeout: 300 ms here */
	assert_int_equal(store_commit(a, &err), 0);
	assert_int_equal(store_begin(b, &err), 0);
	add(b, "http://b/", 1);
	add(b, "http://a/", 0);
	assert_int_equal(store_commit(b, &err), 0);
	assert_int_equal(store_begin(a, &err), 0);
	add(a, "http://b/", 1);                                 /* what a knew is not enough */
	add(a, "http://c/", 2);
	store_rollback(a);
	assert_int_equal(count(), 2);
	store_close(b);
}

static void test_a_batch_is_sent_again(void **state)
{
	struct store *s = *state;
	struct err err;

	assert_int_equal(store_lock(s, &err), 0);
	assert_int_equal(store_begin(s, &err), 0);
	add(s, "http://a/", 0);
	cut_all();
	add(s, "http://b/", 1);
	if (store_commit(s, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(count(), 2);
}

/* Who was away while another wrote must not write over it. */
static void test_a_batch_that_came_too_late(void **state)
{
	struct store *s = *state, *other;
	struct err err;

	assert_int_equal(store_begin(s, &err), 0);
	add(s, "http://a/", 0);
	cut_all();
	other = open_one(STORE_EXISTING);
	assert_int_equal(store_begin(other, &err), 0);
	add(other, "http://z/", 0);
	assert_int_equal(store_commit(other, &err), 0);
	assert_int_equal(store_commit(s, &err), E_STORE);
	assert_non_null(strstr(err.text, "another program wrote"));
	store_rollback(s);
	assert_int_equal(count(), 1);
	assert_int_equal(store_begin(s, &err), 0);              /* and goes on from there */
	add(s, "http://a/", 1);
	assert_int_equal(store_commit(s, &err), 0);
	assert_int_equal(count(), 2);
	store_close(other);
}

/* A lock that another took meanwhile is not had any more. */
static void test_a_lock_that_was_lost(void **state)
{
	struct store *s = *state, *other;
	struct err err;

	assert_int_equal(store_lock(s, &err), 0);
	cut_all();
	other = open_one(STORE_EXISTING);
	for (int i = 0; i < 500 && store_lock(other, &err) < 0; i++)
		usleep(20000);
	assert_int_equal(store_begin(s, &err), E_BUSY);
	store_close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_second_is_told_who_was_first, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_lock_of_a_closed_store_is_free, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_lock_of_a_killed_program_is_free, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(test_batches_of_two_programs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_batch_is_sent_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_batch_that_came_too_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_lock_that_was_lost, setup, teardown),
	};

	/* as a user may set it; the name lets cut_all() find us */
	setenv("PGOPTIONS", "-c lock_timeout=300", 1);
	snprintf(name, sizeof name, "locks_test_%d", (int)getpid());
	setenv("PGAPPNAME", name, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
