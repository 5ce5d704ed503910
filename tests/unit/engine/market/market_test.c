/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The market: curves against naive counts, prices and grants against closed forms and against
 * the best of all allocations, rules over random cases.
 *
 * The oracle has the scores themselves, one by one, and no buckets: the best allocation of n
 * requests is that of the n highest scores.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "engine/market/market.h"

#define SEEDS 300
#define SHARDS 8
#define PAGES 200

static struct rng chance;

static void assert_near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-9 * fmax(1, fabs(b))))
		fail_msg("%.12g is not %.12g", a, b);
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)(rng_next_unit(&chance) * n);
}

/* Scores over nine orders of magnitude, some of them 0. */
static double some_score(void)
{
	return below(20) ? pow(10, 6 - 9 * rng_next_unit(&chance)) : 0;
}

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* ---- curves ---- */

static void test_curve_counts(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct demand d = { 0 }, back = { 0 };
		double score[PAGES], best = 0;
		uint32_t n = 1 + below(PAGES);

		rng_init(&chance, seed);
		for (uint32_t i = 0; i < n; i++) {
			score[i] = some_score();
			best = fmax(best, score[i]);
			demand_add(&d, score[i], 1);
		}
		for (uint32_t i = n; i-- > 0;)                  /* in any order */
			demand_add(&back, score[i], 1);
		assert_memory_equal(&d, &back, sizeof d);
		assert_int_equal(demand_total(&d), n);
		if (best > 0)
			assert_int_equal(d.top, (int)floor(demand_level(best)));
		for (int b = d.top; b > d.top - DEMAND_BUCKETS + 1; b--) {
			uint32_t above = 0;

			for (uint32_t i = 0; i < n; i++)
				above += score[i] >= demand_score(b);
			assert_near(demand_at(&d, b), above);
		}
		assert_near(demand_at(&d, demand_bottom(&d)), n);
	}
}

static void test_curve_spent(void **state)
{
	struct demand d = { 0 };

	(void)state;
	demand_add(&d, 8, 3);           /* level 192 */
	demand_add(&d, 1, 5);           /* level 0 */
	demand_add(&d, INFINITY, 2);
	assert_near(demand_at(&d, 0), 10);
	assert_near(demand_at(&d, 0.5), 7.5);    /* half of a bucket */
	assert_near(demand_at(&d, 1000), 2);
	demand_spend(&d, 4);
	assert_int_equal(d.first, 0);
	assert_int_equal(demand_total(&d), 6);
	assert_near(demand_at(&d, 192), 1);
	demand_spend(&d, 100);
	assert_int_equal(demand_total(&d), 0);
	demand_add(&d, 0.25, 1);        /* a new top, lower than the old one */
	assert_near(demand_at(&d, -128), 1);
	assert_near(demand_at(&d, -127), 0);
	demand_add(&d, 1e30, UINT32_MAX);
	demand_add(&d, 1e30, 5);        /* counts end at the largest number */
	assert_int_equal(d.count[0], UINT32_MAX);
}

/* Packed and unpacked: no page is lost, next to the best score none is moved, and elsewhere the
 * number of those above a level is right at the edges of the wide buckets. */
static void test_curve_packed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct demand d = { 0 }, back;
		uint32_t packed[DEMAND_PACKED], n = 1 + below(5 * PAGES);

		rng_init(&chance, seed);
		for (uint32_t i = 0; i < n; i++)
			demand_add(&d, below(2) ? 1 + rng_next_unit(&chance) : some_score(), 1);
		back = d;
		demand_pack(&d, packed);
		memset(back.count, 0xaa, sizeof back.count);
		demand_unpack(&back, packed);
		assert_int_equal(demand_total(&back), n);
		assert_memory_equal(back.count, d.count, 28 * sizeof *d.count);
		for (int edge = 28; edge <= 92; edge += 4)
			assert_near(demand_at(&back, d.top - edge + 1), demand_at(&d, d.top - edge + 1));
		for (int i = 0; i < DEMAND_BUCKETS - 1; i++)    /* what is low is not thought better */
			assert_true(d.count[i] || i < 28 + 4 * 16 + 16 * 10 + 64 * 9 || !back.count[i]);
		assert_near(demand_level(demand_score(d.top + 0.25)), d.top + 0.25);
	}
}

/* A shard that was not loaded yet counts with its first curve of the last cycle; what it shares
 * is of its last. */
