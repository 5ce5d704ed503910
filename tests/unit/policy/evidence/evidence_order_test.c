/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence's order: how long it opens, how much it explores, what a batch holds.
 * Everything is counted from the list of visits.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "policy/evidence/evidence.h"
#include "../../../lib/stage.h"

struct life { double share; uint64_t seed; };

static enum outcome fate(void *arg, uint32_t page, uint32_t cycle)
{
	const struct life *l = arg;

	return rng_unit(rng_draw(l->seed, cycle, page, RNG_USER)) < l->share ? OUTCOME_SAME
	                                                                      : OUTCOME_GONE;
}

static void play(struct stage *s, struct life *l, const char *spec, uint32_t budget)
{
	stage_play(s, spec);
	s->fate = fate;
	s->arg = l;
	s->e.view.seed = l->seed;
	s->e.view.goal = GOAL_ALIVE;
	stage_cycle(s, budget);
	assert_int_equal(s->e.cycle.n_seen, budget);
}

static void open_hosts(struct stage *s, uint32_t pages, uint32_t hosts)
{
	stage_open(s);
	s->needs = NEED_FAMILIES;
	for (uint32_t i = 0; i < pages; i++) {
		char url[80];

		snprintf(url, sizeof url, "http://s%u.example/d/p%05u", i % hosts, i);
		trace_add(&s->h, url, 0, "a", NULL);
	}
}

/* Visits before the first that was chosen. */
static uint32_t opening_of(const struct stage *s)
{
	uint32_t n = 0;

	while (n < s->e.cycle.n_seen && s->e.cycle.seen[n].reason != REASON_CHANCE)
		n++;
	return n;
}

/* Ten pages where all live, 20 or 0.15 % where none does; two living ones end it. */
static void opening_ends_with_life(void **state)
{
	struct stage s;
	struct life all = { 1, 1 }, none = { 0, 1 }, few = { 0.1, 1 };
	uint32_t short_ones = 0;

	(void)state;
	open_hosts(&s, 20000, 3);
	play(&s, &all, "evidence", 100);
	assert_int_equal(opening_of(&s), 10);
	play(&s, &none, "evidence", 100);
	assert_int_equal(opening_of(&s), 30);
	for (few.seed = 1; few.seed <= 10; few.seed++) {
		uint32_t n, alive = 0, before = 0;

		play(&s, &few, "evidence", 100);
		n = opening_of(&s);
		for (uint32_t i = 0; i < n; i++) {
			alive += s.e.cycle.seen[i].hit;
			/* blocks of an eighth: the last one began without the second */
			before += i < n - (n + 8) / 9 && s.e.cycle.seen[i].hit;
		}
		assert_true(n == 30 || alive >= 2);
		assert_true(n == 10 || before < 2);
		short_ones += n < 30;
	}
	assert_in_range(short_ones, 1, 9);
	stage_close(&s);
	open_hosts(&s, 2000, 3);
	play(&s, &none, "evidence", 100);
	assert_int_equal(opening_of(&s), 20);
	stage_close(&s);
}

/* Pages of the sample, after the opening, as of the round: the root of the misses, or
 * where most tests miss a fifth of misses^2 / (misses + living + 1). Returns how many. */
static uint32_t explored_by(struct stage *s, struct life *l, uint32_t *ret_misses)
{
	uint32_t misses = 0, alive = 0, explored = 0, owed = 0, allowed = 0;

	play(s, l, "evidence:sample=0.5", 6000);        /* which does not run out */
	for (size_t i = 0; i < s->e.cycle.n_seen; i++) {
		const struct seen *v = &s->e.cycle.seen[i];

		if (i >= opening_of(s)) {
			if (v->round != s->e.cycle.seen[i - 1].round) {
				double m = misses, f = 0.2 * m * m / (m + alive + 1);

				/* with room for a page at least a debt is paid in the next round */
				assert_true(explored + 1 >= owed);
				owed = allowed = (uint32_t)(f > sqrt(m) ? f : sqrt(m));
			}
			explored += v->reason == REASON_SAMPLE;
			assert_true(explored <= allowed || v->reason != REASON_SAMPLE);
		}
		misses += v->reason == REASON_CHANCE && !v->hit;
		alive += v->hit;
	}
	*ret_misses = misses;
	return explored;
}

static void explores_by_misses(void **state)
{
	struct stage s;
	struct life many = { 0.95, 5 }, few = { 0.3, 5 };
	uint32_t misses, explored;

	(void)state;
	open_hosts(&s, 12000, 3);
	explored = explored_by(&s, &many, &misses);     /* the root: misses / 5 / 20 is less */
	assert_in_range(misses, 200, 390);
	assert_in_range(explored, (uint32_t)sqrt(misses) - 1, (uint32_t)sqrt(misses));
	explored = explored_by(&s, &few, &misses);
	/* .7 of the tests miss, m of them chosen: .2 m m / (m + 1800) with m near 3700 */
	assert_in_range(misses, 3500, 3900);
	assert_in_range(explored, 440, 560);
	stage_close(&s);
}

