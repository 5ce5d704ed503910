/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_cdxj.c - captures as index lines; see export.h.
 *
 * Captures come by page, and the order of page numbers is not that of SURT keys,
 * so the lines go through warc/cdx_sort.h.  The length of a line is that of the
 * record where there is one, as replay tools expect, and of the payload where
 * there is none.
 */
#include <string.h>

#include "base/map.h"
#include "engine/export/export.h"
#include "warc/cdx.h"
#include "warc/cdx_sort.h"
#include "web/rules/robots_tag.h"
#include "web/url/url.h"

struct lines {
	struct export *e;
	struct cdx_sorter *sorter;
	bool extended;
	FILE *out;
	uint32_t page;                  /* whose url and surt are below */
	struct buf url, surt, line, links, robots, target;
	struct map pages;               /* hashes of the URLs there are */
	char simhash[17];
};

static int note_page(void *arg, const struct store_page *p, struct err *err)
{
	struct lines *l = arg;

	(void)err;
	map_put(&l->pages, hash_bytes(p->url.s, p->url.size, 0), p->number);
	return 0;
}

static int turn_to(struct lines *l, uint32_t page, struct err *err)
{
	struct store_page p;
	int rc;

	if (page == l->page)
		return 0;
	rc = store_page_get(l->e->store, page, &p, err);
	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "a capture of page %u, which is not "
		                             "there", page);
	buf_clear(&l->url);
	buf_clear(&l->surt);
	buf_add(&l->url, p.url.s, p.url.size);
	url_surt(l->url.data, l->url.size, &l->surt);
	l->page = page;
	return 0;
}

/* Of some links of a capture those that lead to pages of the repository. */
static void put_inner(struct lines *l, const struct store_capture *c, struct text rest,
                      struct buf *out)
{
	struct text link;
	struct text base = c->target.s ? c->target : (struct text){ l->url.data, l->url.size };

	while (text_word(&rest, &link)) {
		buf_clear(&l->target);
		if (url_resolve(base.s, base.size, link.s, link.size, &l->target,
		                NULL) < 0 ||
		    map_get(&l->pages, hash_bytes(l->target.data, l->target.size, 0)) == MAP_NONE)
			continue;
		if (out->size)
			buf_byte(out, ' ');
		if (c->target.s)        /* a line says nothing of where redirects led */
			buf_add(out, l->target.data, l->target.size);
		else
			buf_add(out, link.s, link.size);
	}
}

static struct text inner_links(struct lines *l, const struct store_capture *c)
{
	buf_clear(&l->links);
	put_inner(l, c, c->links, &l->links);
	return (struct text){ buf_text(&l->links), l->links.size };
}

/* The words, and the same of the links. */
static struct text inner_robots(struct lines *l, const struct store_capture *c)
{
	size_t words;

	buf_clear(&l->robots);
	robots_tag_put(robots_tag_kept(c->robots.s, c->robots.size, &words), &l->robots);
	put_inner(l, c, (struct text){ c->robots.s + words, c->robots.size - words },
	          &l->robots);
	return (struct text){ l->robots.size ? l->robots.data : NULL, l->robots.size };
}

static int add_capture(void *arg, const struct store_capture *c, struct err *err)
{
	static const char revisit[] = "warc/revisit";
	struct lines *l = arg;
	struct cdx_line line;
	int rc = turn_to(l, c->page, err);

	if (rc < 0)
		return rc;
	cdx_clear(&line);
	line.surt = (struct text){ l->surt.data, l->surt.size };
	line.url = (struct text){ l->url.data, l->url.size };
	line.time = c->time;
	line.status = c->status ? c->status : -1;
	line.length = c->size >= 0 ? c->size : c->length;
	line.offset = c->offset;
	line.mime = c->revisit ? (struct text){ revisit, sizeof revisit - 1 } :
	            c->mime;
	line.digest = c->digest;
	line.filename = c->file;
	if (l->extended) {
		line.text = c->bytes_text;
		line.words = c->words;
		line.images = c->images;
		line.tables = c->tables;
		line.emails = c->emails;
		line.outlinks = c->outlinks;
		line.tags = c->tags;
		line.prose = c->prose;
		line.title = c->title;
		line.terms = c->terms;
		if (c->links.s)
			line.links = inner_links(l, c);
		if (c->robots.s)
			line.robots = inner_robots(l, c);
		if (c->has_simhash) {
			snprintf(l->simhash, sizeof l->simhash, "%016llx",
			         (unsigned long long)c->simhash);
			line.simhash = (struct text){ l->simhash, 16 };
		}
	}
	buf_clear(&l->line);
	rc = cdx_write(&l->line, &line, l->extended, err);
	if (rc < 0)
		return err_prefix(err, "%s", buf_text(&l->url));
	return cdx_sorter_add(l->sorter, l->line.data, l->line.size - 1, err);
}

static int emit(void *arg, const char *line, size_t size, struct err *err)
{
	struct lines *l = arg;

	(void)err;
	fwrite(line, 1, size, l->out);
	putc('\n', l->out);             /* errors are found when the output is closed */
	l->e->n_written++;
	return 0;
}

int export_cdxj(struct export *e, bool extended, FILE *out, struct err *err)
{
	struct lines l = { .e = e, .extended = extended, .out = out, .page = STORE_NONE };
	int rc = 0;

	buf_init(&l.url, URL_SIZE_MAX);
	buf_init(&l.surt, BUF_NO_LIMIT);
	buf_init(&l.line, BUF_NO_LIMIT);
	buf_init(&l.links, BUF_NO_LIMIT);
	buf_init(&l.robots, BUF_NO_LIMIT);
	buf_init(&l.target, URL_SIZE_MAX);
	l.sorter = cdx_sorter_new(CDX_SORT_MEMORY, e->folder);
	if (extended)
		rc = store_pages(e->store, 0, note_page, &l, err);
	if (rc == 0)
		rc = store_captures(e->store, NULL, 0, add_capture, &l, err);
	if (rc == 0)
		rc = cdx_sorter_finish(l.sorter, emit, &l, err);
	cdx_sorter_free(l.sorter);
	buf_release(&l.url);
	buf_release(&l.surt);
	buf_release(&l.line);
	buf_release(&l.links);
	buf_release(&l.robots);
	buf_release(&l.target);
	map_release(&l.pages);
	return rc;
}

static int add_word(void *arg, uint32_t number, struct text word, struct err *err)
{
	struct buf *out = arg;

	(void)number;
	(void)err;
	buf_add(out, word.s, word.size);
	buf_byte(out, '\n');
	return 0;
}

int export_words(struct store *s, struct buf *out, struct err *err)
{
	return store_words(s, 0, add_word, out, err);
}
