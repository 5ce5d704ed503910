/* SPDX-License-Identifier: Apache-2.0 */
/* naive_page.c - from tokens to counts; naive_tokens.c makes the tokens. */
#include "naive_page.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "naive_tokens.h"
#include "web/text/unicode.h"

struct state {
	struct naive_page *out;
	/* one hidden, one template, one title at a time */
	struct hide {
		char name[32];
		int depth, nest;
	} hidden, template, title;
	bool had_title, blank, line;
};

static bool one_of(const char *name, const char *list)
{
	char padded[80], all[1200];

	if (strlen(name) > 60)
		return false;
	snprintf(padded, sizeof padded, " %s ", name);
	snprintf(all, sizeof all, " %s ", list);
	return strstr(all, padded) != NULL;
}

#define BLOCKS "address article aside blockquote body br caption center colgroup dd details " \
	"dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head " \
	"header hgroup hr html legend li listing main menu nav ol optgroup option p plaintext " \
	"pre search section select summary table tbody td textarea tfoot th thead tr ul xmp"
#define VOIDS "area base basefont bgsound br col embed frame hr image img input keygen link " \
	"meta param source track wbr"
#define HIDDEN "datalist iframe noembed noframes script style template title"
#define NOT_P "br option optgroup select textarea legend caption colgroup html body head"

static const char *lists_of(const char *name)
{
	if (one_of(name, "li"))
		return "ul ol menu dir";
	if (one_of(name, "dt dd"))
		return "dl";
	if (one_of(name, "td th tr tbody thead tfoot"))
		return "table";
	if (one_of(name, "option optgroup"))
		return "select";
	if (one_of(name, "rt rp"))
		return "ruby";
	return NULL;
}

static bool ends_it(const char *open, const char *tag, bool start)
{
	if (!strcmp(open, "p"))
		return one_of(tag, BLOCKS) && !one_of(tag, NOT_P);
	if (!strcmp(open, "li"))
		return start && !strcmp(tag, "li");
	if (one_of(open, "dt dd"))
		return start && one_of(tag, "dt dd");
	if (one_of(open, "td th"))
		return start ? one_of(tag, "td th tr tbody thead tfoot")
		             : one_of(tag, "tr tbody thead tfoot");
	if (!strcmp(open, "tr"))
		return start ? one_of(tag, "tr tbody thead tfoot") : one_of(tag, "tbody thead tfoot");
	if (one_of(open, "tbody thead tfoot"))
		return start && one_of(tag, "tbody thead tfoot");
	if (!strcmp(open, "option"))
		return !strcmp(tag, "optgroup") || (start && !strcmp(tag, "option"));
	if (!strcmp(open, "optgroup"))
		return start && !strcmp(tag, "optgroup");
	return start && one_of(open, "rt rp") && one_of(tag, "rt rp");
}

/* 0: goes on; 1: ends with this tag; 2: had ended before it */
static int step(struct hide *h, const struct naive_token *t)
{
	const char *lists = lists_of(h->name);
	bool start = t->kind == 'S', empty = start && t->self_closing && t->foreign;

	if (lists || !strcmp(h->name, "p")) {
		if (lists && one_of(t->name.data, lists)) {
			h->nest += start ? 1 : -1;
			if (h->nest < 0) {
				h->depth = 0;
				return 2;
			}
		} else if (!h->nest) {
			if (!start && !strcmp(t->name.data, h->name)) {
				h->depth = 0;
				return 1;
			}
			if (ends_it(h->name, t->name.data, start)) {
				h->depth = 0;
				return 2;
			}
		}
	} else if (!strcmp(t->name.data, h->name)) {
		if (!empty)
			h->depth += start ? 1 : -1;
		return h->depth ? 0 : 1;
	}
	return 0;
}

static void hide(struct hide *h, const struct naive_token *t)
{
	if (one_of(t->name.data, VOIDS) || (t->self_closing && t->foreign))
		return;
	snprintf(h->name, sizeof h->name, "%s", t->name.data);
	h->depth = 1;
	h->nest = 0;
}

static bool style_hides(const char *style)
{
	char flat[512];
	size_t n = 0;

	for (; *style && n < sizeof flat - 3; style++)
		if (!strchr(" \t\n\r\f", *style))
			flat[n++] = (char)(*style >= 'A' && *style <= 'Z' ? *style | 32 : *style);
	flat[n] = '\0';
	for (char *part = flat; part;) {
		char *next = strchr(part, ';'), *bang;

		if (next)
			*next++ = '\0';
		bang = strchr(part, '!');
		if (bang)
			*bang = '\0';
		if (!strcmp(part, "display:none") || !strcmp(part, "visibility:hidden"))
			return true;
		part = next;
	}
	return false;
}

