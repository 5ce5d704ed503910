/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_diff.c - differences for people; see change_diff.h.
 *
 * Each page is read once more with its own collector; this is for showing one
 * page to one person, so clarity comes before speed.
 */
#include "web/page/change_diff.h"

#include <string.h>

#include "base/map.h"
#include "web/page/change_lcs.h"
#include "web/text/unicode.h"

struct fact {
	const char *label, *text;
	uint64_t hash;
};

struct facts {                          /* of one page */
	VEC(struct fact) list[DIFF_KINDS];
	bool cut;
};

/* An element whose text is a fact of its own once it is complete. */
struct open_text {
	struct region region;
	const char *label;
	struct buf text;
	unsigned pending;
};

struct reader {
	struct facts *facts;
	struct arena *arena;
	struct html *html;
	struct open_text heading, label, cell, caption;
};

static const char *keep(struct arena *arena, const char *text, size_t size)
{
	if (size > DIFF_TEXT_MAX)
		size = unicode_valid(text, DIFF_TEXT_MAX);
	return arena_strndup(arena, text, size);
}

static void add_fact(struct facts *f, struct arena *arena, enum diff_kind kind,
                     const char *label, const char *text, size_t size)
{
	struct fact fact = { label, NULL, hash_bytes(text, size, 0) };

	fact.hash = hash_bytes(label, strlen(label), fact.hash);
	if (f->list[kind].n >= DIFF_ITEMS_MAX) {
		f->cut = true;
		return;
	}
	fact.text = keep(arena, text, size);
	vec_push(&f->list[kind], fact);
}

static void add_lines(struct facts *f, struct arena *arena, const struct page *p)
{
	const char *s = p->text, *end = s + p->text_size;

	while (s < end) {
		const char *eol = memchr(s, '\n', (size_t)(end - s));

		if (!eol)
			eol = end;
		add_fact(f, arena, DIFF_TEXT, "", s, (size_t)(eol - s));
		s = eol + 1;
	}
}

static void add_value(struct buf *b, struct html *t, const char *name, const char *before)
{
	const struct html_attr *a = html_attr(t, name);

	if (a && a->value.size) {
		buf_str(b, before);
		buf_add(b, a->value.data, a->value.size);
	}
}

/* "tag#id.class.class" */
static void add_element(struct reader *r)
{
	struct html *t = r->html;
	struct buf b;

	buf_init(&b, BUF_NO_LIMIT);
	buf_add(&b, t->token.text.data, t->token.text.size);
	add_value(&b, t, "id", "#");
	add_value(&b, t, "class", ".");
	for (size_t i = t->token.text.size; i < b.size; i++)
		if (b.data[i] == ' ' || b.data[i] == '\n' || b.data[i] == '\t')
			b.data[i] = '.';
	add_fact(r->facts, r->arena, DIFF_ELEMENT, "", buf_text(&b), b.size);
	buf_release(&b);
}

/* Attributes whose values reach a reader: shown, or read aloud. */
static const struct heard {
	const char *attr, *label;
} heard[] = {
	{ "alt", "alternative text" }, { "aria-label", "label" }, { "lang", "language" },
	{ "aria-labelledby", "label reference" }, { "aria-describedby", "description reference" },
	{ "role", "role" }, { "title", "title" }, { "aria-hidden", "hidden from readers" },
	{ "aria-live", "live region" }, { "aria-expanded", "state" }, { "scope", "header scope" },
	{ "headers", "cell headers" }, { "for", "label target" }, { "tabindex", "tab order" },
	{ "placeholder", "placeholder" }, { "label", "label" }, { "summary", "table summary" },
};

