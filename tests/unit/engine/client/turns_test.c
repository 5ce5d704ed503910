/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of cycles under other crawlers, by chance: several programs that are killed after
 * any call, answers that come within their cycle, late, twice or never, cycles that end by
 * `end`, by the clock or by --new.
 *
 * The oracle is a second book that knows nothing of the ledger: who has which page, and what
 * each cycle must have cost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "../../../lib/client_desk.h"
#include "../../../lib/scratch.h"
#include "base/math/rng.h"
#include "engine/import/import.h"

#define CYCLES 60               /* of a trial, at most */
#define STEPS 160

enum hand { OUT, TOLD, BACK, LAPSED };

struct offer_made {
	char lease[LEDGER_ID_SIZE], url[64];
	uint32_t cycle, requests;
	int64_t until;
	enum hand hand;
	bool late_told;                 /* after its cycle was over */
};

struct book {
	struct client_desk desk;
	VEC(struct offer_made) made;
	uint32_t cycle;                 /* that is open; 0: none */
	uint32_t spent[CYCLES + 2];     /* by cycle, */
	bool over[CYCLES + 2];
	int64_t now, opened;
};

static void lapse_due(struct book *b, int64_t now)
{
	for (size_t i = 0; i < b->made.n; i++) {
		struct offer_made *o = &b->made.v[i];

		if (o->cycle == b->cycle && o->hand == OUT && o->until <= now) {
			o->hand = LAPSED;
			b->spent[o->cycle] += o->requests;
		}
	}
}

/* What is out is lost, and the cycle is over. */
static void close_book(struct book *b)
{
	lapse_due(b, INT64_MAX);
	b->over[b->cycle] = true;
	b->cycle = 0;
}

static void ask(struct book *b, struct rng *r)
{
	struct client_asking a = { .want = 1 + (uint32_t)rng_below(r, 9), .now = b->now,
	                           .seconds = 20 + (int64_t)rng_below(r, 300),
	                           .max_requests = 1 + (uint32_t)rng_below(r, 2),
	                           .anew = rng_below(r, 30) == 0 };
	bool due = b->cycle && b->now - b->opened >= DAY_SECONDS;
	struct client_asked got = desk_ask(&b->desk, &a);

	assert_int_equal(got.ended, b->cycle && (due || a.anew) ? b->cycle : 0);
	if (got.ended)
		close_book(b);
	assert_int_equal(got.begun, !b->cycle);
	if (got.begun) {
		b->cycle = got.cycle.number;
		b->opened = got.cycle.time;
		assert_true(b->cycle <= CYCLES);
	}
	assert_int_equal(got.cycle.number, b->cycle);
	lapse_due(b, b->now);
	for (size_t i = 0; i < got.n; i++) {
		struct offer_made o = { .cycle = b->cycle, .requests = got.offers[i].max_requests,
		                        .until = got.offers[i].until };

		snprintf(o.lease, sizeof o.lease, "%s", got.offers[i].lease);
		snprintf(o.url, sizeof o.url, "%s", got.offers[i].url);
		for (size_t k = 0; k < b->made.n; k++)  /* once a cycle, unless it came back */
			assert_false(b->made.v[k].cycle == b->cycle && b->made.v[k].hand != BACK &&
			             !strcmp(b->made.v[k].url, o.url));
		vec_push(&b->made, o);
	}
	assert_true(got.cycle.downloads <= got.cycle.budget);
}

/* Any offer ever made, whatever became of it. */
static void tell(struct book *b, struct rng *r)
{
	struct offer_made *o = &b->made.v[rng_below(r, b->made.n)];
	bool back = rng_below(r, 5) == 0, known;
	struct told t = desk_told();
	struct tell_stats stats;

	lapse_due(b, b->now);
	if (b->made.n - (size_t)(o - b->made.v) > 30 || o->hand == BACK)
		return;                         /* leases of long ago are forgotten: rules_test */
	desk_text(&t.lease, o->lease);
	desk_text(&t.url, o->url);
	t.requests = 1 + (uint32_t)rng_below(r, o->requests);
	t.outcome = back ? TOLD_GIVEN_BACK : OUTCOME_SAME;
	known = o->cycle == b->cycle ? o->hand != TOLD : !(o->hand == TOLD || o->late_told);
	if (!b->cycle)
		return;                         /* that would make a cycle of its own: rules_test */
	stats = desk_tell(&b->desk, &t, b->now);
	if (back) {
		assert_int_equal(stats.n_given_back, o->cycle == b->cycle && o->hand == OUT);
		o->hand = stats.n_given_back ? BACK : o->hand;
		return;
	}
	if (o->cycle != b->cycle) {
		/* of the cycle before it is known that it was told, of older ones nothing is */
		if (o->cycle + 1 == b->cycle)
			assert_int_equal(stats.n_late, known);
		o->late_told |= stats.n_late > 0;
		return;
	}
	assert_int_equal(stats.n_lines, known);
	assert_int_equal(stats.n_repeated, !known);
	if (o->hand == OUT)
		b->spent[b->cycle] += t.requests;
	o->hand = TOLD;
}

