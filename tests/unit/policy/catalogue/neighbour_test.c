/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The download probabilities by their formulas, and Algorithm 1 step by step.
 *
 * Two directories of 30 pages, a budget of 2: the first download is a sample, the
 * second a neighbour exactly if the sample triggered, so that the share of runs
 * with a neighbour is phi.  Shares are compared with the formula at 4 standard
 * errors over seeds.
 *
 * Plain only.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "../../../lib/stage.h"

#define SEEDS 1000
#define DIR_PAGES 30

static void two_directories(struct stage *s)
{
	stage_open(s);
	for (int i = 0; i < 2 * DIR_PAGES; i++) {
		char url[60], links[60];

		snprintf(url, sizeof url, "http://a.example/d%d/p%d", i / DIR_PAGES, i);
		/* some pages are linked often, so that PageRanks differ */
		snprintf(links, sizeof links, "/d0/p0 /d0/p1 /d1/p%d", DIR_PAGES + i % 7);
		trace_add(&s->h, url, 0, "a", links);
	}
}

/* Digit c of a string: what all pages do in cycle c; x: the visit fails. */
static enum outcome by_digits(void *arg, uint32_t page, uint32_t cycle)
{
	const char *digits = arg;

	(void)page;
	return digits[cycle - 1] == '1' ? OUTCOME_CHANGED :
	       digits[cycle - 1] == 'x' ? OUTCOME_FAILED : OUTCOME_SAME;
}

/* Runs the policy over the cycles of `digits`, visiting everything in all but the
 * last; there the budget is 2.  Expects NEIGHBOUR with probability phi, or by
 * the sample's PageRank if phi < 0. */
static void expect_phi(struct stage *s, const char *spec, const char *digits, double phi)
{
	double excess = 0, variance = 0;
	size_t n = strlen(digits);

	s->fate = by_digits;
	s->arg = (void *)(uintptr_t)digits;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		double p = phi;
		bool followed;

		stage_play(s, spec);
		s->e.view.seed = seed;
		for (size_t c = 1; c < n; c++)
			stage_cycle(s, s->r.pages.n);
		/* out of the way: it has no neighbour */
		s->e.visits.state[trace_page(&s->h, "http://end.example/")] = 0;
		stage_cycle(s, 2);
		assert_int_equal(s->e.cycle.n_seen, 2);
		assert_int_equal(s->e.cycle.seen[0].reason, REASON_SAMPLE);
		followed = s->e.cycle.seen[1].reason == REASON_NEIGHBOUR;
		if (followed)
			assert_int_equal(s->e.view.dir[s->e.cycle.seen[0].page],
			                 s->e.view.dir[s->e.cycle.seen[1].page]);
		else
			assert_int_equal(s->e.cycle.seen[1].reason, REASON_SAMPLE);
		if (phi < 0)
			p = (s->e.view.pagerank10[s->e.cycle.seen[0].page] + 1) / 11.0;
		if (followed && fabs((double)s->e.cycle.seen[1].score - p) > 1e-6)
			fail_msg("%s: phi = %g, wanted %g", spec, (double)s->e.cycle.seen[1].score, p);
		excess += followed - p;
		variance += p * (1 - p);
	}
	if (!(fabs(excess) <= 4 * sqrt(variance) + 1e-9))
		fail_msg("%s after %s: %.4f more than %.4f, se %.4f", spec, digits,
		         excess / SEEDS, phi, sqrt(variance) / SEEDS);
}

static void fixed_and_current(void **state)
{
	struct stage s;

	(void)state;
	two_directories(&s);
	expect_phi(&s, "neighbour:by=dir,phi=never", "1", 0);
	expect_phi(&s, "neighbour:by=dir,phi=always", "0", 1);
	expect_phi(&s, "neighbour:by=dir,phi=changed", "1", 1);
	expect_phi(&s, "neighbour:by=dir", "1", 1);
	expect_phi(&s, "neighbour:by=dir", "0", 0);
	expect_phi(&s, "neighbour:by=dir", "x", 0);
	stage_close(&s);
}

