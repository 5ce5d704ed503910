/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starter.h - a process that starts programs of the user's for one that may no longer.
 *
 * It is made before the limits are set and has none, nor have the programs: a browser has to
 * do what the user may.  It starts only the commands that it knew when it was made; the other
 * side chooses which, hands over their standard input and output, and adds to their
 * environment.  They are children of the other side, which waits for them.  It ends when the
 * other side does.
 */
#ifndef BASE_SANDBOX_STARTER_H
#define BASE_SANDBOX_STARTER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* Make it; commands: n lists of words, each ended by NULL, which must stay there.  0, or an
 * errno.  Before any thread. */
MUST_CHECK int starter_begin(char *const *const *commands, size_t n);
/* Is there one? */
bool starter_runs(void);
/* As spawn_start() (base/io/spawn.h).  EACCES: it does not know the command. */
MUST_CHECK int starter_start(char *const *words, int in, int out, const char *const *extra,
                             pid_t *ret_pid);

#endif
