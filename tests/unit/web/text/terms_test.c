/* SPDX-License-Identifier: Apache-2.0 */
/* terms_test.c - words counted, term vectors, and the 48 features. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "web/page/features.h"
#include "web/text/terms.h"

static struct extract x;

static const struct page *read_page(const char *text, void (*word)(void *, const char *, size_t,
                                    uint64_t), void *arg)
{
	struct extract_options o = { .word = word, .arg = arg };
	struct extract_input in = { text, strlen(text), "text/html", NULL };

	return extract_page(&x, &in, &o);
}

/* "word:count word:count", by first sight. */
static void check_counts(struct word_counter *c, const char *text, const char *expected)
{
	struct buf b;

	buf_init(&b, BUF_NO_LIMIT);
	word_counter_begin(c);
	read_page(text, word_counter_add, c);
	for (size_t i = 0; i < c->page.words.n; i++) {
		const struct word_count *w = &c->page.words.v[i];

		buf_printf(&b, "%s%.*s:%u", i ? " " : "", (int)w->size, c->page.pool.data + w->at,
		           w->count);
	}
	assert_string_equal(buf_text(&b), expected);
	buf_release(&b);
}

static void test_counts(void **state)
{
	struct word_counter c = { 0 }, stems = { 0 };
	struct word_counts taken;
	struct err err;

	(void)state;
	check_counts(&c, "<p>Fresh RIVER, <b>fr</b>esh x and the caf&eacute; and rivers",
	             "fresh:2 river:1 caf\xc3\xa9:1 rivers:1");
	check_counts(&c, "the and a", "");
	check_counts(&c, "river 12 river 13", "river:2 12:1 13:1");
	taken = c.page;                 /* it is the caller's now */
	c.page = (struct word_counts){ 0 };
	check_counts(&c, "zebra", "zebra:1");
	assert_int_equal(taken.words.n, 3);
	assert_memory_equal(taken.pool.data, "river", 5);
	word_counts_release(&taken);
	assert_int_equal(stemmer_new(&stems.stemmer, "english", NULL), 0);
	check_counts(&stems, "rivers connected and connecting river connections",
	             "river:2 connect:3");
	/* the word "agre" is not the stem "agre" */
	check_counts(&stems, "agree agreed agre", "agre:2 agr:1");
	assert_int_equal(stemmer_new(&stems.stemmer, "klingon", &err), E_USAGE);
	stemmer_free(stems.stemmer);
	word_counter_release(&c);
	word_counter_release(&stems);
}

/* Many words against a plain list, in one page and the next. */
static void test_many(void **state)
{
	struct word_counter c = { 0 };
	char *text = mem_alloc(5000 * 8 + 1), word[16];

	(void)state;
	for (unsigned page = 0; page < 2; page++) {
		char *end = text;

		for (unsigned i = 0; i < 5000; i++)
			end += sprintf(end, "w%u ", (i * i + page) % 997);
		word_counter_begin(&c);
		read_page(text, word_counter_add, &c);
		for (unsigned n = 0, at = 0; n < 997; n++) {
			unsigned i = 0, count = 0;

			/* the at-th word is the at-th number that was not there before */
			for (; n < 5000 && i < n; i++)
				if ((i * i + page) % 997 == (n * n + page) % 997)
					break;
			if (i < n)
				continue;
			for (i = 0; i < 5000; i++)
				count += (i * i + page) % 997 == (n * n + page) % 997;
			snprintf(word, sizeof word, "w%u", (n * n + page) % 997);
			assert_int_equal(c.page.words.v[at].size, strlen(word));
			assert_memory_equal(c.page.pool.data + c.page.words.v[at].at, word, strlen(word));
			assert_int_equal(c.page.words.v[at++].count, count);
		}
		assert_int_equal(c.page.words.n, 499);  /* squares of a prime, and 0 */
	}
	free(text);
	word_counter_release(&c);
}

static void test_bad(void **state)
{
	static const char *const bad[] = { "1", "1:", ":1", "1:0", "1:1,2:1", "1:1 1:2",
		"99999999999:1", "1000000:1", "x:1" };
	struct term_vector t = { 0 };
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (terms_parse(&t, bad[i], strlen(bad[i]), &err) != E_PARSE)
			fail_msg("\"%s\" was taken", bad[i]);
	assert_int_equal(terms_parse(&t, "7:1 2:3", 7, &err), 0);
	assert_int_equal(t.terms.n, 2);
	assert_true(t.terms.v[0].id == 2 && t.terms.v[0].count == 3 && t.terms.v[1].id == 7);
	term_vector_release(&t);
}

