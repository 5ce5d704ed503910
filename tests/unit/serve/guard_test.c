/* SPDX-License-Identifier: Apache-2.0 */
/* The rate of clients: each has its own, whatever others do, and whoever they say they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "serve/guard.h"
#include "serve/http/head.h"

/* what the guard says to clients is not looked at here */
const char *http_header(const struct http_request *r, const char *name)
{
	(void)r;
	(void)name;
	return NULL;
}

struct text head_host(const char *host)
{
	(void)host;
	return (struct text){ 0 };
}

void http_problem(struct http_answer *a, int status, const char *fmt, ...)
{
	(void)fmt;
	a->status = status;
}

void http_answer_header(struct http_answer *a, const char *name, const char *fmt, ...)
{
	(void)a;
	(void)name;
	(void)fmt;
}

/* How many of n requests at one moment are let in. */
static unsigned let_in(struct guard *g, const char *client, double now, unsigned n)
{
	struct http_answer a = { 0 };
	unsigned in = 0;

	for (unsigned i = 0; i < n; i++)
		in += guard_rate(g, client, now, &a);
	return in;
}

static void test_rate(void **state)
{
	struct guard *g = guard_new(2);

	(void)state;
	assert_int_equal(let_in(g, "alpha", 0, 100), 2 * GUARD_BURST);
	assert_int_equal(let_in(g, "beta", 0, 1), 1);
	assert_int_equal(let_in(g, "alpha", 3, 100), 6);
	assert_int_equal(let_in(g, "alpha", 1000, 100), 2 * GUARD_BURST);
	guard_free(g);
}

/* An IPv6 /64 is one client; two of them, and IPv4 addresses, are not. */
static void test_networks(void **state)
{
	struct guard *g = guard_new(2);
	unsigned in = 0;
	char name[64];

	(void)state;
	for (unsigned i = 0; i < 500; i++) {
		snprintf(name, sizeof name, "2001:db8:1:2::%x", i);
		in += let_in(g, name, 0, 1);
	}
	assert_int_equal(in, 2 * GUARD_BURST);
	assert_int_equal(let_in(g, "2001:db8:1:3::1", 0, 1), 1);
	for (unsigned i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "%s10.0.0.%u", i % 2 ? "::ffff:" : "", i);
		assert_int_equal(let_in(g, name, 0, 1), 1);
	}
	guard_free(g);
}

/* More clients than there are buckets: who is known keeps his, and the room comes back. */
static void test_many(void **state)
{
	struct guard *g = guard_new(2);
	char name[64];

	(void)state;
	assert_int_equal(let_in(g, "alpha", 0, 3), 3);
	for (unsigned i = 0; i < 40000; i++) {
		snprintf(name, sizeof name, "2001:db8:%x:%x::1", i >> 8, i & 255);
		let_in(g, name, 0, 2 * GUARD_BURST);
	}
	assert_int_equal(let_in(g, "alpha", 0, 100), 2 * GUARD_BURST - 3);
	assert_int_equal(let_in(g, "late", 0, 1), 0);          /* shares one, which is empty */
	assert_int_equal(let_in(g, "late", 2 * GUARD_BURST, 100), 2 * GUARD_BURST);
	guard_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate), cmocka_unit_test(test_networks),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
