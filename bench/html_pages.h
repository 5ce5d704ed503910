/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_pages.h - pages to measure and compare on: the 200 responses in HTML of the
 * WARCs, and the other files, of a folder (or one file), else made-up ones.
 */
#ifndef BENCH_HTML_PAGES_H
#define BENCH_HTML_PAGES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/io/input.h"
#include "base/mem.h"

struct html_page {
	const char *data;
	size_t size;
	char *url;
};
struct html_pages {
	VEC(struct html_page) list;
	size_t bytes;
};

static inline void pages_add(struct html_pages *ps, const char *data, size_t size,
                             const char *url, size_t url_size)
{
	char *copy = mem_alloc(size ? size : 1);        /* exact: overruns are seen */

	memcpy(copy, data, size);
	vec_push(&ps->list, ((struct html_page){ copy, size, mem_strndup(url, url_size) }));
	ps->bytes += size;
}

static inline const char *pages_field(const char *head, size_t size, const char *name,
                                      size_t *ret_size)
{
	const char *p = memmem(head, size, name, strlen(name)), *end;

	if (!p)
		return NULL;
	p += strlen(name);
	end = memchr(p, '\r', (size_t)(head + size - p));
	*ret_size = (size_t)(end ? end - p : 0);
	return end ? p : NULL;
}

/* Records of a WARC, as its own lengths say. */
static inline void pages_from_warc(struct html_pages *ps, const char *p, size_t size)
{
	const char *end = p + size;

	while (end - p > 10 && !memcmp(p, "WARC/1.", 7)) {
		const char *body = memmem(p, (size_t)(end - p), "\r\n\r\n", 4), *f, *url, *html;
		size_t n, url_size = 0, head, length;

		if (!body)
			return;
		head = (size_t)(body - p) + 2;
		f = pages_field(p, head, "\nContent-Length: ", &n);
		length = f ? strtoul(f, NULL, 10) : 0;
		url = pages_field(p, head, "\nWARC-Target-URI: ", &url_size);
		body += 4;
		if (!f || length > (size_t)(end - body))
			return;
		html = memmem(body, length, "\r\n\r\n", 4);
		if (url && html && memmem(p, head, "msgtype=response", 16) &&
		    !memcmp(body + 8, " 200", 4) &&
		    memmem(body, (size_t)(html - body), "text/html", 9))
			pages_add(ps, html + 4, (size_t)(body + length - html - 4), url, url_size);
		p = body + length;
		while (p < end && (*p == '\r' || *p == '\n'))
			p++;
	}
}

static inline void pages_from_file(struct html_pages *ps, const char *path)
{
	struct input *in;
	struct err err;
	struct buf b;
	char *room;
	long n;

	if (input_open(&in, path, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	buf_init(&b, BUF_NO_LIMIT);
	while ((room = buf_room(&b, 1 << 20)) && (n = input_read(in, room, 1 << 20, &err)) > 0)
		b.size += (size_t)n;
	input_close(in);
	if (b.size > 7 && !memcmp(b.data, "WARC/1.", 7))
		pages_from_warc(ps, b.data, b.size);
	else
		pages_add(ps, buf_text(&b), b.size, "http://example.org/page", 23);
	buf_release(&b);
}

/* Pages of our own making, a little like documentation. */
static inline void pages_made_up(struct html_pages *ps)
{
	static const char *const words[] = { "the", "river", "page", "update", "of", "and",
		"download", "budget", "Freshet", "sample", "change", "to", "in", "cycle",
		"caf&eacute;", "R&amp;D", "&lt;tag&gt;", "links", "2024", "na\xc3\xafve" };
	uint64_t s = 1;

	for (int i = 0; i < 2000; i++) {
		struct buf b;

		buf_init(&b, BUF_NO_LIMIT);
		buf_printf(&b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		           "<title>Page %d</title>\n<style>body { margin: 0 }</style></head>\n"
		           "<body class=\"docs\">\n<div id=\"nav\"><ul>\n", i);
		for (int k = 0; k < 20; k++)
			buf_printf(&b, "  <li class=\"item\"><a href=\"../section%d/page%d.html\""
			           " title=\"Go to %d\">Section %d</a></li>\n", k, i, k, k);
		buf_str(&b, "</ul></div>\n");
		for (int k = 0; k < 60; k++) {
			buf_str(&b, "<p class=\"text\">");
			for (int w = 0; w < 40; w++) {
				s = s * 6364136223846793005u + 1442695040888963407u;
				if (w % 13 == 5)
					buf_printf(&b, "<a href=\"/x/%u.html#p\"><code>f%u()</code></a> ",
					           (unsigned)(s >> 50), (unsigned)(s >> 54));
				buf_printf(&b, "%s ", words[(s >> 33) % 20]);
			}
			buf_str(&b, "</p>\n");
		}
		buf_str(&b, "<!-- end --><script>var x = a < b && c;</script></body></html>\n");
		pages_add(ps, b.data, b.size, "http://example.org/docs/page.html", 33);
		buf_release(&b);
	}
}

/* A file, a folder of files, or a folder of data of all kinds with a folder `warc`. */
static inline void pages_load(struct html_pages *ps, const char *path)
{
	struct stat st;
	struct dirent *e;
	char inner[4096];
	DIR *d;

	if (!path || !*path) {
		pages_made_up(ps);
		return;
	}
	snprintf(inner, sizeof inner, "%s/warc", path);
	if (!stat(inner, &st) && S_ISDIR(st.st_mode))
		path = inner;
	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		pages_from_file(ps, path);
		return;
	}
	d = opendir(path);
	while (d && (e = readdir(d))) {
		struct buf b;

		if (e->d_name[0] == '.')
			continue;
		buf_init(&b, 4096);
		buf_printf(&b, "%s/%s", path, e->d_name);
		if (!stat(buf_text(&b), &st) && S_ISREG(st.st_mode))
			pages_from_file(ps, buf_text(&b));
		buf_release(&b);
	}
	if (d)
		closedir(d);
}

#endif
