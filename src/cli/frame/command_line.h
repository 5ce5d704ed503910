/* SPDX-License-Identifier: Apache-2.0 */
/* command_line.h - the command line as text that can be pasted into a shell. */
#ifndef CLI_FRAME_COMMAND_LINE_H
#define CLI_FRAME_COMMAND_LINE_H

/* For free().  Quoted where a shell needs it; the password of a URL is `***`. */
char *command_line(int argc, char **argv);

#endif
