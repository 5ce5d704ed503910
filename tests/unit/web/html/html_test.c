/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_test.c - the tokenizer, state by state.  Expected tokens were worked out
 * by hand from the standard; they are written as
 *   text, <name a="v"> or <name/ a="v"> for self-closing, </name>, <!--c-->,
 *   <!D name|public|system|q> with "-" for missing and q for forced quirks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "web/html/html_inner.h"

static void put(struct buf *out, struct html *t, struct html_str *s)
{
	if (!s->data) {
		buf_byte(out, '-');
		return;
	}
	html_clean(t, s);
	buf_add(out, s->data, s->size);
}

static void tokens(struct buf *out, struct html *t)
{
	while (html_next(t) != HTML_END) {
		struct html_token *k = &t->token;

		switch (k->kind) {
		case HTML_TEXT:
			buf_add(out, k->text.data, k->text.size);
			break;
		case HTML_START_TAG:
			buf_byte(out, '<');
			put(out, t, &k->text);
			if (k->self_closing)
				buf_byte(out, '/');
			for (size_t i = 0; i < k->n_attrs; i++) {
				buf_byte(out, ' ');
				buf_add(out, k->attrs[i].name, k->attrs[i].name_size);
				buf_str(out, "=\"");
				html_value(t, &k->attrs[i]);
				buf_add(out, k->attrs[i].value.data, k->attrs[i].value.size);
				buf_byte(out, '"');
			}
			buf_byte(out, '>');
			break;
		case HTML_END_TAG:
			buf_str(out, "</");
			put(out, t, &k->text);
			buf_byte(out, '>');
			break;
		case HTML_COMMENT:
			buf_str(out, "<!--");
			put(out, t, &k->text);
			buf_str(out, "-->");
			break;
		default:
			buf_str(out, "<!D ");
			put(out, t, &k->text);
			buf_byte(out, '|');
			put(out, t, &k->public_id);
			buf_byte(out, '|');
			put(out, t, &k->system_id);
			buf_str(out, k->force_quirks ? "|q>" : "|>");
		}
	}
}

static void check(const char *input, size_t size, const char *expected)
{
	char *exact = malloc(size ? size : 1);
	struct buf out;
	struct html t;

	memcpy(exact, input, size);
	buf_init(&out, BUF_NO_LIMIT);
	html_init(&t, exact, size);
	tokens(&out, &t);
	if (strcmp(buf_text(&out), expected))
		fail_msg("input    %s\nexpected %s\nactual   %s", input, expected,
		         buf_text(&out));
	html_release(&t);
	buf_release(&out);
	free(exact);
}

static void check_all(const char *const (*cases)[2])
{
	for (; (*cases)[0]; cases++)
		check((*cases)[0], strlen((*cases)[0]), (*cases)[1]);
}

static void test_tags(void **state)
{
	static const char *const cases[][2] = {
		{ "", "" }, { "<", "<" }, { "</", "</" }, { "a<", "a<" },
		{ "a<b", "a" }, { "a</b", "a" }, { "a<b ", "a" }, { "a<b c", "a" },
		{ "a<b c=", "a" }, { "a<b c=\"", "a" }, { "a<b c=\"d\"", "a" },
		{ "a<b/", "a" }, { "</>x", "x" }, { "< b>", "< b>" }, { "<3", "<3" },
		{ "<DIV CLASS=X ID='Y'>", "<div class=\"X\" id=\"Y\">" },
		{ "<a b=1 B=2 c b=3>", "<a b=\"1\" c=\"\">" },
		{ "<a b='1'c=\"2\"d>", "<a b=\"1\" c=\"2\" d=\"\">" },
		{ "<a =x==y>", "<a =x=\"=y\">" }, { "<a ==>", "<a ==\"\">" },
		{ "<a b = c>", "<a b=\"c\">" }, { "<a b=>", "<a b=\"\">" },
		{ "<a b= >", "<a b=\"\">" },
		{ "<a/>", "<a/>" }, { "<a/b>", "<a b=\"\">" }, { "<a / >", "<a>" },
		{ "<a b=c/>", "<a b=\"c/\">" }, { "<a b/=c>", "<a b=\"\" =c=\"\">" },
		{ "<a b<c=\"'\" `=`>", "<a b<c=\"'\" `=\"`\">" },
		{ "</A B=c/>x", "</a>x" }, { "<a\rb\r\nc\f\td>", "<a b=\"\" c=\"\" d=\"\">" },
		{ "<a b='x\r\ny\rz'>", "<a b=\"x\ny\nz\">" },
		{ "<a\"b>", "<a\"b>" },
		{ "x\r\ny\rz\r\r\n", "x\ny\nz\n\n" },
		{ NULL, NULL },
	};
	(void)state;
	check_all(cases);
	check("<a\0b c\0d=\0>\0x", 13, "<a\xef\xbf\xbd" "b c\xef\xbf\xbd" "d=\"\xef\xbf\xbd\">");
}

