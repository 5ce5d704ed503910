/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_test.c - what each detector says of two captures that differ only in
 * noise.  The table is the one in docs/reading-pages.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "web/page/change.h"

static struct extract x;

#define NEWS "<p>A whole new paragraph that tells the reader about things which were " \
	"never mentioned earlier: otters, granite, lighthouses, marmalade, tectonic plates, " \
	"violins, saffron, typewriters, monsoon winds, pelicans, the tides of Brittany, cork " \
	"oaks, amber and lace."

#define PAGE(head, nonce, stamp, ad, attrs, alt, more) \
	"<html><head>" head "</head><body><script nonce=" nonce ">x()</script>" \
	"<h1>Title</h1><p id=clock>Generated at " stamp "</p>" ad \
	"<img " attrs " alt='" alt "'>" \
	"<p>@@</p>" more "</body></html>"
#define AD(text) "<div class='box ad'><b>" text "</b></div>"

static const char base_page[] =
	PAGE("", "a1", "2024-01-01 10:05", AD("buy one"), "class=c src=s", "a dog", "");

enum { BYTES, TEXT, DIGITS, TAGS, ATTRIBUTES, VALUES, NEAR_8, IGNORE_TEXT, N_VERDICTS };
static const char *const specs[N_VERDICTS] = { "bytes", "text", "text:digits", "tags",
	"tags:attributes", "tags:values", "near:8", "text" };

/* Does this detector see a change?  Equal bytes are never one. */
static bool differs(const struct digest *before, const struct digest *after,
                    const struct detector *d)
{
	struct change_view v;

	change_compare(before, after, &v);
	if (!v.bytes || !v.comparable)
		return v.bytes;
	return d->kind == DETECT_TEXT ? v.text : d->kind == DETECT_TAGS ? v.tags :
	       d->kind == DETECT_NEAR ? v.bits > d->bits : v.bytes;
}

static void read_for(const struct detector *d, const struct ignore *g, const char *html,
                     struct digest *ret)
{
	struct extract_options o = { .ignore = g };
	struct extract_input in = { .content_type = "text/html" };
	const char *mark = strstr(html, "@@");
	struct buf b;
	unsigned s = 7;

	/* 600 words that do not repeat, where the mark is */
	buf_init(&b, BUF_NO_LIMIT);
	buf_add(&b, html, mark ? (size_t)(mark - html) : strlen(html));
	for (int i = 0; mark && i < 600; i++) {
		for (int k = 0; k < 6; k++, s = s * 1103515245 + 12345)
			buf_byte(&b, 'a' + (int)(s >> 20) % 26);
		buf_byte(&b, ' ');
	}
	if (mark)
		buf_str(&b, mark + 2);
	in.data = b.data;
	in.size = b.size;
	detector_options(d, &o);
	*ret = extract_page(&x, &in, &o)->digest;
	buf_release(&b);
}

static void test_noise(void **state)
{
	static const struct {
		const char *what, *html, *says;
	} cases[] = {
		/*                             bytes text digits tags attrs values near:8 ignore */
		{ "nothing", base_page, "--------" },
		{ "a timestamp", PAGE("", "a1", "2025-12-31 09:59", AD("buy one"), "class=c src=s",
		                      "a dog", ""), "XX------" },
		{ "a nonce", PAGE("", "b2", "2024-01-01 10:05", AD("buy one"), "class=c src=s",
		                  "a dog", ""), "X-------" },
		{ "an advertisement's words", PAGE("", "a1", "2024-01-01 10:05", AD("sell two"),
		                                   "class=c src=s", "a dog", ""), "XXX-----" },
		{ "an advertisement more", PAGE("", "a1", "2024-01-01 10:05", AD("buy one")
		                                AD("or two"), "class=c src=s", "a dog", ""),
		  "XXXXXX--" },
		{ "attribute order", PAGE("", "a1", "2024-01-01 10:05", AD("buy one"),
		                          "src=s class=c", "a dog", ""), "X-------" },
		{ "an attribute more", PAGE("", "a1", "2024-01-01 10:05", AD("buy one"),
		                            "class=c src=s width=1", "a dog", ""), "X---X---" },
		{ "an alternative text", PAGE("", "a1", "2024-01-01 10:05", AD("buy one"),
		                              "class=c src=s", "a cat", ""), "X----X--" },
		{ "a comment", PAGE("<!-- built -->", "a1", "2024-01-01 10:05", AD("buy one"),
		                    "class=c src=s", "a dog", ""), "X-------" },
		{ "paragraphs more", PAGE("", "a1", "2024-01-01 10:05", AD("buy one"),
		                          "class=c src=s", "a dog", NEWS NEWS NEWS), "XXXXXXXX" },
	};
	struct ignore g;

	(void)state;
	assert_int_equal(ignore_parse(&g, "#clock, .ad", NULL), 0);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char says[N_VERDICTS + 1] = "";

		for (int k = 0; k < N_VERDICTS; k++) {
			const struct ignore *rules = k == IGNORE_TEXT ? &g : NULL;
			struct digest before, after;
			struct detector d;

			assert_int_equal(detector_parse(&d, specs[k], NULL), 0);
			read_for(&d, rules, base_page, &before);
			read_for(&d, rules, cases[i].html, &after);
			says[k] = differs(&before, &after, &d) ? 'X' : '-';
		}
		if (strcmp(says, cases[i].says))
			fail_msg("%s: expected %s actual %s", cases[i].what, cases[i].says, says);
	}
	ignore_release(&g);
}

