/* SPDX-License-Identifier: Apache-2.0 */
/* confine_system.h - what the libraries of every command must reach; for confine.c. */
#ifndef CLI_FRAME_CONFINE_SYSTEM_H
#define CLI_FRAME_CONFINE_SYSTEM_H

#include "base/sandbox/reach.h"

/* network: it connects; crawls: to the web, perhaps for hours. */
void confine_system(struct reach *r, bool network, bool crawls);
/* Files that are named within the text of a connection: sslrootcert=/etc/... */
void confine_connection(struct reach *r, const char *text);
/* The program itself, and what loads it. */
void confine_own_program(struct reach *r);

#endif
