/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - export a repository as CDXJ, WARC or WACZ.
 *
 * Both read every capture.  CDXJ lines are sorted bytewise.  WARC files get the records
 * themselves, read back from their files, so a repository built from a thousand archives
 * becomes one clean set.
 */
#ifndef ENGINE_ARCHIVE_EXPORT_H
#define ENGINE_ARCHIVE_EXPORT_H

#include <stdio.h>

#include "repo/store.h"
#include "warc/warc_compress.h"

struct export {
	struct store *store;
	const char *folder;             /* of the repository */
	/* Called for each capture or file that could not be exported; may be NULL. */
	void (*report)(void *arg, const char *text);
	void *arg;
	enum warc_compress compress;    /* of WARC files */
	uint64_t n_written;
	uint64_t n_missing;             /* captures without content: only known by index */
	uint64_t n_lost;                /* captures whose content is missing, each reported */
};

/* Write lines to out.  `extended`: with digests, counts, words and links of the pages;
 * only links to pages of the repository. */
MUST_CHECK int export_cdxj(struct export *e, bool extended, FILE *out, struct err *err);
/* Append the word list of the numbers in `terms`, one word a line. */
struct buf;
MUST_CHECK int export_words(struct store *s, struct buf *out, struct err *err);
/* WARC files into a folder (made if it is not there). */
MUST_CHECK int export_warc(struct export *e, const char *to, uint64_t seed, struct err *err);
/* One WACZ file. */
MUST_CHECK int export_wacz(struct export *e, const char *to, uint64_t seed, int64_t now,
                           struct err *err);

#endif