static void test_comments(void **state)
{
	static const char *const cases[][2] = {
		{ "<!---->x", "<!---->x" }, { "<!-->x", "<!---->x" }, { "<!--->x", "<!---->x" },
		{ "<!--a-->", "<!--a-->" }, { "<!--a--!>x", "<!--a-->x" },
		{ "<!----!>x", "<!---->x" }, { "<!---!>x-->y", "<!---!>x-->y" },
		{ "<!--a--b-->", "<!--a--b-->" }, { "<!--a--->", "<!--a--->" },
		{ "<!--a", "<!--a-->" }, { "<!--a-", "<!--a-->" }, { "<!--a--", "<!--a-->" },
		{ "<!--a--!", "<!--a-->" }, { "<!--", "<!---->" }, { "<!---", "<!---->" },
		{ "<!----", "<!---->" }, { "<!--a--!-->b", "<!--a--!-->b" },
		{ "<!--<!--x-->y", "<!--<!--x-->y" }, { "<!--<!-->y", "<!--<!-->y" },
		{ "<!--<!->y-->", "<!--<!->y-->" }, { "<!-- <!-", "<!-- <!-->" },
		{ "<!x>", "<!--x-->" }, { "<!>x", "<!---->x" }, { "<!-x>", "<!---x-->" },
		{ "<?php x?>y", "<!--?php x?-->y" }, { "</ x>y", "<!-- x-->y" },
		{ "<![CDATA[x]]>", "<!--[CDATA[x]]-->" }, { "<!", "<!---->" },
		{ "<!DOCTYP>", "<!--DOCTYP-->" },
		{ NULL, NULL },
	};
	(void)state;
	check_all(cases);
}

static void test_doctype(void **state)
{
	static const char *const cases[][2] = {
		{ "<!DOCTYPE html>", "<!D html|-|-|>" }, { "<!doctype HTML >", "<!D html|-|-|>" },
		{ "<!DOCTYPEhtml>", "<!D html|-|-|>" }, { "<!DOCTYPE>x", "<!D -|-|-|q>x" },
		{ "<!DOCTYPE", "<!D -|-|-|q>" }, { "<!DOCTYPE html", "<!D html|-|-|q>" },
		{ "<!DOCTYPE html ", "<!D html|-|-|q>" },
		{ "<!DOCTYPE a PUBLIC \"p\" 's'>", "<!D a|p|s|>" },
		{ "<!DOCTYPE a PUBLIC'p''s'>", "<!D a|p|s|>" },
		{ "<!DOCTYPE a PUBLIC 'p'>", "<!D a|p|-|>" },
		{ "<!DOCTYPE a PUBLIC 'p' x>y", "<!D a|p|-|q>y" },
		{ "<!DOCTYPE a PUBLIC>", "<!D a|-|-|q>" },
		{ "<!DOCTYPE a PUBLIC 'p", "<!D a|p|-|q>" },
		{ "<!DOCTYPE a PUBLIC 'p>x'", "<!D a|p|-|q>x'" },
		{ "<!DOCTYPE a SYSTEM 's'>", "<!D a|-|s|>" },
		{ "<!DOCTYPE a SYSTEM 's' x>y", "<!D a|-|s|>y" },
		{ "<!DOCTYPE a SYSTEM 's' x", "<!D a|-|s|>" },
		{ "<!DOCTYPE a SYSTEM 's'", "<!D a|-|s|q>" },
		{ "<!DOCTYPE a SYSTEM x 's'>y", "<!D a|-|-|q>y" },
		{ "<!DOCTYPE a SYSTEM ''>", "<!D a|-||>" },
		{ "<!DOCTYPE a x>y", "<!D a|-|-|q>y" },
		{ NULL, NULL },
	};
	(void)state;
	check_all(cases);
}

