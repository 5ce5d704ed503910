/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds that are planned while pages are handed out, and engines that are kept from cycle to
 * cycle: nobody sees a difference but in time (engine/client/client.h, "Ahead").
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
#include "engine/client/client_inner.h"
#include "../../../lib/client_desk.h"

#define STEPS 150
#define MOST (4 * DESK_PAGES)

/* ---- one thread: each step where it hurts most ---- */

struct play {
	struct client_desk desk;
	struct rng r;
	int64_t now;
	bool thinks;                    /* a round is begun */
	uint8_t hand[DESK_PAGES];       /* 1: it is out, 2: it is told */
	char lease[DESK_PAGES][LEDGER_ID_SIZE];
	uint32_t offered[MOST];
	size_t n;
	uint32_t n_waits, n_meanwhile;  /* told to wait; told of while the policy thought */
};

static void ask(struct play *p, uint32_t want)
{
	struct client_asking a = { .want = want, .now = p->now, .seconds = DAY_SECONDS };
	struct client_asked got = desk_ask(&p->desk, &a);

	p->n_waits += got.answer == CLIENT_WAIT;
	for (size_t i = 0; i < got.n; i++) {
		uint32_t page = desk_page(got.offers[i].url);

		assert_int_equal(p->hand[page], 0);
		p->hand[page] = 1;
		snprintf(p->lease[page], LEDGER_ID_SIZE, "%s", got.offers[i].lease);
		assert_true(p->n < MOST);
		p->offered[p->n++] = page;
	}
}

static void tell(struct play *p)
{
	uint32_t page = (uint32_t)rng_below(&p->r, DESK_PAGES);
	struct told t = desk_told();
	bool back = rng_below(&p->r, 8) == 0;

	for (uint32_t i = 0; i < DESK_PAGES && p->hand[page] != 1; i++)
		page = (page + 1) % DESK_PAGES;
	if (p->hand[page] != 1)
		return;
	desk_text(&t.lease, p->lease[page]);
	t.outcome = back ? TOLD_GIVEN_BACK : desk_fate(page);
	desk_tell(&p->desk, &t, p->now);
	p->hand[page] = back ? 0 : 2;
	p->n_meanwhile += p->thinks;
}

/* The next step of whoever plans, if there is one. */
static void plan(struct play *p)
{
	struct client *c = desk_client(&p->desk);

	if (p->thinks) {
		client_think(c);
		p->thinks = client_planned(c);
	} else if (client_due(c) == CLIENT_DUE_CYCLE) {
		assert_int_equal(client_prepare(c, p->now, &p->desk.err), 0);
	} else if (client_due(c) == CLIENT_DUE_ROUND) {
		p->thinks = client_plan(c);
	}
}

/* The same steps by chance, then one more question: by the program that has done all that, or by
 * one that has only the store. */
static void play(struct play *p, const char *policy, uint64_t seed, bool killed)
{
	struct store_cycle row;

	*p = (struct play){ .now = DESK_NOW };
	desk_open(&p->desk, policy);
	p->desk.opts.ahead = 1;
	desk_kill(&p->desk);
	rng_init(&p->r, seed);
	for (int i = 0; i < STEPS; i++) {
		uint32_t what = (uint32_t)rng_below(&p->r, 5);

		p->now += (int64_t)rng_below(&p->r, 3);
		if (what == 0)
			ask(p, 1 + (uint32_t)rng_below(&p->r, 4));
		else if (what < 4)
			tell(p);
		else
			plan(p);
	}
	while (p->thinks)
		plan(p);
	ask(p, 1);                      /* the store knows the rounds */
	if (killed)
		desk_kill(&p->desk);
	for (int i = 0; i < 20; i++) {
		ask(p, 2);
		tell(p);
		plan(p);
	}
	while (p->thinks)
		plan(p);
	assert_int_equal(client_end(desk_client(&p->desk), p->now, &row, &p->desk.err), 1);
	assert_true(row.downloads <= DESK_BUDGET);
	desk_close(&p->desk);
}

static void test_restart_makes_the_same_plan(void **state)
{
	static const char *const policies[] = { "tide", "random", "site", "auto" };
	static struct play one, other;
	uint32_t meanwhile = 0;

	(void)state;
	for (size_t k = 0; k < sizeof policies / sizeof *policies; k++)
		for (uint64_t seed = 1; seed <= 4; seed++) {
			play(&one, policies[k], seed, false);
			play(&other, policies[k], seed, true);
			assert_int_equal(one.n, other.n);
			assert_memory_equal(one.offered, other.offered, one.n * sizeof *one.offered);
			assert_true(one.n >= 20);
			meanwhile += one.n_meanwhile;
		}
	assert_true(meanwhile > 25);    /* else nothing was tested */
}

/* ---- threads, as the service has them ---- */

struct both_sides {
	struct client_desk desk;
	pthread_mutex_t lock;
	pthread_cond_t work;
	bool stop;
	uint8_t hand[DESK_PAGES];
	uint32_t n_told, n_rounds;
};

