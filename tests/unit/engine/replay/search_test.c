/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranking and its measures, worked out on paper.
 *
 * Four documents; term 7 occurs in pages 0 (4 of 100 words) and 1 (1 of 25), term
 * 9 in page 2 (9 of 100); page 3 has neither.  PageRanks .1 .4 .2 .3.
 *   query "7":   idf = 1 + ln(4/3); both match with the same text score, so PageRank
 *                decides: 1, 0.
 *   query "7 9": text of page 2 is (1 + ln 2)^2 .3 = .860, of 0 and 1
 *                (1 + ln 4/3)^2 .2 = .332; scaled 1 0 0; PageRank scaled .333 0 1;
 *                halves: page 2 .667, page 1 .5, page 0 0: order 2, 1, 0.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "engine/replay/replay_search.h"
#include "../../../lib/trace.h"
#include "../../../lib/scratch.h"

static const double pagerank[] = { .1, .4, .2, .3 };
static uint32_t term_numbers[] = { 7, 9 };
static struct search_query two_queries[] = { { 1, { 0 } }, { 2, { 0, 1 } } };

static const struct search_set set = {
	.opts = { .k = 2, .relevant = 2, .weight_text = .5, .weight_rank = .5 },
	.queries = two_queries, .n_queries = 2, .terms = term_numbers, .n_terms = 2,
	.pagerank = pagerank,
};

static void put(struct search_index *x, uint32_t page, float words, uint32_t term,
                uint32_t count)
{
	struct term t[] = { { 3, 1 }, { term, count }, { 1000, 2 } };
	struct page_facts f = { .words = words, .n_terms = 3, .terms = t };

	if (t[1].id < 3)
		f.n_terms = 1;
	search_index_put(x, page, &f);
}

static void fill(struct search_index *x)
{
	search_index_init(x, &set, 4);
	put(x, 0, 100, 7, 4);
	put(x, 1, 25, 7, 1);
	put(x, 2, 100, 9, 9);
	put(x, 3, 50, 0, 0);
}

static void test_ranking_on_paper(void **state)
{
	struct search_index x;
	uint32_t top[4];

	(void)state;
	fill(&x);
	assert_int_equal(x.n_documents, 4);
	assert_int_equal(x.df[0], 2);
	assert_int_equal(search_rank(&x, 0, 4, top), 2);
	assert_int_equal(top[0], 1);
	assert_int_equal(top[1], 0);
	assert_int_equal(search_rank(&x, 1, 4, top), 3);
	assert_int_equal(top[0], 2);
	assert_int_equal(top[1], 1);
	assert_int_equal(top[2], 0);
	assert_true(fabs((double)x.score[2] - pow(1 + log(2), 2) * .3) < 1e-5);
	assert_true(fabs((double)x.score[0] - pow(1 + log(4 / 3.0), 2) * .2) < 1e-5);
	assert_int_equal(search_rank(&x, 1, 1, top), 1);
	assert_int_equal(top[0], 2);
	/* a document that goes takes its counts along */
	search_index_put(&x, 2, NULL);
	assert_int_equal(x.df[1], 0);
	assert_int_equal(x.n_documents, 3);
	assert_int_equal(search_rank(&x, 1, 4, top), 2);
	search_index_release(&x);
}

/* Three pages alike in all: by number, and the last is the one left out. */
static void test_equal_scores_go_by_number(void **state)
{
	static const double alike[] = { .25, .25, .25, .25 };
	struct search_set equal = set;
	struct search_index x;
	uint32_t top[4];

	(void)state;
	equal.pagerank = alike;
	search_index_init(&x, &equal, 4);
	for (uint32_t i = 1; i < 4; i++)
		put(&x, i, 100, 7, 4);
	assert_int_equal(search_rank(&x, 0, 4, top), 3);
	assert_true(top[0] == 1 && top[1] == 2 && top[2] == 3);
	assert_int_equal(search_rank(&x, 0, 2, top), 2);
	assert_true(top[0] == 1 && top[1] == 2);
	search_index_release(&x);
}

struct world { bool fresh[4], alive[4], matches[4]; };

static bool fresh(const void *arg, uint32_t page)
{
	return ((const struct world *)arg)->fresh[page];
}

static bool alive(const void *arg, uint32_t page)
{
	return ((const struct world *)arg)->alive[page];
}

static bool matches(const void *arg, uint32_t query, uint32_t page)
{
	(void)query;
	return ((const struct world *)arg)->matches[page];
}

