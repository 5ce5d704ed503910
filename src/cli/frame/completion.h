/* SPDX-License-Identifier: Apache-2.0 */
/* completion.h - bash completion, made from the tables of the commands. */
#ifndef CLI_FRAME_COMPLETION_H
#define CLI_FRAME_COMPLETION_H

void completion_print(void);            /* the script, on stdout */

#endif
