/* SPDX-License-Identifier: Apache-2.0 */
/*
 * naive_tokens.c - the standard's tokenizer as a table of states, literally: one
 * character in, one switch, reconsume by going round again.  DOCTYPE is a bogus
 * comment that respects no quotes, which is what its states come to for everyone
 * who does not ask for its parts, except that quotes may hold '>': they may not.
 */
#include "naive_tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum st { DATA, RCDATA, RAWTEXT, SCRIPT, PLAINTEXT, TAG_OPEN, END_OPEN, TAG_NAME,
	RAW_LT, RAW_END_OPEN, RAW_END_NAME,
	ESC_START, ESC_START_DASH, ESCAPED, ESC_DASH, ESC_DASH_DASH, ESC_LT, ESC_END_OPEN,
	ESC_END_NAME, TWICE_START, TWICE, TWICE_DASH, TWICE_DASH_DASH, TWICE_LT, TWICE_END,
	BEFORE_ATTR, ATTR_NAME, AFTER_NAME, BEFORE_VALUE, QUOTED, UNQUOTED, AFTER_QUOTED,
	SELF_CLOSING, BOGUS, DECLARATION, C_START, C_START_DASH, COMMENT, C_END_DASH, C_END,
	C_BANG, CDATA, CDATA_1, CDATA_2 };

struct machine {
	const char *data, *p, *end;
	enum st state, back;            /* back: raw state to fall back to */
	struct naive_token t;
	struct buf attr, value, temp;
	char last[32], quote;
	char open[64][16];              /* svg, math, integration points */
	int n_open;
	void (*see)(void *, const struct naive_token *);
	void *arg;
};

