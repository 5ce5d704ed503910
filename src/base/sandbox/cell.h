/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell.h - hostile bytes are read by processes that may do nothing but compute.
 *
 * A cell gets a work and the bytes for it, and gives an answer; both lie in memory that it
 * shares with us, a socket says when.  It may make no system call but those for memory and for
 * that socket (CALLS_READER in calls.h), has a limit of memory, and is ended if it takes too
 * long.  If it dies, that work fails with E_READER and the next has a new cell.
 *
 * The maker is a process that is made before there are threads, and makes cells from then on:
 * so they have nothing of what the program learns later.  Cells are all alike; those that are
 * idle wait in a list, so there are as many as threads that read at a time.
 *
 * The answer of a cell is as hostile as the bytes: it is copied before anything is looked at,
 * and its readers check all of it (parcel.h).  Blind spot: a page that has taken a cell over
 * may falsify the answers about the pages that this cell reads later, and about those that came
 * in one message with it: CELL_WORKS_MAX at most, as long as they make sense.
 */
#ifndef BASE_SANDBOX_CELL_H
#define BASE_SANDBOX_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"

enum cell_work {
	CELL_DECODE,            /* undo a content encoding: warc/http_decode.c */
	CELL_PAGE,              /* read a page: engine/archive/analyse_cell.c */
	CELL_INFLATE,           /* compressed files: base/io/input_cell.c */
	CELL_COMPARE,           /* two copies of a page: web/page/compare.c */
	CELL_SITEMAP,           /* web/rules/sitemap_cell.c */
	CELL_ROBOTS,            /* robots.txt: web/rules/robots_cell.c */
	N_CELL_WORKS
};

#define CELL_PARTS_MAX 4
#define CELL_TOGETHER 16                /* works of one message */
#define CELL_WORKS_MAX 4096             /* works of one cell; then it is replaced */

/* Runs in the cell: read the parts, append the answer.  What it keeps it keeps in its own
 * static memory. */
typedef int cell_function(const struct text *parts, size_t n, struct buf *answer,
                          struct err *err);

struct cell_table {
	cell_function *works[N_CELL_WORKS];     /* NULL: not done in cells */
	void (*prepare)(void);          /* before the first: what needs files; may be NULL */
	size_t memory;                  /* bytes that a cell may have beyond ours; 0: usual */
	double seconds;                 /* of processor time for one work; 0: usual */
};

/* Make the maker.  Before any thread.  0, or an errno. */
MUST_CHECK int cells_begin(const struct cell_table *t);
/* No more: every work is done in this process again.  No cell is in use. */
void cells_end(void);
/* Is this work done in cells? */
bool cells_do(enum cell_work work);

/* One work in a cell that is idle.  `most`: bytes of the answer, which are appended to *ret.
 * check: does the answer make sense?  NULL: any does.  A cell that lied does no other work.
 * The result and the error are those of the work (cell_may_say()), or E_READER. */
typedef bool cell_check(void *arg, const char *answer, size_t size);
MUST_CHECK int cell_call(enum cell_work work, const struct text *parts, size_t n, size_t most,
                         struct buf *ret, cell_check *check, void *arg, struct err *err);

/* Many works of a kind, whose answers do not depend on each other: as if cell_call() were called
 * for each, but for fewer messages and turns of the processors (a turn takes as long as reading
 * a small page).  If anything is wrong with the answer to some, each is asked for again alone, so
 * that nobody is blamed for another. */
struct cell_job {
	struct text parts[CELL_PARTS_MAX];
	size_t n, most;
	struct buf *ret;                /* each has its own; NULL: */
	struct text *there;             /* the answer where it lies, see cell_ask() */
	cell_check *check;
	void *arg;
	int rc;                         /* what came of it */
	struct err *err;                /* may be NULL */
};
void cell_call_all(enum cell_work work, struct cell_job *jobs, size_t n);

/* A cell for works that belong together, until it is given back.  *ret: the answer where it lies,
 * until the next work.  The cell may change it at any moment: copy first, then look. */
struct cell;
MUST_CHECK int cell_take(struct cell **ret, size_t room, struct err *err);
MUST_CHECK int cell_ask(struct cell *c, enum cell_work work, const struct text *parts, size_t n,
                        size_t most, struct text *ret, struct err *err);
void cell_distrust(struct cell *c);     /* it lied: it dies, and is to be given back */
void cell_give(struct cell *c);         /* NULL is fine */

/* Is this something that bytes are guilty of?  Other errors would end the whole command. */
bool cell_may_say(int rc);
/* What a terminal would obey becomes '?'; size: of the text with its NUL. */
void cell_clean(char *text, size_t size);

/* For tests: how many were made, and how many died. */
void cells_count(uint64_t *ret_made, uint64_t *ret_died);

#endif
