/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - see compare.h.
 *
 * There go both copies, here come the items of the difference.  A copy may have taken the cell
 * over: an item must be of a kind that there is, in UTF-8, and no longer than items are.
 */
#include "web/page/compare.h"

#include <string.h>

#include "base/sandbox/cell.h"
#include "base/utf8.h"
#include "web/page/options_parcel.h"

#define LABEL_MAX 64
#define ITEMS_MAX (2 * DIFF_KINDS * (uint64_t)DIFF_ITEMS_MAX)
#define ANSWER_ROOM ((size_t)16 << 20)
#define ANSWER_FACTOR 8                 /* an item has five numbers beside its text */

/* ---- in the cell ---- */

static struct text text_of(const char *s)
{
	return (struct text){ s, s ? strlen(s) : 0 };
}

/* A text of the parcel with a NUL behind it; NULL: there is none. */
static const char *string(struct arena *a, struct parcel *p)
{
	struct text t = parcel_text(p);

	return t.s ? arena_strndup(a, t.s, t.size) : NULL;
}

int compare_cell(const struct text *parts, size_t n, struct buf *answer, struct err *err)
{
	static struct ignore ignore;
	struct parcel p = { parts[0].s, parts[0].size, n != 3 };
	struct extract_options options = options_parcel_open(&p, &ignore);
	struct extract_input in[2] = { 0 };
	struct arena texts = { 0 };
	struct page_diff d;

	for (int i = 0; i < 2 && !p.bad; i++) {
		in[i].data = parts[1 + i].s ? parts[1 + i].s : "";
		in[i].size = parts[1 + i].size;
		in[i].content_type = string(&texts, &p);
		in[i].url = string(&texts, &p);
	}
	if (p.bad) {
		arena_release(&texts);
		return err_set(err, E_PARSE, "the work makes no sense");
	}
	page_diff(&d, &in[0], &in[1], &options);
	parcel_put(answer, d.view.bytes);
	parcel_put(answer, d.view.text);
	parcel_put(answer, d.view.tags);
	parcel_put(answer, d.view.bits);
	parcel_put(answer, d.view.comparable);
	parcel_put(answer, d.cut);
	parcel_put(answer, d.items.n);
	for (size_t i = 0; i < d.items.n; i++) {
		const struct diff_item *item = &d.items.v[i];

		parcel_put(answer, item->kind);
		parcel_put(answer, item->added);
		parcel_put(answer, item->count);
		parcel_put_text(answer, text_of(item->label));
		parcel_put_text(answer, text_of(item->text));
	}
	page_diff_release(&d);
	arena_release(&texts);
	return 0;
}

/* ---- here ---- */

static bool is_plain(struct text t, size_t max)
{
	for (size_t i = 0, n; i < t.size; i += n) {
		uint32_t c;

		n = utf8_get(t.s + i, t.size - i, &c);
		if (!n || !c)
			return false;
	}
	return t.s && t.size <= max;
}

static bool take_item(struct parcel *p, struct page_diff *d)
{
	uint64_t kind = parcel_number(p), added = parcel_number(p), count = parcel_number(p);
	struct text label = parcel_text(p), text = parcel_text(p);

	if (p->bad || kind >= DIFF_KINDS || added > 1 || count > UINT32_MAX ||
	    !is_plain(label, LABEL_MAX) || !is_plain(text, DIFF_TEXT_MAX))
		return false;
	vec_push(&d->items, ((struct diff_item){ .kind = (enum diff_kind)kind, .added = added != 0,
		.label = arena_strndup(&d->arena, label.s, label.size),
		.text = arena_strndup(&d->arena, text.s, text.size), .count = (uint32_t)count }));
	return true;
}

static bool take_answer(void *arg, const char *answer, size_t size)
{
	struct parcel p = { answer, size, false };
	struct page_diff *d = arg;
	uint64_t n, bits;

	d->view.bytes = parcel_number(&p) != 0;
	d->view.text = parcel_number(&p) != 0;
	d->view.tags = parcel_number(&p) != 0;
	bits = parcel_number(&p);
	d->view.bits = (unsigned)bits;
	d->view.comparable = parcel_number(&p) != 0;
	d->cut = parcel_number(&p) != 0;
	n = parcel_number(&p);
	if (p.bad || bits > 64 || n > ITEMS_MAX)
		return false;
	for (uint64_t i = 0; i < n; i++)
		if (!take_item(&p, d))
			return false;
	return p.left == 0;
}

int compare_pages(struct page_diff *ret, const struct extract_input *before,
                  const struct extract_input *after, const struct extract_options *options,
                  struct err *err)
{
	const struct extract_input *in[2] = { before, after };
	size_t most = ANSWER_ROOM + ANSWER_FACTOR * (before->size + after->size);
	struct buf asked, answer;
	int rc;

	if (!cells_do(CELL_COMPARE)) {
		page_diff(ret, before, after, options);
		return 0;
	}
	*ret = (struct page_diff){ 0 };
	buf_init(&asked, BUF_NO_LIMIT);
	buf_init(&answer, BUF_NO_LIMIT);
	options_parcel_put(&asked, options);
	for (int i = 0; i < 2; i++) {
		parcel_put_text(&asked, text_of(in[i]->content_type));
		parcel_put_text(&asked, text_of(in[i]->url));
	}
	rc = cell_call(CELL_COMPARE, (struct text[]){ { asked.data, asked.size },
	               { before->data, before->size }, { after->data, after->size } }, 3, most,
	               &answer, take_answer, ret, err);
	buf_release(&asked);
	buf_release(&answer);
	if (rc < 0)
		page_diff_release(ret);
	return rc;
}
