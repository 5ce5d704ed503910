/* SPDX-License-Identifier: Apache-2.0 */
/* Each of the 48 features on pages made by hand, and the rows of every set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

#include "base/mem.h"
#include "engine/view/features.h"

#define ASSERT_NEAR(x, y, tolerance) do { \
	double x_ = (x), y_ = (y); \
	if (!(fabs(x_ - y_) <= (tolerance))) \
		fail_msg("%s = %.12g, not %.12g", #x, x_, y_); \
} while (0)

enum { N = 6 };

static const char *const urls[N] = {
	"http://a.com/",                        /* links to 1 and 2 */
	"http://a.com/docs/api/list.html?x=1",  /* links to 2 */
	"http://a.com/docs/api/item.txt",
	"https://b.edu/x/y",
	"http://c.gov/q",                       /* nothing is known of it */
	"http://left.org/",                     /* no longer in the repository */
};

static const struct term words_a[] = { { 0, 3 }, { 1, 4 } }, words_b[] = { { 1, 4 }, { 2, 3 } };

struct world { struct page_facts now[N], before[N]; bool has[N], had[N]; };

static bool world_facts(const void *self, uint32_t page, bool older, struct page_facts *ret)
{
	const struct world *w = self;

	*ret = older ? w->before[page] : w->now[page];
	return older ? w->had[page] : w->has[page];
}

static const uint32_t *world_links(const void *self, uint32_t page, size_t *ret_n)
{
	static const uint32_t links[3] = { 1, 2, 2 };

	(void)self;
	*ret_n = page == 0 ? 2 : page == 1 ? 1 : 0;
	return page == 0 ? links : links + 2;
}

struct fixture {
	struct world world;
	struct pages pages;
	struct visits visits;
	struct view view;
	struct features features;
};

static void set_up(struct fixture *x)
{
	struct feature_source source = { &x->world, world_facts, world_links };
	struct pages_opts opts = { 0 };
	uint64_t *offset = mem_array(N + 1, sizeof *offset);
	char *pool = mem_alloc(1000);
	size_t at = 0;

	*x = (struct fixture){ 0 };
	for (int i = 0; i < N; i++) {
		offset[i] = at;
		strcpy(pool + at, urls[i]);
		at += strlen(urls[i]) + 1;
	}
	offset[N] = at;
	pages_init(&x->pages, pool, offset, N, &opts);
	visits_init(&x->visits, N, 0);
	memset(x->visits.state, PAGE_HERE, N - 1);
	pages_view(&x->pages, &x->visits, &x->view);
	x->view.cycle = 1;
	x->world.has[0] = x->world.has[1] = x->world.has[2] = x->world.has[3] = true;
	x->world.now[0] = (struct page_facts){ .text = 900, .words = 150, .images = 3,
		.tables = 2, .emails = 1, .outlinks = 7, .type = PAGE_HTML,
		.n_terms = 2, .terms = words_a };
	x->world.now[1] = (struct page_facts){ .text = 10, .words = 2, .type = PAGE_HTML,
		.n_terms = 2, .terms = words_b };
	x->world.now[2] = (struct page_facts){ .text = 20, .words = 4, .type = PAGE_TEXT };
	x->world.now[3] = (struct page_facts){ .type = PAGE_OTHER };
	features_init(&x->features, &x->pages, &source);
}

static void tear_down(struct fixture *x)
{
	features_release(&x->features);
	visits_release(&x->visits);
	pages_release(&x->pages);
}

