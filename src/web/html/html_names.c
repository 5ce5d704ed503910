/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_names.c - the elements we know, and what their tags do to the tokenizer.
 *
 * Names are found by a perfect hash (scripts/gen-tags) of their packed last eight
 * bytes, which the tokenizer computes while it reads the name.
 *
 * Foreign content.  Only two things depend on being inside svg or math: CDATA
 * sections, and that script, style and title are ordinary elements there.  A stack
 * of the open svg, math and integration points answers both wherever the page
 * closes what it opens; HTML elements that cannot stand in foreign content end
 * it, as in the standard.  Blind spot: integration points left open by error.
 */
#include "web/html/html_inner.h"
#include "web/html/html_scan.h"
#include "web/html/html_tags.inc"

const struct html_tag_row html_tag_rows[TAG_COUNT] = {
	[TAG_OTHER] = { "\n", 0, 0, 0 },
#define VOID TAG_VOID
#define BLOCK TAG_BLOCK
#define RCDATA TAG_RCDATA
#define RAWTEXT TAG_RAWTEXT
#define SCRIPT TAG_SCRIPT
#define PLAIN TAG_PLAIN
#define BREAK TAG_BREAK
#define SKIP TAG_SKIP
#define MEANS TAG_MEANS
#define TAG(name, flags) [TAG_##name] = { #name "\n", sizeof #name - 1, flags, HTML_KEY(#name) },
#include "web/html/html_tags.def"
#undef TAG
};

/* Names longer than eight bytes: the key is their end, the rest is compared. */
enum html_tag html_tag_find_key(uint64_t key, const char *name, size_t size)
{
	unsigned tag = tag_slots[key * TAG_MULTIPLIER >> TAG_SHIFT];
	const struct html_tag_row *r = &html_tag_rows[tag];

	if (r->key == key && r->size == size &&
	    (size <= 8 || !memcmp(r->line, name, size - 8)))
		return (enum html_tag)tag;
	return TAG_OTHER;
}

uint64_t html_key(const char *name, size_t size)
{
	uint64_t key = 0;

	for (size_t i = 0; i < size; i++)
		key = key << 8 | (unsigned char)name[i];
	return key;
}

static bool is_integration_point(enum html_tag tag, enum html_tag root)
{
	if (root == TAG_svg)
		return tag == TAG_foreignobject || tag == TAG_desc || tag == TAG_title;
	return tag == TAG_mi || tag == TAG_mo || tag == TAG_mn || tag == TAG_ms ||
	       tag == TAG_mtext;
}

bool html_in_foreign_content(const struct html *t)
{
	unsigned top = t->n_foreign ? t->foreign[t->n_foreign - 1] : TAG_OTHER;

	return top == TAG_svg || top == TAG_math;
}

static void push_foreign(struct html *t, enum html_tag tag)
{
	if (t->n_foreign < HTML_FOREIGN_MAX)
		t->foreign[t->n_foreign++] = (uint8_t)tag;
}

static void foreign_end(struct html *t, enum html_tag tag)
{
	if (tag == TAG_p || tag == TAG_br) {    /* these end foreign content too */
		while (html_in_foreign_content(t))
			t->n_foreign--;
		return;
	}
	for (unsigned i = t->n_foreign; i-- > 0;)
		if (t->foreign[i] == tag) {
			t->n_foreign = i;
			return;
		}
}

/* A start tag inside svg or math; false if it ended the foreign content. */
static bool foreign_start(struct html *t, enum html_tag tag)
{
	bool ends = html_tag_flags(tag) & TAG_BREAK;

	if (tag == TAG_font)
		ends = html_attr(t, "color") || html_attr(t, "face") || html_attr(t, "size");
	if (ends) {
		while (html_in_foreign_content(t))
			t->n_foreign--;
		return false;
	}
	if (!t->token.self_closing &&
	    (tag == TAG_svg || tag == TAG_math ||
	     is_integration_point(tag, t->foreign[t->n_foreign - 1])))
		push_foreign(t, tag);
	return true;
}

void html_tag_feedback(struct html *t)
{
	enum html_tag tag = t->token.tag;
	unsigned flags = html_tag_flags(tag);

	if (t->token.kind == HTML_END_TAG) {
		if (t->n_foreign)
			foreign_end(t, tag);
		return;
	}
	if (t->n_foreign && html_in_foreign_content(t) && foreign_start(t, tag))
		return;
	if (tag == TAG_svg || tag == TAG_math) {
		if (!t->token.self_closing)
			push_foreign(t, tag);
		return;
	}
	if (!(flags & (TAG_RCDATA | TAG_RAWTEXT | TAG_SCRIPT | TAG_PLAIN)))
		return;
	t->state = flags & TAG_RCDATA ? HTML_RCDATA : flags & TAG_RAWTEXT ? HTML_RAWTEXT :
	           flags & TAG_SCRIPT ? HTML_SCRIPT : HTML_PLAINTEXT;
	t->raw_end = NULL;
	t->last_start = html_tag_rows[tag].line;        /* the line end is not counted */
	t->last_start_size = html_tag_rows[tag].size;
}
