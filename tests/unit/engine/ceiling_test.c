/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No site gets more of a cycle than its part, whatever the policy: counted visit by visit,
 * while the budget is spent and no page comes twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engine/experiment.h"
#include "../../lib/stage.h"

#define SITES 10
#define PAGES 400
#define BUDGET 100

/* Site 0 has half of the pages if `large`, else a tenth as the others. */
static void open_pages(struct stage *s, bool large)
{
	stage_open(s);
	for (int i = 0; i < PAGES; i++) {
		char url[60];

		snprintf(url, sizeof url, "http://s%d.example/d%d/p%d",
		         large && i % 2 ? 0 : i % SITES, i % 7, i);
		trace_add(&s->h, url, 0, "a", NULL);
	}
}

static uint32_t site_of(const struct stage *s, const char *host)
{
	for (uint32_t i = 0; i < s->r.pages.n; i++)
		if (strstr(pages_url(&s->r.pages, i), host))
			return s->r.pages.site[i];
	fail_msg("no page of %s", host);
	return 0;
}

struct fickle { const struct stage *s; uint32_t site; };

static enum outcome site_changes(void *arg, uint32_t page, uint32_t cycle)
{
	const struct fickle *f = arg;

	(void)cycle;
	return f->s->r.pages.site[page] == f->site ? OUTCOME_CHANGED : OUTCOME_SAME;
}

/* The most visits of any site in a cycle; of `site` alone in *ret_site. */
static uint32_t most_of_a_cycle(struct stage *s, uint32_t site, uint32_t *ret_site,
                                uint32_t *ret_excess)
{
	uint32_t most = 0;

	*ret_site = *ret_excess = 0;
	for (int c = 0; c < 12; c++) {
		uint32_t had[SITES + 1] = { 0 };
		uint8_t seen[PAGES + 1] = { 0 };

		stage_cycle(s, BUDGET);
		assert_int_equal(s->e.n_seen, BUDGET);
		for (size_t i = 0; i < s->e.n_seen; i++) {
			uint32_t page = s->e.seen[i].page;

			assert_false(seen[page]++);
			had[s->r.pages.site[page]]++;
		}
		for (int i = 0; i <= SITES; i++)
			most = had[i] > most ? had[i] : most;
		*ret_site = had[site] > *ret_site ? had[site] : *ret_site;
		*ret_excess += s->e.ceiling.n_excess;
		for (uint32_t i = 0; i < s->r.pages.n; i++)     /* nothing stays closed */
			assert_int_equal(s->e.visits.state[i], PAGE_HERE);
	}
	return most;
}

/* Does the stage have what it needs? */
static bool is_simple(const char *spec)
{
	unsigned needs;

	assert_int_equal(policy_list_needs(&(struct option_list){ .v = &spec, .n = 1 }, &needs,
	                                   NULL), 0);
	return !(needs & ~(unsigned)(NEED_LINKS | NEED_PAGERANK));
}

static void test_every_policy_is_bound(void **state)
{
	const struct policy_ops *ops;
	uint32_t site, excess, freed = 0, bound = 0;

	(void)state;
	for (size_t i = 0; (ops = policy_at(i)); i++) {
		struct fickle f;
		struct stage s;

		if (ops->only_replay || !is_simple(ops->name))
			continue;
		bound++;
		open_pages(&s, false);
		s.fate = site_changes;
		s.arg = &f;
		stage_play(&s, ops->name);
		f = (struct fickle){ &s, site_of(&s, "//s3.") };
		most_of_a_cycle(&s, f.site, &site, &excess);
		assert_int_equal(excess, 0);
		freed += site > 20;             /* pages of it: 40 */
		stage_play(&s, ops->name);
		s.e.ceiling.share = (struct share){ 20, true };
		if (most_of_a_cycle(&s, f.site, &site, &excess) > 20)
			fail_msg("%s: a site had more than its part", ops->name);
		stage_close(&s);
	}
	assert_true(bound >= 8 && freed >= 4);  /* else there was nothing to bind */
}

