/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence's queue: what it takes is what a sort of all scores puts first, and what a
 * naive search finds best when doubts move the scores.
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
#include "policy/sweep.h"
#include "../../../lib/stage.h"

#define SEEDS 20
#define SLACK 3e-4              /* scores this close are equal: SAME, NOISE, rounding */

static const struct view two_threads = { .threads = 2 };

static double unit(uint64_t seed, uint32_t i)
{
	return rng_unit(rng_draw(seed, 0, i, RNG_USER));
}

/* Ranks keep the order of floats, of both signs and around zero. */
static void ranks_keep_the_order(void **state)
{
	static const float sorted[] = { -INFINITY, -1e30f, -2, -1.5f, -1e-30f, 0, 1e-30f, 1, 1.25f,
	                                3e20f, INFINITY };
	const size_t n = sizeof sorted / sizeof *sorted;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		float x = evidence_unrank(evidence_rank(sorted[i]));

		assert_true(evidence_rank(sorted[i]) > 0 && !(x < sorted[i]) && !(x > sorted[i]));
		assert_true(!i || evidence_rank(sorted[i]) > evidence_rank(sorted[i - 1]));
	}
}

/* The best of ranks with many ties, against counting: as many as asked for, none outside
 * better than one inside, those of rank 0 never. */
static void best_by_counting(void **state)
{
	enum { N = SWEEP_FEW + 1000 };
	static uint32_t rank[N], best[N];
	static uint8_t in[N];

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint32_t kinds = seed % 4 ? 3 + (uint32_t)seed : 1, open = 0, below, most = 0;
		uint32_t least = UINT32_MAX;
		size_t keep = (size_t)(unit(seed, N) * N * 1.2), n;

		for (uint32_t i = 0; i < N; i++) {
			double x = (floor(unit(seed, i) * kinds) - kinds / 2) * (seed % 3 ? 1 : 1e-5);

			rank[i] = unit(seed + 100, i) < 0.3 ? 0 :
			          evidence_rank((float)(seed % 5 ? x : x + 4));
			open += rank[i] > 0;
		}
		n = evidence_best(&two_threads, rank, N, keep, seed, best, &below);
		assert_int_equal(n, keep < open ? keep : open);
		memset(in, 0, sizeof in);
		for (size_t i = 0; i < n; i++) {
			assert_true(rank[best[i]] > 0 && !in[best[i]]++);
			least = rank[best[i]] < least ? rank[best[i]] : least;
		}
		for (uint32_t i = 0; i < N; i++)
			if (!in[i] && rank[i] > most)
				most = rank[i];
		assert_int_equal(below, most);
		assert_true(!n || least >= most);
	}
}

/* Equals are chosen by chance: each about as often as the others. */
static void ties_are_fair(void **state)
{
	enum { N = 40, KEEP = 10, TIMES = 4000 };
	uint32_t rank[N], best[N], below, count[N] = { 0 };

	(void)state;
	for (int i = 0; i < N; i++)
		rank[i] = evidence_rank(1.5f);
	for (uint64_t seed = 1; seed <= TIMES; seed++) {
		assert_int_equal(evidence_best(&two_threads, rank, N, KEEP, seed, best, &below), KEEP);
		for (int i = 0; i < KEEP; i++)
			count[best[i]]++;
	}
	/* 1000 expected of each, sd 27: five of them */
	for (int i = 0; i < N; i++)
		assert_in_range(count[i], 863, 1137);
}

/* Three hosts; a directory of 400 pages, larger than what is scored anew around a test,
 * and small ones. */
static struct evidence_state *open_queue(struct stage *s, uint64_t seed, uint32_t pages)
{
	struct evidence_state *p;

	stage_open(s);
	s->needs = NEED_FAMILIES;
	for (uint32_t i = 0; i < pages; i++) {
		char url[100], links[60];

		if (i < 400)
			snprintf(url, sizeof url, "http://a.example/big/%04u.html", i);
		else
			snprintf(url, sizeof url, "http://%c.example/d%u/%s-%u.html", 'a' + i % 3, i % 170,
			         i % 4 ? "news" : "item", i);
		snprintf(links, sizeof links, "/big/%04u.html /d%u/", (i * 7) % 400, i % 170);
		trace_add(&s->h, url, 0, "a", links);
	}
	stage_play(s, "evidence");
	s->e.view.goal = GOAL_ALIVE;
	s->e.view.cycle = 1;
	s->e.view.seed = seed;
	policy_begin(s->policy, &s->e.view);
	p = s->policy->state;
	return p;
}

/* The best score of the open pages, each worked out by itself. */
static double best_of_all(struct evidence_state *p, const struct view *v)
{
	double best = -INFINITY;

	for (uint32_t i = 0; i < v->n_pages; i++)
		if (view_open(v, i))
			best = fmax(best, (double)evidence_score(p, i));
	return best;
}

/* Without doubts the queue goes down the list of all scores, and ends when all are out;
 * with them, each page is the best there is just then. */
static void takes_the_best(void **state)
{
	static const struct evidence_opts o = { .sample = 0.01, .share = 1, .voice = 3 };

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		bool doubts = seed % 2;
		struct evidence_state *p;
		struct stage s;
		const struct view *v = &s.e.view;
		uint32_t left = 0, taken = 0;

		/* more than the pool holds, or fewer: a batch does not fill it anew */
		p = open_queue(&s, seed, doubts ? 1200 : 1500);
		for (uint32_t i = 0; i < v->n_pages; i++)
			if (unit(seed, i) < 0.2) {
				evidence_learn(p, v, &o, i, unit(seed + 50, v->dir[i]) < 0.4, true);
				s.e.visits.state[i] &= (uint8_t)~PAGE_HERE;
			}
		/* all doubts lower scores if no weight turns the tree round */
		p->weight[EVIDENCE_TREE] = 1;
		p->weight[EVIDENCE_SITE] = p->weight[EVIDENCE_THIN] = 0;
		for (uint32_t i = 0; i < v->n_pages; i++)
			left += view_open(v, i);
		for (;; taken++) {
			double score, want = taken % 7 == 0 ? best_of_all(p, v) : INFINITY;
			uint32_t page = evidence_queue_pop(p, v, &score);

			if (page == PAGE_NONE)
				break;
			assert_true(view_open(v, page));
			if (want < INFINITY && fabs(score - want) > SLACK)
				fail_msg("seed %d, page %u of %u: %.6f, the best is %.6f", (int)seed, taken,
				         left, score, want);
			s.e.visits.state[page] |= PAGE_TAKEN;
			if (doubts)
				evidence_doubt(p, &o, page);
		}
		assert_int_equal(taken, left);
		stage_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_keep_the_order),
		cmocka_unit_test(best_by_counting),
		cmocka_unit_test(ties_are_fair),
		cmocka_unit_test(takes_the_best),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
