/* SPDX-License-Identifier: Apache-2.0 */
/* cell_inner.h - what our side (cell_pool.c, cell.c) and the maker with its cells
 * (cell_maker.c) share. */
#ifndef BASE_SANDBOX_CELL_INNER_H
#define BASE_SANDBOX_CELL_INNER_H

#include <sys/types.h>

#include "base/sandbox/cell.h"

#define CELL_MEMORY ((size_t)1 << 30)
#define CELL_SECONDS 30.

/* At the beginning of the shared memory; only so many as there are works in it.  The parts follow,
 * then there is room for the answers, one behind the other. */
struct cell_one {
	/* the work */
	uint32_t n_parts;
	uint64_t at[CELL_PARTS_MAX], size[CELL_PARTS_MAX];
	uint64_t most;                  /* bytes of the answer */
	/* what came of it */
	int32_t rc;
	uint64_t answer_at, answer_size;
	char why[sizeof ((struct err *)0)->text];
};

struct cell_head {
	uint32_t work, n;
	uint64_t answers_at, answers_end;
	uint32_t n_done;                /* those behind it had no room */
	struct cell_one one[CELL_TOGETHER];
};

struct cell {
	struct cell *next;              /* in the list of idle ones */
	int fd;
	pid_t pid;
	char *shared;
	size_t size;
	unsigned n_works;
	bool dead;
};

/* Where something may begin in the shared memory. */
static inline uint64_t cell_round_up(uint64_t n)
{
	return (n + 63) & ~(uint64_t)63;
}

/* It is dead, or has to be, and counts as such.  What it died of, or -1: nobody can say. */
int cell_end(struct cell *c);
/* Of processor time, for one work. */
double cell_seconds(void);

/* A cell is asked for with a socket and its shared memory. */
struct cell_order { uint64_t size; };
struct cell_made { pid_t pid; int error; };

/* In the maker: serve orders until the other side is gone. */
_Noreturn void cell_maker_run(int from, const struct cell_table *t);

#endif