/* A site may have as much as is its share of the pages; one site alone all. */
static void test_large_sites(void **state)
{
	struct stage s;
	uint32_t site, excess, large;

	(void)state;
	open_pages(&s, true);
	stage_play(&s, "random");
	large = site_of(&s, "//s0.");
	s.e.ceiling.share = (struct share){ 10, true };
	most_of_a_cycle(&s, large, &site, &excess);
	/* half of all, and a tenth of the other half: ceil(100 * 220 / 401) */
	assert_in_range(site, 30, 60);
	assert_int_equal(s.e.ceiling.most[large], 60);
	/* as a number of requests */
	stage_play(&s, "random");
	s.e.ceiling.share = (struct share){ 70, false };
	stage_cycle(&s, BUDGET);
	assert_int_equal(s.e.ceiling.most[large], 70);
	/* 100 % is none; nor is there a usual one of so few sites */
	stage_play(&s, "random");
	s.e.ceiling.usual = true;
	stage_cycle(&s, BUDGET);
	assert_null(s.e.ceiling.most);
	stage_play(&s, "random");
	s.e.ceiling.share = (struct share){ 100, true };
	stage_cycle(&s, BUDGET);
	assert_null(s.e.ceiling.most);
	stage_close(&s);
}

/* The guarantee of age is kept, and counts. */
static void test_guarantee_goes_first(void **state)
{
	struct stage s;
	uint32_t last[PAGES + 1] = { 0 };

	(void)state;
	open_pages(&s, true);
	stage_play(&s, "oldest");
	s.e.max_age = 5;
	s.e.ceiling.share = (struct share){ 1, false };
	for (uint32_t c = 1; c <= 30; c++) {
		stage_cycle(&s, BUDGET);
		assert_false(s.e.guarantee_broken);
		for (size_t i = 0; i < s.e.n_seen; i++)
			last[s.e.seen[i].page] = c;
		for (uint32_t p = 0; p < s.r.pages.n; p++)
			assert_true(c - last[p] < 5);
	}
	stage_close(&s);
}

/* Broken off in the middle: what a site had before counts. */
static void test_gone_on_with(void **state)
{
	struct stage s;
	struct seen before[8];
	struct err err;
	uint32_t site, n = 0, had = 0;

	(void)state;
	open_pages(&s, false);
	stage_play(&s, "random");
	site = site_of(&s, "//s3.");
	s.e.ceiling.share = (struct share){ 10, true };
	for (uint32_t i = 0; n < 8; i++)
		if (s.r.pages.site[i] == site)
			before[n++] = (struct seen){ .page = i, .outcome = OUTCOME_SAME, .known = true };
	assert_int_equal(engine_continue(&s.e, s.r.start + DAY_SECONDS, BUDGET, before, n, n, false,
	                                 &err), 0);
	for (size_t i = 0; i < s.e.n_seen; i++)
		had += s.r.pages.site[s.e.seen[i].page] == site;
	assert_in_range(had, 8, 10);
	assert_int_equal(s.e.n_spent, BUDGET);
	stage_close(&s);
}

/* Twenty sites have a usual ceiling, nineteen have none. */
static void test_usual(void **state)
{
	(void)state;
	for (int sites = CEILING_SITES - 1; sites <= CEILING_SITES; sites++) {
		struct stage s;

		stage_open(&s);         /* with a site of its own */
		for (int i = 0; i < 300; i++) {
			char url[60];

			snprintf(url, sizeof url, "http://s%d.example/p%d", i % (sites - 1), i);
			trace_add(&s.h, url, 0, "a", NULL);
		}
		stage_play(&s, "random");
		s.e.ceiling.usual = true;
		stage_cycle(&s, BUDGET);
		assert_true(!s.e.ceiling.most == (sites < CEILING_SITES));
		if (s.e.ceiling.most)
			assert_int_equal(s.e.ceiling.most[0], BUDGET / 2);
		stage_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_policy_is_bound),
		cmocka_unit_test(test_large_sites),
		cmocka_unit_test(test_usual),
		cmocka_unit_test(test_guarantee_goes_first),
		cmocka_unit_test(test_gone_on_with),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
