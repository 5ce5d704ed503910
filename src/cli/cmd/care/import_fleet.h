/* SPDX-License-Identifier: Apache-2.0 */
/* import_fleet.h - `freshet import` and `add` on a fleet; only cmd_import.c uses it. */
#ifndef CLI_CMD_CARE_IMPORT_FLEET_H
#define CLI_CMD_CARE_IMPORT_FLEET_H

#include "cli/frame/shards.h"
#include "engine/import/import.h"

/* Import what goes over the files, one by one, into i.  Pages of lists go to the inboxes of
 * their shards; of archives each shard takes its own, file by file.  *ret_left: shards whose
 * workers do what is left. */
typedef int import_all(struct import *i, int n, char **args, struct err *err);
MUST_CHECK int import_fleet(struct cli *cli, struct import *i, import_all *all, int n,
                            char **args, uint32_t *ret_left, struct err *err);

#endif