static void history_ha(void **state)
{
	struct stage s;

	(void)state;
	two_directories(&s);
	expect_phi(&s, "neighbour:by=dir,phi=history", "1", 1 - exp(-1));
	expect_phi(&s, "neighbour:by=dir,phi=history", "1011", 1 - exp(-3 / 4.0));
	expect_phi(&s, "neighbour:by=dir,phi=history", "1010", 1 - exp(-2 / 4.0));
	/* cycles without a visit count as quiet, or not at all */
	expect_phi(&s, "neighbour:by=dir,phi=history", "1xx1", 1 - exp(-2 / 4.0));
	expect_phi(&s, "neighbour:by=dir,phi=history,count=visits", "1xx1", 1 - exp(-2 / 2.0));
	expect_phi(&s, "neighbour:by=dir,phi=history,trigger=changed", "1010", 0);
	expect_phi(&s, "neighbour:by=dir,phi=history,trigger=changed", "1011", 1 - exp(-3 / 4.0));
	stage_close(&s);
}

static void history_wha(void **state)
{
	struct stage s;

	(void)state;
	two_directories(&s);
	/* weights 1, 2, 3, 4 of 10 */
	expect_phi(&s, "neighbour:by=dir,phi=weighted", "1011", 1 - exp(-8 / 10.0));
	expect_phi(&s, "neighbour:by=dir,phi=weighted", "1010", 1 - exp(-4 / 10.0));
	expect_phi(&s, "neighbour:by=dir,phi=weighted", "1xx1", 1 - exp(-5 / 10.0));
	/* the visits are the first and the second: 1 and 2 of 3 */
	expect_phi(&s, "neighbour:by=dir,phi=weighted,count=visits", "1xx0", 1 - exp(-1 / 3.0));
	expect_phi(&s, "neighbour:by=dir,phi=weighted,trigger=changed", "1110", 0);
	stage_close(&s);
}

static void by_pagerank(void **state)
{
	struct stage s;
	bool differ = false;

	(void)state;
	two_directories(&s);
	expect_phi(&s, "neighbour:by=dir,phi=pagerank", "0", -1);
	expect_phi(&s, "neighbour:by=dir,phi=pagerank,trigger=changed", "1", -1);
	expect_phi(&s, "neighbour:by=dir,phi=pagerank,trigger=changed", "0", 0);
	for (uint32_t i = 1; i < s.r.pages.n; i++)
		differ |= s.r.prepared.pagerank10[i] != s.r.prepared.pagerank10[0];
	assert_true(differ);
	stage_close(&s);
}

static enum outcome by_hash(void *arg, uint32_t page, uint32_t cycle)
{
	(void)arg;
	return rng_unit(rng_draw(3, cycle, page, RNG_USER)) < 0.3 ? OUTCOME_CHANGED :
	                                                            OUTCOME_SAME;
}

/* Every visit of a cycle is what Algorithm 1 would do next: the neighbours of a
 * changed sample, all that are not yet downloaded; else another sample. */
static void follows_algorithm_1(void **state)
{
	struct stage s;
	uint32_t n, *due;

	(void)state;
	stage_open(&s);
	for (int i = 0; i < 300; i++) {
		char url[60];

		snprintf(url, sizeof url, "http://a%d.example/d%d/p%d", i % 3, i % 13, i);
		trace_add(&s.h, url, 0, "a", NULL);
	}
	stage_play(&s, "neighbour:by=dir,d=0");
	s.fate = by_hash;
	n = s.r.pages.n;
	due = mem_zalloc(n, sizeof *due);
	for (uint32_t cycle = 1; cycle <= 20; cycle++) {
		uint32_t budget = 10 + cycle * 15, n_due = 0;

		stage_cycle(&s, budget);
		assert_int_equal(s.e.cycle.n_seen, budget < n ? budget : n);
		memset(due, 0, n * sizeof *due);        /* 1: to come, 2: downloaded */
		for (size_t i = 0; i < s.e.cycle.n_seen; i++) {
			const struct seen *v = &s.e.cycle.seen[i];

			assert_int_not_equal(due[v->page], 2);
			assert_int_equal(v->reason, n_due ? REASON_NEIGHBOUR : REASON_SAMPLE);
			assert_int_equal(due[v->page], n_due ? 1 : 0);
			n_due -= due[v->page];
			due[v->page] = 2;
			for (uint32_t p = 0; p < n && v->reason == REASON_SAMPLE && v->hit; p++) {
				if (s.e.view.dir[p] != s.e.view.dir[v->page] || due[p])
					continue;
				due[p] = 1;
				n_due++;
			}
		}
	}
	free(due);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_and_current),
		cmocka_unit_test(history_ha),
		cmocka_unit_test(history_wha),
		cmocka_unit_test(by_pagerank),
		cmocka_unit_test(follows_algorithm_1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
