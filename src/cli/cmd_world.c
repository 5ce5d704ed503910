/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_world.c - `freshet world FILE`: a made-up history, to try replay on. */
#include "cli/command.h"
#include "engine/world.h"

static int world_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct world_opts *o = opts;

	(void)n_args;
	o->seed = cli->common.seed;
	return world_write(o, args[0], err);
}

const struct command command_world = {
	.name = "world",
	.arguments = "FILE",
	.summary = "write a made-up history of pages as a trace, to try `freshet replay` on",
	.description =
		"Sites with directories with pages, which change at rates of their own and in bursts\n"
		"of whole directories. Every knob has a known consequence: without bursts and spreads\n"
		"pages are independent, and no honest policy can beat random under --observe cycle.",
	.examples =
		"  freshet world world.cdxj && freshet replay world.cdxj --policy all\n"
		"  freshet world quiet.cdxj --burst 0\n",
	.options = world_options,
	.opts_size = sizeof(struct world_opts),
	.n_args_min = 1,
	.n_args_max = 1,
	.run = world_run,
};