/* Worked by hand: ids in any order, some not there, one at either end. */
static void test_pick(void **state)
{
	static const char text[] = "7:1 2:3 999999:40 0:5";
	static const char *const bad[] = { "7:1  2:3", "7:1 2", "7:0", "7:1,2:3", "1000000:1", "7: 1" };
	const uint32_t ids[] = { 0, 2, 3, 7 };
	uint32_t counts[4] = { 9, 9, 9, 9 };
	uint64_t sum = 0;

	(void)state;
	assert_true(terms_pick(text, sizeof text - 1, ids, 4, counts, &sum));
	assert_true(counts[0] == 5 && counts[1] == 3 && counts[2] == 0 && counts[3] == 1);
	assert_int_equal(sum, 49);
	assert_true(terms_pick("", 0, ids, 4, counts, &sum));
	assert_true(sum == 0 && counts[0] == 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (terms_pick(bad[i], strlen(bad[i]), ids, 4, counts, &sum))
			fail_msg("\"%s\" was taken", bad[i]);
}

static void test_stop_words(void **state)
{
	static const char *const list[] = {
#define STOP(word) #word,
#include "web/text/terms_stop.def"
#undef STOP
	};
	size_t n = sizeof list / sizeof list[0];

	(void)state;
	for (size_t i = 0; i < n; i++) {
		assert_true(!i || strcmp(list[i - 1], list[i]) < 0);    /* sorted */
		assert_true(terms_is_stop_word(list[i], strlen(list[i])));
	}
	assert_false(terms_is_stop_word("th", 2));
	assert_false(terms_is_stop_word("thee", 4));
	assert_false(terms_is_stop_word("zebra", 5));
}

static void test_cosine(void **state)
{
	struct term_vector a = { 0 }, b = { 0 }, none = { 0 };

	(void)state;
	assert_int_equal(terms_parse(&a, "0:3 1:4", 7, NULL), 0);
	assert_int_equal(terms_parse(&b, "1:4 2:3", 7, NULL), 0);
	/* (3,4,0).(0,4,3) = 16 of 25 */
	assert_true(fabs(terms_cosine(&a, &b) - 0.64) < 1e-12);
	assert_true(terms_cosine(&a, &a) == 1);
	assert_true(terms_cosine(&none, &none) == 1);
	assert_true(terms_cosine(&a, &none) == 0);
	term_vector_release(&a);
	term_vector_release(&b);
}

static struct feature_copy copy_of(const struct page *p)
{
	return (struct feature_copy){
		.type = p->type, .images = p->images, .tables = p->tables,
		.words = (double)p->words, .size = (double)p->text_size,
		.out_links = p->outlinks, .emails = p->emails,
	};
}

static int count_of(unsigned groups)
{
	int n = 0;

	for (int i = 0; i < FEATURE_COUNT; i++)
		n += (feature_rows[i].group & groups) != 0;
	return n;
}

static void test_features(void **state)
{
	struct feature_copy old, new;
	double text[FEATURE_RANKS], url[FEATURE_RANKS], f[FEATURE_COUNT];
	struct feature_input in = { .url = "http://www.a.edu/x/y/z.html", .copy = &new,
	                            .text_ranks = text, .url_ranks = url };

	(void)state;
	for (int i = 0; i < FEATURE_RANKS; i++)
		text[i] = i, url[i] = 20 + i;
	old = copy_of(read_page("<img>a b<a href=x>c</a> m@n.org", NULL, NULL));
	new = copy_of(read_page("<img><img><img><table></table>a b d", NULL, NULL));
	new.pagerank = 0.5;
	new.in_links = 7;
	old.pagerank = 1;
	old.in_links = 3;
	features_fill(f, &in);
	assert_true(f[0] == 0 && f[9] == 9 && f[17] == 20 && f[26] == 29);
	assert_true(f[10] == 3 && f[11] == 1 && f[12] == 3 && f[13] == 5);
	assert_true(f[14] == 1 && f[15] == 0 && f[16] == 0);
	assert_true(f[27] == 3);                                /* depth */
	assert_true(f[28] == 0 && f[29] == 1 && f[30] == 0);    /* .edu */
	assert_true(f[34] == 0.5 && f[35] == 7 && f[36] == 0 && f[37] == 0);
	assert_true(f[38] == 1);
	for (int i = 39; i < 48; i++)
		assert_true(f[i] == 0);
	in.before = &old;
	in.similarity = 0.25;
	in.change_frequency = 0.75;
	features_fill(f, &in);
	assert_true(f[38] == 0.25 && f[39] == 1 && f[40] == 1);
	assert_true(fabs(f[41] - 7.0 / 13) < 1e-12);    /* text 12 bytes, then 5 */
	assert_true(fabs(f[42] - 2.0 / 6) < 1e-12);     /* words 5, then 3 */
	assert_true(f[43] == 0.25 && f[44] == 1 && f[45] == 0.5 && f[46] == 0.5 && f[47] == 0.75);
	assert_int_equal(count_of(FEATURES_STATIC), 18);
	assert_int_equal(count_of(FEATURES_DYNAMIC), 10);
	assert_int_equal(count_of(FEATURES_ALL), 48);
	assert_string_equal(feature_rows[FEATURE_tld_mil].name, "tld_mil");
	in.url = "http://10.0.0.1/";
	features_fill(f, &in);
	for (int i = 28; i < 34; i++)
		assert_true(f[i] == 0);
}

static int release(void **state)
{
	(void)state;
	extract_release(&x);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts), cmocka_unit_test(test_many),
		cmocka_unit_test(test_bad), cmocka_unit_test(test_pick), cmocka_unit_test(test_stop_words),
		cmocka_unit_test(test_cosine), cmocka_unit_test(test_features),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
