/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cachefile.h - a file beside the store with what can be made again: read and written by
 * policy/frozen.h.
 *
 *   name of the format | origin | what it is about | content | hash of all before
 *
 * A cache, never the truth: who opens one compares what it is about with what is wanted, and
 * does not use it if that differs in a bit, or if the hash at its end is wrong.  A full disk,
 * or a folder that cannot be written to, only means that there is none.
 *
 * Hostile files.  Whoever gives away a repository could put numbers of their choice into it.
 * So it counts only on the machine, and in the very file (device and inode), that it was
 * written to: a copy of it is none.
 */
#ifndef ENGINE_VIEW_CACHEFILE_H
#define ENGINE_VIEW_CACHEFILE_H

#include "policy/frozen.h"

/* Open the file whose name is that of the store and then `end`, and read about[size], by which
 * the caller sees whether it is the right one.  store may be NULL.  False: there is no file. */
bool cachefile_open(struct frozen *f, const char *store, const char *end, void *about,
                    size_t size);
/* Call it when all was read.  False: the file is longer or damaged; throw away what was read. */
bool cachefile_close(struct frozen *f);
/* Close one that is not wanted after all. */
void cachefile_leave(struct frozen *f);

enum cachefile_state {
	CACHEFILE_NONE, CACHEFILE_GOOD, CACHEFILE_DAMAGED,
	CACHEFILE_FOREIGN,              /* of another version or machine, or a copy: not used */
};
/* Is it whole, whatever it is about? */
enum cachefile_state cachefile_check(const char *store, const char *end);

struct output;
/* Write one: begin, freeze, end.  NULL: it cannot be written. */
struct output *cachefile_begin(struct frozen *f, const char *store, const char *end,
                               void *about, size_t size);
void cachefile_end(struct frozen *f, struct output *o);

#endif
