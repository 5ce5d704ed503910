/* SPDX-License-Identifier: Apache-2.0 */
/* extract_test.c - hand-made pages: text, hidden parts, links, counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "web/page/extract.h"

static struct extract x;

static const struct page *read_as(const char *html, const char *type)
{
	struct extract_input in = { html, strlen(html), type, "http://a.org/d/p.html" };

	return extract_page(&x, &in, NULL);
}

static const struct page *read_page(const char *html)
{
	return read_as(html, "text/html");
}

static void test_text(void **state)
{
	static const char *const cases[][2] = {
		/* white space and lines */
		{ "", "" }, { "  a \n\t b  ", "a b" }, { "a<br>b", "a\nb" },
		{ "<p>a</p><p>b</p>", "a\nb" }, { "<div> a <div> </div>b</div>", "a\nb" },
		{ "<b>w</b>ord <i>x</i>", "word x" }, { "a<span> b</span> c", "a b c" },
		{ "caf&eacute;&nbsp;x", "caf\xc3\xa9\xc2\xa0x" }, { "a&#32;&#32;b", "a b" },
		{ "a long line of plain words, sixteen  bytes\nand more of them", "a long line "
		  "of plain words, sixteen bytes and more of them" },
		{ "<td>a<td>b", "a\nb" }, { "a<!-- c -->b", "ab" },
		/* hidden by element */
		{ "a<script>if (a<b) c</script>d", "ad" }, { "a<style>b{}</style>c", "ac" },
		{ "a<template>b<p>c</p></template>d", "ad" },
		{ "a<template><template>b</template>c</template>d", "ad" },
		{ "<title>t</title>a", "a" }, { "a<iframe>b</iframe>c", "ac" },
		{ "a<noframes>b</noframes>c", "ac" }, { "a<noembed>b</noembed>c", "ac" },
		{ "a<datalist><option>b</datalist>c", "ac" },
		{ "<svg><title>t</title><text>x</text></svg>", "x" },
		/* kept */
		{ "a<noscript>b</noscript>c", "abc" }, { "<textarea>a</textarea>", "a" },
		{ "<details><summary>s</summary>d</details>", "s\nd" },
		{ "<select><option>a<option>b</select>", "a\nb" },
		{ "a<i aria-hidden=true>b</i>", "ab" }, { "<xmp><b></xmp>", "<b>" },
		{ "<head>a</head>b", "a\nb" },
		/* hidden by attribute */
		{ "a<div hidden>b<div>c</div>d</div>e", "ae" },
		{ "a<span hidden=until-found>b</span>c", "ac" },
		{ "a<i style='display:none'>b</i>c", "ac" },
		{ "a<i style='color:red; DISPLAY : none !important'>b</i>c", "ac" },
		{ "a<i style='visibility:hidden'>b</i>c", "ac" },
		{ "a<i style='display:none-such'>b</i>c", "abc" },
		{ "a<i style='x-display:none'>b</i>c", "abc" },
		{ "a<dialog>b</dialog>c", "ac" }, { "a<dialog open>b</dialog>c", "a\nb\nc" },
		{ "a<x-y hidden>b<x-y>c</x-y></x-y>d", "ad" }, { "a<img hidden>b", "ab" },
		{ "a<svg hidden/>b", "ab" }, { "a<div hidden>b", "a" },
		/* end tags left out */
		{ "<p hidden>a<p>b", "b" }, { "<div><p hidden>a</div>b", "b" },
		{ "<p hidden>a<b>c</b><br>d</p>e", "e" },
		{ "<ul><li hidden>a<ul><li>b</ul>c<li>d</ul>e", "d\ne" },
		{ "<ul><li hidden>a</ul>e", "e" }, { "<dl><dt hidden>a<dd>b</dl>", "b" },
		{ "<table><tr><td hidden>a<table><tr><td>n</table>m<td>b", "b" },
		{ "<table><tr hidden><td>a<td>b<tr><td>c</table>d", "c\nd" },
		{ "<table><tbody hidden><tr><td>a<tr><td>b<tbody><tr><td>c</table>", "c" },
		{ "<select><option hidden>a<option>b</select>", "b" },
		{ "<ruby>x<rp hidden>(<rt>y</ruby>", "xy" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct page *p = read_page(cases[i][0]);

		if (strcmp(p->text, cases[i][1]))
			fail_msg("page     %s\nexpected %s\nactual   %s", cases[i][0],
			         cases[i][1], p->text);
		assert_int_equal(p->text_size, strlen(cases[i][1]));
	}
}