static void test_opening(void **state)
{
	struct market_shard s[2] = { { .pages = 10 }, { .pages = 30 } };
	struct market m = { .budget = 10, .n = 2, .shards = s };
	struct demand first = { 0 }, later = { 0 };

	(void)state;
	assert_false(market_shared(&m).any);
	demand_add(&first, 8, 3);
	first.shared = (struct shared){ .any = true, .sum = { 1, 2 } };
	demand_add(&later, 1, 2);
	later.shared = (struct shared){ .any = true, .sum = { 5, 7 } };
	market_bid(&m, 0, &first, true);
	market_bid(&m, 1, &first, true);
	market_bid(&m, 0, &later, true);
	assert_near(market_shared(&m).sum[0], 6);
	assert_near(market_shared(&m).sum[1], 9);
	assert_int_equal(demand_total(&s[0].demand), 2);
	market_next(&m, 10);
	assert_int_equal(demand_total(&s[0].demand), 3);
	assert_near(market_shared(&m).sum[0], 6);
	market_next(&m, 10);            /* it was not loaded at all: nothing is known anew */
	assert_int_equal(demand_total(&s[0].demand), 3);
	s[1].not_comparable = true;     /* sums of another policy */
	assert_near(market_shared(&m).sum[0], 5);
	m.n = 1;                        /* alone, a shard knows all by itself */
	assert_false(market_shared(&m).any);
}

/* Owners with less room than pages count with their best pages; the oracle looks for the best page
 * that is left, again and again. */
static void test_curve_has_limits(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint32_t owner[12], room[5], n = 1 + below(PAGES), site[PAGES];
		struct demand_limits l = { .owner = owner, .room = room };
		struct demand d = { .limits = &l }, naive = { 0 };
		double score[PAGES];

		rng_init(&chance, seed);
		for (uint32_t i = 0; i < 12; i++)
			owner[i] = below(5);
		for (uint32_t i = 0; i < 5; i++)
			room[i] = below(3) ? below(PAGES / 4) : UINT32_MAX;
		for (uint32_t i = 0; i < n; i++) {
			site[i] = below(12);
			score[i] = some_score();
			demand_page(&d, site[i], score[i]);
		}
		demand_limit(&d);
		for (uint32_t o = 0; o < 5; o++)
			for (uint32_t k = 0; k < room[o]; k++) {
				uint32_t best = n;

				for (uint32_t i = 0; i < n; i++)
					if (owner[site[i]] == o && score[i] >= 0 &&
					    (best == n || score[i] > score[best]))
						best = i;
				if (best == n)
					break;
				demand_add(&naive, score[best], 1);
				score[best] = -1;
			}
		assert_memory_equal(&d, &naive, sizeof d);
		vec_release(&l.pages);
	}
}

/* ---- the market ---- */

struct trial {
	struct market m;
	struct market_shard shards[SHARDS];
	double score[SHARDS][PAGES];    /* descending: what is left to ask for */
	uint32_t n[SHARDS];
};

static void set_bid(struct trial *t, uint32_t k)
{
	struct demand d = { .first = 0 };

	for (uint32_t i = 0; i < t->n[k]; i++)
		demand_add(&d, t->score[k][i], 1);
	market_bid(&t->m, k, &d, true);
}

static void trial_begin(struct trial *t, uint32_t n_shards, uint32_t budget)
{
	*t = (struct trial){ 0 };
	t->m = (struct market){ .budget = budget, .n = n_shards, .shards = t->shards };
	for (uint32_t k = 0; k < n_shards; k++) {
		t->n[k] = below(PAGES);
		t->shards[k].pages = t->n[k];
		for (uint32_t i = 0; i < t->n[k]; i++)
			t->score[k][i] = some_score();
		qsort(t->score[k], t->n[k], sizeof(double), descending);
		set_bid(t, k);
	}
}

/* A shard spends its best n; returns the sum of their scores. */
static double spend(struct trial *t, uint32_t k, uint32_t n)
{
	double sum = 0;
	uint32_t used = n < t->n[k] ? n : t->n[k];

	market_grant(&t->m, k, n);
	for (uint32_t i = 0; i < used; i++)
		sum += t->score[k][i];
	memmove(t->score[k], t->score[k] + used, (t->n[k] - used) * sizeof(double));
	t->n[k] -= used;
	market_return(&t->m, k, n - used);
	t->shards[k].done = used < n;
	set_bid(t, k);
	return sum;
}

