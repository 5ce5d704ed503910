/* SPDX-License-Identifier: Apache-2.0 */
/* discover_inner.h - shared by discover.c (pages), discover_links.c (links),
 * discover_web.c (robots.txt and sitemaps) and discover_choose.c (the choice). */
#ifndef ENGINE_DISCOVER_DISCOVER_INNER_H
#define ENGINE_DISCOVER_DISCOVER_INNER_H

#include "base/map.h"
#include "base/mem.h"
#include "engine/discover/discover.h"
#include "fetch/fetch.h"

struct candidate {
	uint32_t site, links, last_page;        /* pages that link to it; the last of them */
	uint64_t dir, shape, top;               /* hashes; to count by, and to take turns */
	bool in_sitemap;
	bool own;                               /* its own site names it, not only others */
	uint8_t refusal;                        /* 0: none */
	uint32_t turn;                          /* while choosing */
};

struct dated { uint32_t page; int64_t lastmod; };

struct discover {
	struct store *store;
	struct discover_opts opts;
	struct store_cycle row;
	struct discovery *report;
	uint64_t last_capture;                  /* id of the newest capture to read */

	/* pages */
	uint32_t n_pages, n_here;
	struct map known;                       /* URL without its scheme -> page */
	uint8_t *state;
	int64_t *last_visit, *hint;
	uint32_t *page_site;
	float *yield;                           /* new links per visit */
	size_t cap_state, cap_visit, cap_hint, cap_site;
	VEC(uint32_t) pending;                  /* pages added before and never fetched */
	struct strtab sites, origins;           /* "host:port"; "scheme://host:port" */
	VEC(uint32_t) site_found;               /* pages ever added, by site */
	VEC(uint32_t) site_seen;                /* candidates, by site */
	struct map dir_found, shape_found;

	/* candidates */
	struct strtab urls;
	VEC(struct candidate) candidates;       /* by number in urls */
	struct map by_key;                      /* as `known` */
	VEC(uint32_t) chosen;
	VEC(struct dated) dates;                /* one for each page */
	struct map dated;                       /* page to index in dates */
	VEC(uint32_t) sites_read;
	struct buf url, name;
	VEC(struct offer) offers;
};

/* Hash of a URL without its scheme. */
uint64_t discover_key(const char *url, size_t size);
uint64_t discover_dir(struct discover *d, const char *url, size_t size);
uint64_t discover_shape(struct discover *d, const char *url, size_t size);
/* Compute yields of pages from captures and, if `gather`, collect candidates. */
MUST_CHECK int discover_links(struct discover *d, bool gather, struct err *err);
/* Note a URL found on a page (its number) or in a sitemap (STORE_NONE). */
void discover_see(struct discover *d, const char *url, size_t size, uint32_t page);
/* Fetch robots.txt of all origins of candidates, and the sitemaps that are due. */
MUST_CHECK int discover_web(struct discover *d, struct fetch *f,
                            const volatile sig_atomic_t *stop, struct err *err);
/* Fill `chosen` with at most n candidates. */
void discover_choose(struct discover *d, const struct fetch *f, uint32_t n);

#endif