static void test_title(void **state)
{
	struct buf b;

	(void)state;
	assert_string_equal(read_page("<title> A &amp;\n B </title>")->title, "A & B");
	assert_string_equal(read_page("<svg><title>s</title></svg><title>t</title>")->title, "t");
	assert_string_equal(read_page("<title>a</title><title>b</title>")->title, "a");
	assert_string_equal(read_page("<p>none")->title, "");
	buf_init(&b, BUF_NO_LIMIT);
	buf_str(&b, "<title>");
	for (int i = 0; i < 3000; i++)
		buf_str(&b, "\xc3\xa4");
	assert_int_equal(read_page(b.data)->title_size, EXTRACT_TITLE_MAX);
	buf_release(&b);
}

static void test_counts(void **state)
{
	const struct page *p = read_page(
		"<img><IMG src=a><image><!--<img>--><script>'<img>'</script>"
		"<table><tr><td><table></table></table>"
		"<a href=x>1</a><a name=y>2</a><area href=z><a href=#f>3</a><a href=''>4</a>"
		"<template><img><table></table><a href=q></a></template>"
		"<p>me@example.org, you@example.org. no@where @x.org a@b.c x@y.z1 a&#64;b.com "
		"<a href='mailto:me@example.org?subject=x'>mail</a>");

	(void)state;
	assert_int_equal(p->images, 3);
	assert_int_equal(p->tables, 2);
	assert_int_equal(p->outlinks, 5);
	assert_int_equal(p->emails, 4);
	assert_int_equal(p->words, 1 + 20);
}

static void check_links(const char *html, const char *expected)
{
	const struct page *p = read_page(html);
	struct buf b;

	buf_init(&b, BUF_NO_LIMIT);
	for (size_t i = 0; i < p->n_links; i++)
		buf_printf(&b, "%d %s\n", (int)p->links[i].kind, page_link_url(p, i));
	if (strcmp(buf_text(&b), expected))
		fail_msg("page %s\nexpected %s\nactual %s", html, expected, buf_text(&b));
	buf_release(&b);
}

static void test_links(void **state)
{
	(void)state;
	check_links("<a href='x?a=1&amp;b=2#f'>", "0 http://a.org/d/x?a=1&b=2\n");
	check_links("<a href=/r><AREA HREF=../up><a href='//b.org'>",
	            "0 http://a.org/r\n1 http://a.org/up\n0 http://b.org/\n");
	check_links("<a href='mailto:a@b.org'><a href='javascript:x()'><a href='#x'>", "");
	check_links("<base href='http://c.org/e/'><base href=/no><a href=x>",
	            "0 http://c.org/e/x\n");
	check_links("<link rel='nofollow CANONICAL' href=c><link rel=stylesheet href=d>",
	            "2 http://a.org/d/c\n");
	check_links("<meta http-equiv=Refresh content=\"5; URL='n.html'\">",
	            "3 http://a.org/d/n.html\n");
	check_links("<meta http-equiv=refresh content='0;n2'><meta http-equiv=refresh "
	            "content=30>", "3 http://a.org/d/n2\n");
	check_links("<frame src=f1><iframe src=f2></iframe>",
	            "4 http://a.org/d/f1\n4 http://a.org/d/f2\n");
	check_links("<a hidden href=x>y</a><template><a href=z></template>",
	            "0 http://a.org/d/x\n");
}

