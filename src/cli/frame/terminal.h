/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.h - colour, and paging of long output, for a person at a terminal.
 *
 * Both are decided once, before a command runs.  Colour: as --color says; `auto` means on
 * a terminal that is not `dumb`, unless NO_COLOR is set and not empty.  Paging: on a
 * terminal, for commands that are read (struct command, `read`), by FRESHET_PAGER, else
 * PAGER, else less.  An empty one or `cat` means no paging.
 */
#ifndef CLI_FRAME_TERMINAL_H
#define CLI_FRAME_TERMINAL_H

#include <stdbool.h>

#define TERMINAL_COLORS "auto|always|never"
enum terminal_color { TERMINAL_AUTO, TERMINAL_ALWAYS, TERMINAL_NEVER };

enum tone { TONE_HEAD, TONE_ADDED, TONE_REMOVED, TONE_BAD };

void terminal_begin(enum terminal_color color, bool page);
/* Wait until the person has read what was paged. */
void terminal_end(void);

/* What turns a tone on and off on standard output.  Both are "" without colour. */
const char *tone_on(enum tone tone);
const char *tone_off(void);
/* The same for messages on standard error. */
const char *tone_on_messages(enum tone tone);
const char *tone_off_messages(void);

#endif
