/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html5lib.c - runs the tokenizer over html5lib's public .test files.
 *
 *   html5lib FILE.test...      (make html5lib DIR=... names all of a folder)
 *
 * Every test is run once per initial state.  Parse errors are not compared.  For
 * the xmlViolation tests the output is first coerced to an XML infoset, as their
 * README says; that is the runner's work, not the tokenizer's.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "web/html/html.h"

static int runs, failures;

static void put_utf8(struct buf *b, unsigned c)
{
	if (c < 0x80) {
		buf_byte(b, (int)c);
	} else if (c < 0x800) {
		buf_byte(b, (int)(0xc0 | c >> 6));
		buf_byte(b, (int)(0x80 | (c & 63)));
	} else if (c < 0x10000) {
		buf_byte(b, (int)(0xe0 | c >> 12));
		buf_byte(b, (int)(0x80 | (c >> 6 & 63)));
		buf_byte(b, (int)(0x80 | (c & 63)));
	} else {
		buf_byte(b, (int)(0xf0 | c >> 18));
		buf_byte(b, (int)(0x80 | (c >> 12 & 63)));
		buf_byte(b, (int)(0x80 | (c >> 6 & 63)));
		buf_byte(b, (int)(0x80 | (c & 63)));
	}
}

static unsigned hex4(const char *p)
{
	char digits[5] = { p[0], p[1], p[2], p[3], 0 };

	return (unsigned)strtoul(digits, NULL, 16);
}

/* The bytes of a JSON string, with \uHHHH undone once more where asked; a lone
 * surrogate stays as three bytes. */
static void unescape(struct buf *out, const char *s, size_t size, int twice)
{
	for (size_t i = 0; i < size; i++) {
		unsigned c;

		if (!twice || s[i] != '\\' || i + 5 >= size || s[i + 1] != 'u') {
			buf_byte(out, (unsigned char)s[i]);
			continue;
		}
		c = hex4(s + i + 2);
		i += 5;
		if (c >= 0xd800 && c < 0xdc00 && i + 6 < size && s[i + 1] == '\\') {
			unsigned low = hex4(s + i + 3);

			if (low >= 0xdc00 && low < 0xe000) {
				c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
				i += 6;
			}
		}
		put_utf8(out, c);
	}
}

static void put_json_str(struct buf *out, const char *s, size_t size)
{
	buf_printf(out, "%zu:", size);
	buf_add(out, s, size);
	buf_byte(out, '\n');
}

