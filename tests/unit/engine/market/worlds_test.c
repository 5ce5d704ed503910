/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The market in made-up worlds whose shards differ: rich and poor, one that loses its pages, one
 * whose worker is gone for a while, and more shards than are loaded at a time.
 *
 * Pages change by chance, each at its own rate, which its shard knows; so its score is the chance
 * that it changed since its last visit.  The oracle is one process over all shards, which knows no
 * bids: at the start of each cycle it takes the best pages of all by sorting them.  What it takes of
 * each shard is what the market must grant to it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "engine/market/market.h"

#define SEEDS 10
#define SHARDS 8
#define PAGES 400
#define CYCLES 12
#define LOST_AT 5               /* the cycle in which a shard loses pages, or its worker */

enum trouble { NONE, LOSES_PAGES, WORKER_GONE };

struct page { double rate; uint32_t visited; bool here; };

struct world {
	struct market m;
	struct market_shard shards[SHARDS];
	struct page pages[SHARDS][PAGES];
	uint32_t n[SHARDS];
	uint32_t cycle, lapsed;
	double gain;                    /* of this cycle: sum of the scores of visited pages */
	uint32_t spent[SHARDS];
};

static struct rng chance;

static double unit(void)
{
	return rng_next_unit(&chance);
}

static double score(const struct world *w, const struct page *p)
{
	return p->here && p->visited < w->cycle ? -expm1(-p->rate * (w->cycle - p->visited)) : 0;
}

/* Rates over two orders of magnitude in a shard; shards differ by as much. */
static void make(struct world *w, uint32_t n_shards, uint32_t budget)
{
	*w = (struct world){ .m = { .budget = budget, .n = n_shards } };
	w->m.shards = w->shards;
	for (uint32_t k = 0; k < n_shards; k++) {
		double wealth = pow(10, -3 + 2 * (double)k / (n_shards - 1));

		w->n[k] = w->shards[k].pages = 50 + (uint32_t)(unit() * (PAGES - 50));
		for (uint32_t i = 0; i < w->n[k]; i++)
			w->pages[k][i] = (struct page){ wealth * pow(10, 2 * unit() - 1), 0, true };
	}
}

struct good { double score; uint32_t shard; };

