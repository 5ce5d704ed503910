/* SPDX-License-Identifier: Apache-2.0 */
/* change_lines.c - see change_lines.h. */
#include "engine/changes/change_lines.h"

#include "web/page/compare.h"

void change_lines_init(struct change_lines *c, struct store *s, const char *folder)
{
	*c = (struct change_lines){ .store = s };
	content_init(&c->content, folder, EXTRACT_SIZE_MAX);
}

void change_lines_release(struct change_lines *c)
{
	content_release(&c->content);
	page_copy_release(&c->before);
	page_copy_release(&c->after);
}

/* The copy before a capture. */
struct finding { uint64_t of, before; };

static int find_before(void *arg, const struct store_capture *c, struct err *err)
{
	struct finding *f = arg;

	(void)err;
	if (c->id == f->of)
		return 1;
	if (page_copy_is_there(c))
		f->before = c->id;
	return 0;
}

/* 1: loaded; 0: there is none. */
static int load(struct change_lines *c, struct page_copy *copy, uint64_t id, const char *url,
                struct err *err)
{
	struct store_capture capture;
	struct err why;
	int rc = store_capture_get(c->store, id, &capture, err);

	if (rc <= 0)
		return rc;
	return page_copy_is_there(&capture) &&
	       page_copy_load(copy, &c->content, &capture, (struct text){ url, strlen(url) },
	                      &why) == 0;
}

static unsigned add_lines(const struct page_diff *d, bool added, unsigned left, struct buf *out)
{
	for (size_t i = 0; i < d->items.n && left; i++) {
		const struct diff_item *item = &d->items.v[i];

		if (item->kind != DIFF_TEXT || item->added != added)
			continue;
		buf_printf(out, "%c %s\n", added ? '+' : '-', item->text);
		left--;
	}
	return left;
}

int change_lines_add(struct change_lines *c, const char *url, uint32_t page, uint64_t capture,
                     unsigned max, struct buf *out, struct err *err)
{
	struct extract_options options = { 0 };
	struct finding f = { .of = capture };
	struct extract_input before, after;
	struct page_diff d = { 0 };
	int rc = capture ? store_captures(c->store, &page, 1, find_before, &f, err) : 0;

	if (rc <= 0 || !f.before)               /* 1: it was found */
		return rc < 0 ? rc : 0;
	if ((rc = load(c, &c->before, f.before, url, err)) <= 0 ||
	    (rc = load(c, &c->after, capture, url, err)) <= 0)
		return rc;
	before = page_copy_input(&c->before, url);
	after = page_copy_input(&c->after, url);
	/* a copy that breaks its reader has no lines */
	if (compare_pages(&d, &before, &after, &options, NULL) < 0)
		return 0;
	add_lines(&d, false, add_lines(&d, true, max, out), out);
	page_diff_release(&d);
	return 0;
}