static void put_expected_str(struct buf *out, const json_t *v, int twice)
{
	struct buf b;

	buf_init(&b, BUF_NO_LIMIT);
	if (json_is_string(v)) {
		unescape(&b, json_string_value(v), json_string_length(v), twice);
		put_json_str(out, buf_text(&b), b.size);
	} else {
		buf_str(out, "null\n");
	}
	buf_release(&b);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Attributes in order of their names, so that order does not count. */
static void put_lines_sorted(struct buf *out, char **lines, size_t n)
{
	qsort(lines, n, sizeof *lines, by_name);
	for (size_t i = 0; i < n; i++) {
		buf_str(out, lines[i]);
		free(lines[i]);
	}
}

static void put_expected(struct buf *out, json_t *tokens, int twice)
{
	struct buf text;
	size_t i;
	json_t *token;

	buf_init(&text, BUF_NO_LIMIT);
	json_array_foreach(tokens, i, token) {
		const char *kind = json_string_value(json_array_get(token, 0));

		if (!kind)              /* "ParseError" of old files */
			continue;
		if (!strcmp(kind, "Character")) {
			json_t *v = json_array_get(token, 1);

			unescape(&text, json_string_value(v), json_string_length(v), twice);
			continue;
		}
		if (text.size) {
			buf_str(out, "Character ");
			put_json_str(out, buf_text(&text), text.size);
			buf_clear(&text);
		}
		buf_printf(out, "%s ", kind);
		put_expected_str(out, json_array_get(token, 1), twice);
		if (!strcmp(kind, "DOCTYPE")) {
			put_expected_str(out, json_array_get(token, 2), twice);
			put_expected_str(out, json_array_get(token, 3), twice);
			buf_printf(out, "correct %d\n",
			           json_is_true(json_array_get(token, 4)));
		} else if (!strcmp(kind, "StartTag")) {
			json_t *attrs = json_array_get(token, 2), *value;
			char *lines[256];
			const char *name;
			size_t n = 0;

			json_object_foreach(attrs, name, value) {
				struct buf b;

				buf_init(&b, BUF_NO_LIMIT);
				unescape(&b, name, strlen(name), twice);
				buf_byte(&b, '=');
				put_expected_str(&b, value, twice);
				if (n < 256)
					lines[n++] = strdup(buf_text(&b));
				buf_release(&b);
			}
			put_lines_sorted(out, lines, n);
			if (json_is_true(json_array_get(token, 3)))
				buf_str(out, "self-closing\n");
		}
	}
	if (text.size) {
		buf_str(out, "Character ");
		put_json_str(out, buf_text(&text), text.size);
	}
	buf_release(&text);
}

static void put_str(struct buf *out, struct html *t, struct html_str *s, int coerce)
{
	struct buf b;

	if (!s->data) {
		buf_str(out, "null\n");
		return;
	}
	if (s->dirt)
		html_clean(t, s);
	buf_init(&b, BUF_NO_LIMIT);
	for (size_t i = 0; i < s->size; i++) {
		if (coerce && s->data[i] == '\f')
			buf_byte(&b, ' ');
		else if (coerce && s->size - i >= 3 && !memcmp(s->data + i, "\xef\xbf\xbf", 3))
			buf_str(&b, "\xef\xbf\xbd"), i += 2;
		else if (coerce && i && s->data[i] == '-' && s->data[i - 1] == '-')
			buf_str(&b, " -");
		else
			buf_byte(&b, (unsigned char)s->data[i]);
	}
	put_json_str(out, buf_text(&b), b.size);
	buf_release(&b);
}

static void put_start_tag(struct buf *out, struct html *t)
{
	char *lines[256];
	size_t n = 0;

	for (size_t i = 0; i < t->token.n_attrs && n < 256; i++) {
		struct html_attr *a = &t->token.attrs[i];
		struct buf b;

		buf_init(&b, BUF_NO_LIMIT);
		buf_add(&b, a->name, a->name_size);
		buf_byte(&b, '=');
		put_str(&b, t, &a->value, 0);
		lines[n++] = strdup(buf_text(&b));
		buf_release(&b);
	}
	put_lines_sorted(out, lines, n);
	if (t->token.self_closing)
		buf_str(out, "self-closing\n");
}

static void flush_text(struct buf *out, struct html *t, struct buf *text, int coerce)
{
	struct html_str s = { buf_text(text), text->size, 0 };

	if (!text->size)
		return;
	buf_str(out, "Character ");
	put_str(out, t, &s, coerce);
	buf_clear(text);
}

static void put_actual(struct buf *out, struct html *t, int coerce)
{
	static const char *const kinds[] = { "", "", "StartTag ", "EndTag ",
	                                     "Comment ", "DOCTYPE " };
	struct buf text;
	enum html_kind kind;

	buf_init(&text, BUF_NO_LIMIT);
	while ((kind = html_next(t)) != HTML_END) {
		if (kind == HTML_TEXT) {
			buf_add(&text, t->token.text.data, t->token.text.size);
			continue;
		}
		flush_text(out, t, &text, coerce);
		buf_str(out, kinds[kind]);
		put_str(out, t, &t->token.text, coerce && kind == HTML_COMMENT);
		if (kind == HTML_START_TAG)
			put_start_tag(out, t);
		if (kind == HTML_DOCTYPE) {
			put_str(out, t, &t->token.public_id, 0);
			put_str(out, t, &t->token.system_id, 0);
			buf_printf(out, "correct %d\n", !t->token.force_quirks);
		}
	}
	flush_text(out, t, &text, coerce);
	buf_release(&text);
}

static enum html_state state_of(const char *name)
{
	static const char *const names[] = { "Data state", "RCDATA state", "RAWTEXT state",
		"Script data state", "PLAINTEXT state", "CDATA section state" };

	for (unsigned i = 0; i < 6; i++)
		if (!strcmp(name, names[i]))
			return (enum html_state)i;
	fprintf(stderr, "unknown state %s\n", name);
	exit(2);
}

static void run_test(const char *path, json_t *test, int coerce)
{
	json_t *states = json_object_get(test, "initialStates");
	json_t *input = json_object_get(test, "input");
	const char *last = json_string_value(json_object_get(test, "lastStartTag"));
	int twice = json_is_true(json_object_get(test, "doubleEscaped"));
	size_t n = states ? json_array_size(states) : 1;
	struct buf data, expected;

	buf_init(&data, BUF_NO_LIMIT);
	buf_init(&expected, BUF_NO_LIMIT);
	unescape(&data, json_string_value(input), json_string_length(input), twice);
	put_expected(&expected, json_object_get(test, "output"), twice);
	for (size_t i = 0; i < n; i++) {
		const char *name = states ? json_string_value(json_array_get(states, i))
		                          : "Data state";
		char *exact = malloc(data.size + 1);    /* no byte behind the end */
		struct buf actual;
		struct html t;

		exact = realloc(exact, data.size ? data.size : 1);
		memcpy(exact, buf_text(&data), data.size);
		buf_init(&actual, BUF_NO_LIMIT);
		html_init(&t, exact, data.size);
		html_force_state(&t, state_of(name), last ? last : "");
		put_actual(&actual, &t, coerce);
		runs++;
		if (actual.size != expected.size ||
		    memcmp(buf_text(&actual), buf_text(&expected), actual.size)) {
			failures++;
			printf("%s: %s [%s]\n  input    %s\n  expected %s  actual   %s",
			       path, json_string_value(json_object_get(test, "description")),
			       name, buf_text(&data), buf_text(&expected), buf_text(&actual));
		}
		html_release(&t);
		buf_release(&actual);
		free(exact);
	}
	buf_release(&data);
	buf_release(&expected);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		json_error_t error;
		json_t *root = json_load_file(argv[i], JSON_ALLOW_NUL, &error), *test;
		size_t k;

		if (!root) {
			fprintf(stderr, "%s:%d: %s\n", argv[i], error.line, error.text);
			return 2;
		}
		json_array_foreach(json_object_get(root, "tests"), k, test)
			run_test(argv[i], test, 0);
		json_array_foreach(json_object_get(root, "xmlViolationTests"), k, test)
			run_test(argv[i], test, 1);
		json_decref(root);
	}
	printf("%d runs, %d failed\n", runs, failures);
	return failures || !runs;
}