static void test_raw_text(void **state)
{
	static const char *const cases[][2] = {
		{ "<title>a&amp;b<c></titl></TITLE >x", "<title>a&b<c></titl></title>x" },
		{ "<title></title", "<title></title" }, { "<title></titlex>", "<title></titlex>" },
		{ "<title></title/>x", "<title></title>x" }, { "<title>x</title a", "<title>x" },
		{ "<style>a&amp;<b></style>", "<style>a&amp;<b></style>" },
		{ "<textarea><p></textarea>", "<textarea><p></textarea>" },
		{ "<plaintext><a></plaintext>&lt;", "<plaintext><a></plaintext>&lt;" },
		{ "<noscript><p></noscript>", "<noscript><p></noscript>" },
		/* script data and its escapes */
		{ "<script>a<b</script>x", "<script>a<b</script>x" },
		{ "<script></scrip></script>x", "<script></scrip></script>x" },
		{ "<script><!--</script>x", "<script><!--</script>x" },
		{ "<script><!--<script></script>--></script>x",
		  "<script><!--<script></script>--></script>x" },
		{ "<script><!--<script></script></script>x",
		  "<script><!--<script></script></script>x" },
		{ "<script><!--<script>--></script>x", "<script><!--<script>--></script>x" },
		{ "<script><!--<scripty></script><p>", "<script><!--<scripty></script><p>" },
		{ "<script><!--><script></script><p>", "<script><!--><script></script><p>" },
		{ "<script><!--a</script ><p>", "<script><!--a</script><p>" },
		{ NULL, NULL },
	};
	/* inside the double escape "</script>" is text: the tag count tells */
	static const struct { const char *html; int tags; } counts[] = {
		{ "<script><!--<script></script><p></script><p>", 3 },
		{ "<script><!--<script></script ></script><p>", 3 },
		{ "<script><!--<script><!--</script></script><p>", 3 },
		{ "<script><!--</script><p></script>", 4 },
		{ "<script><!-- <script> --></script><p>", 3 },
		{ "<script><!--<script </script><p></script><p>", 3 },
		{ "<script><!--<SCRIPT/</ScRiPt><p></script><p>", 3 },
		{ "<script><!--<script></scripty><p></script><p></script><p>", 3 },
		{ "<script><!- <script></script><p>", 3 },
	};

	(void)state;
	check_all(cases);
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		struct html t;
		int n = 0;

		html_init(&t, counts[i].html, strlen(counts[i].html));
		while (html_next(&t) != HTML_END)
			n += t.token.kind != HTML_TEXT;
		if (n != counts[i].tags)
			fail_msg("%s: %d tags, not %d", counts[i].html, n, counts[i].tags);
		html_release(&t);
	}
}