static bool is_alpha(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_space(int c) { return c == ' ' || c == '\n' || c == '\t' || c == '\f'; }
static int low(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

static void emit_char(struct machine *m, int c)
{
	m->t.kind = 'T';
	buf_clear(&m->t.text);
	if (c == -2)
		buf_str(&m->t.text, "\xef\xbf\xbd");
	else
		buf_byte(&m->t.text, c);
	m->see(m->arg, &m->t);
}

static void emit_str(struct machine *m, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		emit_char(m, (unsigned char)s[i]);
}

static bool foreign(const struct machine *m)
{
	return m->n_open && (!strcmp(m->open[m->n_open - 1], "svg") ||
	                     !strcmp(m->open[m->n_open - 1], "math"));
}

static bool in_list(const char *name, const char *list)
{
	size_t n = strlen(name);

	for (const char *p = list; (p = strstr(p, name)); p++)
		if ((p == list || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
			return n > 0;
	return false;
}

const char *naive_attr(const struct naive_token *t, const char *name)
{
	for (size_t i = 0; i < t->n_attrs; i++)
		if (!strcmp(t->attrs[i].name, name))
			return t->attrs[i].value;
	return NULL;
}

static void push_open(struct machine *m)
{
	if (m->n_open < 64)
		snprintf(m->open[m->n_open++], 16, "%s", m->t.name.data);
}

/* What a tree builder would do to the tokenizer. */
static void content_model(struct machine *m)
{
	const char *name = m->t.name.data;
	bool font = !strcmp(name, "font") && (naive_attr(&m->t, "color") ||
	            naive_attr(&m->t, "face") || naive_attr(&m->t, "size"));

	if (m->t.kind == 'E') {
		if (in_list(name, "p br"))
			while (foreign(m))
				m->n_open--;
		else
			for (int i = m->n_open - 1; i >= 0; i--)
				if (!strcmp(m->open[i], name)) {
					m->n_open = i;
					break;
				}
		return;
	}
	if (foreign(m)) {
		bool svg = !strcmp(m->open[m->n_open - 1], "svg");

		if (!font && !in_list(name, "b big blockquote body br center code dd div dl dt em "
		    "embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol p pre ruby s "
		    "small span strong strike sub sup table tt u ul var")) {
			if (!m->t.self_closing && (in_list(name, "svg math") ||
			    in_list(name, svg ? "foreignobject desc title" : "mi mo mn ms mtext")))
				push_open(m);
			return;
		}
		while (foreign(m))
			m->n_open--;
	}
	if (in_list(name, "svg math")) {
		if (!m->t.self_closing)
			push_open(m);
		return;
	}
	if (in_list(name, "title textarea"))
		m->state = RCDATA;
	else if (in_list(name, "style xmp iframe noembed noframes"))
		m->state = RAWTEXT;
	else if (!strcmp(name, "script"))
		m->state = SCRIPT;
	else if (!strcmp(name, "plaintext"))
		m->state = PLAINTEXT;
	snprintf(m->last, sizeof m->last, "%s", name);
}

static void clear_attrs(struct machine *m)
{
	for (size_t i = 0; i < m->t.n_attrs; i++) {
		free(m->t.attrs[i].name);
		free(m->t.attrs[i].value);
	}
	free(m->t.attrs);
	m->t.attrs = NULL;
	m->t.n_attrs = 0;
}

static void new_tag(struct machine *m, char kind)
{
	m->t.kind = kind;
	m->t.self_closing = false;
	buf_clear(&m->t.name);
	clear_attrs(m);
}

static void end_attr(struct machine *m)
{
	struct naive_token *t = &m->t;

	if (!m->attr.size)
		return;
	if (!naive_attr(t, buf_text(&m->attr))) {
		t->attrs = realloc(t->attrs, (t->n_attrs + 1) * sizeof *t->attrs);
		t->attrs[t->n_attrs].name = strdup(buf_text(&m->attr));
		t->attrs[t->n_attrs++].value = strdup(buf_text(&m->value));
	}
	buf_clear(&m->attr);
	buf_clear(&m->value);
}

static void emit_tag(struct machine *m)
{
	bool root;

	end_attr(m);
	if (m->t.kind == 'E')
		clear_attrs(m);
	m->state = DATA;
	content_model(m);
	root = in_list(m->t.name.data, "svg math");
	m->t.foreign = root || foreign(m);
	m->see(m->arg, &m->t);
}

#define GO(next) do { m->state = next; return true; } while (0)
#define AGAIN(next) do { m->state = next; return false; } while (0)

static bool text_state(struct machine *m, int c)
{
	bool refs = m->state == DATA || m->state == RCDATA;

	if (c == -1)
		return true;
	if (c == '&' && refs) {
		size_t n;

		buf_clear(&m->t.text);
		m->t.kind = 'T';
		n = naive_reference(m->p, m->end, false, &m->t.text);
		if (n) {
			m->p += n;
			m->see(m->arg, &m->t);
			return true;
		}
	}
	if (c == '<' && m->state != PLAINTEXT) {
		m->back = m->state;
		GO(m->state == DATA ? TAG_OPEN : RAW_LT);
	}
	emit_char(m, !c && m->state != DATA ? -2 : c);
	return true;
}

/* Tag open to tag name, and the end tags of raw text. */
static bool tag_state(struct machine *m, int c)
{
	switch (m->state) {
	case TAG_OPEN:
		if (c == '!')
			GO(DECLARATION);
		if (c == '/')
			GO(END_OPEN);
		if (is_alpha(c)) {
			new_tag(m, 'S');
			AGAIN(TAG_NAME);
		}
		if (c == '?')
			AGAIN(BOGUS);
		emit_char(m, '<');
		AGAIN(DATA);
	case END_OPEN:
		if (is_alpha(c)) {
			new_tag(m, 'E');
			AGAIN(TAG_NAME);
		}
		if (c == '>')
			GO(DATA);
		if (c == -1) {
			emit_str(m, "</", 2);
			AGAIN(DATA);
		}
		AGAIN(BOGUS);
	case TAG_NAME:
		if (is_space(c))
			GO(BEFORE_ATTR);
		if (c == '/')
			GO(SELF_CLOSING);
		if (c == '>') {
			emit_tag(m);
			return true;
		}
		if (c)
			buf_byte(&m->t.name, low(c));
		else
			buf_str(&m->t.name, "\xef\xbf\xbd");
		return true;
	case RAW_LT:
		if (c == '/') {
			buf_clear(&m->temp);
			GO(RAW_END_OPEN);
		}
		emit_char(m, '<');
		if (m->back == SCRIPT && c == '!') {
			emit_char(m, '!');
			GO(ESC_START);
		}
		AGAIN(m->back);
	case RAW_END_OPEN: case ESC_END_OPEN:
		if (is_alpha(c))
			AGAIN(m->state == RAW_END_OPEN ? RAW_END_NAME : ESC_END_NAME);
		emit_str(m, "</", 2);
		AGAIN(m->state == RAW_END_OPEN ? m->back : ESCAPED);
	default:        /* RAW_END_NAME, ESC_END_NAME */
		if (is_alpha(c)) {
			buf_byte(&m->temp, c);
			return true;
		}
		if (c != -1 && (is_space(c) || c == '/' || c == '>') && m->temp.size &&
		    !strcasecmp(buf_text(&m->temp), m->last)) {
			new_tag(m, 'E');
			buf_str(&m->t.name, m->last);
			if (c == '>') {
				emit_tag(m);
				return true;
			}
			GO(c == '/' ? SELF_CLOSING : BEFORE_ATTR);
		}
		emit_str(m, "</", 2);
		emit_str(m, buf_text(&m->temp), m->temp.size);
		AGAIN(m->state == RAW_END_NAME ? m->back : ESCAPED);
	}
}

/* Script data escaped, once and twice. */
static bool escaped_state(struct machine *m, int c)
{
	bool twice = m->state >= TWICE;
	enum st plain = twice ? TWICE : ESCAPED;

	if (m->state == ESC_START || m->state == ESC_START_DASH) {
		if (c != '-')
			AGAIN(SCRIPT);
		emit_char(m, '-');
		GO(m->state == ESC_START ? ESC_START_DASH : ESC_DASH_DASH);
	}
	if (m->state == ESC_LT || m->state == TWICE_LT) {
		buf_clear(&m->temp);
		if (m->state == ESC_LT) {
			if (c == '/')
				GO(ESC_END_OPEN);
			emit_char(m, '<');
			if (is_alpha(c))
				AGAIN(TWICE_START);
			AGAIN(ESCAPED);
		}
		if (c != '/')
			AGAIN(TWICE);
		emit_char(m, '/');
		GO(TWICE_END);
	}
	if (m->state == TWICE_START || m->state == TWICE_END) {
		bool script = !strcasecmp(buf_text(&m->temp), "script");
		bool start = m->state == TWICE_START;

		if (c != -1 && (is_space(c) || c == '/' || c == '>')) {
			emit_char(m, c);
			GO(script == start ? TWICE : ESCAPED);
		}
		if (!is_alpha(c))
			AGAIN(start ? ESCAPED : TWICE);
		buf_byte(&m->temp, c);
		emit_char(m, c);
		return true;
	}
	if (c == '<') {
		if (twice)
			emit_char(m, '<');
		GO(twice ? TWICE_LT : ESC_LT);
	}
	emit_char(m, c ? c : -2);
	if (c == '-')
		GO(m->state == plain ? (twice ? TWICE_DASH : ESC_DASH)
		                     : (twice ? TWICE_DASH_DASH : ESC_DASH_DASH));
	if (c == '>' && (m->state == ESC_DASH_DASH || m->state == TWICE_DASH_DASH))
		GO(SCRIPT);
	GO(plain);
}

static bool attr_state(struct machine *m, int c)
{
	size_t n;

	switch (m->state) {
	case BEFORE_ATTR:
		if (is_space(c))
			return true;
		end_attr(m);
		if (c == '/' || c == '>')
			AGAIN(AFTER_NAME);
		if (c == '=') {
			buf_byte(&m->attr, '=');
			GO(ATTR_NAME);
		}
		AGAIN(ATTR_NAME);
	case ATTR_NAME:
		if (is_space(c) || c == '/' || c == '>')
			AGAIN(AFTER_NAME);
		if (c == '=')
			GO(BEFORE_VALUE);
		if (c)
			buf_byte(&m->attr, low(c));
		else
			buf_str(&m->attr, "\xef\xbf\xbd");
		return true;
	case AFTER_NAME:
		if (is_space(c))
			return true;
		if (c == '/')
			GO(SELF_CLOSING);
		if (c == '=' && m->attr.size)
			GO(BEFORE_VALUE);
		if (c == '>') {
			emit_tag(m);
			return true;
		}
		end_attr(m);
		AGAIN(ATTR_NAME);
	case BEFORE_VALUE:
		if (is_space(c))
			return true;
		if (c == '"' || c == '\'') {
			m->quote = (char)c;
			GO(QUOTED);
		}
		if (c == '>') {
			emit_tag(m);
			return true;
		}
		AGAIN(UNQUOTED);
	case QUOTED: case UNQUOTED:
		if (m->state == QUOTED ? c == m->quote : is_space(c))
			GO(m->state == QUOTED ? AFTER_QUOTED : BEFORE_ATTR);
		if (m->state == UNQUOTED && c == '>') {
			emit_tag(m);
			return true;
		}
		if (c == '&' && (n = naive_reference(m->p, m->end, true, &m->value)))
			m->p += n;
		else if (c)
			buf_byte(&m->value, c);
		else
			buf_str(&m->value, "\xef\xbf\xbd");
		return true;
	case AFTER_QUOTED:
		if (is_space(c))
			GO(BEFORE_ATTR);
		if (c == '/')
			GO(SELF_CLOSING);
		if (c == '>') {
			emit_tag(m);
			return true;
		}
		AGAIN(BEFORE_ATTR);
	default:        /* SELF_CLOSING */
		end_attr(m);
		if (c != '>')
			AGAIN(BEFORE_ATTR);
		m->t.self_closing = true;
		emit_tag(m);
		return true;
	}
}

static bool comment_state(struct machine *m, int c)
{
	switch (m->state) {
	case DECLARATION:
		if (m->end - m->p >= 1 && c == '-' && *m->p == '-') {
			m->p++;
			GO(C_START);
		}
		if (m->end - m->p >= 6 && c == '[' && !memcmp(m->p, "CDATA[", 6) && foreign(m)) {
			m->p += 6;
			GO(CDATA);
		}
		AGAIN(BOGUS);
	case BOGUS:
		if (c == '>')
			GO(DATA);
		return true;
	case C_START:
		if (c == '-')
			GO(C_START_DASH);
		if (c == '>')
			GO(DATA);
		AGAIN(COMMENT);
	case C_START_DASH:
		if (c == '-')
			GO(C_END);
		if (c == '>')
			GO(DATA);
		AGAIN(COMMENT);
	case COMMENT:
		GO(c == '-' ? C_END_DASH : COMMENT);
	case C_END_DASH:
		if (c == '-')
			GO(C_END);
		AGAIN(COMMENT);
	case C_END:
		if (c == '>')
			GO(DATA);
		if (c == '!')
			GO(C_BANG);
		if (c == '-')
			return true;
		AGAIN(COMMENT);
	case C_BANG:
		if (c == '-')
			GO(C_END_DASH);
		if (c == '>')
			GO(DATA);
		AGAIN(COMMENT);
	case CDATA:
		if (c == ']')
			GO(CDATA_1);
		emit_char(m, c);
		return true;
	case CDATA_1:
		if (c == ']')
			GO(CDATA_2);
		emit_char(m, ']');
		AGAIN(CDATA);
	default:        /* CDATA_2 */
		if (c == '>')
			GO(DATA);
		emit_char(m, ']');
		if (c == ']')
			return true;
		emit_char(m, ']');
		AGAIN(CDATA);
	}
}

static bool one(struct machine *m, int c)
{
	if (m->state <= PLAINTEXT)
		return text_state(m, c);
	if (m->state <= RAW_END_NAME || m->state == ESC_END_OPEN || m->state == ESC_END_NAME)
		return c == -1 && m->state == TAG_NAME ? true : tag_state(m, c);
	if (m->state <= TWICE_END)
		return c == -1 && m->state != ESC_LT && m->state != ESC_START &&
		       m->state != ESC_START_DASH ? true : escaped_state(m, c);
	if (m->state <= SELF_CLOSING)
		return c == -1 ? true : attr_state(m, c);
	if (c == -1 && m->state < CDATA_1)
		return true;
	return comment_state(m, c);
}

void naive_tokens(const char *data, size_t size,
                  void (*see)(void *arg, const struct naive_token *t), void *arg)
{
	struct machine m = { .data = data, .p = data, .end = data + size, .see = see, .arg = arg };

	m.t.name.max = m.t.text.max = m.attr.max = m.value.max = m.temp.max = BUF_NO_LIMIT;
	for (;;) {
		int c = m.p < m.end ? (unsigned char)*m.p++ : -1;

		if (c == '\r') {
			if (m.p < m.end && *m.p == '\n')
				m.p++;
			c = '\n';
		}
		while (!one(&m, c))
			;
		if (c == -1)
			break;
	}
	clear_attrs(&m);
	buf_release(&m.t.name);
	buf_release(&m.t.text);
	buf_release(&m.attr);
	buf_release(&m.value);
	buf_release(&m.temp);
}
