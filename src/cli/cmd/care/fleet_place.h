/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_place.h - where shards live: who works on them, and who has their archive files. */
#ifndef CLI_CMD_CARE_FLEET_PLACE_H
#define CLI_CMD_CARE_FLEET_PLACE_H

#include "cli/frame/command.h"

/* Of all shards, or of those that these URLs belong to. */
MUST_CHECK int fleet_place(struct cli *cli, int n, char **urls, struct err *err);

#endif