static void *plan_ahead(void *arg)
{
	struct both_sides *s = arg;
	struct client *c = s->desk.client[0];

	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		enum client_due due = client_due(c);

		if (due == CLIENT_DUE_CYCLE)
			assert_int_equal(client_prepare(c, DESK_NOW, &s->desk.err), 0);
		for (bool more = due == CLIENT_DUE_ROUND && client_plan(c); more;
		     more = client_planned(c)) {
			pthread_mutex_unlock(&s->lock);
			client_think(c);
			pthread_mutex_lock(&s->lock);
			s->n_rounds++;
		}
		if (due == CLIENT_DUE_NOTHING && !s->stop)
			pthread_cond_wait(&s->work, &s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void *crawl(void *arg)
{
	struct both_sides *s = arg;
	struct client_asking a = { .want = 2, .now = DESK_NOW, .seconds = DAY_SECONDS };
	bool done = false;

	while (!done) {
		char leases[2][LEDGER_ID_SIZE];
		uint32_t pages[2], n;
		struct client_asked got;

		pthread_mutex_lock(&s->lock);
		got = desk_ask(&s->desk, &a);
		n = (uint32_t)got.n;
		done = got.answer == CLIENT_DONE;
		for (uint32_t i = 0; i < n; i++) {
			pages[i] = desk_page(got.offers[i].url);
			snprintf(leases[i], LEDGER_ID_SIZE, "%s", got.offers[i].lease);
			assert_int_equal(s->hand[pages[i]]++, 0);
		}
		pthread_cond_signal(&s->work);
		pthread_mutex_unlock(&s->lock);
		for (uint32_t i = 0; i < n; i++) {
			struct told t = desk_told();

			pthread_mutex_lock(&s->lock);
			desk_text(&t.lease, leases[i]);
			t.outcome = pages[i] % 3 ? OUTCOME_SAME : OUTCOME_CHANGED;
			assert_int_equal(desk_tell(&s->desk, &t, DESK_NOW).n_lines, 1);
			s->n_told++;
			pthread_cond_signal(&s->work);
			pthread_mutex_unlock(&s->lock);
		}
	}
	return NULL;
}

static void test_threads(void **state)
{
	static struct both_sides s;
	struct store_cycle row;
	pthread_t planner, crawlers[4];

	(void)state;
	pthread_mutex_init(&s.lock, NULL);
	pthread_cond_init(&s.work, NULL);
	desk_open(&s.desk, "tide");
	s.desk.opts.ahead = 1;
	desk_kill(&s.desk);
	assert_int_equal(client_warm(s.desk.client[0], &s.desk.err), 0);
	pthread_create(&planner, NULL, plan_ahead, &s);
	for (int i = 0; i < 4; i++)
		pthread_create(&crawlers[i], NULL, crawl, &s);
	for (int i = 0; i < 4; i++)
		pthread_join(crawlers[i], NULL);
	pthread_mutex_lock(&s.lock);
	s.stop = true;
	pthread_cond_signal(&s.work);
	pthread_mutex_unlock(&s.lock);
	pthread_join(planner, NULL);
	assert_int_equal(s.n_told, DESK_BUDGET);
	assert_true(s.n_rounds > 1);
	assert_int_equal(client_end(s.desk.client[0], DESK_NOW, &row, &s.desk.err), 1);
	assert_int_equal(row.downloads, DESK_BUDGET);
	desk_close(&s.desk);
}

/* ---- the next cycle ---- */

static size_t whole_cycle(struct client_desk *d, int64_t now, uint32_t *ret)
{
	struct client_asking a = { .want = 7, .now = now, .seconds = 100, .anew = true };
	struct client_asked got;
	size_t n = 0;

	do {
		char leases[7][LEDGER_ID_SIZE];

		got = desk_ask(d, &a);
		a.anew = false;
		for (size_t i = 0; i < got.n; i++) {
			ret[n++] = desk_page(got.offers[i].url);
			snprintf(leases[i], LEDGER_ID_SIZE, "%s", got.offers[i].lease);
		}
		for (size_t i = 0, from = n - got.n; i < got.n; i++) {
			struct told t = desk_told();

			desk_text(&t.lease, leases[i]);
			t.outcome = desk_fate(ret[from + i]);
			desk_tell(d, &t, now);
		}
	} while (got.n);
	return n;
}

static void test_engine_is_kept(void **state)
{
	static const char *const policies[] = { "tide", "site" };
	struct client_desk one, other;
	uint32_t pages[2][MOST];
	struct store_cycle row;
	uint32_t kept = 0;

	(void)state;
	for (size_t k = 0; k < sizeof policies / sizeof *policies; k++) {
		desk_open(&one, policies[k]);
		desk_open(&other, policies[k]);
		for (int cycle = 0; cycle < 5; cycle++) {
			int64_t now = DESK_NOW + cycle * DAY_SECONDS;
			size_t n = whole_cycle(&one, now, pages[0]);

			assert_int_equal(whole_cycle(&other, now, pages[1]), n);
			assert_memory_equal(pages[0], pages[1], n * sizeof **pages);
			assert_true(n >= 20);
			if (cycle % 2)
				assert_int_equal(client_end(desk_client(&one), now, &row, &one.err), 1);
			kept += desk_client(&one)->resumed.next != 0;
			desk_kill(&other);
		}
		desk_close(&one);
		desk_close(&other);
	}
	assert_int_equal(kept, 4);      /* after client_end() */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restart_makes_the_same_plan),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_engine_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