static bool is_hidden(const struct naive_token *t)
{
	const char *style = naive_attr(t, "style");

	return one_of(t->name.data, HIDDEN) || naive_attr(t, "hidden") ||
	       (style && style_hides(style)) ||
	       (!strcmp(t->name.data, "dialog") && !naive_attr(t, "open"));
}

static uint32_t count_emails(const char *text)
{
	static const char local[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                            "0123456789._%+-";
	static const char domain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                             "0123456789.-";
	uint32_t n = 0;

	for (const char *at = strchr(text, '@'); at; at = strchr(at + 1, '@')) {
		size_t size = strspn(at + 1, domain), last;

		if (at == text || !strchr(local, at[-1]))
			continue;
		if (size > 255)
			size = 255;
		while (size && strchr(".-", at[size]))
			size--;
		if (!size || strchr(".-", at[1]))
			continue;
		for (last = size; last && at[last] != '.'; last--)
			;
		if (!last || at[last - 1] == '.' || size - last < 2)
			continue;
		while (last < size && strchr(local, at[last + 1]) &&
		       !strchr("0123456789._%+-", at[last + 1]))
			last++;
		n += last == size;
	}
	return n;
}

static uint64_t count_words(const char *text, size_t size)
{
	uint64_t n = 0;
	bool in_word = false;
	size_t cjk = 0;

	for (size_t i = 0; i <= size;) {
		uint32_t c = ' ';
		enum unicode_kind kind;

		i += i < size ? unicode_get(text + i, size - i, &c) : 1;
		kind = unicode_kind(c);
		if (kind != UNICODE_CJK && cjk) {
			n += cjk == 1 ? 1 : cjk - 1;
			cjk = 0;
		}
		if (kind == UNICODE_WORD && !in_word)
			n++;
		in_word = kind == UNICODE_WORD;
		cjk += kind == UNICODE_CJK;
	}
	return n;
}

static void add_text(struct state *s, const struct buf *text)
{
	struct buf *out = &s->out->text;

	for (size_t i = 0; i < text->size; i++) {
		char c = text->data[i];

		if (c == '\0')
			continue;
		if (c == ' ' || (c >= '\t' && c <= '\r')) {
			s->blank = true;
			continue;
		}
		if (out->size && (s->line || s->blank))
			buf_byte(out, s->line ? '\n' : ' ');
		s->line = s->blank = false;
		buf_byte(out, (unsigned char)c);
	}
}

static void start_tag(struct state *s, const struct naive_token *t)
{
	const char *name = t->name.data, *href;

	if (!s->template.depth) {
		s->out->images += one_of(name, "img image");
		s->out->tables += one_of(name, "table");
		if (one_of(name, "a area") && (href = naive_attr(t, "href"))) {
			s->out->outlinks++;
			if (strlen(href) > 7 && !strncasecmp(href, "mailto:", 7))
				s->out->emails += count_emails(href + 7);
		}
	}
	if (!strcmp(name, "template") && !s->template.depth)
		hide(&s->template, t);
	if (!strcmp(name, "title") && !s->had_title && !t->foreign) {
		hide(&s->title, t);
		s->had_title = true;
	}
	if (!s->hidden.depth && is_hidden(t))
		hide(&s->hidden, t);
	if (one_of(name, BLOCKS) && !s->hidden.depth)
		s->line = true;
}

static void see(void *arg, const struct naive_token *t)
{
	struct state *s = arg;
	int event = s->hidden.depth ? 0 : 2;

	if (t->kind == 'T') {
		if (!s->hidden.depth)
			add_text(s, &t->text);
		else if (s->title.depth)
			buf_add(&s->out->title, buf_text(&t->text), t->text.size);
		return;
	}
	if (t->kind != 'S' && t->kind != 'E')
		return;
	s->out->tags++;
	buf_printf(&s->out->skeleton, "%s%s\n", t->kind == 'E' ? "/" : "", t->name.data);
	if (s->hidden.depth)
		event = step(&s->hidden, t);
	if (s->template.depth)
		step(&s->template, t);
	if (s->title.depth)
		step(&s->title, t);
	if (t->kind == 'S')
		start_tag(s, t);
	else if (event == 2 && one_of(t->name.data, BLOCKS))
		s->line = true;
}

void naive_read(struct naive_page *ret, const char *data, size_t size)
{
	struct state s = { .out = ret };

	memset(ret, 0, sizeof *ret);
	buf_init(&ret->text, BUF_NO_LIMIT);
	buf_init(&ret->title, BUF_NO_LIMIT);
	buf_init(&ret->skeleton, BUF_NO_LIMIT);
	naive_tokens(data, size, see, &s);
	ret->words = count_words(buf_text(&ret->text), ret->text.size);
	ret->emails += count_emails(buf_text(&ret->text));
}

void naive_release(struct naive_page *p)
{
	buf_release(&p->text);
	buf_release(&p->title);
	buf_release(&p->skeleton);
}
