/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.h - the zstd dictionary of a repository's archive files.
 *
 * It is learned once, from pages of the repository, and lies beside the archives as
 * DICTIONARY_FILE.  Only what writes new files reads it: every file has its own copy at
 * its front.  Whoever removes it has another one learned at the next cycle.
 */
#ifndef ENGINE_ARCHIVE_DICTIONARY_H
#define ENGINE_ARCHIVE_DICTIONARY_H

#include "repo/store.h"
#include "warc/warc_compress.h"

#define DICTIONARY_FILE "dictionary.zstd"

/* warc_folder: of the archive files.  *ret is NULL where there are too few pages to learn
 * from; then files are written without one.  keep: what was learned is written there. */
MUST_CHECK int dictionary_open(struct warc_dictionary **ret, struct store *s,
                               const char *warc_folder, bool keep, struct err *err);

#endif
