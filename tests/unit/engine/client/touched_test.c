/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifications, in a made-up world: pages change by chance, a crawler leases and tells, and
 * notifiers touch pages.  The world knows which copies are true; freshness is their share.
 *
 * A notifier that is right makes copies fresher.  One that touches everything gets the pages
 * of its trial, no more, and costs no freshness.  Beside it the right one is still heard.
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
#include "engine/book/touch.h"
#include "engine/client/client.h"
#include "../../../lib/scratch.h"

#define PAGES 200
#define SITES 6
#define BUDGET 20
#define CEILING 6               /* 30 % of it */
#define CYCLES 20
#define WARM 6                  /* cycles before freshness is measured */
#define SEEDS 2
#define START INT64_C(1767225600)

enum { RIGHT = 1, LIAR = 2, KILLS = 4, DEAF = 8, SIMPLE = 16 };

struct world {
	struct store *s;
	struct client *client;
	struct client_opts opts;
	char path[300];
	struct err err;
	struct rng rng;
	int64_t now;
	uint32_t version[PAGES], copy[PAGES];
	char urls[PAGES][48];
	uint64_t order;                 /* a digest of all offers, in order */
	uint32_t of_touched, most_touched, last_touched;   /* offers; the most of a cycle */
};

static void open_world(struct world *w, uint64_t seed, unsigned arm)
{
	char folder[SCRATCH_PATH];
	uint32_t number;

	*w = (struct world){ .now = START };
	rng_init(&w->rng, seed);
	scratch_folder(folder, "touched");
	snprintf(w->path, sizeof w->path, "%.250s/freshet.db", folder);
	assert_int_equal(store_open(&w->s, w->path, STORE_CREATE, &w->err), 0);
	assert_int_equal(store_begin(w->s, &w->err), 0);
	for (uint32_t i = 0; i < PAGES; i++) {
		snprintf(w->urls[i], sizeof w->urls[i], "http://s%u.example/d%u/p%u", i % SITES,
		         i / SITES % 5, i);
		assert_int_equal(store_page_add(w->s, (struct text){ w->urls[i], strlen(w->urls[i]) },
		                                START - 1000, &number, &w->err), 1);
	}
	assert_int_equal(store_commit(w->s, &w->err), 0);
	w->opts = (struct client_opts){ .policy = arm & SIMPLE ? "frequency" : "tide", .seed = seed, .confirmations = 1,
		.budget = { BUDGET, false }, .rules = { .every = DAY_SECONDS },
		.notifier_share = { arm & DEAF ? 0 : 30, true } };
	client_open(&w->client, w->s, &w->opts);
}

static void close_world(struct world *w)
{
	client_close(w->client);
	store_close(w->s);
}

static void reopen(struct world *w)
{
	close_world(w);
	assert_int_equal(store_open(&w->s, w->path, STORE_EXISTING, &w->err), 0);
	client_open(&w->client, w->s, &w->opts);
}

static uint32_t page_of(const char *url)
{
	unsigned page = PAGES;

	assert_int_equal(sscanf(strrchr(url, '/'), "/p%u", &page), 1);
	return page;
}

/* Pages of one day: every fifth is lively. */
static void change_world(struct world *w, bool changed[PAGES])
{
	for (uint32_t i = 0; i < PAGES; i++) {
		changed[i] = rng_next_unit(&w->rng) < (i % 5 == 0 ? 0.08 : 0.004);
		w->version[i] += changed[i];
	}
}

static void touch(struct world *w, const char *by, const bool *which)
{
	const char *urls[PAGES];
	struct touch_stats stats;
	size_t n = 0;

	for (uint32_t i = 0; i < PAGES; i++)
		if (!which || which[i])
			urls[n++] = w->urls[i];
	assert_int_equal(touch_pages(w->s, by, urls, n, w->now, &stats, &w->err), 0);
	assert_int_equal(stats.touched + stats.again, n);
}

/* Lease and tell until the cycle is over. */
static void one_cycle(struct world *w, unsigned arm, uint32_t want)
{
	uint32_t touched = 0;

	for (;;) {
		struct client_asking a = { .name = "c", .want = want, .now = w->now, .max_requests = 1 };
		struct client_asked got;
		struct told told[BUDGET];
		char leases[BUDGET][LEDGER_ID_SIZE];
		struct tell_stats stats;

		if (client_ask(w->client, &a, &got, &w->err) < 0)
			fail_msg("%s", w->err.text);
		if (got.answer != CLIENT_OFFERS)
			break;
		for (size_t i = 0; i < got.n; i++) {
			uint32_t page = page_of(got.offers[i].url);
			bool fresh = w->copy[page] == w->version[page];

			touched += !strcmp(got.offers[i].reason, "touched");
			w->order = w->order * 31 + page + 1;
			snprintf(leases[i], sizeof leases[i], "%s", got.offers[i].lease);
			told[i] = (struct told){ .lease = { leases[i], strlen(leases[i]) }, .score = NAN,
				.probability = NAN, .weight = NAN,
				.outcome = fresh ? OUTCOME_SAME : OUTCOME_CHANGED };
			w->copy[page] = w->version[page];
		}
		w->now += 60;
		assert_int_equal(client_tell(w->client, told, got.n, w->now, NULL, NULL, &stats,
		                             &w->err), 0);
		if (arm & KILLS)
			reopen(w);
	}
	w->of_touched += touched;
	w->last_touched = touched;
	if (touched > w->most_touched)
		w->most_touched = touched;
}

