/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other crawlers on one repository: every rule of engine/client/client.h, by interleaving.
 *
 * The oracle is a second book that knows nothing of ledger and engine: it counts requests
 * and remembers which page is in whose hands.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "../../../lib/client_desk.h"

#define STEPS 120

/* ---- the second book ---- */

enum hand { NOWHERE, OUT, TOLD, LAPSED };

struct held { char lease[LEDGER_ID_SIZE]; int client; int64_t until; uint32_t requests; };

struct book {
	struct client_desk *desk;
	uint8_t hand[DESK_PAGES];
	struct held held[DESK_PAGES];
	uint32_t spent;                 /* told and lapsed */
	int64_t now;
	VEC(uint32_t) offered;          /* pages, in the order offered */
};

static uint32_t out_requests(const struct book *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < DESK_PAGES; i++)
		n += b->hand[i] == OUT ? b->held[i].requests : 0;
	return n;
}

static void lapse_due(struct book *b)
{
	for (uint32_t i = 0; i < DESK_PAGES; i++)
		if (b->hand[i] == OUT && b->held[i].until <= b->now) {
			b->hand[i] = LAPSED;
			b->spent += b->held[i].requests;
		}
}

static void check_offer(struct book *b, const struct client_offer *o, int client)
{
	uint32_t page = desk_page(o->url);

	if (o->again) {
		assert_int_equal(b->hand[page], OUT);
		assert_int_equal(b->held[page].client, client);
		assert_string_equal(b->held[page].lease, o->lease);
		return;
	}
	assert_int_equal(b->hand[page], NOWHERE);
	b->hand[page] = OUT;
	b->held[page] = (struct held){ .client = client, .until = o->until,
	                               .requests = o->max_requests };
	snprintf(b->held[page].lease, sizeof b->held[page].lease, "%s", o->lease);
	assert_true(o->max_requests >= 1);
	assert_true(b->spent + out_requests(b) <= DESK_BUDGET);
	vec_push(&b->offered, page);
}

static void ask(struct book *b, struct rng *r, int client)
{
	static const char *const names[] = { "", "alpha", "beta", "gamma" };
	struct client_asking a = { .name = names[client], .want = 1 + (uint32_t)rng_below(r, 6),
	                           .now = b->now, .seconds = 60 + (int64_t)rng_below(r, 400),
	                           .max_requests = 1 + (uint32_t)rng_below(r, 3) };
	struct client_asked got = desk_ask(b->desk, &a);
	uint32_t mine = 0, again = 0;

	lapse_due(b);
	for (uint32_t i = 0; i < DESK_PAGES; i++)
		mine += client && b->hand[i] == OUT && b->held[i].client == client;
	for (size_t i = 0; i < got.n; i++) {
		assert_true(!got.offers[i].again || again == i);        /* these come first */
		again += got.offers[i].again;
		check_offer(b, &got.offers[i], client);
	}
	assert_int_equal(again, mine < a.want ? mine : a.want);
	assert_true(got.n <= a.want);
}

static void tell(struct book *b, struct rng *r)
{
	uint32_t page = (uint32_t)rng_below(r, DESK_PAGES), requests;
	struct told t = desk_told();
	struct tell_stats stats;
	bool by_url, known, release;

	for (uint32_t i = 0; i < DESK_PAGES && b->hand[page] == NOWHERE; i++)
		page = (page + 1) % DESK_PAGES;
	lapse_due(b);
	known = b->hand[page] == OUT || b->hand[page] == LAPSED;
	by_url = !*b->held[page].lease || rng_below(r, 3) == 0;
	release = rng_below(r, 4) == 0 && b->hand[page] != NOWHERE;
	requests = known ? 1 + (uint32_t)rng_below(r, b->held[page].requests) : 1;
	if (b->hand[page] == NOWHERE && b->spent + out_requests(b) >= DESK_BUDGET)
		return;                 /* that would be beyond the budget: another test */
	desk_text(&t.url, by_url ? desk_url(page) : NULL);
	desk_text(&t.lease, by_url ? NULL : b->held[page].lease);
	t.requests = requests;
	t.outcome = release ? TOLD_GIVEN_BACK : desk_fate(page);
	if (!release && t.outcome == OUTCOME_BLOCKED)
		t.requests = requests = 0;
	stats = desk_tell(b->desk, &t, b->now);
	if (release) {
		assert_int_equal(stats.n_given_back, b->hand[page] == OUT);
		if (b->hand[page] == OUT)
			b->hand[page] = NOWHERE;
		return;
	}
	assert_int_equal(stats.n_lines, b->hand[page] != TOLD);
	assert_int_equal(stats.n_repeated, b->hand[page] == TOLD);
	if (b->hand[page] == OUT || b->hand[page] == NOWHERE)
		b->spent += requests;
	b->hand[page] = TOLD;
}

enum programs { ONE, SEVERAL, KILLED };

/* One cycle by chance, no owner having more than so many percent of it; what was offered is
 * left in the book. */
static void run(struct book *b, struct client_desk *desk, const char *policy, uint64_t seed,
                double percent, enum programs how)
{
	struct store_cycle row;
	struct rng r;

	*b = (struct book){ .desk = desk, .now = DESK_NOW };
	desk_open(desk, policy);
	desk->opts.rules.site_share = (struct share){ percent, true };
	for (unsigned i = 0; i < DESK_CLIENTS; i++) {
		desk_use(desk, i);
		desk_kill(desk);
	}
	rng_init(&r, seed);
	for (int i = 0; i < STEPS; i++) {
		unsigned who = (unsigned)rng_below(&r, DESK_CLIENTS);

		desk_use(desk, how == ONE ? 0 : who);
		if (how == KILLED)
			desk_kill(desk);
		if (rng_below(&r, 3) == 0)
			b->now += (int64_t)rng_below(&r, 120);
		if (!i || rng_below(&r, 5) < 2)
			ask(b, &r, (int)rng_below(&r, 4));
		else
			tell(b, &r);
	}
	lapse_due(b);
	assert_int_equal(client_end(desk_client(desk), b->now, &row, &desk->err), 1);
	assert_int_equal(row.downloads, b->spent + out_requests(b));
	assert_false(row.open);
	desk_close(desk);
}

/* Each rule holds in every order, and it makes no difference whether one program keeps its
 * engine, several take turns, or each is killed after every call. */
static void test_any_order(void **state)
{
	static const char *const policies[] = { "tide", "random", "site", "oldest", "auto" };

	(void)state;
	for (size_t p = 0; p < sizeof policies / sizeof *policies; p++)
		for (uint64_t seed = 1; seed <= 3; seed++) {
			double percent = seed == 3 ? 10 : 100;
			struct client_desk desk;
			struct book one, other;

			run(&one, &desk, policies[p], seed, percent, ONE);
			for (enum programs how = SEVERAL; how <= KILLED; how++) {
				run(&other, &desk, policies[p], seed, percent, how);
				assert_int_equal(one.offered.n, other.offered.n);
				for (size_t i = 0; i < one.offered.n; i++)
					assert_int_equal(one.offered.v[i], other.offered.v[i]);
				vec_release(&other.offered);
			}
			vec_release(&one.offered);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
