/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that are on disk.  A repository of years ago must mean today what it meant then: so
 * each number stands here, written out, beside its name.  A new one is added at the end of
 * its table; none of those that are here may change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/numbers.h"
#include "policy/policy.h"
#include "repo/store.h"

struct pinned { int value, number; const char *name; };

#define N_OF(rows) (sizeof rows / sizeof *rows)

/* Each has its number, no number is there twice, and there are no others. */
static void check(const struct pinned *rows, size_t n, size_t n_known)
{
	assert_int_equal(n, n_known);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rows[i].value, rows[i].number);
		assert_int_equal(rows[i].number, i);
	}
}

static void test_outcomes(void **state)
{
	static const struct pinned rows[] = {
		{ OUTCOME_SAME, 0, "same" }, { OUTCOME_CHANGED, 1, "changed" },
		{ OUTCOME_GONE, 2, "gone" }, { OUTCOME_FAILED, 3, "failed" },
		{ OUTCOME_BLOCKED, 4, "blocked" },
	};

	(void)state;
	check(rows, N_OF(rows), N_OUTCOMES);
	for (size_t i = 0; i < N_OF(rows); i++)
		assert_string_equal(outcome_name((enum outcome)i), rows[i].name);
}

static void test_goals(void **state)
{
	static const struct pinned rows[] = { { GOAL_CHANGED, 0, "" }, { GOAL_ALIVE, 1, "" } };

	(void)state;
	check(rows, N_OF(rows), N_GOALS);
}

static void test_reasons(void **state)
{
	static const struct pinned rows[] = {
		{ REASON_NONE, 0, "none" }, { REASON_RANDOM, 1, "random" },
		{ REASON_TURN, 2, "turn" }, { REASON_OLDEST, 3, "oldest" },
		{ REASON_SAMPLE, 4, "sample" }, { REASON_NEIGHBOUR, 5, "neighbour" },
		{ REASON_GROUP, 6, "group" }, { REASON_RATE, 7, "rate" },
		{ REASON_CHANCE, 8, "chance" }, { REASON_EXPLORE, 9, "explore" },
		{ REASON_DUE, 10, "due" }, { REASON_RANK, 11, "rank" },
		{ REASON_GUARANTEE, 12, "guarantee" }, { REASON_FILL, 13, "fill" },
		{ REASON_TRUTH, 14, "truth" }, { REASON_NEW, 15, "new" },
		{ REASON_TOLD, 16, "told" }, { REASON_HUB, 17, "hub" },
		{ REASON_LATE, 18, "late" }, { REASON_TOUCHED, 19, "touched" },
	};

	(void)state;
	check(rows, N_OF(rows), N_REASONS);
	for (size_t i = 0; i < N_OF(rows); i++)
		assert_string_equal(reason_name((unsigned)i), rows[i].name);
}

static void test_causes(void **state)
{
	static const struct pinned rows[] = {
		{ CAUSE_NONE, 0, "none" }, { CAUSE_STATUS, 1, "status" },
		{ CAUSE_CONNECT, 2, "connect" }, { CAUSE_TIMEOUT, 3, "timeout" },
		{ CAUSE_TLS, 4, "tls" }, { CAUSE_DNS, 5, "dns" },
		{ CAUSE_RESET, 6, "reset" }, { CAUSE_ROBOTS, 7, "robots" },
		{ CAUSE_BACKOFF, 8, "backoff" }, { CAUSE_GATE, 9, "gate" },
		{ CAUSE_PORT, 10, "port" }, { CAUSE_BUDGET, 11, "budget" },
		{ CAUSE_TOO_LARGE, 12, "too-large" },
		{ CAUSE_PROTOCOL, 13, "protocol" }, { CAUSE_REDIRECT, 14, "redirect" },
		{ CAUSE_BAD_URL, 15, "bad-url" }, { CAUSE_LAPSED, 16, "lapsed" },
		{ CAUSE_STOPPED, 17, "stopped" }, { CAUSE_OTHER, 18, "other" },
		{ CAUSE_CRAWL_DELAY, 19, "crawl-delay" }, { CAUSE_TYPE, 20, "type" },
		{ CAUSE_MOVED, 21, "moved" }, { CAUSE_READER, 22, "reader" },
	};

	(void)state;
	check(rows, N_OF(rows), 0
#define CAUSE(code, number, name, text) + 1
#include "base/cause.def"
#undef CAUSE
	     );
	for (size_t i = 0; i < N_OF(rows); i++)
		assert_string_equal(cause_name((unsigned)i), rows[i].name);
}

static void test_states(void **state)
{
	static const struct pinned pages[] = {
		{ STORE_PAGE_HERE, 0, "here" }, { STORE_PAGE_GONE, 1, "gone" },
		{ STORE_PAGE_LEFT, 2, "left" },
	};
	static const struct pinned leases[] = {
		{ STORE_LEASE_OUT, 0, "" }, { STORE_LEASE_TOLD, 1, "" },
		{ STORE_LEASE_GIVEN_BACK, 2, "" }, { STORE_LEASE_LAPSED, 3, "" },
		{ STORE_LEASE_DROPPED, 4, "" },
	};

	(void)state;
	check(pages, N_OF(pages), N_STORE_PAGE_STATES);
	check(leases, N_OF(leases), N_STORE_LEASE_STATES);
	for (size_t i = 0; i < N_OF(pages); i++)
		assert_string_equal(store_state_name((unsigned)i), pages[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_goals),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_causes),
		cmocka_unit_test(test_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
