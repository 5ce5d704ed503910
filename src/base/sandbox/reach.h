/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.h - what this process may reach from now on, by Landlock.
 *
 * A reach is a list of paths, and what may be done below each.  Limits are added, never
 * lifted; they hold for this thread, threads and processes that it starts later, and, from
 * version 8 of Landlock on, for all threads.  Connections and signals are limited where the
 * kernel can do it: Debian's header ends at version 2, so later rights are defined here.
 *
 * A path that is not there is left out.  What a path leads to is fixed when the limit is
 * set: a file that is replaced later is another file, so folders are better.
 */
#ifndef BASE_SANDBOX_REACH_H
#define BASE_SANDBOX_REACH_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"

#define REACH_ABI_MIN 2                 /* version 1 forbids every move between folders */

enum reach_right { REACH_READ = 1, REACH_WRITE = 2, REACH_RUN = 4 };

struct reach_path { char *path; unsigned rights; };

struct reach { VEC(struct reach_path) paths; };

/* The version of Landlock that the kernel has; 0: none. */
int reach_abi(void);

/* May be read, written or run, and what is below it, if it is a folder. */
void reach_add(struct reach *r, const char *path, unsigned rights);
/* A file that may be made, or replaced: its folder, or the nearest one that there is.  A
 * device or a pipe is only written to. */
void reach_add_output(struct reach *r, const char *path);
/* The folder that a file is in. */
void reach_add_folder(struct reach *r, const char *path, unsigned rights);
void reach_release(struct reach *r);

struct reach_limits {
	unsigned rights;                /* reach_right, or-ed: allowed for the paths only */
	bool no_connect, no_listen;     /* TCP */
	bool no_signals;                /* to processes outside */
	bool no_abstract;               /* unix sockets without a file */
};

/* 0, or an errno. */
MUST_CHECK int reach_limit(const struct reach *r, const struct reach_limits *l);

#endif