static void add_heard(struct reader *r)
{
	struct html *t = r->html;
	struct buf b;

	buf_init(&b, BUF_NO_LIMIT);
	for (size_t i = 0; i < sizeof heard / sizeof heard[0]; i++) {
		const struct html_attr *a = html_attr(t, heard[i].attr);

		if (!a)
			continue;
		buf_clear(&b);
		buf_add(&b, t->token.text.data, t->token.text.size);
		add_value(&b, t, "id", "#");
		add_value(&b, t, "src", " ");
		buf_str(&b, ": ");
		buf_add(&b, a->value.data, a->value.size);
		add_fact(r->facts, r->arena, DIFF_ACCESS, heard[i].label, buf_text(&b), b.size);
	}
	if (t->token.tag == TAG_img && !html_attr(t, "alt")) {
		buf_clear(&b);
		buf_str(&b, "img");
		add_value(&b, t, "src", " ");
		add_fact(r->facts, r->arena, DIFF_ACCESS, "missing alternative text",
		         buf_text(&b), b.size);
	}
	buf_release(&b);
}

static void open_text(struct reader *r, struct open_text *o, const char *label)
{
	struct html *t = r->html;

	if (!region_open(&o->region, t))
		return;
	o->label = label;
	o->text.max = BUF_NO_LIMIT;
	buf_clear(&o->text);
	buf_add(&o->text, t->token.text.data, t->token.text.size);
	add_value(&o->text, t, "for", " for ");
	buf_str(&o->text, ": ");
}

static void close_text(struct reader *r, struct open_text *o)
{
	while (o->text.size && o->text.data[o->text.size - 1] == ' ')
		o->text.size--;
	add_fact(r->facts, r->arena, DIFF_ACCESS, o->label, buf_text(&o->text), o->text.size);
	o->region.open = false;
}

static void step_text(struct reader *r, struct open_text *o)
{
	if (o->region.open && region_step(&o->region, r->html) != REGION_GOES_ON)
		close_text(r, o);
}

static void add_text(struct open_text *o, const struct html_str *s)
{
	if (!o->region.open || o->text.size > DIFF_TEXT_MAX)
		return;
	for (size_t i = 0; i < s->size; i++) {
		bool blank = s->data[i] == ' ' || (s->data[i] >= '\t' && s->data[i] <= '\r');

		if (!blank)
			buf_byte(&o->text, (unsigned char)s->data[i]);
		else if (o->text.size && o->text.data[o->text.size - 1] != ' ')
			buf_byte(&o->text, ' ');
	}
}

static void start_tag(struct reader *r)
{
	enum html_tag tag = r->html->token.tag;

	add_element(r);
	add_heard(r);
	if (tag >= TAG_h1 && tag <= TAG_h6 && !r->heading.region.open)
		open_text(r, &r->heading, "heading");
	if ((tag == TAG_label || tag == TAG_legend) && !r->label.region.open)
		open_text(r, &r->label, "form label");
	if (tag == TAG_th && !r->cell.region.open)
		open_text(r, &r->cell, "table header");
	if ((tag == TAG_caption || tag == TAG_figcaption || tag == TAG_title) &&
	    !r->caption.region.open)
		open_text(r, &r->caption, tag == TAG_title ? "page title" : "caption");
}

static void read_tags(struct reader *r, const char *text, size_t size)
{
	struct html t;
	struct open_text *open[] = { &r->heading, &r->label, &r->cell, &r->caption };

	html_init(&t, text, size);
	r->html = &t;
	while (html_next(&t) != HTML_END)
		for (size_t i = 0; i < 5; i++) {
			if (i == 4) {
				if (t.token.kind == HTML_START_TAG)
					start_tag(r);
			} else if (t.token.kind == HTML_TEXT) {
				add_text(open[i], &t.token.text);
			} else if (t.token.kind == HTML_START_TAG || t.token.kind == HTML_END_TAG) {
				step_text(r, open[i]);
			}
		}
	for (size_t i = 0; i < 4; i++) {
		if (open[i]->region.open)
			close_text(r, open[i]);
		buf_release(&open[i]->text);
	}
	html_release(&t);
}