/* The same links on pages of other directories and hosts mean other things. */
static void test_links_elsewhere(void **state)
{
	static const char *const cases[][2] = {
		{ "http://a.org/d/p.html", "http://a.org/d/x http://a.org/r http://c.org/y" },
		{ "http://a.org/d/q.html?a/b", "http://a.org/d/x http://a.org/r http://c.org/y" },
		{ "http://a.org/e/p.html", "http://a.org/e/x http://a.org/r http://c.org/y" },
		{ "http://a.org/", "http://a.org/x http://a.org/r http://c.org/y" },
		{ "http://a.org/d/p.html", "http://a.org/d/x http://a.org/r http://c.org/y" },
		{ "http://a.org.b/d/p.html", "http://a.org.b/d/x http://a.org.b/r http://c.org/y" },
		{ "https://a.org/d/p.html", "https://a.org/d/x https://a.org/r http://c.org/y" },
	};

	(void)state;
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
			static const char html[] = "<a href=x><a href=/r><a href='http://c.org/y'>"
				"<a href=x><a href='tel:1'>";
			struct extract_input in = { html, sizeof html - 1, "text/html", cases[i][0] };
			const struct page *p = extract_page(&x, &in, NULL);
			char found[256];

			assert_int_equal(p->n_links, 4);
			snprintf(found, sizeof found, "%s %s %s", page_link_url(p, 0),
			         page_link_url(p, 1), page_link_url(p, 2));
			assert_string_equal(found, cases[i][1]);
			assert_string_equal(page_link_url(p, 0), page_link_url(p, 3));
		}
	/* a <base> moves the place too */
	check_links("<a href=x><base href=/e/><a href=x><a href=/r>",
	            "0 http://a.org/d/x\n0 http://a.org/e/x\n0 http://a.org/r\n");
}

static void count_word(void *arg, const char *word, size_t size, uint64_t hash)
{
	struct buf *b = arg;

	assert_int_equal(hash, words_hash(word, size));
	buf_add(b, word, size);
	buf_byte(b, '|');
}

