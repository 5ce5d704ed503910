/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_links.c - what single start tags mean: links, base, images, tables,
 * and their line in the skeleton.
 */
#include <stdlib.h>
#include <strings.h>

#include "web/html/html_scan.h"
#include "web/page/extract_inner.h"
#include "web/rules/robots_tag.h"

#define LINK_ROOM 64                    /* more than base and link together need */

static void add_link(struct extract *x, enum link_kind kind, const char *ref, size_t size,
                     bool nofollow)
{
	size_t from = x->pool.size;

	if (x->links.n >= EXTRACT_LINKS_MAX) {
		x->page.links_cut = true;
		return;
	}
	/* url_resolve_on() is fastest if the buffer has room for the result */
	if (!buf_room(&x->pool, (size_t)x->on.size + size + LINK_ROOM) ||
	    url_resolve_on(&x->on, ref, size, &x->pool, NULL))
		return;
	vec_push(&x->links, ((struct page_link){ (uint32_t)from,
	         (uint32_t)(x->pool.size - from), kind, nofollow }));
	x->pool.size++;                 /* the NUL after the contents ends the link */
}

/* Does rel hold the word? */
static bool rel_has(const struct html_attr *rel, const char *word)
{
	const char *p, *end;
	size_t n = strlen(word);

	if (!rel)
		return false;
	p = rel->value.data;
	end = p + rel->value.size;
	while ((p = scan_space(p, end)) < end) {
		const char *q = p;

		while (q < end && !(scan_class_of(*q) & IS_SPACE))
			q++;
		if ((size_t)(q - p) == n && !strncasecmp(p, word, n))
			return true;
		p = q;
	}
	return false;
}

static void read_anchor(struct extract *x, enum link_kind kind)
{
	const struct html_attr *href = HTML_ATTR(&x->html, "href");
	const char *p;
	size_t size;

	if (!href)
		return;
	x->page.outlinks++;
	p = href->value.data;
	size = href->value.size;
	if (size > 7 && (*p | 0x20) == 'm' && !strncasecmp(p, "mailto:", 7))
		x->page.emails += extract_count_emails(p + 7, size - 7);
	/* "#part" is the page itself */
	else if (x->url && !(size && *p == '#'))
		add_link(x, kind, p, size, rel_has(HTML_ATTR(&x->html, "rel"), "nofollow"));
}

static bool attr_is(const struct html_attr *a, const char *value)
{
	return a && a->value.size == strlen(value) &&
	       !strncasecmp(a->value.data, value, a->value.size);
}

/* "5; url='next.html'" */
static void read_refresh(struct extract *x, const char *p, size_t size)
{
	const char *end = p + size, *stop;

	p = scan_space(p, end);
	while (p < end && (scan_class_of(*p) & IS_DIGIT || *p == '.'))
		p++;
	p = scan_space(p, end);
	if (p < end && (*p == ';' || *p == ','))
		p++;
	p = scan_space(p, end);
	if (end - p > 3 && !strncasecmp(p, "url", 3)) {
		const char *q = scan_space(p + 3, end);

		if (q < end && *q == '=')
			p = scan_space(q + 1, end);
	}
	stop = end;
	if (p < end && (*p == '"' || *p == '\'')) {
		stop = memchr(p + 1, *p, (size_t)(end - p - 1));
		if (!stop)
			stop = end;
		p++;
	}
	if (p < stop)
		add_link(x, LINK_REFRESH, p, (size_t)(stop - p), false);
}

static void read_meta(struct extract *x)
{
	struct html *t = &x->html;
	const struct html_attr *name, *content;

	if (attr_is(html_attr(t, "http-equiv"), "refresh")) {
		if ((content = HTML_ATTR(t, "content")))
			read_refresh(x, content->value.data, content->value.size);
	} else if ((name = HTML_ATTR(t, "name")) &&
	           robots_tag_is_ours(name->value.data, name->value.size) &&
	           (content = HTML_ATTR(t, "content"))) {
		x->page.robots |= robots_tag_words(content->value.data, content->value.size);
	}
}

