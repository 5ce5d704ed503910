/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.c - the tokenizer's loop: text, and which kind of markup begins at '<'.
 *
 * All raw-text states of the standard (RCDATA, RAWTEXT, script data with its
 * escapes) emit their characters unchanged and differ only in where they end, so
 * the end is found once when the state is entered (html_raw.c) and the text up
 * to it is then read like any other.
 */
#include <strings.h>

#include "web/html/html_inner.h"
#include "web/html/html_scan.h"

static const char replacement[] = "\xef\xbf\xbd";

void html_init(struct html *t, const char *data, size_t size)
{
	memset(t, 0, sizeof *t);
	html_reset(t, data, size);
}

void html_reset(struct html *t, const char *data, size_t size)
{
	static const char nothing[1] = "";

	if (!data)
		data = nothing, size = 0;
	t->p = t->start = data;
	t->end = data + size;
	t->state = HTML_DATA;
	t->raw_end = NULL;
	t->last_start = "";
	t->last_start_size = 0;
	t->n_foreign = 0;
	t->feedback = true;
	t->token.kind = HTML_END;
}

void html_release(struct html *t)
{
	vec_release(&t->attrs);
	free(t->seen);
	t->seen = NULL;
	t->seen_cap = 0;
	arena_release(&t->scratch);
}

void html_force_state(struct html *t, enum html_state state, const char *last_start)
{
	t->feedback = false;
	t->state = state;
	t->last_start = last_start;
	t->last_start_size = strlen(last_start);
	t->raw_end = NULL;
}

static enum html_kind emit_text(struct html *t, const char *data, size_t size,
                                const char *next)
{
	t->token.kind = HTML_TEXT;
	t->token.text = (struct html_str){ data, size, HTML_CLEAN };
	t->p = next;
	return HTML_TEXT;
}

/*
 * Text at p, which is not yet at `end`.  `refs`: '&' begins a reference;
 * `nul_stays`: U+0000 passes (data, CDATA), else it becomes U+FFFD.
 */
static enum html_kind read_text(struct html *t, const char *p, const char *end,
                                bool refs, bool nul_stays)
{
	const char *from = p;

	if (*p == '\r') {
		if (end - p < 2 || p[1] != '\n')
			return emit_text(t, "\n", 1, p + 1);
		from = ++p;             /* CR LF is LF */
	} else if (*p == '\0') {
		return nul_stays ? emit_text(t, p, 1, p + 1)
		                 : emit_text(t, replacement, 3, p + 1);
	} else if (*p == '&' && refs) {
		size_t out_size;
		size_t used = html_reference(p, (size_t)(end - p), false,
		                             t->ref_text, &out_size);
		if (used)
			return emit_text(t, t->ref_text, out_size, p + used);
	}
	p = scan_4(p + 1, end, '<', refs ? '&' : '<', '\r', '\0');
	return emit_text(t, from, (size_t)(p - from), p);
}

/* '<' at p in the data state.  true: a token; false: none came of it, or, if
 * t->p did not move, the '<' is text. */
static bool read_markup(struct html *t, const char *p)
{
	const char *end = t->end;
	char c;

	if (end - p < 2)
		return false;
	c = p[1];
	if (scan_class_of(c) & IS_ALPHA)
		return html_read_tag(t, HTML_START_TAG, p + 1);
	if (c == '/') {
		if (end - p < 3)
			return false;
		if (scan_class_of(p[2]) & IS_ALPHA)
			return html_read_tag(t, HTML_END_TAG, p + 2);
		if (p[2] == '>') {
			t->p = p + 3;
			return false;
		}
		return html_read_bogus_comment(t, p + 2);
	}
	if (c == '?')
		return html_read_bogus_comment(t, p + 1);
	if (c != '!')
		return false;
	p += 2;
	if (end - p >= 2 && p[0] == '-' && p[1] == '-')
		return html_read_comment(t, p + 2);
	if (end - p >= 7 && !strncasecmp(p, "DOCTYPE", 7))
		return html_read_doctype(t, p + 7);
	if (end - p >= 7 && !memcmp(p, "[CDATA[", 7) && html_in_foreign_content(t)) {
		t->state = HTML_CDATA;
		t->raw_end = NULL;
		t->p = p + 7;
		return false;
	}
	return html_read_bogus_comment(t, p);
}

static enum html_kind next_data(struct html *t)
{
	while (t->p < t->end && t->state == HTML_DATA) {
		const char *p = t->p;

		if (*p != '<')
			return read_text(t, p, t->end, true, true);
		if (read_markup(t, p)) {
			if (t->feedback && (t->token.kind == HTML_START_TAG ||
			                    t->token.kind == HTML_END_TAG))
				html_tag_feedback(t);
			return t->token.kind;
		}
		if (t->p == p) {        /* '<' (or "</" at the end) that is text */
			const char *q = scan_4(p + 1, t->end, '<', '&', '\r', '\0');
			return emit_text(t, p, (size_t)(q - p), q);
		}
	}
	return HTML_END;
}

/* Text up to raw_end, then the data state, which reads the end tag there. */
static enum html_kind next_raw(struct html *t)
{
	if (!t->raw_end) {
		switch (t->state) {
		case HTML_CDATA:
			t->raw_end = memmem(t->p, (size_t)(t->end - t->p), "]]>", 3);
			break;
		case HTML_SCRIPT:
			t->raw_end = html_find_script_end(t, t->p);
			break;
		case HTML_RCDATA:
		case HTML_RAWTEXT:
			t->raw_end = html_find_end_tag(t, t->p);
			break;
		default:
			break;
		}
		if (!t->raw_end)
			t->raw_end = t->end;
	}
	if (t->p < t->raw_end)
		return read_text(t, t->p, t->raw_end, t->state == HTML_RCDATA,
		                 t->state == HTML_CDATA);
	if (t->state == HTML_CDATA && t->p < t->end)
		t->p += 3;
	t->state = HTML_DATA;
	t->raw_end = NULL;
	return HTML_END;
}

enum html_kind html_next(struct html *t)
{
	while (t->p < t->end) {
		enum html_kind kind = t->state == HTML_DATA ? next_data(t) : next_raw(t);

		if (kind != HTML_END)
			return kind;
	}
	return t->token.kind = HTML_END;
}
