/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.h - what was recalled, kept in a file beside the store, so that the next start
 * need not tell every visit again.
 *
 * A cache, never the truth: one that is missing, damaged or not exactly of this repository,
 * policy and program means that everything is recalled.  A full disk, or a folder that
 * cannot be written to, only means that there is none.
 *
 * It is good for the program that reads it if its key is the same.  That is a hash of all
 * that a policy saw and of how it was asked: version, spec, seed, goal, aim, length of a
 * cycle; the URLs of all pages and when they were added, links, PageRank, sizes, weights;
 * the rows of the cycles told; and store_past(), which is raised when the past changes.
 *
 * Hostile files.  Whoever gives away a repository could put numbers of their choice into a
 * snapshot.  So it counts only on the machine, and in the very file (device and inode), that
 * it was written to: a copy of it is no snapshot.
 */
#ifndef ENGINE_RECALL_SNAPSHOT_H
#define ENGINE_RECALL_SNAPSHOT_H

#include "engine/cycle/cycle.h"
#include "policy/frozen.h"

#define SNAPSHOT_END "-memory"  /* its name: that of the store, and this */

/* The part of the key that an engine and its view make; the caller adds to it. */
uint64_t snapshot_key(const struct engine *e, uint64_t h);

/* Open the snapshot beside a store's file.  It has seen so many own cycles, and is good for
 * who has the same key for them.  False: there is none. */
bool snapshot_open(struct frozen *f, const char *store, uint32_t *ret_cycles,
                   uint64_t *ret_key);
/* Nothing more is read.  False: something is left or damaged, and what was read is not good. */
bool snapshot_close(struct frozen *f);

struct output;
/* Write one: begin, freeze, end.  NULL: it cannot be written. */
struct output *snapshot_begin(struct frozen *f, const char *store, uint32_t cycles,
                              uint64_t key);
void snapshot_end(struct frozen *f, struct output *o);

#endif
