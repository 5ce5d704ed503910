/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - the settings of a fleet, as options of `freshet cycle`; for `work` and `serve`. */
#ifndef CLI_CMD_CRAWL_SCHEDULE_H
#define CLI_CMD_CRAWL_SCHEDULE_H

#include "base/mem.h"
#include "cli/frame/command.h"
#include "engine/fleet/work.h"

struct schedule { struct cli *cli; const char *url; };

/* Options of `freshet cycle`, filled from the settings in the store; running_release() in any
 * case. */
MUST_CHECK int schedule_options(const struct schedule *s, struct cli *ret, struct store *store,
                                struct arena *texts, struct err *err);
/* every, budget, policy and aim of the cycles that open from now on. */
MUST_CHECK int schedule_load(const struct schedule *s, struct work_schedule *ret,
                             struct err *err);
/* E_USAGE if the fleet has no contact, without which it asks nobody. */
MUST_CHECK int schedule_named(const struct schedule *s, struct err *err);

#endif
