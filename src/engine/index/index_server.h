/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_server.h - captures from a server of CDX indexes: pywb, the Internet Archive's,
 * Common Crawl's, OutbackCDX.
 *
 *     import cdx+https://index.example/coll/cdx?url=example.org&matchType=host
 *
 * The answer is read page by page, as the server does it; each page is kept before the next
 * is asked for, and where we are is kept with it, so that an import that was killed goes on.
 * Requests go one after the other through the fetcher: the address gate, the delay, Retry-After
 * and proxies hold.  robots.txt is not asked for: the user names this very address.
 *
 * The server is hostile: the size of an answer, the number of requests and the length of a
 * key have caps, and a server that gives the same key twice is left.  The WARC files that it
 * names are not ours, so only what the index says of the captures is kept.
 */
#ifndef ENGINE_INDEX_INDEX_SERVER_H
#define ENGINE_INDEX_INDEX_SERVER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define INDEX_PREFIX "cdx+"
#define INDEX_ANSWER_MAX ((size_t)256 << 20)    /* bytes of one answer, decoded */
#define INDEX_REQUESTS_MAX 100000
#define INDEX_KEY_MAX 4096                      /* bytes of a resumption key */
#define INDEX_LIMIT 10000                       /* captures that are asked for at a time */

struct fetch_options;
struct import;

/* "cdx+http..." */
bool index_server_is(const char *text);
/* Read all of it into i->store; *stop (or NULL) ends it after the page that is under way. */
MUST_CHECK int index_server_import(struct import *i, const char *url,
                                   const struct fetch_options *fetch,
                                   const volatile sig_atomic_t *stop, struct err *err);

/* In index_page.c.  The number of pages that an answer to showNumPages gives: a number, or
 * JSON with `pages`; -1: it is another answer. */
int64_t index_page_count(const char *body, size_t size);
/* Take the resumption key off the end of an answer: a line of its own behind an empty one, or
 * the last row of a JSON array behind an empty row.  *size becomes that of the lines; the key
 * is copied to out[INDEX_KEY_MAX].  False: there is none. */
bool index_page_key(const char *body, size_t *size, char *out);
/* Lines that are not empty. */
uint64_t index_page_lines(const char *body, size_t size);

#endif