static void test_measures_on_paper(void **state)
{
	struct world all = { { 1, 1, 1, 1 }, { 1, 1, 1, 1 }, { 1, 1, 1, 1 } };
	struct world some = { { 0, 1, 0, 1 }, { 1, 1, 1, 1 }, { 1, 1, 1, 1 } };
	struct world bad = { { 0, 1, 0, 1 }, { 0, 1, 1, 1 }, { 1, 0, 1, 1 } };
	struct search_truth truth = { fresh, alive, matches, &all };
	struct search_ideal ideal;
	struct search_measure m = { 0 };
	struct search_index x;

	(void)state;
	fill(&x);
	search_ideal_init(&ideal, &set, 1);
	search_ideal_note(&ideal, &x, 0);
	search_measure(&x, &ideal, 0, &truth, &m);      /* the ideal itself */
	assert_true(fabs(m.freshness.mean - 1) < 1e-12 && fabs(m.map.mean - 1) < 1e-12);
	assert_true(m.embarrassment.mean < 1e-12);
	assert_int_equal(m.map.n, 2);
	/* our copy of page 2 is old and lacks the word: "7 9" finds 1, 0 where 2, 1 is
	 * ideal: one of two relevant, at rank 1: AP 1/2; "7" is as it should be: 1 */
	put(&x, 2, 100, 0, 0);
	truth.arg = &some;
	m = (struct search_measure){ 0 };
	search_measure(&x, &ideal, 0, &truth, &m);
	assert_true(fabs(m.map.mean - (1 + 0.5) / 2) < 1e-12);
	assert_true(fabs(m.freshness.mean - 0.5) < 1e-12);      /* 1 fresh, 0 not, twice */
	assert_true(m.embarrassment.mean < 1e-12);
	/* page 0 is gone, page 1 no longer matches: all that is shown embarrasses; of
	 * the relevant only page 1 lives: AP 1/2 for both */
	truth.arg = &bad;
	m = (struct search_measure){ 0 };
	search_measure(&x, &ideal, 0, &truth, &m);
	assert_true(fabs(m.embarrassment.mean - 1) < 1e-12);
	assert_true(fabs(m.map.mean - 0.5) < 1e-12);
	search_ideal_release(&ideal);
	search_index_release(&x);
}

/* Three relevant, two shown: "7 9" shows 2 and 1, both relevant, and no order of two could
 * do better: 2/min(2, 3) = 1, as for "7", whose ideal has but two.  With page 1 gone both
 * have one relevant: at rank 1 and at rank 2, 1/2 and (1/2)/2, or by those found 1 and 1/2. */
static void test_divisors_of_map(void **state)
{
	struct world all = { { 1, 1, 1, 1 }, { 1, 1, 1, 1 }, { 1, 1, 1, 1 } };
	struct world gone = { { 1, 1, 1, 1 }, { 1, 0, 1, 1 }, { 1, 1, 1, 1 } };
	struct search_truth truth = { fresh, alive, matches, &all };
	struct search_set three = set;
	struct search_ideal ideal;
	struct search_measure m = { 0 };
	struct search_index x;

	(void)state;
	three.opts.relevant = 3;
	fill(&x);
	x.set = &three;
	search_ideal_init(&ideal, &three, 1);
	search_ideal_note(&ideal, &x, 0);
	search_measure(&x, &ideal, 0, &truth, &m);
	assert_true(fabs(m.map.mean - 1) < 1e-12);
	truth.arg = &gone;
	for (int k = 0; k < 2; k++) {
		three.opts.divide_by_found = k;
		m = (struct search_measure){ 0 };
		search_measure(&x, &ideal, 0, &truth, &m);
		assert_true(fabs(m.map.mean - (k ? (1 + 0.5) / 2 : (0.5 + 0.25) / 2)) < 1e-12);
	}
	search_ideal_release(&ideal);
	search_index_release(&x);
}

