/* SPDX-License-Identifier: Apache-2.0 */
/* completion.h - completion scripts for shells, made from the tables of the commands. */
#ifndef CLI_COMPLETION_COMPLETION_H
#define CLI_COMPLETION_COMPLETION_H

#include <stdio.h>

#include "cli/frame/command.h"

#define COMPLETION_SHELLS "bash|zsh|fish"
enum completion_shell { COMPLETION_BASH, COMPLETION_ZSH, COMPLETION_FISH };

void completion_print(enum completion_shell shell);     /* the script, on stdout */

/* For the scripts.  Each prints words with one space between them. */
void completion_choices(const char *choices);           /* "a|b" as "a b" */
void completion_policies(void);
/* Are the command's arguments words from a list? */
bool completion_has_words(const struct command *c);
void completion_words(const struct command *c);         /* that list, if there is one */
/* Is the option's value a policy? */
bool completion_takes_policy(const struct option_spec *s);

void completion_bash(void);
void completion_zsh(void);
void completion_fish(void);

#endif