static void test_words(void **state)
{
	static const char *const cases[][2] = {
		{ "One two-THREE four_5 it's", "one|two|three|four|5|it|s|" },
		{ "\xc3\x84pfel Stra\xc3\x9f" "e \xd0\x9c\xd0\x98\xd0\xa0", /* upper case */
		  "\xc3\xa4pfel|stra\xc3\x9f" "e|\xd0\xbc\xd0\xb8\xd1\x80|" },
		{ "abc\xe2\x80\x94" "def \xe2\x80\x9cghi\xe2\x80\x9d", "abc|def|ghi|" },
		/* CJK by pairs; one alone is itself; mixed with Latin */
		{ "\xe6\xbc\xa2\xe5\xad\x97\xe4\xbb\xae x\xe6\xbc\xa2",
		  "\xe6\xbc\xa2\xe5\xad\x97|\xe5\xad\x97\xe4\xbb\xae|x|\xe6\xbc\xa2|" },
		{ "\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4", /* Hangul is written in words */
		  "\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4|" },
		{ "internationalisation of words", "internationalisation|of|words|" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct buf b;
		struct extract_options o = { .word = count_word, .arg = &b };
		struct extract_input in = { cases[i][0], strlen(cases[i][0]),
		                            "text/plain; charset=utf-8", NULL };

		buf_init(&b, BUF_NO_LIMIT);
		extract_page(&x, &in, &o);
		assert_string_equal(buf_text(&b), cases[i][1]);
		buf_release(&b);
	}
}

static void test_types(void **state)
{
	const struct page *p;

	(void)state;
	assert_int_equal(extract_type("text/html; charset=x", "", 0), PAGE_HTML);
	assert_int_equal(extract_type("application/xhtml+xml", "", 0), PAGE_HTML);
	assert_int_equal(extract_type("text/plain", "<html>", 6), PAGE_TEXT);
	assert_int_equal(extract_type("Application/JSON", "", 0), PAGE_TEXT);
	assert_int_equal(extract_type("image/png", "<html>", 6), PAGE_OTHER);
	assert_int_equal(extract_type(NULL, " <!DOCTYPE html>", 16), PAGE_HTML);
	assert_int_equal(extract_type("", "<p>x", 4), PAGE_HTML);
	assert_int_equal(extract_type(NULL, "<phew", 5), PAGE_TEXT);
	assert_int_equal(extract_type(NULL, "plain words", 11), PAGE_TEXT);
	assert_int_equal(extract_type(NULL, "\x7f" "ELF\1\2", 6), PAGE_OTHER);
	p = read_as("one\n two  three\n\nfour", "text/plain");
	assert_string_equal(p->text, "one\ntwo three\nfour");
	p = read_as("anything", "application/pdf");
	assert_int_equal(p->text_size, 0);
	assert_int_equal(p->words, 0);
	assert_true(p->digest.text == p->digest.bytes[0] && p->digest.text);
}

struct votes {
	int of[64];
};

static void vote(struct votes *v, uint64_t hash)
{
	for (int i = 0; i < 64; i++)
		v->of[i] += hash >> i & 1 ? 1 : -1;
}

static uint64_t outcome(const struct votes *v)
{
	uint64_t x64 = 0;

	for (int i = 0; i < 64; i++)
		x64 |= (uint64_t)(v->of[i] > 0) << i;
	return x64;
}

/* The simhash against one counted bit by bit. */
static void test_simhash(void **state)
{
	struct simhash s = { 0 };
	struct votes v = { 0 };
	uint64_t h = 12345, some[200];

	(void)state;
	assert_true(simhash_value(&s) == 0);
	for (size_t n = 1; n < 200; n++) {      /* 19,900 in all */
		for (size_t i = 0; i < n; i++) {
			h = h * 6364136223846793005u + 1442695040888963407u;
			some[i] = h ^ h >> 31;
			vote(&v, some[i]);
		}
		simhash_add(&s, some, n);
		assert_true(simhash_value(&s) == outcome(&v));
	}
}

struct heard {
	struct votes votes;
	uint64_t n, last;
};

/* The feature of a word and the one before, as words.c documents it. */
static void hear(void *arg, const char *word, size_t size, uint64_t hash)
{
	struct heard *h = arg;
	uint64_t f = (hash + (h->last << 23 | h->last >> 41)) * 0x94d049bb133111ebu;

	assert_true(hash == words_hash(word, size));
	vote(&h->votes, f ^ f >> 32);
	h->last = hash;
	h->n++;
}

/* Reading words at once, and one by one with somebody listening, is the same. */
static void test_word_hashes(void **state)
{
	static const char *const some[] = { "River", "a", "Thirteen13letters", "sixteenletters16",
		"aWordOfMoreThanSixteenLetters", "na\xc3\xafve", "\xe6\xbc\xa2\xe5\xad\x97", "42",
		"\xd0\xa0\xd0\xb5\xd0\xba\xd0\xb0", "\xe2\x80\x94" };
	struct extract_options o = { .word = hear };
	struct heard h = { 0 };
	struct buf b;
	uint64_t s = 7, simhash, words;

	(void)state;
	buf_init(&b, BUF_NO_LIMIT);
	for (int i = 0; i < 5000; i++) {
		s = s * 6364136223846793005u + 1442695040888963407u;
		buf_str(&b, some[(s >> 33) % 10]);
		buf_str(&b, s >> 60 ? " " : s >> 40 & 1 ? "" : " - ");
	}
	for (int i = 0; i < 3000; i++)          /* and a run without end */
		buf_byte(&b, 'a' + i % 26);
	simhash = read_as(buf_text(&b), "text/plain; charset=utf-8")->digest.simhash;
	words = x.page.words;
	o.arg = &h;
	extract_page(&x, &(struct extract_input){ b.data, b.size, "text/plain; charset=utf-8",
	             NULL }, &o);
	assert_true(x.page.words == words && h.n == words && words > 4000);
	assert_true(x.page.digest.simhash == simhash && simhash == outcome(&h.votes));
	buf_release(&b);
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
		cmocka_unit_test(test_text), cmocka_unit_test(test_title),
		cmocka_unit_test(test_counts), cmocka_unit_test(test_links),
		cmocka_unit_test(test_links_elsewhere),
		cmocka_unit_test(test_words), cmocka_unit_test(test_types),
		cmocka_unit_test(test_simhash), cmocka_unit_test(test_word_hashes),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
