/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages that the user takes out while a cycle is open for other crawlers: no program is
 * offered them any more, what is told of one that was offered is taken, and programs that
 * keep their engine offer what programs that were killed do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "engine/book/care.h"
#include "../../../lib/client_desk.h"

#define OUT 60                  /* pages 0 .. OUT - 1 are paused, every other one removed */

static void take_out(struct client_desk *b, bool back)
{
	struct care_writing w = { .store = b->store[2], .now = DESK_NOW };
	struct care_pages p = { 0 };
	uint64_t n;

	for (uint32_t i = 0; i < OUT; i++)
		vec_push(&p.pages, ((struct care_page){ i, back ? (i % 2 ? 1 : 2) : 0 }));
	for (uint32_t i = 0; i < OUT; i++) {
		struct care_pages one = { 0 };

		vec_push(&one.pages, p.pages.v[i]);
		assert_int_equal(care_change(&w, &one, back ? 0 : i % 2 ? CARE_REMOVED : CARE_PAUSED,
		                             back ? CARE_ALL : 0, &n, NULL), 0);
		assert_int_equal(n, 1);
		care_pages_release(&one);
	}
	care_pages_release(&p);
}

/* The pages offered in a cycle, in order; some are told before others are taken out. */
static size_t run(const char *policy, bool killed, uint32_t ret[DESK_PAGES])
{
	struct client_asking a = { .want = 4, .now = DESK_NOW };
	char leases[DESK_PAGES][LEDGER_ID_SIZE];
	struct client_desk b;
	size_t n = 0, told = 0;

	desk_open(&b, policy);
	for (int round = 0; round < 30; round++) {
		struct client_asked asked;

		desk_use(&b, (unsigned)round % 2);
		if (killed)
			desk_kill(&b);
		if (round == 3)
			take_out(&b, false);
		if (round == 6)
			take_out(&b, true);
		a.now += 40;
		asked = desk_ask(&b, &a);
		for (size_t i = 0; i < asked.n; i++, n++) {
			ret[n] = desk_page(asked.offers[i].url);
			memcpy(leases[n], asked.offers[i].lease, LEDGER_ID_SIZE);
			assert_true(round < 3 || round >= 6 || ret[n] >= OUT);
		}
		/* those of two asks ago: some of them were taken out meanwhile */
		for (; told + 8 < n || (told < n && !asked.n); told++) {
			struct told t = desk_told();

			desk_text(&t.lease, leases[told]);
			t.outcome = OUTCOME_SAME;
			assert_int_equal(desk_tell(&b, &t, a.now).n_lines, 1);
		}
		if (asked.answer == CLIENT_DONE && told == n)
			break;
	}
	assert_int_equal(told, n);
	desk_close(&b);
	return n;
}

static void pages_leave_an_open_cycle(void **state)
{
	static const char *const policies[] = { "random", "oldest", "tide", "site" };

	(void)state;
	for (size_t k = 0; k < sizeof policies / sizeof *policies; k++) {
		uint32_t kept[DESK_PAGES], killed[DESK_PAGES];
		size_t n = run(policies[k], false, kept), m = run(policies[k], true, killed);

		assert_true(n > 12 && n <= DESK_BUDGET);
		assert_int_equal(n, m);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(kept[i], killed[i]);
			for (size_t j = 0; j < i; j++)
				assert_int_not_equal(kept[i], kept[j]);
		}
	}
}

/* Without an offer, a page that was removed is no longer known to us. */
static void a_removed_page_is_told_of(void **state)
{
	struct care_pages p = { 0 };
	struct client_desk b;
	struct told t = desk_told();
	struct tell_stats s;
	uint64_t n;

	(void)state;
	desk_open(&b, "random");
	vec_push(&p.pages, ((struct care_page){ 7, 0 }));
	assert_int_equal(care_change(&(struct care_writing){ .store = b.store[1] }, &p, CARE_REMOVED,
	                             0, &n, NULL), 0);
	desk_text(&t.url, desk_url(7));
	t.outcome = OUTCOME_CHANGED;
	s = desk_tell(&b, &t, DESK_NOW);
	assert_int_equal(s.n_lines, 0);
	assert_int_equal(s.n_unknown, 1);
	t.add = true;
	s = desk_tell(&b, &t, DESK_NOW + 1);
	assert_int_equal(s.n_lines, 1);
	care_pages_release(&p);
	desk_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_leave_an_open_cycle),
		cmocka_unit_test(a_removed_page_is_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
