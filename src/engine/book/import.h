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
#ifndef ENGINE_BOOK_IMPORT_H
#define ENGINE_BOOK_IMPORT_H

#include "base/when.h"
#include "engine/archive/archive.h"
#include "repo/store.h"

#define IMPORT_LINE_MAX 65536           /* bytes of a line of a URL list */

struct import_stats {
	uint64_t n_lines;               /* of URL lists and sitemaps */
	uint64_t n_pages, n_known;      /* new; already there */
	uint64_t n_captures, n_doubles;
	uint64_t n_bad;                 /* malformed, each reported */
	uint64_t n_other;               /* records that hold no capture of a page */
	uint64_t n_future;              /* captures dated after `latest`, left out */
};

struct import {
	struct store *store;
	const char *folder;             /* of the repository; NULL: none */
	int64_t now;                    /* when pages are said to be added */
	/* Captures dated later are left out, for who was seen in the future is never old:
	 * no policy would ask for it.  0: all are taken. */
	int64_t latest;
	/* How the pages of a WARC are read; NULL: plainly, all of them, by words. */
	const struct detector *detector;
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
	struct import_stats stats, kept;        /* all; as the last commit left them */
};

#define IMPORT_FUTURE DAY_SECONDS       /* clocks differ, and zones are mistaken */

/* The settings of i->store for the above; to be freed, also after an error, when i has
 * done. */
struct import_settings;
MUST_CHECK int import_settings_load(struct import_settings **ret, struct import *i,
                                    struct err *err);
void import_settings_free(struct import_settings *s);

MUST_CHECK int import_file(struct import *i, const char *path, struct err *err);
/* One URL, as a user types it; a missing scheme is http. */
MUST_CHECK int import_url(struct import *i, const char *url, struct err *err);

/* In import_sitemap.c; depth: how many indexes led here.  Closes the input. */
struct input;
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
/* End a batch: what was counted until now is kept. */
MUST_CHECK int import_commit(struct import *i, struct err *err);

/* Set a page's counters and imported visits right from its captures.  detect: NULL is by
 * bytes. */
MUST_CHECK int settle_page(struct store *s, const struct detector *detect, uint32_t page,
                           struct err *err);

#endif
