/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - the names a repository keeps of archive files.
 *
 * A file inside the repository's folder is kept by its path from there, so that
 * the folder can be moved; any other by its absolute path.  A bare name that was
 * found nowhere is kept as it came.
 */
#ifndef ENGINE_ARCHIVE_PLACE_H
#define ENGINE_ARCHIVE_PLACE_H

#include "base/buf.h"

#define PLACE_SIZE_MAX 8192

/* Append the name for a file that an archive `source` (itself a file) speaks of:
 * `told` as given, looked for as it stands and beside the source. */
void place_name(const char *folder, const char *source, const char *told, struct buf *out);
/* Append the path to open: as it stands if absolute, else in the folder, else in
 * its warc/, also if a cycle still writes to it: what the store knows is there. */
void place_path(const char *folder, const char *name, struct buf *out);

#endif
