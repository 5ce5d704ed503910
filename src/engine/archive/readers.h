/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readers.h - which readers of hostile bytes run in cells (base/sandbox/cell.h).
 *
 * Pages are read and content encodings undone there, for the crawl, imports and replays;
 * copies of a page are compared and compressed files are unpacked there.  Read by this process are what is plain text anyway:
 * heads of HTTP and WARC, index lines, robots.txt, sitemaps, lists of URLs.
 */
#ifndef ENGINE_ARCHIVE_READERS_H
#define ENGINE_ARCHIVE_READERS_H

#include "base/sandbox/cell.h"

/* The table of all of them. */
struct cell_table readers_table(void);
/* From now on they run in cells.  Before any thread.  0, or an errno. */
MUST_CHECK int readers_begin(void);

#endif
