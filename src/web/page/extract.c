/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract.c - the pass over a page.
 *
 * The text is collected in one buffer (a page's text is small and stays in the
 * cache), then split into words and hashed; everything else is counted as the
 * tags go by.  Four regions (extract_region.h) are followed at once: hidden
 * elements, ignored elements, templates, and the title.
 */
#include "web/html/html_scan.h"
#include "web/page/extract_inner.h"
#include "web/text/unicode.h"

static const struct extract_options no_options;

void extract_release(struct extract *x)
{
	html_release(&x->html);
	encoding_release(&x->encoding);
	buf_release(&x->text);
	buf_release(&x->title);
	buf_release(&x->tags);
	buf_release(&x->pool);
	buf_release(&x->base);
	vec_release(&x->links);
	vec_release(&x->gaps);
}

static void clear(struct extract *x, const struct extract_input *in)
{
	struct buf *bufs[] = { &x->text, &x->title, &x->tags, &x->pool, &x->base };

	for (size_t i = 0; i < sizeof bufs / sizeof bufs[0]; i++) {
		bufs[i]->max = BUF_NO_LIMIT;    /* bounded by EXTRACT_SIZE_MAX */
		buf_clear(bufs[i]);
	}
	x->pending = PENDING_NONE;
	x->hidden.open = x->ignored.open = x->template.open = x->in_title.open = false;
	x->has_title = x->has_base = false;
	x->links.n = x->gaps.n = 0;
	x->url = in->url;
	if (in->url)
		url_base(in->url, strlen(in->url), &x->on);
	x->page = (struct page){ .encoding = "" };
}

static void ignored_from_here(struct extract *x)
{
	uint32_t at = (uint32_t)x->text.size;

	vec_push(&x->gaps, ((struct digest_gap){ at, at }));
}

static void ignored_to_here(struct extract *x)
{
	x->gaps.v[x->gaps.n - 1].to = (uint32_t)x->text.size;
}

static void start_tag(struct extract *x)
{
	struct html *t = &x->html;
	enum html_tag tag = t->token.tag;
	unsigned flags = html_tag_flags(tag);
	bool ignore = x->ignored.open;

	if (!x->template.open)
		extract_start_tag(x);
	if (!x->ignored.open && x->options->ignore && ignore_matches(x->options->ignore, t)) {
		ignore = true;
		if (region_open(&x->ignored, t))
			ignored_from_here(x);
	}
	if (flags & TAG_SKIP || t->token.n_attrs || tag == TAG_dialog) {
		if (tag == TAG_template && !x->template.open)
			region_open(&x->template, t);
		if (tag == TAG_title && !x->has_title && !html_in_foreign_content(t) &&
		    t->state == HTML_RCDATA)
			x->has_title = region_open(&x->in_title, t);
		if (!x->hidden.open && region_is_hidden(t))
			region_open(&x->hidden, t);
	}
	if (flags & TAG_BLOCK && !x->hidden.open)
		x->pending = PENDING_LINE;
	if (!ignore)
		extract_add_tag(x);
}

static inline bool in_region(const struct extract *x)
{
	return x->hidden.open | x->ignored.open | x->template.open | x->in_title.open;
}

/* A tag while some region is open; true if the tag is outside `ignored`;
 * *seen: it is outside `hidden`. */
static bool step_regions(struct extract *x, bool *seen)
{
	struct html *t = &x->html;
	bool outside = true;

	if (x->hidden.open)
		*seen = region_step(&x->hidden, t) == REGION_ENDED_BEFORE;
	if (x->template.open)
		region_step(&x->template, t);
	if (x->in_title.open)
		region_step(&x->in_title, t);
	if (x->ignored.open) {
		enum region_event event = region_step(&x->ignored, t);

		ignored_to_here(x);
		outside = event == REGION_ENDED_BEFORE;
	}
	return outside;
}

static void read_html(struct extract *x)
{
	struct html *t = &x->html;
	struct html_token *k = &t->token;
	enum html_kind kind;

	for (;;) {
		bool outside = true, seen;

		/* plain text need not become a token first */
		if (t->state == HTML_DATA && !x->hidden.open && t->p < t->end && *t->p != '<')
			t->p = extract_copy_text(&x->text, &x->pending, t->p, t->end);
		kind = html_next(t);
		if (kind == HTML_END)
			break;
		switch (kind) {
		case HTML_TEXT:
			if (k->text.size == 1 && !*k->text.data)
				break;
			if (!x->hidden.open)
				extract_add_text(&x->text, &x->pending, k->text.data,
				                 k->text.size);
			else if (x->in_title.open && x->title.size < EXTRACT_TITLE_MAX)
				buf_add(&x->title, k->text.data, k->text.size);
			break;
		case HTML_START_TAG:
			if (in_region(x))
				step_regions(x, &seen);
			start_tag(x);
			break;
		case HTML_END_TAG:
			seen = !x->hidden.open;
			if (in_region(x))
				outside = step_regions(x, &seen);
			if (seen && html_tag_flags(k->tag) & TAG_BLOCK)
				x->pending = PENDING_LINE;
			if (outside)
				extract_add_tag(x);
			break;
		default:
			break;
		}
	}
	if (x->ignored.open)
		ignored_to_here(x);
}

