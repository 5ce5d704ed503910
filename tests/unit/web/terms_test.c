/* SPDX-License-Identifier: Apache-2.0 */
/* terms_test.c - vocabularies, term vectors, and the 48 features. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "web/features.h"
#include "web/terms.h"

static struct extract x;

static const struct page *read_page(const char *text, void (*word)(void *, const char *, size_t,
                                    uint64_t), void *arg)
{
	struct extract_options o = { .word = word, .arg = arg };
	struct extract_input in = { text, strlen(text), "text/html", NULL };

	return extract_page(&x, &in, &o);
}

static void vector_of(const struct vocabulary *v, const char *text, struct term_vector *ret)
{
	struct term_count c;

	terms_begin(&c, v);
	read_page(text, terms_word, &c);
	terms_end(&c, ret);
	terms_release(&c);
}

static void check_vector(const struct vocabulary *v, const char *text, const char *expected)
{
	struct term_vector t = { 0 }, back = { 0 };
	struct buf b;

	buf_init(&b, BUF_NO_LIMIT);
	vector_of(v, text, &t);
	terms_print(&t, &b);
	assert_string_equal(buf_text(&b), expected);
	assert_int_equal(terms_parse(&back, expected, strlen(expected), NULL), 0);
	assert_int_equal(back.terms.n, t.terms.n);
	buf_clear(&b);
	terms_pack(&t, &b);
	assert_int_equal(terms_unpack(&back, b.data, b.size, NULL), 0);
	assert_int_equal(back.terms.n, t.terms.n);
	for (size_t i = 0; i < t.terms.n; i++)
		assert_memory_equal(&back.terms.v[i], &t.terms.v[i], sizeof *t.terms.v);
	term_vector_release(&t);
	term_vector_release(&back);
	buf_release(&b);
}

static void test_vectors(void **state)
{
	static const char words[] = "river\nfresh\ncaf\xc3\xa9\nnever\n";
	struct vocabulary v, stems;
	struct buf b;

	(void)state;
	assert_int_equal(vocabulary_init(&v, NULL, NULL), 0);
	assert_int_equal(vocabulary_read(&v, words, sizeof words - 1, "words", NULL), 0);
	check_vector(&v, "<p>Fresh RIVER, <b>fr</b>esh caf&eacute; rivers", "0:1 1:2 2:1");
	check_vector(&v, "nothing of it", "");
	buf_init(&b, BUF_NO_LIMIT);
	vocabulary_write(&v, &b);
	assert_string_equal(buf_text(&b), words);
	buf_release(&b);
	assert_int_equal(vocabulary_init(&stems, "english", NULL), 0);
	assert_int_equal(vocabulary_read(&stems, "river\nconnect", 13, "words", NULL), 0);
	check_vector(&stems, "rivers connected connecting connections", "0:1 1:3");
	vocabulary_release(&v);
	vocabulary_release(&stems);
}

static void test_bad(void **state)
{
	static const char *const bad[] = { "1", "1:", ":1", "1:0", "1:1,2:1", "1:1 1:2",
		"99999999999:1", "1000000:1", "x:1" };
	struct term_vector t = { 0 };
	struct vocabulary v;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (terms_parse(&t, bad[i], strlen(bad[i]), &err) != E_PARSE)
			fail_msg("\"%s\" was taken", bad[i]);
	assert_int_equal(terms_unpack(&t, "\x80", 1, &err), E_PARSE);
	assert_int_equal(terms_unpack(&t, "\1", 1, &err), E_PARSE);
	assert_int_equal(terms_unpack(&t, "\1\0", 2, &err), E_PARSE);
	assert_int_equal(terms_unpack(&t, "\xff\xff\xff\xff\x0f\1", 6, &err), E_PARSE);
	assert_int_equal(vocabulary_init(&v, "klingon", &err), E_USAGE);
	assert_int_equal(vocabulary_init(&v, NULL, NULL), 0);
	assert_int_equal(vocabulary_read(&v, "a\n\nb", 4, "w", &err), E_PARSE);
	assert_int_equal(vocabulary_read(&v, "c\nd\nc", 5, "w", &err), E_PARSE);
	vocabulary_release(&v);
}

/* Words in most pages first, ties by name, no stop words. */
static void test_choose(void **state)
{
	struct term_counter c = { 0 };
	struct vocabulary v;
	struct buf b;
	static const char *const pages[] = { "the zebra and the apple", "zebra zebra zebra x",
		"an apple", "zebra mango" };

	(void)state;
	for (int i = 0; i < 4; i++) {
		counter_begin_page(&c);
		read_page(pages[i], counter_word, &c);
	}
	assert_int_equal(vocabulary_init(&v, NULL, NULL), 0);
	counter_choose(&c, 3, &v);
	buf_init(&b, BUF_NO_LIMIT);
	vocabulary_write(&v, &b);
	assert_string_equal(buf_text(&b), "zebra\napple\nmango\n");
	buf_release(&b);
	vocabulary_release(&v);
	counter_release(&c);
}