static void test_references(void **state)
{
	static const char *const cases[][2] = {
		{ "&amp;&AMP&lt;&gt", "&&<>" }, { "&", "&" }, { "& x", "& x" }, { "&;", "&;" },
		{ "&notit;&notin;", "\xc2\xacit;\xe2\x88\x89" }, { "&nosuch;", "&nosuch;" },
		{ "&CounterClockwiseContourIntegral;", "\xe2\x88\xb3" },
		{ "&CounterClockwiseContourIntegral", "&CounterClockwiseContourIntegral" },
		{ "&nGt;", "\xe2\x89\xab\xe2\x83\x92" }, { "&nbsp", "\xc2\xa0" },
		{ "&#65;&#x42;&#X43&#68x", "ABCDx" }, { "&#;&#x;&#xg&#", "&#;&#x;&#xg&#" },
		{ "&#0;&#xD800;&#x110000;&#99999999999;",
		  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "&#128;&#x9f;&#x81;&#13;", "\xe2\x82\xac\xc5\xb8\xc2\x81\r" },
		{ "&#x10FFFF;&#xFFFE;", "\xf4\x8f\xbf\xbf\xef\xbf\xbe" },
		{ "&#x00000000000000041;", "A" },
		{ "<a b='&amp;&lt=&ltx&lt;&lt'>", "<a b=\"&&lt=&ltx<<\">" },
		{ "<a b=&amp;c&copy&copy1>", "<a b=\"&c\xc2\xa9&copy1\">" },
		{ "<a b='?a=1&copy=2&amp=3'>", "<a b=\"?a=1&copy=2&amp=3\">" },
		{ NULL, NULL },
	};
	(void)state;
	check_all(cases);
}

static void test_foreign(void **state)
{
	static const char *const cases[][2] = {
		{ "<svg><![CDATA[a<b>]]>c</svg><![CDATA[d]]>",
		  "<svg>a<b>c</svg><!--[CDATA[d]]-->" },
		{ "<svg><![CDATA[a]]]></svg>", "<svg>a]</svg>" },
		{ "<svg><![CDATA[a", "<svg>a" },
		{ "<svg><style>&lt;<a></style>", "<svg><style><<a></style>" },
		{ "<svg/><![CDATA[d]]>", "<svg/><!--[CDATA[d]]-->" },
		{ "<svg><p><![CDATA[d]]>", "<svg><p><!--[CDATA[d]]-->" },
		{ "<svg><foreignObject><![CDATA[d]]></foreignObject><![CDATA[e]]>",
		  "<svg><foreignobject><!--[CDATA[d]]--></foreignobject>e" },
		{ "<svg><title>&amp;<b></title><![CDATA[e]]>", "<svg><title>&<b></title>e" },
		{ "<math><mi><style><a></style></mi></math>",
		  "<math><mi><style><a></style></mi></math>" },
		{ NULL, NULL },
	};
	(void)state;
	check_all(cases);
}

static enum html_tag tag_of(const char *name, size_t size)
{
	return html_tag_find_key(html_key(name, size), name, size);
}

/* Every name of the table is found, with its flags. */
static void test_names(void **state)
{
	static const char *const names[] = {
#define TAG(name, flags) #name,
#include "web/html/html_tags.def"
#undef TAG
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		enum html_tag tag = tag_of(names[i], strlen(names[i]));

		assert_int_equal(tag, i + 1);
		assert_memory_equal(html_tag_rows[tag].line, names[i], strlen(names[i]));
		assert_int_equal(html_tag_rows[tag].line[strlen(names[i])], '\n');
	}
	assert_int_equal(tag_of("blink", 5), TAG_OTHER);
	assert_int_equal(tag_of("xblockquote", 11), TAG_OTHER);
	assert_int_equal(tag_of("", 0), TAG_OTHER);
}

/* Many attributes: the first of each name stays, in order. */
static void test_many_attributes(void **state)
{
	struct buf in;
	struct html t;

	(void)state;
	buf_init(&in, BUF_NO_LIMIT);
	buf_str(&in, "<a");
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 3000; i++)
			buf_printf(&in, " name%d=%d", i, i + round);
	buf_str(&in, ">");
	html_init(&t, in.data, in.size);
	assert_int_equal(html_next(&t), HTML_START_TAG);
	assert_int_equal(t.token.n_attrs, 3000);
	for (int i = 0; i < 3000; i++) {
		char text[32];

		assert_int_equal(snprintf(text, sizeof text, "%d", i),
		                 t.token.attrs[i].value.size);
		assert_memory_equal(t.token.attrs[i].value.data, text, strlen(text));
	}
	assert_int_equal(html_next(&t), HTML_END);
	html_release(&t);
	buf_release(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tags), cmocka_unit_test(test_comments),
		cmocka_unit_test(test_doctype), cmocka_unit_test(test_raw_text),
		cmocka_unit_test(test_references), cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_names), cmocka_unit_test(test_many_attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
