/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leases, fences and grants as a small machine, and every order in which three workers may
 * run its statements on three shards.  The steps are those of fleet_lease.c, fleet_cycle.c and
 * of a batch in repo/pg/session.c; a statement of the server is one step, a transaction that a
 * worker may hang in is two.
 *
 * What can go wrong is a step, too, possible at any moment: a worker is killed; a lease ends
 * (the worker hangs, its renewal is late or lost, the server's clock is set forward: all the
 * same to the machine); the server ends a transaction that idles.  A worker that hangs is one
 * that takes no step for a while, so all delays are there.
 *
 * Fences need no numbers here: a worker's is the shard's present one, or an older one.
 *
 * Checked in every state: what was sent never passes what was granted, and that never passes
 * the budget; at most one worker writes a shard under its present fence, and none under an old
 * one.  And from every state each shard can be worked on again.  Without the check of the fence
 * the same search finds two writers and a budget that is passed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"

enum { N = 3, BUDGET = 2 };
enum { FREE, LIVE, ENDED };             /* a lease: given back, held, over */

struct shard { uint8_t lease, granted, sent; };
struct worker {
	uint8_t shard;                  /* from 1; 0: none */
	uint8_t old;                    /* its fence is not the shard's any more */
	uint8_t writes;                 /* in a transaction, behind the check of the fence */
	uint8_t left;                   /* what it believes it may send */
};
struct state { struct shard s[N]; struct worker w[N]; };

static bool fence_is_checked;

/* ---- states as numbers; those that differ only in names are one ---- */

static uint64_t pack_as(const struct state *x, const int order[N])
{
	uint64_t key = 0;
	uint32_t w[N];

	for (int i = 0; i < N; i++) {
		const struct shard *s = &x->s[order[i]];

		key = key << 7 | s->lease | (unsigned)s->granted << 2 | (unsigned)s->sent << 4;
	}
	for (int i = 0; i < N; i++) {
		const struct worker *v = &x->w[i];
		unsigned at = 0;

		for (unsigned k = 0; v->shard && k < N; k++)
			at = order[k] == v->shard - 1 ? k + 1 : at;
		w[i] = at | (unsigned)v->old << 2 | (unsigned)v->writes << 3 | (unsigned)v->left << 4;
	}
	for (int i = 1; i < N; i++)
		for (int k = i; k > 0 && w[k] < w[k - 1]; k--) {
			uint32_t swap = w[k];

			w[k] = w[k - 1];
			w[k - 1] = swap;
		}
	for (int i = 0; i < N; i++)
		key = key << 7 | w[i];
	return key;
}

static uint64_t pack(const struct state *x)
{
	static const int orders[6][N] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 },
	                                  { 2, 0, 1 }, { 2, 1, 0 } };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 6; i++) {
		uint64_t key = pack_as(x, orders[i]);

		least = key < least ? key : least;
	}
	return least;
}

static struct state unpack(uint64_t key)
{
	struct state x = { 0 };

	for (int i = N - 1; i >= 0; i--, key >>= 7)
		x.w[i] = (struct worker){ key & 3, key >> 2 & 1, key >> 3 & 1, key >> 4 & 7 };
	for (int i = N - 1; i >= 0; i--, key >>= 7)
		x.s[i] = (struct shard){ key & 3, key >> 2 & 3, key >> 4 & 7 };
	return x;
}

/* ---- the search ---- */

struct edge { uint32_t from, to; };
static struct {
	VEC(uint64_t) states;
	VEC(struct edge) edges;
	uint32_t *table;                /* of states, + 1 */
	size_t cap;
	uint32_t bad;                   /* states that break a rule */
	const char *first_bad;
} search;

static uint32_t find_or_add(uint64_t key)
{
	size_t i = (key * 0x9e3779b97f4a7c15ull) >> 40;

	for (i %= search.cap; search.table[i]; i = (i + 1) % search.cap)
		if (search.states.v[search.table[i] - 1] == key)
			return search.table[i] - 1;
	vec_push(&search.states, key);
	search.table[i] = (uint32_t)search.states.n;
	assert_true(search.states.n < search.cap / 2);
	return (uint32_t)search.states.n - 1;
}

static void bad(const char *why)
{
	search.bad++;
	search.first_bad = search.first_bad ? search.first_bad : why;
}

static void reach(uint32_t from, const struct state *x)
{
	vec_push(&search.edges, ((struct edge){ from, find_or_add(pack(x)) }));
}

static bool may(const struct worker *w)         /* SELECT ... WHERE fence = $1 FOR SHARE */
{
	return !fence_is_checked || !w->old;
}

static bool is_locked(const struct state *x, int shard)
{
	for (int i = 0; i < N; i++)
		if (x->w[i].shard == shard + 1 && x->w[i].writes)
			return true;
	return false;
}

static int granted(const struct state *x)
{
	return x->s[0].granted + x->s[1].granted + x->s[2].granted;
}