static double run(uint64_t seed, unsigned arm, struct world *ret)
{
	bool changed[PAGES];
	double fresh = 0;
	struct world w;

	open_world(&w, seed, arm);
	/* the first copies: cycles of all pages would be dull to wait for */
	w.opts.budget = (struct share){ PAGES, false };
	reopen(&w);
	one_cycle(&w, arm & ~(unsigned)KILLS, BUDGET);
	w.opts.budget = (struct share){ BUDGET, false };
	reopen(&w);
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		w.now = START + (cycle + 1) * (int64_t)DAY_SECONDS;
		change_world(&w, changed);
		if (arm & LIAR)
			touch(&w, "liar", NULL);
		if (arm & RIGHT)
			touch(&w, "right", changed);
		one_cycle(&w, arm, arm & SIMPLE ? 4 : BUDGET / 2);
		for (uint32_t i = 0; i < PAGES && cycle >= WARM; i++)
			fresh += w.copy[i] == w.version[i];
	}
	close_world(&w);
	*ret = w;
	return fresh / (CYCLES - WARM) / PAGES;
}

static void test_world(void **state)
{
	double none = 0, right = 0, liar = 0, both = 0;
	struct world w;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		none += run(seed, 0, &w) / SEEDS;
		assert_int_equal(w.of_touched, 0);
		right += run(seed, RIGHT, &w) / SEEDS;
		assert_true(w.of_touched > LASTMOD_CHECKS_MIN * 2);
		assert_true(w.most_touched <= CEILING);
		liar += run(seed, LIAR, &w) / SEEDS;
		assert_true(w.of_touched <= LASTMOD_CHECKS_MIN);        /* its trial */
		assert_true(w.most_touched <= CEILING);
		assert_int_equal(w.last_touched, 0);
		both += run(seed, RIGHT | LIAR, &w) / SEEDS;
	}
	print_message("fresh: none %.4f, right %.4f, liar %.4f, both %.4f\n", none, right, liar,
	              both);
	assert_true(right > none + 0.01);
	assert_true(liar > none - 0.01);
	assert_true(both > none + 0.005);
}

/* A share of 0: touches are checked, and nothing more. */
static void test_share(void **state)
{
	struct touch_known k;
	struct store_page p;
	struct world w;

	(void)state;
	run(1, RIGHT | DEAF | SIMPLE, &w);
	assert_int_equal(w.of_touched, 0);
	assert_int_equal(store_open(&w.s, w.path, STORE_EXISTING, &w.err), 0);
	touch(&w, "right", NULL);
	assert_int_equal(store_page_get(w.s, 0, &p, &w.err), 1);
	assert_int_equal(touch_known(w.s, &p, &k, &w.err), 1);
	assert_string_equal(k.notifier, "right");
	assert_true(k.all.checks > LASTMOD_CHECKS_MIN);
	assert_int_equal(k.all.checks, k.all.hits);     /* it was right each time */
	store_close(w.s);
}

/* Killed after every answer, the service offers the same pages in the same order. */
static void test_restart(void **state)
{
	struct world a, b;

	(void)state;
	run(7, RIGHT | LIAR | SIMPLE, &a);
	run(7, RIGHT | LIAR | KILLS | SIMPLE, &b);
	assert_true(a.of_touched > 0);
	assert_int_equal(a.of_touched, b.of_touched);
	assert_true(a.order == b.order);
}

static void test_names(void **state)
{
	static const char *const urls[] = { "http://s0.example/d0/p0", "http://S0.example:80/d0/p0",
	                                    "http://other.example/", "ftp://x/", "\x01" };
	struct touch_stats t;
	struct world w;

	(void)state;
	open_world(&w, 1, 0);
	assert_int_equal(touch_pages(w.s, "a b", urls, 1, w.now, &t, &w.err), E_USAGE);
	assert_int_equal(touch_pages(w.s, "", urls, 1, w.now, &t, &w.err), E_USAGE);
	assert_int_equal(touch_pages(w.s, "x/y", urls, 1, w.now, &t, &w.err), E_USAGE);
	assert_int_equal(touch_pages(w.s, "cms", urls, 5, w.now, &t, &w.err), 0);
	assert_int_equal(t.touched, 1);         /* two spellings of one page */
	assert_int_equal(t.unknown, 1);
	assert_int_equal(t.bad, 2);
	assert_int_equal(touch_pages(w.s, "cms", urls, 1, w.now, &t, &w.err), 0);
	assert_int_equal(t.touched, 0);
	assert_int_equal(t.again, 1);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_world),
		cmocka_unit_test(test_share), cmocka_unit_test(test_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