/* Plain text keeps its lines. */
static void read_lines(struct extract *x, const char *p, size_t size)
{
	const char *end = p + size;

	while (p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));

		if (!eol)
			eol = end;
		if (eol > p)
			extract_add_text(&x->text, &x->pending, p, (size_t)(eol - p));
		x->pending = PENDING_LINE;
		p = eol + 1;
	}
}

/* Words and simhash, the parts that do not count left out of the latter. */
static void read_words(struct extract *x)
{
	struct words w;
	const char *text = buf_text(&x->text);
	size_t from = 0;

	memset(&w, 0, offsetof(struct words, batch));
	w.fold_digits = x->options->fold_digits;
	w.each = x->options->word;
	w.arg = x->options->arg;
	for (size_t i = 0; i < x->gaps.n; i++) {
		words_add(&w, text + from, x->gaps.v[i].from - from);
		w.no_simhash = true;
		from = x->gaps.v[i].from;
		words_add(&w, text + from, x->gaps.v[i].to - from);
		w.no_simhash = false;
		from = x->gaps.v[i].to;
	}
	words_add(&w, text + from, x->text.size - from);
	x->page.words = w.n;
	x->page.digest.simhash = simhash_value(&w.simhash);
}

/* The title with white space put right, cut at a character. */
static void finish_title(struct extract *x)
{
	char *p = x->title.data, *q = p, *end = p + x->title.size;

	while (p < end) {
		if (scan_class_of(*p) & IS_SPACE) {
			p = (char *)(uintptr_t)scan_space(p, end);
			if (q != x->title.data && p < end)
				*q++ = ' ';
		} else {
			*q++ = *p++;
		}
	}
	x->page.title_size = (size_t)(q - x->title.data);
	if (x->page.title_size > EXTRACT_TITLE_MAX)
		x->page.title_size = unicode_valid(x->title.data, EXTRACT_TITLE_MAX);
	x->title.data[x->page.title_size] = '\0';
}

static uint32_t settings_of(const struct extract_options *o)
{
	uint64_t h = (uint64_t)o->fold_digits | (uint64_t)o->tag_attributes << 1 |
	             (uint64_t)o->tag_values << 2;

	if (o->ignore && o->ignore->n)
		h ^= digest_64(o->ignore->rules, o->ignore->n * sizeof *o->ignore->rules) << 3;
	return (uint32_t)(h ^ h >> 32);
}

static void read_document(struct extract *x, const struct extract_input *in)
{
	size_t charset_size = 0, size;
	const char *charset = in->content_type ?
		encoding_charset(in->content_type, strlen(in->content_type), &charset_size) : NULL;
	const char *text;

	encoding_decode(&x->encoding, in->data, in->size, charset, charset_size,
	                EXTRACT_SIZE_MAX, &text, &size);
	x->page.encoding = x->encoding.name;
	if (x->page.type == PAGE_HTML) {
		html_reset(&x->html, text, size);
		read_html(x);
	} else {
		read_lines(x, text, size);
	}
	if (x->text.data)
		x->text.data[x->text.size] = '\0';
	x->page.emails += extract_count_emails(buf_text(&x->text), x->text.size);
	read_words(x);
	if (x->title.size)
		finish_title(x);
	x->page.digest.text = digest_text(buf_text(&x->text), x->text.size, x->gaps.v,
	                                  x->gaps.n, x->options->fold_digits);
	x->page.digest.tags = digest_64(buf_text(&x->tags), x->tags.size);
}

const struct page *extract_page(struct extract *x, const struct extract_input *in,
                                const struct extract_options *options)
{
	struct page *page = &x->page;

	x->options = options ? options : &no_options;
	clear(x, in);
	page->type = extract_type(in->content_type, in->data, in->size);
	if (!x->options->no_bytes || page->type == PAGE_OTHER)
		digest_bytes(in->data, in->size, page->digest.bytes);
	page->digest.settings = settings_of(x->options);
	if (page->type == PAGE_OTHER)
		page->digest.text = page->digest.tags = page->digest.simhash =
			page->digest.bytes[0];
	else
		read_document(x, in);
	page->text = buf_text(&x->text);
	page->text_size = x->text.size;
	page->title = buf_text(&x->title);
	page->links = x->links.v;
	page->n_links = x->links.n;
	page->links_pool = buf_text(&x->pool);
	return page;
}