static void test_static_columns(void **state)
{
	struct fixture x;
	struct rows r;
	const float *p;
	double total = 0;

	(void)state;
	set_up(&x);
	features_raw(&x.features, &x.view, false, &r);
	assert_int_equal(r.dim, 48);
	p = rows_dense(&r, 0);
	ASSERT_NEAR(p[FEATURE_images], 3, 0);
	ASSERT_NEAR(p[FEATURE_tables], 2, 0);
	ASSERT_NEAR(p[FEATURE_words], 150, 0);
	ASSERT_NEAR(p[FEATURE_size], 900, 0);
	ASSERT_NEAR(p[FEATURE_out_links], 7, 0);
	ASSERT_NEAR(p[FEATURE_emails], 1, 0);
	ASSERT_NEAR(p[FEATURE_is_html], 1, 0);
	ASSERT_NEAR(p[FEATURE_is_text], 0, 0);
	ASSERT_NEAR(p[FEATURE_is_other], 0, 0);
	ASSERT_NEAR(p[FEATURE_depth], 1, 0);
	ASSERT_NEAR(p[FEATURE_tld_com], 1, 0);
	ASSERT_NEAR(p[FEATURE_tld_edu], 0, 0);
	ASSERT_NEAR(rows_dense(&r, 1)[FEATURE_depth], 3, 0);
	ASSERT_NEAR(rows_dense(&r, 2)[FEATURE_is_text], 1, 0);
	ASSERT_NEAR(rows_dense(&r, 3)[FEATURE_is_other], 1, 0);
	ASSERT_NEAR(rows_dense(&r, 3)[FEATURE_depth], 2, 0);
	ASSERT_NEAR(rows_dense(&r, 3)[FEATURE_tld_edu], 1, 0);
	ASSERT_NEAR(rows_dense(&r, 4)[FEATURE_tld_gov], 1, 0);
	ASSERT_NEAR(rows_dense(&r, 1)[FEATURE_in_links], 1, 0);
	ASSERT_NEAR(rows_dense(&r, 2)[FEATURE_in_links], 2, 0);
	ASSERT_NEAR(rows_dense(&r, 0)[FEATURE_in_links], 0, 0);
	/* PageRank: 2 gets from 0 and 1, 1 from 0, others only by chance */
	assert_true(rows_dense(&r, 2)[FEATURE_pagerank] > rows_dense(&r, 1)[FEATURE_pagerank]);
	assert_true(rows_dense(&r, 1)[FEATURE_pagerank] > rows_dense(&r, 0)[FEATURE_pagerank]);
	ASSERT_NEAR(rows_dense(&r, 0)[FEATURE_pagerank], rows_dense(&r, 3)[FEATURE_pagerank], 1e-5);
	/* rank(1) = rank(0) (1 + d / 2) */
	ASSERT_NEAR(rows_dense(&r, 1)[FEATURE_pagerank],
	            1.425 * rows_dense(&r, 0)[FEATURE_pagerank], 1e-4);
	for (uint32_t j = 0; j < 48; j++)       /* it left: nothing is said of it */
		total += fabs((double)rows_dense(&r, 5)[j]);
	ASSERT_NEAR(total, 0, 0);
	for (uint32_t i = 0; i < 5; i++) {      /* no second copy yet */
		ASSERT_NEAR(rows_dense(&r, i)[FEATURE_similarity], 1, 0);
		for (int j = FEATURE_change_images; j <= FEATURE_change_frequency; j++)
			ASSERT_NEAR(rows_dense(&r, i)[j], 0, 0);
	}
	rows_release(&r);
	tear_down(&x);
}

static void test_dynamic_columns(void **state)
{
	struct fixture x;
	struct rows r;
	const float *p;

	(void)state;
	set_up(&x);
	features_raw(&x.features, &x.view, false, &r);
	rows_release(&r);
	/* page 0 visited twice, once changed: a new copy */
	x.world.before[0] = x.world.now[0];
	x.world.had[0] = true;
	x.world.now[0] = (struct page_facts){ .text = 449, .words = 301, .images = 0,
		.tables = 5, .emails = 3, .outlinks = 7, .n_terms = 2, .terms = words_b };
	features_note(&x.features, 0, false);
	features_note(&x.features, 0, true);
	x.view.cycle = 3;
	x.visits.state[1] = 0;                  /* with it goes a link to page 2 */
	features_raw(&x.features, &x.view, false, &r);
	p = rows_dense(&r, 0);
	/* (3, 4, 0) and (0, 4, 3): 16 / 25 */
	ASSERT_NEAR(p[FEATURE_similarity], 0.64, 1e-6);
	ASSERT_NEAR(p[FEATURE_change_images], 3.0 / 4, 1e-6);
	ASSERT_NEAR(p[FEATURE_change_tables], 3.0 / 3, 1e-6);
	ASSERT_NEAR(p[FEATURE_change_size], 451.0 / 901, 1e-6);
	ASSERT_NEAR(p[FEATURE_change_words], 151.0 / 151, 1e-6);
	ASSERT_NEAR(p[FEATURE_change_out_links], 0, 0);
	ASSERT_NEAR(p[FEATURE_change_emails], 2.0 / 2, 1e-6);
	ASSERT_NEAR(p[FEATURE_change_in_links], 0, 0);
	ASSERT_NEAR(p[FEATURE_change_frequency], 0.5, 0);
	assert_true(p[FEATURE_change_pagerank] > 0);
	/* page 2 lost an in-link, but has no second copy */
	ASSERT_NEAR(rows_dense(&r, 2)[FEATURE_in_links], 1, 0);
	ASSERT_NEAR(rows_dense(&r, 2)[FEATURE_change_in_links], 0, 0);
	rows_release(&r);
	/* once it has one, the change shows: |1 - 2| / (1 + 2) */
	x.world.before[2] = x.world.now[2];
	x.world.had[2] = true;
	features_note(&x.features, 2, false);
	features_raw(&x.features, &x.view, false, &r);
	ASSERT_NEAR(rows_dense(&r, 2)[FEATURE_change_in_links], 1.0 / 3, 1e-6);
	ASSERT_NEAR(rows_dense(&r, 2)[FEATURE_similarity], 1, 0);
	rows_release(&r);
	tear_down(&x);
}

