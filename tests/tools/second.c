/* SPDX-License-Identifier: Apache-2.0 */
/*
 * second.c - our readers for tests/diff/diff.py, which asks other readers the same.
 *
 * A line of input is a question, words with blanks between, bytes in hex ("." if none):
 *   url BASE REF            the canonical form of REF on BASE ("." for none), or "refused" and why
 *   html STATE LAST BYTES   the tokens; STATE 0 to 5 as enum html_state, 9: as a page
 *   robots URL BYTES        "1" allowed, "0" not, "refused" if the URL is
 *   input BYTES             what is unpacked, and "damaged" if it ends so
 * The answer is a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/io/input.h"
#include "web/html/html.h"
#include "web/rules/robots.h"
#include "web/url/url.h"

static char *from_hex(const char *word, size_t *ret_size)
{
	size_t n = !word || *word == '.' ? 0 : strlen(word) / 2;
	char *out = malloc(n ? n : 1);          /* exact: reading past the end is seen */

	for (size_t i = 0; i < n; i++) {
		char digits[3] = { word[2 * i], word[2 * i + 1], 0 };

		out[i] = (char)strtoul(digits, NULL, 16);
	}
	*ret_size = n;
	return out;
}

static void put_hex(const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		printf("%02x", (unsigned char)data[i]);
	if (!size)
		putchar('.');
}

static void answer_url(char **word)
{
	size_t base_size, ref_size;
	char *base = from_hex(word[1], &base_size), *ref = from_hex(word[2], &ref_size);
	struct buf first, out;
	struct err err = { 0 };
	int rc;

	buf_init(&first, BUF_NO_LIMIT);
	buf_init(&out, BUF_NO_LIMIT);
	if (!base_size)
		rc = url_canonical(ref, ref_size, &out, &err);
	else if (!(rc = url_canonical(base, base_size, &first, &err)))
		rc = url_resolve(first.data, first.size, ref, ref_size, &out, &err);
	if (rc)
		printf("refused %s", err.text);
	else
		put_hex(out.data, out.size);
	buf_release(&first);
	buf_release(&out);
	free(base);
	free(ref);
}

static void put_str(struct html *t, struct html_str *s)
{
	putchar(' ');
	if (!s->data) {
		putchar('-');
		return;
	}
	if (s->dirt)
		html_clean(t, s);
	put_hex(s->data, s->size);
}

static void answer_html(char **word)
{
	int state = atoi(word[1]);
	size_t last_size, size;
	char *last = from_hex(word[2], &last_size), *data = from_hex(word[3], &size);
	char name[64] = "";
	struct buf text;
	struct html t;
	enum html_kind kind;

	memcpy(name, last, last_size < 63 ? last_size : 63);
	html_init(&t, data, size);
	if (state != 9)
		html_force_state(&t, (enum html_state)state, name);
	buf_init(&text, BUF_NO_LIMIT);
	do {
		kind = html_next(&t);
		if (kind == HTML_TEXT) {
			buf_add(&text, t.token.text.data, t.token.text.size);
			continue;
		}
		if (text.size) {
			printf("T ");
			put_hex(text.data, text.size);
			putchar(';');
			buf_clear(&text);
		}
		if (kind == HTML_END)
			break;
		putchar(" TSECD"[kind]);
		put_str(&t, &t.token.text);
		for (size_t i = 0; kind == HTML_START_TAG && i < t.token.n_attrs; i++) {
			putchar(' ');
			put_hex(t.token.attrs[i].name, t.token.attrs[i].name_size);
			html_value(&t, &t.token.attrs[i]);
			putchar('=');
			put_hex(t.token.attrs[i].value.data, t.token.attrs[i].value.size);
		}
		if (kind == HTML_START_TAG && t.token.self_closing)
			printf(" /");
		if (kind == HTML_DOCTYPE) {
			put_str(&t, &t.token.public_id);
			put_str(&t, &t.token.system_id);
			printf(" %d", t.token.force_quirks);
		}
		putchar(';');
	} while (1);
	html_release(&t);
	buf_release(&text);
	free(last);
	free(data);
}

static void answer_robots(char **word)
{
	size_t url_size, size;
	char *url = from_hex(word[1], &url_size), *data = from_hex(word[2], &size);
	struct robots r;
	struct buf out;

	buf_init(&out, BUF_NO_LIMIT);
	if (url_canonical(url, url_size, &out, NULL)) {
		printf("refused");
	} else {
		robots_parse(&r, data, size, false, "freshet");
		putchar(robots_allows(&r, out.data, out.size, NULL) ? '1' : '0');
		robots_release(&r);
	}
	buf_release(&out);
	free(url);
	free(data);
}

static void answer_input(char **word)
{
	size_t size;
	char *data = from_hex(word[1], &size), piece[4096];
	struct input *in = NULL;
	struct buf out;
	long n = 0;

	buf_init(&out, 16 << 20);
	if (input_open_memory(&in, data, size, "question", NULL) == 0)
		while ((n = input_read(in, piece, sizeof piece, NULL)) > 0)
			buf_add(&out, piece, (size_t)n);
	put_hex(out.data, out.size);
	printf("%s", n < 0 || !in ? " damaged" : "");
	input_close(in);
	buf_release(&out);
	free(data);
}

int main(void)
{
	static const struct { const char *name; void (*answer)(char **word); } all[] = {
		{ "url", answer_url }, { "html", answer_html }, { "robots", answer_robots },
		{ "input", answer_input },
	};
	char *line = NULL;
	size_t cap = 0;

	while (getline(&line, &cap, stdin) > 0) {
		char *word[4] = { 0 };
		size_t n = 0, i;

		for (char *w = strtok(line, " \n"); w && n < 4; w = strtok(NULL, " \n"))
			word[n++] = w;
		for (i = 0; n && i < sizeof all / sizeof *all; i++)
			if (!strcmp(word[0], all[i].name))
				all[i].answer(word);
		putchar('\n');
		fflush(stdout);
	}
	free(line);
	return 0;
}
