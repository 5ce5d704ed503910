/* SPDX-License-Identifier: Apache-2.0 */
/* replay_print.h - an experiment as table, JSON or CSV. */
#ifndef CLI_REPLAY_REPLAY_PRINT_H
#define CLI_REPLAY_REPLAY_PRINT_H

#include <stdio.h>

#include "base/io/json.h"
#include "engine/replay/experiment.h"

struct replay_sites;

struct replay_output {
	const struct experiment *x;
	const struct replay_sites *sites;       /* used if they were measured */
	uint32_t sites_most;                    /* in JSON; 0: all */
	bool no_time;                   /* nothing that a clock measured */
	bool first;                     /* of several in one output */
};

void replay_print_table(const struct replay_output *o, FILE *out);
void replay_print_json(const struct replay_output *o, struct json *j);
void replay_print_csv(const struct replay_output *o, FILE *out);
/* The policy knows what none can: a ceiling, no rival. */
bool replay_knows_truth(const char *spec);
/* Was the budget too small for --max-age, in any cycle of any seed? */
bool replay_guarantee_broken(const struct experiment *x, const struct policy_result *p);
/* The share of downloads that failed, over all seeds. */
double replay_failed_share(const struct experiment *x, const struct policy_result *p);

#endif
