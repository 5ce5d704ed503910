/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitemap.h - sitemaps (sitemaps.org 0.9): XML url sets, XML indexes, plain text.
 *
 * Read from a stream that may be compressed; the first bytes decide the kind.  Each entry
 * is given to a callback.  Where there are cells (base/sandbox/cell.h) one of them reads, and
 * the sitemap is held whole; elsewhere memory does not grow with it.  Locations are made
 * canonical and checked against the URL of the sitemap.  `lastmod` is a hint (lastmod.h says
 * when it is trusted).  changefreq and priority are ignored.
 *
 * Hostile input.  Any DOCTYPE, and with it every entity beyond the five of XML,
 * is refused; nesting, the size of one token, of one location and of the whole,
 * and the number of entries have caps.  Entries delivered before an error are valid.  The
 * caller follows an index: it fetches the sitemaps that the index names, with depth + 1.
 */
#ifndef WEB_RULES_SITEMAP_H
#define WEB_RULES_SITEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/io/input.h"
#include "base/text.h"

struct buf;

#define SITEMAP_URLS_MAX   50000                /* the protocol's own limits */
#define SITEMAP_BYTES_MAX  (50u * 1024 * 1024)
#define SITEMAP_DEPTH_MAX  2                    /* an index in an index, no more */
#define SITEMAP_NEST_MAX   32                   /* XML elements in elements */
#define SITEMAP_TOKEN_MAX  (1024 * 1024)        /* one tag, comment, ... */

enum sitemap_scope {
	SITEMAP_PATH,           /* under the sitemap's own directory: the protocol */
	SITEMAP_SITE,           /* on its host: if robots.txt named the sitemap */
	SITEMAP_ANY,            /* anywhere: the user's own file */
};

struct sitemap_entry {
	const char *url;                /* canonical; valid during the call */
	size_t url_size;
	bool is_sitemap;                /* of an index: to be fetched and read */
	bool has_lastmod;
	int64_t lastmod;
};

/* Non-zero (an err_code, err filled) stops the reading and is returned. */
typedef int sitemap_visit(void *context, const struct sitemap_entry *entry,
                          struct err *err);

struct sitemap_source {
	const char *url;                /* canonical, of the sitemap itself; may be
	                                 * NULL under SITEMAP_ANY */
	size_t url_size;
	enum sitemap_scope scope;
	unsigned depth;                 /* 0, or how many indexes led here */
};

struct sitemap_report {
	uint64_t entries;               /* delivered */
	uint64_t refused;               /* not a valid URL */
	uint64_t outside;               /* outside the scope of the sitemap */
	uint64_t bad_dates;             /* lastmod that is no date */
	bool index, text;               /* it was an index of sitemaps; a list as plain text */
	bool cut;                       /* longer than a cap: the rest was not read */
};

/* 0, or E_PARSE (no sitemap, damaged, DOCTYPE), E_LIMIT, E_IO, E_READER (it broke its cell); *ret
 * is filled in any case. */
MUST_CHECK int sitemap_read(struct input *in, const struct sitemap_source *source,
                            sitemap_visit *visit, void *context,
                            struct sitemap_report *ret, struct err *err);
/* The work of a cell. */
int sitemap_cell(const struct text *parts, size_t n, struct buf *answer, struct err *err);

#endif