/* The largest sum of `budget` scores, whoever has them. */
static double best_sum(const struct trial *t, uint32_t budget, uint32_t *ret_n)
{
	double *all = mem_array(SHARDS * PAGES, sizeof *all), sum = 0;
	uint32_t n = 0;

	for (uint32_t k = 0; k < t->m.n; k++)
		for (uint32_t i = 0; i < t->n[k]; i++)
			all[n++] = t->score[k][i];
	qsort(all, n, sizeof *all, descending);
	*ret_n = n < budget ? n : budget;
	for (uint32_t i = 0; i < *ret_n; i++)
		sum += all[i];
	free(all);
	return sum;
}

/* Scores that do not change: turns of grants end with the allocation that is best of all, but
 * for scores that one bucket does not tell apart. */
static void test_best_allocation(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct trial t;
		double sum = 0, best;
		uint32_t reachable, granted = 0;
		bool any = true;

		rng_init(&chance, seed);
		trial_begin(&t, 1 + below(SHARDS), 1 + below(400));
		best = best_sum(&t, t.m.budget, &reachable);
		while (any) {
			any = false;
			for (uint32_t k = 0; k < t.m.n; k++) {
				uint32_t n = market_offer(&t.m, k, MARKET_WAITS), left = market_left(&t.m);

				assert_true(n <= left);
				if (!n)
					continue;
				sum += spend(&t, k, n);
				any = true;
			}
		}
		for (uint32_t k = 0; k < t.m.n; k++)
			granted += t.shards[k].granted;
		assert_int_equal(granted, reachable);           /* all that can be spent is */
		assert_true(sum <= best * (1 + 1e-12));
		assert_true(sum >= best / 1.19);
	}
}

static void test_price_by_hand(void **state)
{
	struct market_shard s[2] = { { .pages = 10 }, { .pages = 30 } };
	struct market m = { .budget = 100, .n = 2, .shards = s };
	struct demand d = { 0 };

	(void)state;
	assert_int_equal(market_expect(&m, 0), 25);             /* by pages */
	assert_int_equal(market_expect(&m, 1), 75);
	demand_add(&d, 1, 10);
	market_bid(&m, 0, &d, true);
	d = (struct demand){ 0 };
	demand_add(&d, 1.125, 3);
	demand_add(&d, 1, 10);
	market_bid(&m, 1, &d, true);
	/* horizon 5 of 100: three at 1.125, and two of twenty at 1: a tenth down in bucket 0 */
	assert_near(market_price(&m), demand_score(0.9));
	assert_int_equal(market_offer(&m, 1, MARKET_WAITS), 4); /* 3 + 1; a tranche is 4 at most */
	assert_int_equal(market_offer(&m, 0, MARKET_WAITS), 1);
	market_grant(&m, 1, 4);
	assert_int_equal(market_left(&m), 96);
	/* 5 of the 19 that are left, all at 1 */
	assert_near(market_price(&m), demand_score(1 - 5 / 19.));
	s[0].done = s[1].done = true;
	assert_int_equal(market_offer(&m, 0, MARKET_WAITS) + market_offer(&m, 1, MARKET_WAITS), 0);
	market_next(&m, 50);            /* what was granted is expected: 0 and 4 of 4 */
	assert_int_equal(market_expect(&m, 0), 1);
	assert_int_equal(market_expect(&m, 1), 50);
	assert_int_equal(market_left(&m), 50);
}

/* Below the price of the next requests, a shard that does not wait has what it would get of all
 * that is left. */
static void test_now(void **state)
{
	struct market_shard s[2] = { { .pages = 50 }, { .pages = 50 } };
	struct market m = { .budget = 100, .n = 2, .shards = s };
	struct demand d = { 0 };

	(void)state;
	demand_add(&d, 8, 98);
	market_bid(&m, 0, &d, true);
	d = (struct demand){ 0 };
	demand_add(&d, 1, 50);
	market_bid(&m, 1, &d, true);
	assert_int_equal(market_offer(&m, 1, MARKET_WAITS), 0);
	assert_int_equal(market_offer(&m, 1, MARKET_NOW), 2);   /* 98 of 100 are the other's */
	assert_int_equal(market_offer(&m, 0, MARKET_NOW), 3);   /* a tranche: 5 % of 50 */
	s[0].demand.count[0] += 2;
	assert_int_equal(market_offer(&m, 1, MARKET_NOW), 0);   /* it would get nothing */
}