static int best_first(const void *a, const void *b)
{
	double x = ((const struct good *)a)->score, y = ((const struct good *)b)->score;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* One process over all: of each shard so many; returns the sum of their scores. */
static double oracle(const struct world *w, uint32_t budget, uint32_t ret[SHARDS])
{
	static struct good all[SHARDS * PAGES];
	size_t n = 0;
	double sum = 0;

	memset(ret, 0, SHARDS * sizeof *ret);
	for (uint32_t k = 0; k < w->m.n; k++)
		for (uint32_t i = 0; i < w->n[k]; i++)
			if (score(w, &w->pages[k][i]) > 0)
				all[n++] = (struct good){ score(w, &w->pages[k][i]), k };
	qsort(all, n, sizeof *all, best_first);
	for (size_t i = 0; i < n && i < budget; i++) {
		ret[all[i].shard]++;
		sum += all[i].score;
	}
	return sum;
}

static void bid(struct world *w, uint32_t k)
{
	struct demand d = { 0 };

	for (uint32_t i = 0; i < w->n[k]; i++)
		if (score(w, &w->pages[k][i]) > 0)
			demand_add(&d, score(w, &w->pages[k][i]), 1);
	market_bid(&w->m, k, &d, true);
}

/* Ask for the best page of the shard; false: it has none. */
static bool visit_best(struct world *w, uint32_t k)
{
	struct page *best = NULL;

	for (uint32_t i = 0; i < w->n[k]; i++)
		if (score(w, &w->pages[k][i]) > (best ? score(w, best) : 0))
			best = &w->pages[k][i];
	if (!best)
		return false;
	w->gain += score(w, best);
	w->spent[k]++;
	best->visited = w->cycle;
	return true;
}

/* A turn of a loaded shard: is it granted something? */
static bool turn(struct world *w, uint32_t k)
{
	uint32_t n, used = 0;

	bid(w, k);
	n = market_offer(&w->m, k, MARKET_WAITS);
	assert_true(n <= market_left(&w->m));
	market_grant(&w->m, k, n);
	while (used < n && visit_best(w, k))
		used++;
	market_return(&w->m, k, n - used);
	w->shards[k].done = used < n;
	bid(w, k);
	return used > 0;
}

/* One cycle, with `slots` shards loaded at a time: one that is granted nothing gives its place to the
 * shard that waited longest, until none of them is.  gone: a shard whose worker dies with its first
 * grant on its way; another has it after a while. */
static void run_cycle(struct world *w, uint32_t slots, uint32_t gone)
{
	uint32_t queue[SHARDS], n = w->m.n, idle = 0, away = 0;

	w->cycle++;
	w->gain = 0;
	w->lapsed = 0;
	memset(w->spent, 0, sizeof w->spent);
	for (uint32_t i = 0; i < n; i++)
		queue[i] = i;
	for (uint32_t i = 0; idle <= 2 * n; i = (i + 1) % slots) {
		uint32_t k = queue[i];
		bool granted = false;

		if (k == gone && !away) {       /* it dies: what it was granted has lapsed, and is spent */
			bid(w, k);
			w->lapsed = market_offer(&w->m, k, MARKET_WAITS);
			market_grant(&w->m, k, w->lapsed);
			away = 1;
		} else if (k == gone && away < 30) {
			away++;                 /* the others go on meanwhile */
			idle = 0;
		} else {
			granted = turn(w, k);
		}
		idle = granted ? 0 : idle + 1;
		if (!granted && slots < n) {
			queue[i] = queue[slots];        /* the first that waits */
			memmove(queue + slots, queue + slots + 1, (n - slots - 1) * sizeof *queue);
			queue[n - 1] = k;
		}
	}
}

static void lose_pages(struct world *w, uint32_t k)
{
	for (uint32_t i = 0; i < w->n[k]; i++)
		w->pages[k][i].here = unit() < 0.1;
}

/* Every cycle, whatever came before: each shard has what one process would take of it, but for
 * scores that a bucket does not tell apart; nothing that could be spent is left. */
static void play(enum trouble what, bool all_loaded)
{
	static struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint32_t n_shards, budget, slots, victim;

		rng_init(&chance, seed);
		n_shards = 2 + (uint32_t)(unit() * (SHARDS - 1));
		budget = 40 + (uint32_t)(unit() * 300);
		slots = all_loaded ? n_shards : 1 + (uint32_t)(unit() * (n_shards - 1));
		victim = n_shards - 1;          /* the richest */
		make(&w, n_shards, budget);
		for (uint32_t c = 1; c <= CYCLES; c++) {
			uint32_t want[SHARDS], off = 0, sum = 0, least = 0;
			double best;

			if (what == LOSES_PAGES && c == LOST_AT)
				lose_pages(&w, victim);
			w.cycle++;              /* as it will be */
			best = oracle(&w, budget, want);
			w.cycle--;
			run_cycle(&w, slots, what == WORKER_GONE && c >= LOST_AT ? victim : UINT32_MAX);
			for (uint32_t k = 0; k < n_shards; k++) {
				off += (uint32_t)abs((int)w.spent[k] - (int)want[k]);
				sum += w.spent[k];
				least += want[k];
			}
			assert_int_equal(sum, least < budget - w.lapsed ? least : budget - w.lapsed);
			assert_true(w.gain <= best * (1 + 1e-9));
			market_next(&w.m, budget);
			if (c == 1)             /* who never bid has its part by pages kept */
				continue;
			/* what lapsed brought nothing */
			if (w.gain < best * (0.99 - (double)w.lapsed / budget))
				fail_msg("seed %d, cycle %u: %.4f of %.4f", (int)seed, c, w.gain, best);
			off -= w.lapsed < off ? w.lapsed : off;
			/* a grant is one request at least */
			if (off / 2 > 0.03 * budget && off / 2 > n_shards)
				fail_msg("seed %d, cycle %u: %u of %u requests are elsewhere", (int)seed, c, off / 2,
				         budget);
		}
	}
}

static void test_rich_and_poor(void **state)
{
	(void)state;
	play(NONE, true);
	play(NONE, false);
}

static void test_one_loses_its_pages(void **state)
{
	(void)state;
	play(LOSES_PAGES, true);
	play(LOSES_PAGES, false);
}

static void test_a_worker_is_gone_for_a_while(void **state)
{
	(void)state;
	play(WORKER_GONE, true);
	play(WORKER_GONE, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rich_and_poor),
		cmocka_unit_test(test_one_loses_its_pages),
		cmocka_unit_test(test_a_worker_is_gone_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
