/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror_page.c - see mirror_page.h.
 *
 * The tokenizer gives the range of each attribute's value in the input.  What lies between
 * the values that are replaced is copied.
 */
#include "engine/mirror/mirror_page.h"

#include <ctype.h>
#include <strings.h>

#include "engine/mirror/mirror_name.h"
#include "web/html/encoding.h"
#include "web/html/html.h"
#include "web/page/extract.h"
#include "web/url/url.h"

#define LINK_MAX (1 << 16)              /* bytes of one link or list of links */

struct rewriting {
	struct mirror_links *links;
	struct url_base base;
	const char *done;               /* input copied so far */
	struct buf *out;
};

void mirror_links_init(struct mirror_links *l)
{
	buf_init(&l->url, URL_SIZE_MAX + 1);
	buf_init(&l->link, 4 * LINK_MAX);
}

void mirror_links_release(struct mirror_links *l)
{
	buf_release(&l->url);
	buf_release(&l->link);
}

/* Rewrite one link into links->link; false: it stays as it is. */
static bool rewrite(struct rewriting *w, const char *ref, size_t size)
{
	struct mirror_links *l = w->links;
	const char *hash = memchr(ref, '#', size), *file;

	while (size && isspace((unsigned char)*ref))
		ref++, size--;
	if (!size || *ref == '#')
		return false;
	buf_clear(&l->url);
	if (url_resolve_on(&w->base, ref, size, &l->url, NULL))
		return false;                   /* mailto:, javascript:, data: and what is no URL */
	file = l->find(l->arg, buf_text(&l->url), l->url.size);
	if (file)
		mirror_relative(l->file, file, &l->link);
	else
		buf_add(&l->link, buf_text(&l->url), l->url.size);
	if (hash && hash >= ref)
		buf_add(&l->link, hash, size - (size_t)(hash - ref));
	return true;
}

/* srcset: links with their widths, parted by commas. */
static bool rewrite_set(struct rewriting *w, const char *s, size_t size)
{
	const char *p = s, *end = s + size;
	bool any = false;

	while (p < end) {
		const char *from;

		while (p < end && (isspace((unsigned char)*p) || *p == ','))
			p++;
		for (from = p; p < end && !isspace((unsigned char)*p); )
			p++;
		while (p > from && p[-1] == ',')
			p--;
		if (p == from)
			break;
		if (any)
			buf_str(&w->links->link, ", ");
		if (!rewrite(w, from, (size_t)(p - from)))
			buf_add(&w->links->link, from, (size_t)(p - from));
		any = true;
		for (from = p; p < end && *p != ','; )
			p++;
		buf_add(&w->links->link, from, (size_t)(p - from));
	}
	return any;
}

/* <meta http-equiv=refresh content="5; url=..."> */
static bool rewrite_refresh(struct rewriting *w, const char *s, size_t size)
{
	for (size_t i = 0; i + 4 <= size; i++) {
		size_t at = i + 4, end = size;

		if (strncasecmp(s + i, "url=", 4))
			continue;
		if (at < end && (s[at] == '"' || s[at] == '\''))
			at++;
		while (end > at && (s[end - 1] == '"' || s[end - 1] == '\''))
			end--;
		buf_add(&w->links->link, s, i + 4);
		return rewrite(w, s + at, end - at);
	}
	return false;
}

static void add_escaped(struct buf *out, const struct buf *text)
{
	for (size_t i = 0; i < text->size; i++) {
		char c = text->data[i];

		if (c == '&')
			buf_str(out, "&amp;");
		else if (c == '"')
			buf_str(out, "&quot;");
		else if (c == '\'')
			buf_str(out, "&#39;");
		else if (c == '<')
			buf_str(out, "&lt;");
		else
			buf_byte(out, (unsigned char)c);
	}
}

/* Put links->link in the place of a value. */
static void replace(struct rewriting *w, struct text value)
{
	bool quoted = value.s[-1] == '"' || value.s[-1] == '\'';

	buf_add(w->out, w->done, (size_t)(value.s - w->done));
	if (!quoted)
		buf_byte(w->out, '"');
	add_escaped(w->out, &w->links->link);
	if (!quoted)
		buf_byte(w->out, '"');
	w->done = value.s + value.size;
}

static bool is_refresh(struct html *t)
{
	struct html_attr *equiv = html_attr(t, "http-equiv");

	return equiv && equiv->value.size == 7 && !strncasecmp(equiv->value.data, "refresh", 7);
}

static bool name_is(const struct html_attr *a, const char *name)
{
	return a->name_size == strlen(name) && !memcmp(a->name, name, a->name_size);
}

