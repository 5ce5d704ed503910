/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h - private to the room: the archive files, and which of their records are used. */
#ifndef ENGINE_PRUNE_SWEEP_H
#define ENGINE_PRUNE_SWEEP_H

#include "base/map.h"
#include "base/mem.h"
#include "engine/prune/rewrite.h"

struct used { uint64_t id; int64_t offset, size; uint32_t file; };

struct file {
	uint64_t size;                  /* on the disk */
	uint64_t bytes;                 /* of records that captures lie in */
	size_t first, n;                /* in `used` */
	bool there;                     /* a file of ours, in our folder, complete */
	bool known;                     /* the tables have a row of it */
	bool shared;                    /* another shard names it, too */
	bool kept;                      /* it cannot be written anew */
};

struct sweep {
	struct prune *p;
	int fd, to;                     /* of warc/; of the folder for new files */
	struct strtab names;            /* of files, below warc/ */
	VEC(struct file) files;
	VEC(struct used) used;          /* by file and offset */
};

/* Take the files in: what is used, what is there.  Delete those that no capture lies in, then do
 * the work; NULL: there is none. */
MUST_CHECK int sweep_files(struct prune *p, int (*work)(struct sweep *, struct err *),
                           struct err *err);
void sweep_step(const struct sweep *w, const char *what);
/* The error of a file that cannot be written anew. */
int sweep_unfit(struct sweep *w, uint32_t i, const char *why, struct err *err);
/* The bytes of a file; munmap() them. */
MUST_CHECK int sweep_map(struct sweep *w, uint32_t i, char **ret, uint64_t *ret_size,
                         struct err *err);
/* What is in front of the records: the dictionary of a .warc.zst, a skippable frame. */
struct text sweep_front(const char *map, uint64_t size);
/* Have a file written anew if much of it is unused, or if it is shared: 1, else 0. */
MUST_CHECK int sweep_anew(struct sweep *w, uint32_t i, struct err *err);
/* Its name without folders. */
const char *sweep_base(const char *name);
/* The new file takes the place of n old ones, which are deleted. */
MUST_CHECK int sweep_replace(struct sweep *w, const uint32_t *old, size_t n,
                             const struct rewrite *new, struct err *err);
/* An error of one file does not end the sweep: it is left as it is, and reported. */
MUST_CHECK int sweep_leave(struct sweep *w, uint32_t i, int rc, const struct err *why,
                           struct err *err);

#endif