/* A history with words: page i has term i and changes to term i + 10 on day 5. */
static void words_history(struct history *h)
{
	struct err err;

	history_init(h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS | WANT_FACTS);
	for (int i = 0; i < 40; i++) {
		for (int version = 0; version < 2; version++) {
			char url[60], terms[60], digest[20];
			struct record r = { .status = 200, .length = -1, .offset = -1,
			                    .record_size = -1, .facts = { 300, 50, 0, 0, 0, 0 } };

			if (version && i % 2)
				continue;       /* every other page never changes */
			r.time = TRACE_START + version * 5 * DAY_SECONDS;
			r.url.s = url;
			r.url.size = (size_t)snprintf(url, sizeof url, "http://a.example/%02d", i);
			r.digest.s = digest;
			r.digest.size = (size_t)snprintf(digest, sizeof digest, "d%d", version);
			r.terms.s = terms;
			r.terms.size = (size_t)snprintf(terms, sizeof terms, "%d:2 %d:%d",
			                                i / 4 + version * 10, 50 + i / 2, 1 + version);
			assert_int_equal(history_add(h, &r, &err), 0);
		}
	}
	trace_add(h, "http://z.example/", 9, "x", NULL);
	assert_int_equal(history_finish(h, &err), 0);
}

static void test_replay_keeps_the_order_of_repositories(void **state)
{
	struct replay_opts o = { .cycle_seconds = DAY_SECONDS, .budget = { 100, true } };
	struct search_opts so = { .k = 5, .relevant = 5, .n_queries = 30, .weight_text = .5,
	                          .weight_rank = .5, .seed = 1 };
	struct replay_search search;
	struct replay_run whole, little;
	struct history h;
	struct replay r;
	struct err err;

	(void)state;
	words_history(&h);
	assert_int_equal(replay_open(&r, &h, &o, 0, &err), 0);
	assert_int_equal(replay_search_open(&search, &r, &so, NULL, NULL, &err), 0);
	assert_in_range(search.set.n_queries, 25, 30);
	replay_run(&r, "random", 1, &whole);            /* everything, every cycle */
	assert_int_equal(whole.code, 0);
	assert_true(fabs(whole.search.freshness.mean - 1) < 1e-12);
	assert_true(fabs(whole.search.map.mean - 1) < 1e-12);
	assert_true(whole.search.embarrassment.mean < 1e-12);
	r.budget = 1;
	replay_run(&r, "random", 1, &little);
	assert_true(little.search.freshness.mean < whole.search.freshness.mean);
	assert_true(little.search.map.mean < whole.search.map.mean);
	assert_true(little.search.embarrassment.mean > 0);
	/* before day 5 nothing has changed: the untouched repository is the ideal */
	assert_true(fabs(little.cycles[3].map_at_k - 1) < 1e-12);
	assert_true(little.cycles[7].map_at_k < 1 - 1e-6);
	replay_run_release(&whole);
	replay_run_release(&little);
	replay_search_close(&search);
	replay_close(&r);
	history_release(&h);
}

static uint32_t number_of(const void *arg, const char *word, size_t size)
{
	(void)arg;
	return size == 1 && *word >= 'a' && *word <= 'l' ? (uint32_t)(*word - 'a') * 10 : UINT32_MAX;
}

static void test_queries_from_a_file(void **state)
{
	static const char text[] = "c A\nunknown words\n\nb  b\tc\n";
	char path[SCRATCH_PATH];
	struct search_opts o = { .k = 10, .relevant = 10 };
	struct search_set s;
	uint32_t dropped;
	struct err err;

	(void)state;
	/* more terms than a query has room for: the first eight of them */
	scratch_file(path, "long", "a b c d e f g h i j k l\n", 24);
	assert_int_equal(search_set_read(&s, &o, path, number_of, NULL, &dropped, &err), 0);
	assert_int_equal(s.queries[0].n, SEARCH_TERMS_MAX);
	assert_int_equal(s.n_terms, SEARCH_TERMS_MAX);
	assert_int_equal(s.terms[SEARCH_TERMS_MAX - 1], 70);
	search_set_release(&s);
	scratch_file(path, "queries", text, strlen(text));
	assert_int_equal(search_set_read(&s, &o, path, number_of, NULL, &dropped, &err), 0);
	assert_int_equal(s.n_queries, 2);
	assert_int_equal(dropped, 1);
	assert_int_equal(s.n_terms, 3);
	assert_int_equal(s.terms[0], 0);
	assert_int_equal(s.terms[2], 20);
	assert_int_equal(s.queries[0].n, 2);
	assert_int_equal(s.queries[0].row[0], 2);
	assert_int_equal(s.queries[1].n, 2);
	search_set_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranking_on_paper),
		cmocka_unit_test(test_equal_scores_go_by_number),
		cmocka_unit_test(test_measures_on_paper),
		cmocka_unit_test(test_divisors_of_map),
		cmocka_unit_test(test_replay_keeps_the_order_of_repositories),
		cmocka_unit_test(test_queries_from_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