static void test_alone(void **state)
{
	struct market_shard s = { .pages = 7 };
	struct market m = { .budget = 90, .n = 1, .shards = &s };

	(void)state;
	assert_int_equal(market_offer(&m, 0, MARKET_WAITS), 90);
	assert_int_equal(market_expect(&m, 0), 90);
}

/* What is wanted at any price comes first, in proportion if it is too much. */
static void test_first(void **state)
{
	struct market_shard s[2] = { { .pages = 1 }, { .pages = 1 } };
	struct market m = { .budget = 60, .n = 2, .shards = s };
	struct demand d = { .first = 10 };

	(void)state;
	demand_add(&d, 1e-9, 1);
	market_bid(&m, 0, &d, true);
	d = (struct demand){ 0 };
	demand_add(&d, 1e9, 1000);
	market_bid(&m, 1, &d, true);
	assert_int_equal(market_offer(&m, 0, MARKET_WAITS), 10);
	market_grant(&m, 1, 58);        /* others were faster */
	assert_int_equal(market_offer(&m, 0, MARKET_WAITS), 2);
	s[1].granted = 0;
	s[1].demand.first = 90;
	assert_int_equal(market_offer(&m, 0, MARKET_WAITS), 6); /* 10 of 100, of 60 */
	assert_int_equal(market_offer(&m, 1, MARKET_WAITS), 54);
}

/* A shard that cannot be compared has its part by pages; so has one that never bid, for which
 * it is kept. */
static void test_by_pages(void **state)
{
	struct market_shard s[3] = { { .pages = 50 }, { .pages = 30 }, { .pages = 20 } };
	struct market m = { .budget = 100, .n = 3, .shards = s };
	struct demand d = { 0 };
	uint32_t n = 0, k;

	(void)state;
	market_bid(&m, 0, &d, false);
	assert_int_equal(market_offer(&m, 0, MARKET_WAITS), 50);
	demand_add(&d, 1, 1000);
	market_bid(&m, 1, &d, true);
	while ((k = market_offer(&m, 1, MARKET_WAITS))) {
		market_grant(&m, 1, k);
		n += k;
	}
	assert_int_equal(n, 30);        /* 50 and 20 are kept */
	market_grant(&m, 0, 50);
	assert_int_equal(market_offer(&m, 0, MARKET_WAITS), 0);
	s[2].done = true;               /* it came, and had nothing to ask for */
	assert_true(market_offer(&m, 1, MARKET_WAITS) > 0);
	s[1].done = true;
	assert_int_equal(market_offer(&m, 0, MARKET_WAITS), 20);              /* nobody else wants it */
}

/* Chance: bids come and go, grants are returned, shards are done.  The sum of grants never
 * passes the budget, and the parts by pages are the budget. */
static void test_never_passed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct trial t;
		uint64_t parts = 0;

		rng_init(&chance, seed);
		trial_begin(&t, 1 + below(SHARDS), 1 + below(1000));
		for (int step = 0; step < 200; step++) {
			uint32_t k = below(t.m.n), n = market_offer(&t.m, k, MARKET_WAITS);
			uint64_t sum = 0;

			market_grant(&t.m, k, n);
			if (!below(4))
				market_return(&t.m, k, below(n + 1));
			if (!below(10))
				t.shards[k].done = !t.shards[k].done;
			if (!below(10))
				t.shards[k].known = !t.shards[k].known;
			if (!below(3)) {
				struct demand d = { .first = below(3) ? 0 : below(50) };

				demand_add(&d, some_score(), below(100));
				market_bid(&t.m, k, &d, below(5));
			}
			for (uint32_t i = 0; i < t.m.n; i++)
				sum += t.shards[i].granted;
			assert_true(sum <= t.m.budget);
			assert_int_equal(market_left(&t.m), t.m.budget - sum);
			assert_true(market_price(&t.m) >= 0);
		}
		for (uint32_t k = 0; k < t.m.n; k++) {
			t.shards[k].last = 0;
			parts += market_expect(&t.m, k);
		}
		assert_true(parts >= t.m.budget && parts <= t.m.budget + t.m.n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_curve_counts),
		cmocka_unit_test(test_curve_has_limits),
		cmocka_unit_test(test_curve_spent), cmocka_unit_test(test_curve_packed),
		cmocka_unit_test(test_opening),
		cmocka_unit_test(test_best_allocation),
		cmocka_unit_test(test_price_by_hand),
		cmocka_unit_test(test_now),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_by_pages),
		cmocka_unit_test(test_never_passed),
	};

	rng_init(&chance, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
