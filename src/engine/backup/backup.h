/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backup.h - a copy of a repository that is itself a repository; `freshet backup`, `restore`.
 *
 * The tables of one moment are copied first, then what the archive files hold that they name.
 * An archive file only grows, and its records are on the disk before a row names them; so
 * the files, copied later, have all that the tables of that moment know.  A file that pruning
 * took away meanwhile is the reason to begin again with newer tables.
 *
 *     what is done                                a kill here leaves
 *     archive files are added, or grow            the old backup: its tables know less of them
 *     freshet.db.part is written                  the old backup
 *     `backup` names both tables by their hashes  the old backup
 *     freshet.db.part becomes freshet.db          the new backup
 *     files that it does not know are deleted     the new backup; check calls them orphans,
 *                                                 and the next backup deletes them
 *
 * Only bytes that the copy does not have are copied, and each of them is read back and
 * compared.  `backup` in the folder says that it is one, and by a hash which tables it
 * wrote: a folder whose tables are others is a repository of its own and is refused.
 */
#ifndef ENGINE_BACKUP_BACKUP_H
#define ENGINE_BACKUP_BACKUP_H

#include "base/io/progress.h"
#include "repo/store.h"

#define BACKUP_MARK "backup"

struct backup {
	const char *folder, *to;        /* of the repository; of the copy */
	bool no_tables;                 /* they are in another database: only archives */
	bool unmarked;                  /* the copy is to be a repository, not a backup */
	/* Open the store for reading, as it is now. */
	int (*open)(void *arg, struct store **ret, struct err *err);
	void *arg;
	struct progress progress;
	/* what came of it */
	uint64_t n_files, n_copied, n_deleted;  /* archive files; new or grown; that went */
	uint64_t bytes, bytes_copied;           /* of them all; that were copied */
	uint64_t bytes_tables;
	uint64_t n_outside;             /* files that lie outside of the folder: not copied */
	bool first;                     /* there was no backup before */
};

/* The folder `to` is made unless it exists.  E_USAGE: it is something else. */
MUST_CHECK int backup_run(struct backup *b, struct err *err);

#endif