static void read_facts(struct facts *f, struct arena *arena, const struct extract_input *in,
                       const struct extract_options *options, struct digest *ret_digest)
{
	struct extract_options o = options ? *options : (struct extract_options){ 0 };
	struct reader r = { .facts = f, .arena = arena };
	struct extract x = { 0 };
	const struct page *p;
	const char *text;
	size_t size, charset_size = 0;

	o.word = NULL;
	p = extract_page(&x, in, &o);
	*ret_digest = p->digest;
	add_lines(f, arena, p);
	if (p->type == PAGE_HTML) {
		const char *charset = in->content_type ? encoding_charset(in->content_type,
			strlen(in->content_type), &charset_size) : NULL;

		encoding_decode(&x.encoding, in->data, in->size, charset, charset_size,
		                EXTRACT_SIZE_MAX, &text, &size);
		read_tags(&r, text, size);
	}
	extract_release(&x);
}

static void add_item(struct page_diff *d, enum diff_kind kind, bool added,
                     const struct fact *f, uint32_t count)
{
	vec_push(&d->items, ((struct diff_item){ kind, added, f->label, f->text, count }));
}

static void compare_lists(struct page_diff *d, enum diff_kind kind, const struct facts *a,
                          const struct facts *b)
{
	size_t n = a->list[kind].n, m = b->list[kind].n, i, k;
	uint64_t *hashes = mem_array(n + m + 1, sizeof *hashes);
	bool *marks = mem_zalloc(n + m + 1, sizeof *marks);

	for (i = 0; i < n; i++)
		hashes[i] = a->list[kind].v[i].hash;
	for (k = 0; k < m; k++)
		hashes[n + k] = b->list[kind].v[k].hash;
	lcs_mark(hashes, n, hashes + n, m, marks, marks + n);
	for (i = k = 0; i < n || k < m;) {
		if (i < n && marks[i])
			add_item(d, kind, false, &a->list[kind].v[i++], 1);
		else if (k < m && marks[n + k])
			add_item(d, kind, true, &b->list[kind].v[k++], 1);
		else
			i++, k++;
	}
	free(hashes);
	free(marks);
}

/* Elements as a set with counts: an item for each that has more or fewer. */
static void compare_elements(struct page_diff *d, const struct facts *a, const struct facts *b)
{
	const struct facts *pages[2] = { a, b };
	VEC(int64_t) change = { 0 };
	VEC(struct fact) first = { 0 };
	struct map seen = { 0 };

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < pages[side]->list[DIFF_ELEMENT].n; i++) {
			const struct fact *f = &pages[side]->list[DIFF_ELEMENT].v[i];
			bool new;
			uint32_t at = map_intern(&seen, f->hash, (uint32_t)change.n, &new);

			if (new) {
				vec_push(&change, 0);
				vec_push(&first, *f);
			}
			change.v[at] += side ? 1 : -1;
		}
	for (int added = 0; added < 2; added++)
		for (size_t i = 0; i < change.n; i++)
			if (added ? change.v[i] > 0 : change.v[i] < 0)
				add_item(d, DIFF_ELEMENT, added, &first.v[i],
				         (uint32_t)(added ? change.v[i] : -change.v[i]));
	map_release(&seen);
	vec_release(&change);
	vec_release(&first);
}

void page_diff(struct page_diff *ret, const struct extract_input *before,
               const struct extract_input *after, const struct extract_options *options)
{
	struct facts a = { 0 }, b = { 0 };
	struct digest old, new;

	memset(ret, 0, sizeof *ret);
	read_facts(&a, &ret->arena, before, options, &old);
	read_facts(&b, &ret->arena, after, options, &new);
	change_compare(&old, &new, &ret->view);
	ret->cut = a.cut || b.cut;
	compare_lists(ret, DIFF_TEXT, &a, &b);
	compare_elements(ret, &a, &b);
	compare_lists(ret, DIFF_ACCESS, &a, &b);
	for (int k = 0; k < DIFF_KINDS; k++) {
		vec_release(&a.list[k]);
		vec_release(&b.list[k]);
	}
}

void page_diff_release(struct page_diff *d)
{
	vec_release(&d->items);
	arena_release(&d->arena);
}
