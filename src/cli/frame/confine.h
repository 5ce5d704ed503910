/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.h - the sandbox of a command: what it may do, and what is in force.
 *
 * What a command may reach follows from its table, its command line and its repository, in
 * two steps.  Before it runs: which system calls it may make, which files it may write, that
 * it runs no program, and whether it may use the network.  When its store is open: which
 * files it may read, because settings name some (certificates, cookies) and the tables
 * others (archives outside the folder).
 *
 * Programs that the user named (--fetcher, --on-change) are started by a process outside
 * (base/sandbox/starter.h).  Where the kernel lacks something the command runs without it;
 * confine_missing() says what.  --no-sandbox leaves all of it out.
 */
#ifndef CLI_FRAME_CONFINE_H
#define CLI_FRAME_CONFINE_H

#include "cli/frame/command.h"
#include "repo/store.h"

/* The first step.  Before any thread. */
void confine_begin(struct cli *cli, int n_args, char **args);
/* The second; s: the store of the command. */
void confine_reading(const struct cli *cli, struct store *s);

struct confined {
	bool off;                       /* --no-sandbox */
	int abi;                        /* of Landlock; 0: the kernel has none */
	bool calls, writing, reading, programs;         /* are limited */
	bool cells;                     /* pages and archives are read in processes of their own */
	bool network;                   /* may be used */
};

const struct confined *confine_state(void);
/* What this kernel cannot do, as words; NULL: nothing lacks. */
const char *confine_missing(void);
/* What is lost without a sandbox. */
#define CONFINE_LOST "a bug in it, found by a hostile page or archive, could read and write every " \
	"file that you may, run programs and reach every host; one that breaks a parser ends the command"

#endif