static int check_row(void *arg, const struct store_cycle *c, struct err *err)
{
	const struct book *b = arg;

	(void)err;
	assert_int_equal(c->open, c->number == b->cycle);
	assert_int_equal(c->downloads, b->spent[c->number]);
	return 0;
}

static void test_cycles_by_chance(void **state)
{
	static const char *const policies[] = { "tide", "random", "oldest" };

	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct book b = { .now = DESK_NOW };
		struct rng r;

		desk_open(&b.desk, policies[seed % 3]);
		rng_init(&r, seed * 31337);
		for (int i = 0; i < STEPS; i++) {
			uint64_t what = rng_below(&r, 24);

			desk_use(&b.desk, (unsigned)rng_below(&r, DESK_CLIENTS));
			if (rng_below(&r, 4) == 0)
				desk_kill(&b.desk);
			b.now += (int64_t)rng_below(&r, rng_below(&r, 40) ? 60 : DAY_SECONDS);
			if (what < 8 || !b.made.n) {
				ask(&b, &r);
			} else if (what < 23) {
				tell(&b, &r);
			} else {
				struct store_cycle row;
				bool any = b.cycle != 0;

				lapse_due(&b, b.now);
				assert_int_equal(client_end(desk_client(&b.desk), b.now, &row, &b.desk.err),
				                 any);
				if (any)
					close_book(&b);
			}
			if (i % 8 == 0) {       /* cycles that are over never change */
				lapse_due(&b, b.now);
				desk_use(&b.desk, 0);
				if (b.cycle && b.now - b.opened < DAY_SECONDS) {
					struct told none = desk_told();

					none.outcome = OUTCOME_SAME;    /* lapses what is due */
					desk_text(&none.lease, "9999-1");
					assert_int_equal(desk_tell(&b.desk, &none, b.now).n_lines, 0);
				}
				assert_int_equal(store_cycles(b.desk.store[0], 1, check_row, &b, &b.desk.err),
				                 0);
			}
		}
		desk_close(&b.desk);
		vec_release(&b.made);
	}
}

/* What was offered is stored, and wins over what a plan made anew would offer: history that
 * is imported meanwhile changes the plan, and nobody gets a page that another has. */
static void test_stored_offers_win(void **state)
{
	struct client_asking a = { .name = "alpha", .want = 12, .now = DESK_NOW };
	struct client_asking all = { .name = "beta", .want = 1000, .now = DESK_NOW + 2 };
	char path[SCRATCH_PATH], urls[12][64], leases[12][LEDGER_ID_SIZE];
	struct client_desk d;
	struct client_asked got;
	struct import i = { 0 };
	size_t n;
	FILE *f;

	(void)state;
	desk_open(&d, "oldest");
	got = desk_ask(&d, &a);
	assert_true(got.n >= 2 && got.n <= 12);
	n = got.n;
	for (size_t k = 0; k < n; k++) {
		snprintf(urls[k], sizeof urls[k], "%s", got.offers[k].url);
		snprintf(leases[k], sizeof leases[k], "%s", got.offers[k].lease);
	}
	scratch_path(path, "past.cdxj");
	f = fopen(path, "w");
	for (uint32_t p = 0; p < DESK_PAGES; p += 2)
		for (int day = 1; day < 9; day++)
			fprintf(f, "- 2025010%d000000 {\"url\":\"%s\",\"digest\":\"%d\",\"status\":\"200\"}\n", day,
			        desk_url(p), p % 10 == 0 ? day : 0);
	fclose(f);
	i = (struct import){ .store = d.store[2], .now = DESK_NOW };
	assert_int_equal(import_file(&i, path, &d.err), 0);
	for (unsigned k = 0; k < DESK_CLIENTS; k++) {
		desk_use(&d, k);
		desk_kill(&d);
	}
	for (int turn = 0; turn < 2; turn++) {
		got = desk_ask(&d, turn ? &(struct client_asking){ .name = "alpha", .want = (uint32_t)n,
		                                                   .now = DESK_NOW + 1 } : &all);
		for (size_t k = 0; k < got.n; k++) {
			bool is_his = false;

			for (size_t m = 0; m < n; m++)
				is_his |= !strcmp(got.offers[k].url, urls[m]);
			assert_int_equal(is_his, turn);
			assert_int_equal(got.offers[k].again, turn);
		}
		all.now++;
	}
	assert_int_equal(got.n, n);
	for (size_t k = 0; k < n; k++) {
		assert_string_equal(got.offers[k].url, urls[k]);
		assert_string_equal(got.offers[k].lease, leases[k]);
	}
	desk_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cycles_by_chance),
		cmocka_unit_test(test_stored_offers_win),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
