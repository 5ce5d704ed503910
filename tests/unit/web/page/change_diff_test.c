/* SPDX-License-Identifier: Apache-2.0 */
/* change_diff_test.c - differences in words, and the algorithm beneath. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "web/page/change_diff.h"
#include "web/page/change_lcs.h"

/* Length of the longest common subsequence, by the plain table. */
static size_t lcs_length(const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
	static size_t t[64][64];

	for (size_t i = 0; i <= n; i++)
		for (size_t k = 0; k <= m; k++)
			t[i][k] = !i || !k ? 0 : a[i - 1] == b[k - 1] ? t[i - 1][k - 1] + 1 :
			          t[i - 1][k] > t[i][k - 1] ? t[i - 1][k] : t[i][k - 1];
	return t[n][m];
}

static void test_lcs(void **state)
{
	uint64_t s = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		uint64_t a[40], b[40];
		bool removed[40] = { 0 }, added[40] = { 0 };
		size_t n, m, kept = 0, i, k;
		unsigned letters;

#define DRAW(k) ((s = s * 6364136223846793005u + 1442695040888963407u) >> 33) % (k)
		n = DRAW(40);
		m = DRAW(40);
		letters = (unsigned)(1 + DRAW(8));
		for (i = 0; i < n; i++)
			a[i] = DRAW(letters);
		for (k = 0; k < m; k++)
			b[k] = DRAW(letters);
		lcs_mark(a, n, b, m, removed, added);
		/* what is left of both must be the same, and as long as can be */
		for (i = k = 0;; i++, k++) {
			while (i < n && removed[i])
				i++;
			while (k < m && added[k])
				k++;
			if (i >= n || k >= m)
				break;
			assert_true(a[i] == b[k]);
			kept++;
		}
		assert_true(i == n && k == m);
		assert_int_equal(kept, lcs_length(a, n, b, m));
	}
}

/* Past the cost limit everything differs, in bounded time. */
static void test_lcs_limit(void **state)
{
	size_t n = 20000;
	uint64_t *a = malloc(2 * n * sizeof *a);
	bool *marks = calloc(2 * n, 1);
	size_t differ = 0;

	(void)state;
	for (size_t i = 0; i < 2 * n; i++)
		a[i] = i;
	a[0] = a[n];
	lcs_mark(a, n, a + n, n, marks, marks + n);
	for (size_t i = 0; i < 2 * n; i++)
		differ += marks[i];
	assert_int_equal(differ, 2 * n - 2);
	free(a);
	free(marks);
}

static void check(const char *before, const char *after, const char *expected)
{
	static const char *const kinds[] = { "text", "element", "access" };
	struct extract_input a = { before, strlen(before), "text/html", NULL };
	struct extract_input b = { after, strlen(after), "text/html", NULL };
	struct page_diff d;
	struct buf out;

	page_diff(&d, &a, &b, NULL);
	buf_init(&out, BUF_NO_LIMIT);
	for (size_t i = 0; i < d.items.n; i++) {
		const struct diff_item *item = &d.items.v[i];

		buf_printf(&out, "%c %s|%s|%s|%u\n", item->added ? '+' : '-', kinds[item->kind],
		           item->label, item->text, item->count);
	}
	if (strcmp(buf_text(&out), expected))
		fail_msg("%s -> %s\nexpected\n%sactual\n%s", before, after, expected,
		         buf_text(&out));
	buf_release(&out);
	page_diff_release(&d);
}

static void test_pages(void **state)
{
	(void)state;
	check("<p>a</p><p>b</p>", "<p>a</p><p>b</p>", "");
	check("<p>a</p><p>b</p><p>c</p>", "<p>a</p><p>x</p><p>c</p>",
	      "- text||b|1\n+ text||x|1\n");
	check("<div id=n class='m k'></div>", "<i></i><i></i>",
	      "- element||div#n.m.k|1\n+ element||i|2\n");
	check("<b>a</b><i>b</i>", "<i>a</i><b>b</b>", "");       /* moved is not changed */
	check("<img src=d.png alt='a dog'>", "<img src=d.png alt='a cat'>",
	      "- access|alternative text|img d.png: a dog|1\n"
	      "+ access|alternative text|img d.png: a cat|1\n");
	check("<img src=d.png alt=x>", "<img src=d.png>",
	      "- access|alternative text|img d.png: x|1\n"
	      "+ access|missing alternative text|img d.png|1\n");
	check("<html lang=en><h2>One <b>two</b></h2>", "<html lang=fr><h2>One</h2>",
	      "- text||One two|1\n+ text||One|1\n- element||b|1\n"
	      "- access|language|html: en|1\n- access|heading|h2: One two|1\n"
	      "+ access|language|html: fr|1\n+ access|heading|h2: One|1\n");
	check("<label for=q>Name</label><input id=q>", "<label for=q>Family name</label>"
	      "<input id=q>", "- text||Name|1\n+ text||Family name|1\n"
	      "- access|form label|label for q: Name|1\n"
	      "+ access|form label|label for q: Family name|1\n");
	check("<table><tr><th>A<th>B</table>", "<table><tr><th>A<td>B</table>",
	      "- element||th|1\n+ element||td|1\n- access|table header|th: B|1\n");
	check("<div role=banner>x</div>", "<div>x</div>", "- access|role|div: banner|1\n");
	check("<button aria-label=Go>x</button>", "<button aria-label=Stop>x</button>",
	      "- access|label|button: Go|1\n+ access|label|button: Stop|1\n");
	check("<title>a</title>", "<title>b</title>",
	      "- access|page title|title: a|1\n+ access|page title|title: b|1\n");
}

static void test_view(void **state)
{
	struct extract_input a = { "<p>a", 4, "text/html", NULL };
	struct extract_input b = { "<i>a", 4, "text/html", NULL };
	struct page_diff d;

	(void)state;
	page_diff(&d, &a, &b, NULL);
	assert_true(d.view.bytes && !d.view.text && d.view.tags && d.view.bits == 0);
	page_diff_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lcs), cmocka_unit_test(test_lcs_limit),
		cmocka_unit_test(test_pages), cmocka_unit_test(test_view),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