/* Of one host a batch chooses one page, later a 500th of what was tested. */
static void a_host_has_its_part(void **state)
{
	struct stage s;
	struct life l = { 0.5, 2 };
	size_t from = 0, full = 0, several = 0;

	(void)state;
	open_hosts(&s, 9000, 7);
	play(&s, &l, "evidence", 9000);
	assert_int_equal(s.e.view.tree->n_sites, 8);    /* one of the stage itself */
	for (size_t i = 1; i <= s.e.cycle.n_seen; i++) {
		uint32_t count[8] = { 0 }, most = from >= 1000 ? (uint32_t)from / 500 : 1, hosts = 0;

		if (i < s.e.cycle.n_seen && s.e.cycle.seen[i].round == s.e.cycle.seen[from].round)
			continue;
		for (size_t k = from; k < i; k++)
			if (s.e.cycle.seen[k].reason == REASON_CHANCE)
				count[s.e.view.site[s.e.cycle.seen[k].page]]++;
		for (int k = 0; k < 8; k++) {
			assert_true(count[k] <= most);
			full += count[k] == most;
			hosts += count[k] > 0;
		}
		several += hosts > 1;
		from = i;
	}
	assert_true(full > 500 && several >= 10);
	stage_close(&s);
}

/* 800 pages in 40 versions of one directory count as root 800 of a sample, 20 in
 * another as root 20: it has .137 of the points, of 20 at least two (gaps of the golden
 * ratio's steps are at most .090 there), and four at the most (three such gaps and
 * more than .137 with the smallest, .034, between five). By directories it had .024. */
static void versions_share_a_part(void **state)
{
	struct stage s;
	struct life none = { 0, 1 };

	(void)state;
	stage_open(&s);
	s.needs = NEED_FAMILIES;
	for (uint32_t i = 0; i < 820; i++) {
		char url[80];

		if (i < 800)
			snprintf(url, sizeof url, "http://a.example/v%u.0/p%c", i / 20, 'a' + i % 20);
		else
			snprintf(url, sizeof url, "http://a.example/current/p%c", 'a' + i % 20);
		trace_add(&s.h, url, 0, "a", NULL);
	}
	for (none.seed = 1; none.seed <= 10; none.seed++) {
		uint32_t met = 0;

		play(&s, &none, "evidence", 20);
		for (size_t i = 0; i < 20; i++)
			met += strstr(pages_url(&s.r.pages, s.e.cycle.seen[i].page), "/current/") != NULL;
		assert_in_range(met, 2, 4);
	}
	stage_close(&s);
}

static bool in_first(const struct stage *s, uint32_t page)
{
	return strstr(pages_url(&s->r.pages, page), "/first/") != NULL;
}

/* Doubts lower a place until another is better; when they are over it is the best
 * again, also where it has more pages than are scored anew around a test. */
static void doubts_pass(void **state)
{
	static const struct evidence_opts o = { .sample = 0.01, .share = 1, .voice = 3,
	                                        .nofit = true };
	struct evidence_state *p;
	struct stage s;
	uint32_t page, n = 0, seen[2] = { 0 };
	double score;

	(void)state;
	stage_open(&s);
	for (uint32_t i = 0; i < 1000; i++) {
		char url[80];

		snprintf(url, sizeof url, "http://a.example/%s/%03u.html", i < 500 ? "first" : "other",
		         i % 500);
		trace_add(&s.h, url, 0, "a", NULL);
	}
	stage_play(&s, "evidence:nofit=1");
	s.e.view.goal = GOAL_ALIVE;
	s.e.view.cycle = 1;
	policy_begin(s.policy, &s.e.view);
	p = s.policy->state;
	for (uint32_t i = 0; i < s.r.pages.n; i++) {            /* 6 of 8, and 5 of 8 */
		uint32_t *k = &seen[!in_first(&s, i)];
		bool ours = strstr(pages_url(&s.r.pages, i), "a.example") != NULL;

		if (!ours)
			s.e.visits.state[i] &= (uint8_t)~PAGE_HERE;
		else if (*k < 8) {
			evidence_learn(p, &s.e.view, &o, i, *k < (in_first(&s, i) ? 6 : 5), true);
			s.e.visits.state[i] &= (uint8_t)~PAGE_HERE;
			++*k;
		}
	}
	while (page = evidence_queue_pop(p, &s.e.view, &score), in_first(&s, page)) {
		evidence_doubt(p, &o, page);
		assert_true(++n < 50);
	}
	assert_true(n > 0);
	evidence_settle(p);
	page = evidence_queue_pop(p, &s.e.view, &score);
	assert_true(in_first(&s, page));
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opening_ends_with_life),
		cmocka_unit_test(explores_by_misses),
		cmocka_unit_test(a_host_has_its_part),
		cmocka_unit_test(versions_share_a_part),
		cmocka_unit_test(doubts_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