/* fleet_claim(): the lease is over; who writes under the fence is waited for. */
static void claim(uint32_t from, const struct state *x, int w, int shard)
{
	struct state y = *x;

	if (x->s[shard].lease == LIVE || (fence_is_checked && is_locked(x, shard)))
		return;
	for (int i = 0; i < N; i++)
		y.w[i].old |= y.w[i].shard == shard + 1;
	y.s[shard].lease = LIVE;
	y.w[w] = (struct worker){ .shard = (uint8_t)(shard + 1),
	                          .left = (uint8_t)(x->s[shard].granted - x->s[shard].sent) };
	reach(from, &y);
}

static void steps_of_holder(uint32_t from, const struct state *x, int k)
{
	const struct worker *w = &x->w[k];
	int s = w->shard - 1;
	struct state y = *x;

	if (w->writes) {                /* commit: what is sent is in the journal first */
		if (w->old)
			bad("a worker writes under a fence that is not the shard's");
		y.w[k].writes = 0;
		if (w->left) {
			y.w[k].left--;
			y.s[s].sent++;
		}
		if (y.s[s].sent > y.s[s].granted) {
			bad("more is sent than was granted");
			return;
		}
		reach(from, &y);
		y = *x;                 /* or the server ends it */
		y.w[k].writes = 0;
		reach(from, &y);
		return;
	}
	if (!may(w)) {                  /* any statement tells that the lease is lost */
		y.w[k] = (struct worker){ 0 };
		reach(from, &y);
		return;
	}
	y.w[k].writes = 1;
	reach(from, &y);
	y = *x;
	if (granted(x) < BUDGET) {      /* fleet_grant() */
		y.s[s].granted++;
		y.w[k].left++;
		reach(from, &y);
	}
	y = *x;                         /* fleet_renew(): not what was given back */
	if (!w->old && x->s[s].lease == ENDED) {
		y.s[s].lease = LIVE;
		reach(from, &y);
	}
	y = *x;                         /* fleet_release() */
	y.s[s].lease = FREE;
	y.w[k] = (struct worker){ 0 };
	reach(from, &y);
}

static void steps(uint32_t from)
{
	struct state x = unpack(search.states.v[from]), y;

	if (granted(&x) > BUDGET)
		bad("more is granted than the budget");
	for (int k = 0; k < N; k++) {
		if (x.w[k].shard) {
			steps_of_holder(from, &x, k);
			y = x;          /* killed, in a transaction or not */
			y.w[k] = (struct worker){ 0 };
			reach(from, &y);
			continue;
		}
		for (int s = 0; s < N; s++)
			claim(from, &x, k, s);
	}
	for (int s = 0; s < N; s++)
		if (x.s[s].lease == LIVE) {
			y = x;
			y.s[s].lease = ENDED;
			reach(from, &y);
		}
}

static void explore(bool check)
{
	struct state first = { 0 };

	fence_is_checked = check;
	search.cap = 1u << 23;
	search.table = mem_zalloc(search.cap, sizeof *search.table);
	find_or_add(pack(&first));
	for (uint32_t i = 0; i < search.states.n && (check || !search.bad); i++)
		steps(i);
}

static void forget(void)
{
	vec_release(&search.states);
	vec_release(&search.edges);
	free(search.table);
	memset(&search, 0, sizeof search);
}

static bool all_worked(uint64_t key)
{
	struct state x = unpack(key);
	int n = 0;

	for (int k = 0; k < N; k++)
		n += x.w[k].shard && !x.w[k].old && x.s[x.w[k].shard - 1].lease == LIVE;
	return n == N;
}

/* Go back from the states in which each shard is held: all states must be met. */
static size_t count_hopeless(void)
{
	uint8_t *good = mem_zalloc(search.states.n, 1);
	size_t n = 0;
	bool more = true;

	for (size_t i = 0; i < search.states.n; i++)
		good[i] = all_worked(search.states.v[i]);
	while (more) {
		more = false;
		for (size_t i = search.edges.n; i-- > 0;)
			if (good[search.edges.v[i].to] && !good[search.edges.v[i].from])
				good[search.edges.v[i].from] = 1, more = true;
	}
	for (size_t i = 0; i < search.states.n; i++)
		n += !good[i];
	free(good);
	return n;
}

static void test_every_order(void **state)
{
	(void)state;
	explore(true);
	print_message("%zu states, %zu steps\n", search.states.n, search.edges.n);
	if (search.bad)
		fail_msg("%u states: %s", search.bad, search.first_bad);
	assert_true(search.states.n > 1000);
	assert_int_equal(count_hopeless(), 0);
	forget();
}

/* The model can see what the fence is for. */
static void test_without_the_fence(void **state)
{
	(void)state;
	explore(false);
	assert_true(search.bad > 0);
	print_message("without the check: %s, after %zu states\n", search.first_bad,
	              search.states.n);
	forget();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_order),
		cmocka_unit_test(test_without_the_fence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