/* Ignored elements leave no trace in text and tags, whatever they hold. */
static void test_ignore(void **state)
{
	static const char *const pairs[][3] = {
		{ "#a", "x<div id=a>1<div>2</div></div>y", "x<div id=a></div>y" },
		{ ".ad", "<p class='b ad'>1<p>z", "<p class=ad>2 3<p>z" },
		{ "marquee", "x <marquee><b>1</b></marquee> y", "x <MARQUEE></marquee> y" },
		{ "div.ad", "<div class=ad>1</div><p>z", "<div class=ad>2</div><p>z" },
		{ "div#k,em", "<em>1</em><div id=k>u</div>", "<em>2</em><div id=k><i>v</i></div>" },
		{ "img", "a<img>b", "a<img src=x>b" },
		{ "#a", "x<div id=a>never closed", "x<div id=a>otherwise" },
		{ "x-clock", "<x-clock>1</x-clock>q", "<x-clock><b>2</b></x-clock>q" },
	};
	struct detector text, tags;

	(void)state;
	assert_int_equal(detector_parse(&text, "text", NULL), 0);
	assert_int_equal(detector_parse(&tags, "tags", NULL), 0);
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		struct digest a, b;
		struct ignore g;

		assert_int_equal(ignore_parse(&g, pairs[i][0], NULL), 0);
		read_for(&text, &g, pairs[i][1], &a);
		read_for(&text, &g, pairs[i][2], &b);
		if (differs(&a, &b, &text) || differs(&a, &b, &tags) ||
		    a.simhash != b.simhash)
			fail_msg("rule %s: %s and %s differ", pairs[i][0], pairs[i][1], pairs[i][2]);
		/* and without the rule they do differ */
		read_for(&text, NULL, pairs[i][1], &a);
		read_for(&text, NULL, pairs[i][2], &b);
		assert_true(differs(&a, &b, &(struct detector){ 0 }));
		ignore_release(&g);
	}
	/* what does not match is not ignored */
	{
		struct digest a, b;
		struct ignore g;

		assert_int_equal(ignore_parse(&g, "div.ad", NULL), 0);
		read_for(&text, &g, "<p class=ad>1</p><div class=ads>2</div>", &a);
		read_for(&text, &g, "<p class=ad>3</p><div class=ads>2</div>", &b);
		assert_true(differs(&a, &b, &text));
		read_for(&text, &g, "<p class=ad>1</p><div class=ads>4</div>", &b);
		assert_true(differs(&a, &b, &text));
		ignore_release(&g);
	}
}

static void test_parse(void **state)
{
	static const char *const bad[] = { "", "byte", "bytes:x", "near", "near:", "near:65",
		"near:x", "near:3x", "text:values", "tags:digits", "text:", "text::digits" };
	static const char *const bad_rules[] = { "#", "a#", ".", "#a#b", "a..b", "a.,b" };
	struct detector d;
	struct ignore g;
	struct err err;

	(void)state;
	assert_int_equal(detector_parse(&d, "near:10:digits", NULL), 0);
	assert_true(d.kind == DETECT_NEAR && d.bits == 10 && d.digits);
	assert_int_equal(detector_parse(&d, "tags:attributes:values", NULL), 0);
	assert_true(d.kind == DETECT_TAGS && d.attributes && d.values);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (detector_parse(&d, bad[i], &err) != E_USAGE)
			fail_msg("\"%s\" was taken", bad[i]);
	for (size_t i = 0; i < sizeof bad_rules / sizeof bad_rules[0]; i++)
		if (ignore_parse(&g, bad_rules[i], &err) != E_USAGE)
			fail_msg("\"%s\" was taken", bad_rules[i]);
	assert_int_equal(ignore_parse(&g, " , ", NULL), 0);
	assert_int_equal(g.n, 0);
	ignore_release(&g);
}

/* Captures read under other settings: the bytes decide. */
static void test_settings(void **state)
{
	struct detector text, folded;
	struct digest a, b;

	(void)state;
	assert_int_equal(detector_parse(&text, "text", NULL), 0);
	assert_int_equal(detector_parse(&folded, "text:digits", NULL), 0);
	read_for(&text, NULL, "<p>1", &a);
	read_for(&folded, NULL, "<p>1", &b);
	assert_false(differs(&a, &b, &text));
	read_for(&folded, NULL, "<p>1<!-- -->", &b);
	assert_true(differs(&a, &b, &text));
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
		cmocka_unit_test(test_noise), cmocka_unit_test(test_ignore),
		cmocka_unit_test(test_parse), cmocka_unit_test(test_settings),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
