/* SPDX-License-Identifier: Apache-2.0 */
/* analyse.c - bodies into records; see analyse.h. */
#include "engine/archive/analyse.h"

#include <string.h>

#include "warc/http.h"
#include "web/rules/liveness.h"
#include "web/rules/robots_tag.h"
#include "web/url/url.h"

#define TYPE_SIZE_MAX 1024

void analyser_init(struct analyser *a)
{
	*a = (struct analyser){ .options.no_bytes = true };     /* records have SHA-1 */
	buf_init(&a->asked, BUF_NO_LIMIT);
	buf_init(&a->answer, BUF_NO_LIMIT);
	buf_init(&a->url, URL_SIZE_MAX);
	buf_init(&a->type, TYPE_SIZE_MAX);
	buf_init(&a->decoded, EXTRACT_SIZE_MAX);
	buf_init(&a->links, BUF_NO_LIMIT);
	buf_init(&a->robots, BUF_NO_LIMIT);
}

void analyser_release(struct analyser *a)
{
	extract_release(&a->extract);
	buf_release(&a->asked);
	buf_release(&a->answer);
	buf_release(&a->url);
	buf_release(&a->type);
	buf_release(&a->decoded);
	buf_release(&a->links);
	buf_release(&a->robots);
	map_release(&a->seen);
}

static struct text put_hex(uint64_t x, char out[17])
{
	for (int i = 16; i-- > 0; x >>= 4)
		out[i] = "0123456789abcdef"[x & 15];
	out[16] = '\0';
	return (struct text){ out, 16 };
}

/* Write a link as it is stored: relative to the host, if that is the page's own. */
static bool put_link(struct buf *out, const struct buf *page, size_t path, const char *link,
                     size_t size)
{
	char *room;

	/* up to its path the page's URL is scheme, host and port */
	if (size > path && link[path] == '/' && !memcmp(link, page->data, path)) {
		link += path;
		size -= path;
	}
	/* "//x" would be read as a host */
	if (size > 1 && link[0] == '/' && link[1] == '/') {
		link -= path;
		size += path;
	}
	room = buf_room(out, size + 1);
	if (!room)
		return false;
	if (out->size)
		*room++ = ' ';
	memcpy(room, link, size);
	room[size] = '\0';
	out->size = (size_t)(room + size - out->data);
	return true;
}

/* Add each link once; true: some links occur only with rel=nofollow. */
static bool add_links(struct analyser *a, const struct page *page, size_t path)
{
	bool some = false;
	size_t n = 0;

	buf_clear(&a->links);
	map_clear_for(&a->seen, page->n_links);
	for (size_t i = 0; i < page->n_links && n < RECORD_LINKS_MAX; i++) {
		const char *link = page_link_url(page, i);
		size_t size = page->links[i].size;
		bool fresh, follow = !page->links[i].nofollow;
		uint64_t key = hash_bytes(link, size, 0);

		some |= !follow;
		if (!map_intern(&a->seen, key, follow, &fresh) && follow)
			map_put(&a->seen, key, 1);
		if (!fresh)
			continue;
		n++;
		if (!put_link(&a->links, &a->url, path, link, size))
			break;
	}
	return some;
}

static void add_robots(struct analyser *a, const struct page *page, unsigned header,
                       size_t path, bool some_nofollow)
{
	unsigned tags = page->robots | header;

	buf_clear(&a->robots);
	robots_tag_put(tags, &a->robots);
	for (size_t i = 0; some_nofollow && i < page->n_links; i++) {
		const char *link = page_link_url(page, i);
		size_t size = page->links[i].size;
		uint64_t key = hash_bytes(link, size, 0);

		if (map_get(&a->seen, key) != 0)
			continue;
		map_put(&a->seen, key, 1);      /* once */
		if (!put_link(&a->robots, &a->url, path, link, size))
			break;
	}
}

void analyse_here(struct analyser *a, const struct analyse_input *in, struct record *r)
{
	struct extract_input x = { .data = in->body, .size = in->size };
	const struct page *page;
	struct url_parts parts;

	buf_clear(&a->url);
	buf_clear(&a->type);
	buf_clear(&a->decoded);
	buf_add(&a->url, in->url.s, in->url.size);
	if (in->content_type.s && in->content_type.size < TYPE_SIZE_MAX) {
		buf_add(&a->type, in->content_type.s, in->content_type.size);
		x.content_type = buf_text(&a->type);
	}
	if (in->content_encoding.s && in->size) {
		int rc = http_decode(&a->decoded, in->content_encoding.s,
		                     in->content_encoding.size, in->body, in->size, NULL);

		if (rc == 0 || rc == E_LIMIT) {
			x.data = buf_text(&a->decoded);
			x.size = a->decoded.size;
		} else {
			x.content_type = "application/octet-stream";
		}
	}
	if (!x.data)
		x.data = "";
	x.url = a->url.size ? buf_text(&a->url) : NULL;
	a->options.word = a->words ? word_counter_add : NULL;
	a->options.arg = a->words;
	if (a->words)
		word_counter_begin(a->words);
	if (a->rules)
		a->options.ignore = ignore_list_find(a->rules, a->url.data, a->url.size);
	page = extract_page(&a->extract, &x, &a->options);
	r->prose = put_hex(page->digest.text, a->prose);
	r->tags = put_hex(page->digest.tags, a->tags);
	r->simhash = page->digest.simhash;
	r->has_simhash = true;
	if (x.url)
		url_split(a->url.data, a->url.size, &parts);
	else
		parts = (struct url_parts){ 0 };
	add_robots(a, page, in->robots, parts.path, add_links(a, page, parts.path));
	a->not_found = a->look_for_phrase &&
		(liveness_has_phrase(page->title, page->title_size) ||
		 liveness_has_phrase(page->text, page->text_size));
	if (a->robots.size)
		r->robots = (struct text){ a->robots.data, a->robots.size };
	if (page->type == PAGE_OTHER)   /* X-Robots-Tag still applies */
		return;
	r->facts = (struct facts){
		(int64_t)page->text_size, (int64_t)page->words, page->images, page->tables,
		page->emails, page->outlinks,
	};
	if (page->title_size)
		r->title = (struct text){ page->title, page->title_size };
	r->links = (struct text){ buf_text(&a->links), a->links.size };
}