/* What an attribute of a tag holds, and how it is rewritten; NULL: no link. */
static bool (*rewriter(struct html *t, const struct html_attr *a))(struct rewriting *,
                                                                   const char *, size_t)
{
	static const char *const links[] = { "href", "src", "poster", "background", "action",
	                                     "data", "cite", "longdesc", "formaction" };

	if (name_is(a, "srcset") || name_is(a, "imagesrcset"))
		return rewrite_set;
	if (t->token.tag == TAG_meta)
		return name_is(a, "content") && is_refresh(t) ? rewrite_refresh : NULL;
	if (name_is(a, "data") && t->token.tag != TAG_object)
		return NULL;
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (name_is(a, links[i]))
			return rewrite;
	return NULL;
}

/* Is it a part of the input that is still to be copied? */
static bool is_ahead(const struct rewriting *w, const struct html *t, struct text value)
{
	return value.s > w->done && value.s + value.size <= t->end;
}

static void rewrite_tag(struct rewriting *w, struct html *t)
{
	for (size_t i = 0; i < t->token.n_attrs; i++) {
		struct html_attr *a = &t->token.attrs[i];
		struct text value = { a->value.data, a->value.size };   /* in the input */
		bool (*by)(struct rewriting *, const char *, size_t) = rewriter(t, a);

		if (!by || !value.size || value.size > LINK_MAX || !is_ahead(w, t, value))
			continue;
		buf_clear(&w->links->link);
		html_value(t, a);
		if (by(w, a->value.data, a->value.size))
			replace(w, value);
	}
}

/* <base href> says what links stand on; the first counts.  Its address is taken away. */
static void read_base(struct rewriting *w, struct html *t, struct buf *base)
{
	for (size_t i = 0; i < t->token.n_attrs; i++) {
		struct html_attr *a = &t->token.attrs[i];
		struct text value = { a->value.data, a->value.size };   /* in the input */

		if (!name_is(a, "href") || !value.size || !is_ahead(w, t, value))
			continue;
		html_value(t, a);
		if (!base->size && !url_resolve_on(&w->base, a->value.data, a->value.size, base, NULL))
			url_base(buf_text(base), base->size, &w->base);
		buf_clear(&w->links->link);
		replace(w, value);
	}
}

void mirror_html(struct mirror_links *l, const char *data, size_t size, const char *type,
                 struct buf *out)
{
	struct rewriting w = { .links = l, .out = out };
	const char *charset = NULL, *text;
	size_t charset_size = 0, text_size;
	struct encoding encoding = { 0 };
	struct html t;
	struct buf base;

	buf_init(&base, URL_SIZE_MAX + 1);
	if (type)
		charset = encoding_charset(type, strlen(type), &charset_size);
	encoding_decode(&encoding, data, size, charset, charset_size, EXTRACT_SIZE_MAX, &text,
	                &text_size);
	url_base(l->base.s, l->base.size, &w.base);
	w.done = text;
	buf_str(out, "\xef\xbb\xbf");
	html_init(&t, text, text_size);
	while (html_next(&t) != HTML_END) {
		if (t.token.kind != HTML_START_TAG)
			continue;
		if (t.token.tag == TAG_base)
			read_base(&w, &t, &base);
		else
			rewrite_tag(&w, &t);
	}
	buf_add(out, w.done, (size_t)(text + text_size - w.done));
	html_release(&t);
	encoding_release(&encoding);
	buf_release(&base);
}

/* url(...) and @import "..." of a style sheet.  Comments are not looked for: a link in one
 * may be rewritten, which changes nothing that is seen. */
void mirror_css(struct mirror_links *l, const char *data, size_t size, struct buf *out)
{
	struct rewriting w = { .links = l, .out = out, .done = data };
	const char *end = data + size;

	url_base(l->base.s, l->base.size, &w.base);
	for (const char *p = data; p < end; p++) {
		const char *from, *to;
		char quote = 0;

		if (end - p > 4 && !strncasecmp(p, "url(", 4))
			from = p + 4;
		else if (end - p > 8 && !strncasecmp(p, "@import", 7))
			from = p + 7;
		else
			continue;
		while (from < end && isspace((unsigned char)*from))
			from++;
		if (from < end && (*from == '"' || *from == '\''))
			quote = *from++;
		else if (*p == '@')
			continue;               /* @import url(...) */
		for (to = from; to < end && to - from < LINK_MAX && *to != '\n' &&
		     (quote ? *to != quote : *to != ')' && !isspace((unsigned char)*to)); to++)
			;
		buf_clear(&l->link);
		if (to == end || !rewrite(&w, from, (size_t)(to - from)) ||
		    strpbrk(buf_text(&l->link), "\"'() \\\n"))
			continue;
		buf_add(out, w.done, (size_t)(from - w.done));
		buf_add(out, buf_text(&l->link), l->link.size);
		w.done = to;
		p = to;
	}
	buf_add(out, w.done, (size_t)(end - w.done));
}
