/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_print.h - a fleet as its ledger has it: the cycle, shards, workers, the log. */
#ifndef CLI_CMD_READ_FLEET_PRINT_H
#define CLI_CMD_READ_FLEET_PRINT_H

#include "cli/frame/shards.h"

/* `freshet status` of a fleet; shards, workers: with these tables. */
MUST_CHECK int fleet_print_status(struct cli *cli, bool shards, bool workers, struct err *err);
/* `freshet log` of a fleet: its last cycles. */
MUST_CHECK int fleet_print_log(struct cli *cli, uint32_t last, struct err *err);

#endif
