/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_html.c - tokenizer, extraction, links and differences on any bytes.
 *
 * The first byte chooses options and the tokenizer's state; the rest is a page.
 * Beyond "does not crash": the tokenizer always gets on, what it says lies in the
 * page or in its own memory, the text is valid UTF-8 with no blank at either end
 * nor two in a row, and reading twice gives the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "web/page/change_diff.h"
#include "web/page/extract.h"
#include "web/text/unicode.h"

#define CHECK(condition) do { if (!(condition)) abort(); } while (0)

static void tokenize(const char *data, size_t size, unsigned choice)
{
	struct html t;
	size_t n = 0, sum = 0;

	html_init(&t, data, size);
	if (choice % 8 < 6)
		html_force_state(&t, (enum html_state)(choice % 8), choice & 8 ? "title" : "script");
	while (html_next(&t) != HTML_END) {
		const char *before = t.p;

		CHECK(++n <= size + 1 && before <= t.end);
		if (t.token.kind == HTML_TEXT)
			CHECK(t.token.text.size > 0 && t.token.text.dirt == 0);
		else
			html_clean(&t, &t.token.text);
		for (size_t i = 0; t.token.kind == HTML_START_TAG && i < t.token.n_attrs; i++) {
			html_value(&t, &t.token.attrs[i]);
			CHECK(t.token.attrs[i].value.size <= 3 * size);
			for (size_t k = 0; k < t.token.attrs[i].value.size; k++)
				sum += (unsigned char)t.token.attrs[i].value.data[k];
		}
	}
	CHECK(html_next(&t) == HTML_END && sum + 1);
	html_release(&t);
}

static void check_page(const struct page *p)
{
	CHECK(unicode_valid(p->text, p->text_size) == p->text_size);
	for (size_t i = 0; i < p->text_size; i++) {
		unsigned char c = (unsigned char)p->text[i];
		bool blank = c == ' ' || (c >= '\t' && c <= '\r');

		CHECK(!blank || ((c == ' ' || c == '\n') && i && i + 1 < p->text_size));
		CHECK(!blank || (p->text[i - 1] != ' ' && p->text[i - 1] != '\n'));
	}
	CHECK(p->title_size <= EXTRACT_TITLE_MAX && p->words <= p->text_size);
	for (size_t i = 0; i < p->n_links; i++) {
		const char *url = page_link_url(p, i);

		CHECK(strlen(url) == p->links[i].size && !strncmp(url, "http", 4));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct extract x;
	struct extract_options o = { 0 };
	struct extract_input in = { .url = "http://www.example.org/dir/page.html?q=1" };
	struct ignore g = { 0 };
	unsigned choice;
	struct digest first;

	if (!size)
		return 0;
	choice = *data++;
	in.data = (const char *)data;
	in.size = size - 1;
	/* guessing the encoding costs a hundred times the rest: seldom */
	in.content_type = (choice & 0xc1) == 0xc0 ? "text/html" : "text/html; charset=utf-8";
	tokenize(in.data, in.size, choice >> 1);
	o.fold_digits = choice & 2;
	o.tag_attributes = choice & 4;
	o.tag_values = choice & 8;
	if (choice & 16) {
		CHECK(!ignore_parse(&g, "#a .b p div.c", NULL));
		o.ignore = &g;
	}
	check_page(extract_page(&x, &in, &o));
	first = x.page.digest;
	CHECK(!memcmp(&first, &extract_page(&x, &in, &o)->digest, sizeof first));
	if ((choice & 0xe0) == 0x20) {
		struct extract_input half = in;
		struct page_diff d;

		half.size /= 2;
		page_diff(&d, &half, &in, &o);
		page_diff_release(&d);
	}
	ignore_release(&g);
	return 0;
}
