/* SPDX-License-Identifier: Apache-2.0 */
/* page_copy.c - pages read back, and their changes for accessibility. */
#include "engine/changes/page_copy.h"

#include "engine/view/pages.h"
#include "warc/http.h"
#include "web/page/compare.h"

#define TYPE_SIZE_MAX 256

bool page_copy_is_there(const struct store_capture *c)
{
	return c->file.s && c->offset >= 0 && !c->revisit && c->status >= 200 && c->status <= 299;
}

int page_copy_load(struct page_copy *c, struct content *content,
                   const struct store_capture *capture, struct text url, struct err *err)
{
	const struct warc_content *w = &content->body;
	int rc = content_load(content, capture, url, err);

	if (rc < 0)
		return rc;
	page_copy_release(c);
	buf_init(&c->body, w->body_max);
	buf_init(&c->type, TYPE_SIZE_MAX);
	c->time = capture->time;
	c->cut = w->body_cut;
	if (w->is_http && w->http.content_type)
		buf_add(&c->type, w->http.content_type->value, w->http.content_type->value_size);
	if (w->is_http && w->http.content_encoding && w->body.size) {
		rc = http_decode(&c->body, w->http.content_encoding->value,
		                 w->http.content_encoding->value_size, w->body.data, w->body.size,
		                 err);
		c->cut |= rc == E_LIMIT;
		return rc == E_LIMIT ? 0 : rc;
	}
	buf_add(&c->body, buf_text(&w->body), w->body.size);
	return 0;
}

void page_copy_release(struct page_copy *c)
{
	buf_release(&c->body);
	buf_release(&c->type);
}

struct extract_input page_copy_input(const struct page_copy *c, const char *url)
{
	return (struct extract_input){ .data = buf_text(&c->body), .size = c->body.size,
	                               .content_type = c->type.size ? buf_text(&c->type) : NULL,
	                               .url = url };
}

struct counting {
	const struct pages *pages;
	struct content content;
	struct page_copy before, now;
	uint32_t page;                  /* whose copy `before` is; PAGE_NONE: nobody's */
	uint64_t *by_site;
};

static bool concerns_access(struct counting *c, const char *url)
{
	struct extract_options options = { 0 };
	struct extract_input a = page_copy_input(&c->before, url);
	struct extract_input b = page_copy_input(&c->now, url);
	struct page_diff d = { 0 };
	bool found = false;

	if (compare_pages(&d, &a, &b, &options, NULL) < 0)
		return false;
	for (size_t i = 0; i < d.items.n; i++)
		found |= d.items.v[i].kind == DIFF_ACCESS;
	page_diff_release(&d);
	return found;
}

static int count_capture(void *arg, const struct store_capture *capture, struct err *err)
{
	struct counting *c = arg;
	const char *url = pages_url(c->pages, capture->page);
	struct text text = { url, pages_url_size(c->pages, capture->page) };
	struct page_copy swap;

	if (!page_copy_is_there(capture) ||
	    page_copy_load(&c->now, &c->content, capture, text, err) < 0)
		return 0;
	if (c->page == capture->page && concerns_access(c, url))
		c->by_site[c->pages->site[capture->page]]++;
	swap = c->before;
	c->before = c->now;
	c->now = swap;
	c->page = capture->page;
	return 0;
}

int access_count(struct store *s, const char *folder, const struct pages *pages,
                 uint64_t *by_site, struct err *err)
{
	struct counting c = { .pages = pages, .page = PAGE_NONE, .by_site = by_site };
	int rc;

	content_init(&c.content, folder, EXTRACT_SIZE_MAX);
	rc = store_captures(s, NULL, 0, count_capture, &c, err);
	content_release(&c.content);
	page_copy_release(&c.before);
	page_copy_release(&c.now);
	return rc;
}
