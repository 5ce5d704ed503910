/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror_page.h - an HTML page or a style sheet with its links rewritten.
 *
 * A link to a page of the mirror leads to its file; any other becomes the whole URL, so
 * that it leads where it did.  Everything else stays byte for byte, but HTML is written as
 * UTF-8 with a byte order mark, which browsers believe before anything the page says, and
 * the address of <base> is taken away, since links no longer stand on it.
 */
#ifndef ENGINE_MIRROR_MIRROR_PAGE_H
#define ENGINE_MIRROR_MIRROR_PAGE_H

#include "base/buf.h"
#include "base/text.h"

struct mirror_links {
	/* The file of a page of the mirror, or NULL: it is none. */
	const char *(*find)(void *arg, const char *url, size_t size);
	void *arg;
	struct text base;               /* canonical URL that links are relative to */
	const char *file;               /* the page's own */
	struct buf url, link;           /* private */
};

void mirror_links_init(struct mirror_links *l);
void mirror_links_release(struct mirror_links *l);

/* Append the page; type: Content-Type, or NULL. */
void mirror_html(struct mirror_links *l, const char *data, size_t size, const char *type,
                 struct buf *out);
void mirror_css(struct mirror_links *l, const char *data, size_t size, struct buf *out);

#endif
