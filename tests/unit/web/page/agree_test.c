/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree_test.c - the reader and the naive reader agree on pages made to be nasty,
 * and time stays linear on pages made to be slow.
 *
 * The generator strings together pieces of markup, most of them broken, at
 * random; each piece is something a tokenizer can get wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "../../../lib/naive_page.h"
#include "web/page/extract.h"

static struct extract x;

static const char *const pieces[] = {
	"word ", "x", " ", "\n\t ", "&amp;", "&eacute", "&#233;", "&nosuch;", "&", "<", ">", "\"", "'",
	"<p>", "</p>", "<P hidden>", "<div hidden>", "</div>", "<div>", "<b>", "</b>", "<br/>",
	"<li>", "<li hidden>", "<ul>", "</ul>", "<td hidden>", "<td>", "<tr>", "<table>", "</table>",
	"<script>", "</script>", "<script", "<!--", "-->", "--!>", "<!", "<!-->", "<!DOCTYPE html>",
	"<title>", "</title>", "<textarea>", "</textarea>", "<style>", "</style>", "</styl", "<svg>",
	"</svg>", "<svg/>", "<![CDATA[", "]]>", "<template>", "</template>", "<img alt=x>", "<img",
	" src='a", " b=c", " class=\"d e\"", " style='display:none'", " hidden", "/>", "=", "/",
	"<a href=x>", "<a href='mailto:a@b.org'>", "</a>", "me@example.org ", "@", ".org",
	"\xc3\xa9", "\xe6\xbc\xa2\xe5\xad\x97", "\xe2\x80\x94", "\r\n", "\r", "<?pi?>", "</ x>", "</>",
	"<dialog>", "</dialog>", "<option>", "<select>", "</select>", "<foreignObject>", "<desc>",
	"<math><mi>", "</math>", "<x-y hidden>", "</x-y>", "<dt hidden>", "<dd>", "</dl>",
	"<rt hidden>",
	"<plaintext>", "<noscript>", "</noscript>", "<iframe>", "</iframe>", "<xmp>", "</xmp>",
	"<font color=red>", "-", "--", "!", "]", "s", "<h1>", "</h1>", "<area href>", "1234 ", "_",
};

static void compare(const char *html, size_t size)
{
	struct extract_input in = { html, size, "text/html; charset=utf-8", "http://a.org/" };
	const struct page *p = extract_page(&x, &in, NULL);
	struct naive_page n;

	naive_read(&n, html, size);
	if (p->text_size != n.text.size || memcmp(p->text, buf_text(&n.text), n.text.size) ||
	    p->words != n.words || p->images != n.images || p->tables != n.tables ||
	    p->emails != n.emails || p->outlinks != n.outlinks ||
	    p->digest.tags != digest_64(buf_text(&n.skeleton), n.skeleton.size))
		fail_msg("page %.*s\nwords %lu %lu images %u %u tables %u %u emails %u %u links %u %u\n"
		         "text  %s\nnaive %s\nnaive tags %s", (int)size, html, (unsigned long)p->words,
		         (unsigned long)n.words, p->images, n.images, p->tables, n.tables, p->emails,
		         n.emails, p->outlinks, n.outlinks, p->text, buf_text(&n.text),
		         buf_text(&n.skeleton));
	naive_release(&n);
}

static void test_agree(void **state)
{
	uint64_t s = 42;
	struct buf b;

	(void)state;
	buf_init(&b, BUF_NO_LIMIT);
	for (int round = 0; round < 6000; round++) {
		size_t n = 1 + (s >> 40) % 40;

		buf_clear(&b);
		while (n--) {
			s = s * 6364136223846793005u + 1442695040888963407u;
			buf_str(&b, pieces[(s >> 33) % (sizeof pieces / sizeof pieces[0])]);
		}
		compare(b.data, b.size);
	}
	buf_release(&b);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Time for n repetitions of a piece behind a beginning, the best of three. */
static double time_of(const char *head, const char *piece, size_t n)
{
	double best = 1e9;
	struct buf b;

	buf_init(&b, BUF_NO_LIMIT);
	buf_str(&b, head);
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, piece, (unsigned)i);
	for (int i = 0; i < 3; i++) {
		struct extract_input in = { b.data, b.size, "text/html; charset=utf-8",
		                            "http://a.org/" };
		double start = seconds(), took;

		extract_page(&x, &in, NULL);
		took = seconds() - start;
		best = took < best ? took : best;
	}
	buf_release(&b);
	return best;
}

/* Eightfold input takes about eightfold time; quadratic would be 64. */
static void test_linear(void **state)
{
	static const char *const cases[][2] = {
		{ "", "<div>" }, { "", "<div hidden>" }, { "", "<svg><desc>" }, { "", "</div>" },
		{ "", "<" }, { "", "</" }, { "", "<!--" }, { "", "<!-- --" }, { "", "<a b='" },
		{ "", "<a b=\"" }, { "<a ", "n%u=1 " }, { "<a ", "n=%u " }, { "", "&" }, { "", "&a" },
		{ "", "&CounterClockwiseContourIntegra" }, { "", "&#" }, { "&#", "1" }, { "", "&#x1F600;" },
		{ "<title>", "</titl" }, { "<title>", "<title>" }, { "<script>", "<!--<script>" },
		{ "<script>", "</script" }, { "<svg>", "<![CDATA[" }, { "", "a" }, { "", "a@" },
		{ "", "a@b." }, { "", " " }, { "", "<p hidden><p>" }, { "", "\xe6\xbc\xa2" }, { "", "<!D" },
		{ "<!DOCTYPE ", "PUBLIC '" }, { "", "<x%u hidden>" }, { "", "<a href=%u>" }, { "", "]]>" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		double small = time_of(cases[i][0], cases[i][1], 8000);
		double large = time_of(cases[i][0], cases[i][1], 64000);

		/* a floor, so that noise on tiny times does not count */
		if (large > 0.002 && large / (small + 1e-5) > 32)
			fail_msg("%s%s: %.6f s, then %.6f s", cases[i][0], cases[i][1], small, large);
	}
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
		cmocka_unit_test(test_agree), cmocka_unit_test(test_linear),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
