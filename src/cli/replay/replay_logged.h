/* SPDX-License-Identifier: Apache-2.0 */
/* replay_logged.h - `replay --logged`: policies judged by a repository's own log. */
#ifndef CLI_REPLAY_REPLAY_LOGGED_H
#define CLI_REPLAY_REPLAY_LOGGED_H

#include "cli/frame/command.h"
#include "engine/recall/off_policy.h"

/* opts: all but the policy; report: a file, or NULL.  0 even where a policy is
 * refused: that is an answer. */
MUST_CHECK int replay_logged(struct cli *cli, const char *repository,
                             const struct option_list *specs, struct off_policy_opts opts,
                             const char *report, struct err *err);

#endif
