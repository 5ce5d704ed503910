/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logs.h - what other crawlers write of their visits: Heritrix's crawl.log, and the text that
 * Nutch's `readdb -dump` makes.  Pure functions on lines, which are not changed.
 *
 * crawl.log: a line a URI, in columns:
 *
 *     TIME STATUS SIZE URI PATH VIA MIME THREAD BEGAN+DURATION DIGEST SOURCE ANNOTATIONS
 *
 * STATUS is that of HTTP; 1 is a name that was resolved, below 0 nothing was fetched.
 *
 * readdb -dump: some lines a URL, and an empty one:
 *
 *     URL TAB Version: 7
 *     Status: 2 (db_fetched)
 *     Fetch time: Sat Jan 01 00:00:00 UTC 2011
 *     Retry interval: 2592000 seconds (30 days)
 *     ...
 *
 * The fetch time is that of the next fetch; the last one was a retry interval before.  The
 * signature is left out: it is an MD5 of the bytes or of a profile of words, and nothing
 * that we see later could be compared with it.
 */
#ifndef WARC_LOGS_LOGS_H
#define WARC_LOGS_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

#define LOGS_LINE_MAX (64u << 10)       /* bytes of a line */
#define LOGS_URL_MAX 8192               /* bytes of a URL that stands for several lines */

/* One visit; texts are slices of the line (Nutch: of the reader). */
struct logs_visit {
	struct text url, mime, digest;
	int64_t time;                   /* INT64_MIN: never visited */
	int status;
	int64_t length;                 /* -1: unknown */
};

enum logs_verdict {
	LOGS_VISIT,             /* *ret is set */
	LOGS_OTHER,             /* a line that is no visit of a page */
	LOGS_MORE,              /* Nutch: the lines of a URL go on */
	LOGS_BAD                /* *ret_reason is a static text */
};

bool logs_is_heritrix(const char *line, size_t size);
enum logs_verdict logs_heritrix(const char *line, size_t size, struct logs_visit *ret,
                                const char **ret_reason);

struct logs_nutch {             /* zeroed at first */
	char url[LOGS_URL_MAX];
	size_t url_size;        /* 0: none is open */
	bool known_time, bad;
	int64_t next, interval;
	int status;             /* Nutch's number; -1: not told */
};

bool logs_is_nutch(const char *line, size_t size);
/* The next line; size 0 (an empty line, or the end) ends a URL. */
enum logs_verdict logs_nutch(struct logs_nutch *n, const char *line, size_t size,
                             struct logs_visit *ret, const char **ret_reason);
/* "Sat Jan 01 00:00:00 UTC 2011", as Java prints it.  Zones that are not known count as UTC. */
bool logs_java_time(const char *s, size_t size, int64_t *ret);

#endif