static void test_stop_words(void **state)
{
	static const char *const list[] = {
#define STOP(word) #word,
#include "web/terms_stop.def"
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

static void test_weights(void **state)
{
	struct term_vector a = { 0 }, b = { 0 }, none = { 0 };
	uint32_t df[3] = { 0 };

	(void)state;
	assert_int_equal(terms_parse(&a, "0:3 1:4", 7, NULL), 0);
	assert_int_equal(terms_parse(&b, "1:4 2:3", 7, NULL), 0);
	/* (3,4,0).(0,4,3) = 16 of 25 */
	assert_true(fabs(terms_cosine(&a, &b, NULL, 0, 0) - 0.64) < 1e-12);
	assert_true(terms_cosine(&a, &a, NULL, 0, 0) == 1);
	assert_true(terms_cosine(&none, &none, NULL, 0, 0) == 1);
	assert_true(terms_cosine(&a, &none, NULL, 0, 0) == 0);
	terms_count_document(df, 3, &a, 1);
	terms_count_document(df, 3, &b, 1);
	assert_true(df[0] == 1 && df[1] == 2 && df[2] == 1);
	assert_true(terms_weight(df, 3, 2, 1) == 0);
	assert_true(fabs(terms_weight(df, 3, 2, 0) - log(2)) < 1e-12);
	/* term 1 is everywhere and weighs nothing: no common word is left */
	assert_true(terms_cosine(&a, &b, df, 3, 2) == 0);
	terms_count_document(df, 3, &a, -1);
	assert_true(df[0] == 0 && df[1] == 1 && df[2] == 1);
	term_vector_release(&a);
	term_vector_release(&b);
}

static void test_features(void **state)
{
	struct feature_copy old, new;
	double text[FEATURE_RANKS], url[FEATURE_RANKS], f[FEATURE_COUNT], some[FEATURE_COUNT];
	struct feature_input in = { .url = "http://www.a.edu/x/y/z.html", .copy = &new,
	                            .text_ranks = text, .url_ranks = url };

	(void)state;
	for (int i = 0; i < FEATURE_RANKS; i++)
		text[i] = i, url[i] = 20 + i;
	features_of_page(&old, read_page("<img>a b<a href=x>c</a> m@n.org", NULL, NULL));
	features_of_page(&new, read_page("<img><img><img><table></table>a b d", NULL, NULL));
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
	assert_int_equal(features_pick(f, FEATURES_STATIC, some), 18);
	assert_int_equal(features_pick(f, FEATURES_DYNAMIC, some), 10);
	assert_int_equal(features_pick(f, FEATURES_ALL, some), 48);
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
		cmocka_unit_test(test_vectors), cmocka_unit_test(test_bad),
		cmocka_unit_test(test_choose), cmocka_unit_test(test_stop_words),
		cmocka_unit_test(test_weights), cmocka_unit_test(test_features),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
