/* SPDX-License-Identifier: Apache-2.0 */
/*
 * running.h - run a command: from the program's command line, or, in a thread of
 * `freshet serve`, from a request.
 *
 * A command writes its JSON document to output_standard() (base/io/output.h).
 */
#ifndef CLI_FRAME_RUNNING_H
#define CLI_FRAME_RUNNING_H

#include "cli/frame/command.h"

/* Parse the words after the command's name; arguments are moved to the front of argv.  To be
 * released, also after an error. */
MUST_CHECK int running_parse(struct cli *cli, const struct command *c, const char *line,
                             int argc, char **argv, int *ret_n, struct err *err);
/* Check what goes together, then run it. */
MUST_CHECK int running_go(struct cli *cli, int n, char **args, struct err *err);
void running_release(struct cli *cli);

#endif
