/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror.c - see mirror.h.
 *
 * First all pages get their names, since a link is rewritten only if it leads to a page of
 * the mirror.  Then the copies are read in the order of archive and offset.
 */
#include "engine/mirror/mirror.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/output.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/mirror/mirror_name.h"
#include "engine/mirror/mirror_page.h"
#include "engine/changes/page_copy.h"
#include "web/url/url.h"

#define PATH_MAX_BYTES 16384

/* A page of the mirror. */
struct mirrored {
	uint64_t capture;               /* 0: the page has no copy with content */
	int64_t offset;
	uint64_t name;                  /* in `names` */
	uint32_t archive;
};

/* A site of the mirror. */
struct site { uint32_t n_pages, shortest; };

struct mirroring {
	struct mirror *m;
	struct strtab urls;             /* by number of the page */
	VEC(struct mirrored) pages;     /* by number of the page */
	struct buf names;               /* each ends with a NUL byte */
	struct strtab archives;
	struct content content;
	struct page_copy copy;
	struct mirror_links links;
	struct buf made, path;
};

static const char *page_name(const struct mirroring *w, uint32_t page)
{
	return w->names.data + w->pages.v[page].name;
}

static const char *find_file(void *arg, const char *url, size_t size)
{
	const struct mirroring *w = arg;
	uint32_t page = strtab_find(&w->urls, url, size);

	return page != MAP_NONE && w->pages.v[page].capture ? page_name(w, page) : NULL;
}

static int note_page(void *arg, const struct store_page *p, struct err *err)
{
	struct mirroring *w = arg;

	(void)err;
	strtab_intern(&w->urls, p->url.s, p->url.size, NULL);
	vec_push(&w->pages, ((struct mirrored){ 0 }));
	return 0;
}

/* Captures come by page, then time: the last with content stays. */
static int note_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct mirroring *w = arg;
	struct mirrored *p;

	(void)err;
	if (c->page >= w->pages.n || !page_copy_is_there(c))
		return 0;
	p = &w->pages.v[c->page];
	p->capture = c->id;
	p->offset = c->offset;
	p->archive = strtab_intern(&w->archives, c->file.s, c->file.size, NULL);
	p->name = w->names.size;
	mirror_name((struct text){ strtab_get(&w->urls, c->page), strtab_size(&w->urls, c->page) },
	            c->mime, &w->names);
	buf_byte(&w->names, 0);
	return 0;
}

/* Is the file there with these bytes? */
static bool is_same(const char *path, const struct buf *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char piece[65536];
	size_t at = 0;
	ssize_t n = -1;
	struct stat st;
	bool same = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		(size_t)st.st_size == bytes->size;

	while (same && (n = read(fd, piece, sizeof piece)) > 0) {
		same = at + (size_t)n <= bytes->size && !memcmp(bytes->data + at, piece, (size_t)n);
		at += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	return same && n == 0 && at == bytes->size;
}

/* The folders of a path below w->m->to.  A link in their place is not followed. */
static int make_folders(struct mirroring *w, struct err *err)
{
	char *path = w->path.data, *p = path + strlen(w->m->to) + 1;
	struct stat st;

	for (; (p = strchr(p, '/')); p++) {
		bool bad;

		*p = 0;
		bad = mkdir(path, 0777) && (errno != EEXIST || lstat(path, &st) ||
		                            (!S_ISDIR(st.st_mode) && (errno = ENOTDIR)));
		if (bad)
			return err_errno(err, E_IO, "%s: no folder can be made there", path);
		*p = '/';
	}
	return 0;
}

/* Write w->made as the file of that name, unless it is there. */
static int write_file(struct mirroring *w, const char *name, int64_t time, struct err *err)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time } };
	struct output *out;
	int rc;

	buf_clear(&w->path);
	buf_printf(&w->path, "%s/%s", w->m->to, name);
	if (w->path.full)
		return err_set(err, E_LIMIT, "%s: the path of a file is too long", w->m->to);
	if (is_same(w->path.data, &w->made)) {
		w->m->n_same++;
		return 0;
	}
	if ((rc = make_folders(w, err)) < 0 || (rc = output_open_plain(&out, w->path.data, err)) < 0)
		return rc;
	fwrite(buf_text(&w->made), 1, w->made.size, output_file(out));
	rc = output_close(out, err);
	if (rc == 0 && time > 0)
		utimensat(AT_FDCWD, w->path.data, times, AT_SYMLINK_NOFOLLOW);
	w->m->n_written += rc == 0;
	return rc;
}

static bool is_css(struct text mime)
{
	return mime.size >= 8 && !strncasecmp(mime.s, "text/css", 8);
}

