/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - a pass over many pages by a few threads.
 *
 * Rows 0 .. n - 1 are divided into blocks, and pass(arg, block, from, to) is called once
 * for each block.  A pass writes only to its rows and to what belongs to its block.  The
 * blocks do not depend on the number of threads, and sums are made in the order of the
 * blocks: so neither do results.  Few rows are one block, in the caller's thread.
 */
#ifndef POLICY_SWEEP_H
#define POLICY_SWEEP_H

#include "policy/view.h"

#define SWEEP_BLOCKS 64
#define SWEEP_FEW 16384         /* rows that are not worth a thread */

typedef void sweep_pass(void *arg, unsigned block, size_t from, size_t to);

/* The blocks of n rows: 1 or SWEEP_BLOCKS. */
unsigned sweep_blocks(size_t n);
/* v->threads are used. */
void sweep(const struct view *v, size_t n, unsigned n_blocks, sweep_pass *pass, void *arg);

#endif
