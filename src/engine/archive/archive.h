/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive.h - read any file of captures as a stream of records.
 *
 * The first bytes decide the kind of a file, never its name.
 */
#ifndef ENGINE_ARCHIVE_ARCHIVE_H
#define ENGINE_ARCHIVE_ARCHIVE_H

#include "base/err.h"
#include "engine/archive/record.h"
#include "web/page/change.h"

enum archive_kind {
	ARCHIVE_URLS,           /* one URL a line */
	ARCHIVE_CDX,            /* CDX, CDXJ, extended CDXJ */
	ARCHIVE_WARC,
	ARCHIVE_SITEMAP,        /* XML */
	ARCHIVE_GRAPH,          /* links between URLs */
	ARCHIVE_WACZ,           /* WARC files in a ZIP file */
	ARCHIVE_HERITRIX,       /* crawl.log */
	ARCHIVE_NUTCH,          /* text of readdb -dump */
	ARCHIVE_UNKNOWN,        /* neither text nor any of these */
};

struct input;
struct lexicon;

const char *archive_kind_name(enum archive_kind kind);
/* Does text begin like a list of links? */
bool archive_is_graph(const char *s, size_t size);
/* Peeks only. */
MUST_CHECK int archive_sniff(struct input *in, enum archive_kind *ret, struct err *err);

/* Open a file and find its kind.  Damage at the beginning is skipped up to the next
 * member, if there is one; each skipped part is reported and counted. */
struct archive_reader;
MUST_CHECK int archive_open(struct archive_reader *r, const char *path, struct input **ret,
                            enum archive_kind *ret_kind, struct err *err);

struct archive_stats {
	uint64_t n_records;             /* delivered */
	uint64_t n_bad;                 /* malformed, each reported */
	uint64_t n_other;               /* records that hold no capture of a page */
};

struct archive_reader {
	/* Called for each record; a negative result ends the reading. */
	int (*record)(void *arg, const struct record *r, struct err *err);
	/* Called for a page that is named and was never visited; only its URL is set.  May be
	 * NULL. */
	int (*page)(void *arg, const struct record *r, struct err *err);
	/* Called for data that could not be read: "FILE:LINE: reason".  May be NULL. */
	void (*report)(void *arg, const char *text);
	void *arg;
	/* The detectors that WARC pages are read for; NULL: without refinements. */
	const struct detectors *detectors;
	/* Elements left out of their digests; NULL: none. */
	const struct ignore_list *rules;
	/* Word list for the terms of WARC pages; NULL: words are not counted. */
	struct lexicon *lexicon;
	bool unplaced;                  /* WARC: records cannot be found again by offset */
	struct archive_stats stats;
	const struct input *in;         /* current input, for progress */
};

/* Read the captures of an input of that kind, and close it; URL lists and
 * sitemaps are E_USAGE here. */
MUST_CHECK int archive_read_input(struct archive_reader *r, struct input *in,
                                  enum archive_kind kind, struct err *err);
/* The digest of no bytes at all. */
bool archive_is_empty_digest(struct text digest);
/* Part of archive_read_input(), in archive_warc.c. */
MUST_CHECK int archive_read_warc(struct archive_reader *r, struct input *in, struct err *err);
/* The same, in archive_logs.c. */
MUST_CHECK int archive_read_log(struct archive_reader *r, struct input *in,
                                enum archive_kind kind, struct err *err);
/* The same, in archive_wacz.c. */
MUST_CHECK int archive_read_wacz(struct archive_reader *r, const char *path, struct err *err);
/* Has it records with the pages themselves? */
static inline bool archive_has_content(enum archive_kind kind)
{
	return kind == ARCHIVE_WARC || kind == ARCHIVE_WACZ;
}
MUST_CHECK int archive_read(struct archive_reader *r, const char *path, struct err *err);

#endif