static void read_base(struct extract *x)
{
	const struct html_attr *href = HTML_ATTR(&x->html, "href");

	if (!href || x->has_base)
		return;
	buf_clear(&x->base);
	x->has_base = !url_resolve_on(&x->on, href->value.data, href->value.size, &x->base,
	                              NULL);
	if (x->has_base)
		url_base(x->base.data, x->base.size, &x->on);
}

void extract_start_tag(struct extract *x)
{
	struct html *t = &x->html;
	const struct html_attr *a;

	if (!(html_tag_flags(t->token.tag) & TAG_MEANS))
		return;
	switch (t->token.tag) {
	case TAG_a:
		read_anchor(x, LINK_A);
		break;
	case TAG_area:
		read_anchor(x, LINK_AREA);
		break;
	case TAG_img: case TAG_image:
		x->page.images++;
		break;
	case TAG_table:
		x->page.tables++;
		break;
	case TAG_base:
		if (x->url)
			read_base(x);
		break;
	case TAG_link:
		if (x->url && rel_has(HTML_ATTR(t, "rel"), "canonical") &&
		    (a = HTML_ATTR(t, "href")))
			add_link(x, LINK_CANONICAL, a->value.data, a->value.size, false);
		break;
	case TAG_meta:
		if (x->url)
			read_meta(x);
		break;
	case TAG_frame: case TAG_iframe:
		if (x->url && (a = HTML_ATTR(t, "src")))
			add_link(x, LINK_FRAME, a->value.data, a->value.size, false);
		break;
	default:
		break;
	}
}

static int by_name(const void *va, const void *vb)
{
	const struct html_attr *a = va, *b = vb;
	size_t n = a->name_size < b->name_size ? a->name_size : b->name_size;
	int order = memcmp(a->name, b->name, n);

	return order ? order : (a->name_size > b->name_size) - (a->name_size < b->name_size);
}

/* Attributes whose values reach a reader: shown, or read aloud. */
static bool value_counts(const struct html_attr *a)
{
	static const char *const names[] = { "alt", "lang", "role", "title", "label" };

	if (a->name_size > 5 && !memcmp(a->name, "aria-", 5))
		return true;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strlen(names[i]) == a->name_size && !memcmp(names[i], a->name, a->name_size))
			return true;
	return false;
}

void extract_add_tag(struct extract *x)
{
	struct html_token *k = &x->html.token;
	const struct extract_options *o = x->options;
	struct buf *out = &x->tags;
	char *p = buf_room(out, k->text.size + 18), *q = p;

	if (!p)
		return;
	if (k->kind == HTML_END_TAG)
		*q++ = '/';
	if (k->tag != TAG_OTHER) {
		memcpy(q, html_tag_rows[k->tag].line, 8);
		memcpy(q + 8, html_tag_rows[k->tag].line + 8, 8);
	} else {
		memcpy(q, k->text.data, k->text.size);
		q[k->text.size] = '\n';
	}
	q += k->text.size + 1;
	out->size += (size_t)(q - p);
	if (k->kind == HTML_END_TAG || !(o->tag_attributes || o->tag_values))
		return;
	/* nobody reads this tag any more, so its attributes may be sorted in place */
	if (k->n_attrs > 1)
		qsort(k->attrs, k->n_attrs, sizeof *k->attrs, by_name);
	for (size_t i = 0; i < k->n_attrs; i++) {
		struct html_attr *a = &k->attrs[i];
		bool value = o->tag_values && value_counts(a);

		if (!value && !o->tag_attributes)
			continue;
		buf_byte(out, ' ');
		buf_add(out, a->name, a->name_size);
		if (value) {
			html_value(&x->html, a);
			buf_byte(out, '=');
			buf_add(out, a->value.data, a->value.size);
		}
		buf_byte(out, '\n');
	}
}
