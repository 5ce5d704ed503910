/* SPDX-License-Identifier: Apache-2.0 */
/*
 * on_change.h - run a command of the user when a cycle found changes.
 *
 * The command gets one JSON object a line on its standard input, as `export changed`
 * writes them, and FRESHET_CYCLE and FRESHET_REPOSITORY in its environment.  It is run
 * directly; its words are parted by blanks, and a word may stand in quotes.  With `shell`
 * /bin/sh gets the text as it is.
 */
#ifndef CLI_EXPORT_ON_CHANGE_H
#define CLI_EXPORT_ON_CHANGE_H

#include <signal.h>

#include "repo/store.h"

struct on_change {
	const char *command;            /* NULL or "": nothing is run */
	bool shell;
	int64_t seconds;                /* then the command is ended */
	const char *folder;             /* of the repository */
	const volatile sig_atomic_t *stop;      /* set: the command is ended, too; may be NULL */
};

/* Can it be run?  E_USAGE: a quote without its other, or no such program. */
MUST_CHECK int on_change_check(const struct on_change *o, struct err *err);
/* After a cycle.  Nothing is run if nothing changed.  A command that fails is not an error
 * of the cycle: the failure is logged. */
MUST_CHECK int on_change_run(const struct on_change *o, struct store *s, uint32_t cycle,
                             struct err *err);

#endif
