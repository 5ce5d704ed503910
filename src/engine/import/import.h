/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h - pages and captures from files into a repository.
 *
 * URL lists put pages under care; archives bring their captures too, and with
 * them the visits that must have been made, so that change rates are known from
 * the first day.  Everything is written in batches: each is whole, and importing
 * again what is already there changes nothing, so an import that was cut off is
 * finished by running it again.
 */
#ifndef ENGINE_IMPORT_IMPORT_H
#define ENGINE_IMPORT_IMPORT_H

#include "base/when.h"
#include "engine/archive/archive.h"
#include "engine/book/care.h"
#include "repo/store.h"

#define IMPORT_LINE_MAX 65536           /* bytes of a line of a URL list */

struct import_stats {
	uint64_t n_lines;               /* of URL lists and sitemaps */
	uint64_t n_pages, n_known;      /* new; already there */
	uint64_t n_captures, n_doubles;
	uint64_t n_bad;                 /* malformed, each reported */
	uint64_t n_other;               /* records that hold no capture of a page */
	uint64_t n_future;              /* captures dated after `latest`, left out */
	uint64_t n_outside;             /* out of scope, left out */
	uint64_t n_removed, n_back;     /* removed before: they stay so, or come back */
};

struct import {
	struct store *store;
	const char *folder;             /* of the repository; NULL: none */
	int64_t now;                    /* when pages are said to be added */
	/* Captures dated later are left out, for who was seen in the future is never old:
	 * no policy would ask for it.  0: all are taken. */
	int64_t latest;
	/* How the pages of a WARC are read; NULL: plainly, all of them, by words. */
	const struct detectors *detectors;
	const struct ignore_list *rules;
	const char *stem;               /* language */
	const char *word_list;          /* of indexes; NULL: words.txt beside them */
	/* Called for each thing lost: "FILE:LINE: reason".  May be NULL. */
	void (*report)(void *arg, const char *text);
	/* Called after each batch; true: stop, with E_STOP.  May be NULL. */
	bool (*progress)(void *arg, uint64_t n_done);
	void *arg;
	bool weigh;                     /* import_url(): the page counts so much */
	double weight;
	struct care_rules *care;        /* what is in scope, which sites are paused; NULL: all, none */
	bool restore;                   /* pages that were removed come back */
	const char *const *tags;        /* for each page that is named */
	size_t n_tags;
	bool dry;                       /* keep nothing, only count */
	/* Or NULL.  Is this page for this store, or is it left out and not counted?  listed: of a
	 * list, which counts it with this weight (NAN: none is told). */
	bool (*takes)(void *arg, struct text url, bool listed, float weight);
	struct import_stats stats, kept;        /* all; as the last commit left them */
	/* inside */
	VEC(struct store_care) changes; /* of this batch */
	VEC(uint32_t) tagged;
	bool care_known, care_any;      /* some pages may be kept out */
	struct map met;                 /* dry: hashes of URLs that were named */
};

#define IMPORT_FUTURE DAY_SECONDS       /* clocks differ, and zones are mistaken */

/* The settings of i->store for the above, care included; to be freed, also after an error, when i has
 * done. */
struct import_settings;
MUST_CHECK int import_settings_load(struct import_settings **ret, struct import *i,
                                    struct err *err);
void import_settings_free(struct import_settings *s);

MUST_CHECK int import_file(struct import *i, const char *path, struct err *err);
/* The lines of an index that a server answered with, and closes the input.  The files that it
 * names are not looked for.  E_PARSE: it is no index. */
struct input;
MUST_CHECK int import_index(struct import *i, struct input *in, const char *name,
                            struct err *err);
/* One URL, as a user types it; a missing scheme is http. */
MUST_CHECK int import_url(struct import *i, const char *url, struct err *err);

/* In import_urls.c: one URL a line.  Leaves the input open. */
MUST_CHECK int import_urls(struct import *i, struct input *in, const char *path,
                           struct err *err);
/* In import_sitemap.c; depth: how many indexes led here.  Closes the input. */
MUST_CHECK int import_sitemap(struct import *i, struct input *in, const char *path,
                              unsigned depth, struct err *err);

/* In import_graph.c: a list of links between URLs, or adjacency by URL; closes the
 * input. */
MUST_CHECK int import_graph(struct import *i, struct input *in, const char *path,
                            struct err *err);
/* What a link of such a file means; see graph_text_resolve in graph/graph_text.h. */
MUST_CHECK int import_link(const char *page, size_t page_size, const char *link,
                           size_t link_size, struct buf *out);
/* The same for a WebGraph BVGraph, BASE or one of its files, with its URLs beside it. */
bool import_is_bvgraph(const char *path);
MUST_CHECK int import_bvgraph(struct import *i, const char *path, struct err *err);

/* After a batch: 0, or E_STOP if whoever watches says so. */
MUST_CHECK int import_show(struct import *i, uint64_t n_done, struct err *err);
/* In import_page.c: pages that a file names, each once.  The number of each is set, and what
 * came of it.  1: new, 0: known, IMPORT_OUTSIDE: it is out of
 * scope, or this is dry, and it is not taken.  Counted, but for those that are known. */
#define IMPORT_OUTSIDE 2
MUST_CHECK int import_pages(struct import *i, struct store_page *rows, size_t n, uint8_t *ret,
                            struct err *err);
/* One of them. */
MUST_CHECK int import_page(struct import *i, struct text url, uint32_t *ret, struct err *err);
/* End a batch: what was counted until now is kept. */
MUST_CHECK int import_commit(struct import *i, struct err *err);
void import_forget(struct import *i);   /* it failed: its care and tags are dropped */

/* Set the counters and imported visits of pages, each named once, right from their captures.
 * detect: NULL is by bytes. */
MUST_CHECK int import_visits_rewrite(struct store *s, const struct detectors *detect,
                                     const uint32_t *pages, size_t n, struct err *err);

#endif
