/* SPDX-License-Identifier: Apache-2.0 */
/* backup_file.h - private to the room: bytes from file to file, read back and compared. */
#ifndef ENGINE_BACKUP_BACKUP_FILE_H
#define ENGINE_BACKUP_BACKUP_FILE_H

#include "engine/backup/backup.h"

#define BACKUP_PATH 4400

/* Bring the file `to` up to `size` bytes of `from`.  What it has already is taken to be the
 * same if its end is; else it is another file, and a new one takes its place when it is
 * whole.  Returns 1, or 0 if `from` is not there or shorter. */
MUST_CHECK int backup_file_copy(const char *from, const char *to, uint64_t size,
                                uint64_t *ret_copied, struct err *err);
/* Write a small file, whole or not at all. */
MUST_CHECK int backup_file_write(const char *path, const char *text, struct err *err);
MUST_CHECK int backup_file_hash(const char *path, uint64_t *ret, struct err *err);
MUST_CHECK int backup_file_sync_folder(const char *path, struct err *err);

#endif
