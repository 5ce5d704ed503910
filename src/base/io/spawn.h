/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - programs of the user's that we start: a command as words, and how it is run.
 *
 * A command is a text with blanks between words; '...' and "..." hold blanks together.  There
 * is no shell, so nothing else has a meaning.
 */
#ifndef BASE_IO_SPAWN_H
#define BASE_IO_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

#define SPAWN_WORDS_MAX 256

/* Split a command into words, in place of `text`; a NULL follows them.  Returns how many, or
 * -1: a quote without its other. */
int spawn_words(char *text, char *words[SPAWN_WORDS_MAX + 1]);
/* Does the command name a program that is there?  what: the option, for the message. */
MUST_CHECK int spawn_check(const char *command, const char *what, struct err *err);
/* Start the words, with `in` as standard input and `out` as standard output (-1: ours), in a
 * process group of its own: Ctrl-C is for us.  extra: "NAME=value" that its environment gets
 * besides ours; a NULL ends them.  Returns 0 or an errno. */
MUST_CHECK int spawn_start(char *const *words, int in, int out, const char *const *extra,
                           pid_t *ret_pid);

#endif
