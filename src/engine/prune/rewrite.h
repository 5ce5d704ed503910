/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.h - private to the room: one new archive file out of records of old ones.
 *
 *     state of the tables        files
 *     -                          OLD
 *     rewrite=NEW                OLD, NEW.open growing, NEW       a crash here: NEW is deleted
 *     captures lie in NEW        OLD, NEW                         a crash here: OLD is deleted
 *     -                          NEW
 *
 * NEW is on the disk, and each of its captures was read back, before the tables name it.  The
 * tables are on the disk before OLD goes.
 */
#ifndef ENGINE_PRUNE_REWRITE_H
#define ENGINE_PRUNE_REWRITE_H

#include "base/mem.h"
#include "engine/prune/prune.h"

#define REWRITE_NAME 256

struct rewrite {
	struct prune *p;
	int folder_fd, fd;              /* of the folder that it lies in; of the file */
	char name[REWRITE_NAME];        /* its final name there */
	char row[REWRITE_NAME + 128];   /* and in the tables: that of a fleet has folders in front */
	uint64_t size;
	VEC(struct store_moved) moved;  /* captures in it; file is set at the end */
};

/* Begin a file named after `old`, with these bytes in front: the dictionary.  E_IO with p->no_room: the disk is full; rewrite_abandon()
 * then, as after any error. */
MUST_CHECK int rewrite_begin(struct rewrite *w, struct prune *p, int folder_fd,
                             const char *old, struct text front, struct err *err);
MUST_CHECK int rewrite_copy(struct rewrite *w, const char *data, size_t size,
                            struct err *err);
/* Complete the file, read its captures back, and have the tables name it. */
MUST_CHECK int rewrite_end(struct rewrite *w, struct err *err);
void rewrite_abandon(struct rewrite *w);

#endif
