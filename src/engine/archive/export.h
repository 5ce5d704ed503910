/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - what a repository holds, in the formats of other programs.
 *
 * Both walk every capture.  CDXJ lines come bytewise sorted; WARC files hold the
 * records themselves, read back from the files they lie in, so that a repository
 * built from a thousand archives becomes one clean set.
 */
#ifndef ENGINE_ARCHIVE_EXPORT_H
#define ENGINE_ARCHIVE_EXPORT_H

#include <stdio.h>

#include "repo/store.h"

struct export {
	struct store *store;
	const char *folder;             /* of the repository */
	/* Called for each thing that could not be exported; may be NULL. */
	void (*report)(void *arg, const char *text);
	void *arg;
	uint64_t n_written;
	uint64_t n_missing;             /* captures without content: only known by index */
	uint64_t n_lost;                /* content that is no longer there, each reported */
};

/* Lines to out; `extended` with what was read out of the pages, links only to
 * pages of the repository. */
MUST_CHECK int export_cdxj(struct export *e, bool extended, FILE *out, struct err *err);
/* The word list that the numbers in `terms` mean, one a line, appended to out. */
struct buf;
MUST_CHECK int export_words(struct store *s, struct buf *out, struct err *err);
/* WARC files into a folder (made if it is not there). */
MUST_CHECK int export_warc(struct export *e, const char *to, uint64_t seed, struct err *err);

#endif