static void test_rank_columns(void **state)
{
	struct fixture x;
	struct rows r;

	(void)state;
	set_up(&x);
	features_raw(&x.features, &x.view, true, &r);
	/* Five pages, words of their own each: the label's page has rank 0, all
	 * others a rank of their own, scaled by clusters - 1. */
	for (int f = 0; f < 10; f++) {
		int zeros = 0;

		for (uint32_t i = 0; i < 5; i++) {
			float rank = rows_dense(&r, i)[FEATURE_url_rank_1 + f];

			assert_true(rank >= 0 && rank <= 1);
			zeros += rank == 0;
		}
		assert_true(zeros == (f < 5 ? 1 : 5));
	}
	/* content: pages 0 and 1 have words, 2, 3, 4 have none */
	ASSERT_NEAR(rows_dense(&r, 2)[FEATURE_text_rank_1], rows_dense(&r, 3)[FEATURE_text_rank_1], 0);
	assert_true(rows_dense(&r, 0)[FEATURE_text_rank_1] != rows_dense(&r, 1)[FEATURE_text_rank_1]);
	rows_release(&r);
	tear_down(&x);
}

static void test_sets(void **state)
{
	static const uint32_t want[] = { 0, 0, 0, 18, 10, 48, 38 };
	struct fixture x;

	(void)state;
	set_up(&x);
	for (int set = SET_URL; set <= SET_FIRST_COPY; set++) {
		uint8_t column[FEATURE_COUNT];
		struct rows r;

		assert_int_equal(features_columns((enum feature_set)set, column), want[set]);
		features_rows(&x.features, &x.view, (enum feature_set)set, &r);
		assert_int_equal(r.n, N);
		assert_int_equal(rows_is_dense(&r), set >= SET_STATIC);
		for (uint32_t i = 0; i < N; i++) {
			double length = rows_dot(&r, i, &r, i);
			bool empty = i == 5 || (set == SET_CONTENT && i >= 2);

			assert_true(isfinite(length));
			ASSERT_NEAR(length, empty ? 0 : 1, 1e-5);
		}
		/* both blocks weigh the same where both exist */
		if (set == SET_URL_CONTENT) {
			struct rows url;
			double own = 0;

			features_rows(&x.features, &x.view, SET_URL, &url);
			for (uint64_t j = r.start[0]; j < r.start[1]; j++)
				if (r.term[j] < url.dim)
					own += (double)r.weight[j] * (double)r.weight[j];
			ASSERT_NEAR(own, 0.5, 1e-5);
			rows_release(&url);
		}
		rows_release(&r);
	}
	tear_down(&x);
}

static void test_words_of_urls(void **state)
{
	struct fixture x;
	struct rows r;

	(void)state;
	set_up(&x);
	features_rows(&x.features, &x.view, SET_URL, &r);
	/* a com docs api list html; the query does not count */
	assert_int_equal(r.start[2] - r.start[1], 6);
	assert_true(strtab_find(&x.features.url_words, "list", 4) != MAP_NONE);
	assert_true(strtab_find(&x.features.url_words, "x", 1) != MAP_NONE);    /* of b.edu */
	assert_true(strtab_find(&x.features.url_words, "http", 4) == MAP_NONE);
	rows_release(&r);
	tear_down(&x);
}

static struct text text(const char *s)
{
	return (struct text){ s, s ? strlen(s) : 0 };
}

static void test_facts_of_records(void **state)
{
	struct facts_table t = { 0 };
	struct record r = { .facts = { -1, -1, -1, -1, -1, -1 }, .mime = text("text/html") };
	struct page_facts f;
	uint32_t a, b;

	(void)state;
	assert_int_equal(facts_add(&t, &r), FACTS_NONE);
	assert_false(facts_get(&t, FACTS_NONE, &f));
	r.facts = (struct facts){ 10, 20, 30, 40, 50, 60 };
	r.terms = text("5:2 7:1 3:9");
	a = facts_add(&t, &r);
	r.mime = text("text/plain; charset=utf-8");
	b = facts_add(&t, &r);
	assert_true(a != b && facts_get(&t, a, &f));
	assert_int_equal(f.type, PAGE_HTML);
	ASSERT_NEAR(f.text + 2 * f.words + 3 * f.images, 140, 0);
	ASSERT_NEAR(f.tables + 2 * f.emails + 3 * f.outlinks, 320, 0);
	assert_int_equal(f.n_terms, 3);
	assert_int_equal(f.terms[0].id, 3);     /* in rising order */
	assert_int_equal(f.terms[0].count, 9);
	assert_int_equal(f.terms[1].id, 5);
	assert_int_equal(f.terms[1].count, 2);
	assert_true(facts_get(&t, b, &f) && f.type == PAGE_TEXT && f.n_terms == 3);
	assert_int_equal(t.terms.n, 3);         /* equal words are kept once */
	r.terms = text("5:2 x:3");              /* not words: the rest still counts */
	assert_true(facts_get(&t, facts_add(&t, &r), &f) && f.n_terms == 0 && f.words == 20);
	facts_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_static_columns),
		cmocka_unit_test(test_dynamic_columns),
		cmocka_unit_test(test_rank_columns),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_words_of_urls),
		cmocka_unit_test(test_facts_of_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
