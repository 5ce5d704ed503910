/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_name.h - names of archive files, as a repository stores them.
 *
 * A file inside the repository's folder is stored by its path from there, so the folder
 * can be moved; any other file by its absolute path.  A name that was not found is stored
 * as it was given.
 */
#ifndef ENGINE_ARCHIVE_ARCHIVE_NAME_H
#define ENGINE_ARCHIVE_ARCHIVE_NAME_H

#include "base/buf.h"

#define ARCHIVE_NAME_MAX 8192

/* Append the name to store for the file `told`, which the archive file `source` names.
 * The file is looked for under that path, and beside the source. */
void archive_name_make(const char *folder, const char *source, const char *told,
                       struct buf *out);
/* Append the path to open: the name itself if absolute; else in the folder; else in its
 * warc/, as NAME, or NAME.open while a cycle writes it. */
void archive_name_path(const char *folder, const char *name, struct buf *out);

#endif
