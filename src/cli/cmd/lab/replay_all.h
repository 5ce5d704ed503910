/* SPDX-License-Identifier: Apache-2.0 */
/* replay_all.h - the options of `freshet replay`, and its experiments. */
#ifndef CLI_CMD_LAB_REPLAY_ALL_H
#define CLI_CMD_LAB_REPLAY_ALL_H

#include "cli/frame/command.h"
#include "engine/history/history.h"

struct replay_cli_opts {
	struct option_list policy;
	const char *cycle, *budget, *detect;
	int64_t start, end, seeds, threads;
	int goal, aim, observe, at, weight, weights, site_by;
	bool join, csv, no_time, logged, by_site;
	double confidence;
	const char *visits;
	const char *max_age;
	struct share site_share, retry_share;
	const char *fail;
	bool search;
	const char *queries, *words;
	int64_t n_queries, k, relevant;
	double text_weight;
	int map_divisor;
	const char *figures, *svg;
	const char *report, *doing;
	int64_t shards, loaded;
	int shard_by, split;
};

/* Every cycle length with every budget: each is one experiment, with its own table or JSON
 * document.  needs: of all policies. */
MUST_CHECK int replay_all(struct cli *cli, const struct replay_cli_opts *o,
                          const struct history *h, const struct strtab *words,
                          const struct option_list *specs, unsigned needs, struct err *err);

#endif