/* The bytes of a page's file, in w->made. */
static void make_page(struct mirroring *w, uint32_t page, const struct store_capture *c)
{
	struct text url = { strtab_get(&w->urls, page), strtab_size(&w->urls, page) };
	struct mirror_links *l = &w->links;

	l->file = page_name(w, page);
	l->base = c->target.s && url_is_canonical(c->target.s, c->target.size) ? c->target : url;
	if (mirror_is_html(c->mime))
		mirror_html(l, buf_text(&w->copy.body), w->copy.body.size,
		            w->copy.type.size ? buf_text(&w->copy.type) : NULL, &w->made);
	else if (is_css(c->mime))
		mirror_css(l, buf_text(&w->copy.body), w->copy.body.size, &w->made);
	else
		buf_add(&w->made, buf_text(&w->copy.body), w->copy.body.size);
}

static void report(struct mirroring *w, const char *text)
{
	w->m->n_lost++;
	if (w->m->report)
		w->m->report(w->m->arg, text);
}

static int write_page(struct mirroring *w, uint32_t page, struct err *err)
{
	struct text url = { strtab_get(&w->urls, page), strtab_size(&w->urls, page) };
	struct store_capture c;
	struct err why = { 0 };
	int rc = store_capture_get(w->m->store, w->pages.v[page].capture, &c, err);

	if (rc <= 0)
		return rc;
	if (page_copy_load(&w->copy, &w->content, &c, url, &why) < 0) {
		report(w, why.text);
		return 0;
	}
	buf_clear(&w->made);
	make_page(w, page, &c);
	if (w->copy.cut || w->made.full) {
		err_set(&why, E_LIMIT, "%.*s: the page is too long", (int)url.size, url.s);
		report(w, why.text);
		return 0;
	}
	return write_file(w, page_name(w, page), c.time, err);
}

static int by_position(const void *pa, const void *pb, void *arg)
{
	const struct mirrored *pages = arg;
	const struct mirrored *a = &pages[*(const uint32_t *)pa], *b = &pages[*(const uint32_t *)pb];

	if (a->archive != b->archive)
		return a->archive < b->archive ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int write_pages(struct mirroring *w, struct err *err)
{
	uint32_t *order = mem_zalloc(w->pages.n + 1, sizeof *order), n = 0;
	int rc = 0;

	for (uint32_t i = 0; i < w->pages.n; i++) {
		if (w->pages.v[i].capture)
			order[n++] = i;
		else
			w->m->n_missing++;
	}
	qsort_r(order, n, sizeof *order, by_position, w->pages.v);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = write_page(w, order[i], err);
	free(order);
	return rc;
}

/* index.html: each site with its number of pages, and a link to its shortest URL. */
static int write_index(struct mirroring *w, struct err *err)
{
	VEC(struct site) sites = { 0 };
	struct strtab hosts = { 0 };
	int rc;

	for (uint32_t i = 0; i < w->pages.n; i++) {
		const char *name = page_name(w, i);
		uint32_t k;

		if (!w->pages.v[i].capture)
			continue;
		k = strtab_intern(&hosts, name, strcspn(name, "/"), NULL);
		if (k == sites.n)
			vec_push(&sites, ((struct site){ 0, i }));
		sites.v[k].n_pages++;
		if (strtab_size(&w->urls, i) < strtab_size(&w->urls, sites.v[k].shortest))
			sites.v[k].shortest = i;
	}
	buf_clear(&w->made);
	buf_str(&w->made, "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n"
	        "<meta name=viewport content=\"width=device-width\">\n<title>Mirror</title>\n"
	        "<h1>Mirror</h1>\n<ul>\n");
	for (uint32_t k = 0; k < hosts.n; k++)
		buf_printf(&w->made, "<li><a href=\"%s\">%s</a> (%u page%s)\n",
		           page_name(w, sites.v[k].shortest), strtab_get(&hosts, k), sites.v[k].n_pages,
		           sites.v[k].n_pages == 1 ? "" : "s");
	buf_str(&w->made, "</ul>\n");
	rc = write_file(w, "index.html", 0, err);
	strtab_release(&hosts);
	vec_release(&sites);
	return rc;
}

int mirror_write(struct mirror *m, struct err *err)
{
	struct mirroring w = { .m = m, .links = { .find = find_file } };
	int rc;

	w.links.arg = &w;
	mirror_links_init(&w.links);
	buf_init(&w.names, BUF_NO_LIMIT);
	buf_init(&w.made, CONTENT_BLOCK_MAX);
	buf_init(&w.path, PATH_MAX_BYTES);
	content_init(&w.content, m->folder, CONTENT_BLOCK_MAX);
	buf_byte(&w.names, 0);
	if (mkdir(m->to, 0777) && errno != EEXIST)
		rc = err_errno(err, E_IO, "%s: no folder can be made there", m->to);
	else if ((rc = store_pages(m->store, 0, note_page, &w, err)) == 0 &&
	         (rc = store_captures(m->store, NULL, 0, note_capture, &w, err)) == 0 &&
	         (rc = write_pages(&w, err)) == 0)
		rc = write_index(&w, err);
	strtab_release(&w.urls);
	strtab_release(&w.archives);
	vec_release(&w.pages);
	page_copy_release(&w.copy);
	content_release(&w.content);
	mirror_links_release(&w.links);
	buf_release(&w.names);
	buf_release(&w.made);
	buf_release(&w.path);
	return rc;
}
