/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_world.c - `freshet world FILE`: a made-up history, to try replay on. */
#include "cli/frame/command.h"
#include "engine/archive/world.h"

static int world_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct world_opts *o = opts;
	struct world_stats made;
	struct json j;
	int rc;

	(void)n_args;
	o->seed = cli->common.seed;
	rc = world_write(o, args[0], &made, err);
	if (rc < 0 || !strcmp(args[0], "-"))
		return rc;
	if (cli->common.json) {
		cli_json_begin(&j, "world");
		json_kstr(&j, "file", args[0]);
		json_kint(&j, "sites", o->sites);
		json_kint(&j, "pages", (int64_t)made.pages);
		json_kint(&j, "captures", (int64_t)made.captures);
		cli_json_end(&j);
	} else {
		log_info("%llu pages of %lld sites, %llu captures; next: freshet replay %s",
		         (unsigned long long)made.pages, (long long)o->sites,
		         (unsigned long long)made.captures, args[0]);
	}
	return 0;
}

const struct command command_world = {
	.name = "world",
	.reach = MAY_WRITE_ARGS | MAY_SKIP_STORE,
	.arguments = "FILE",
	.summary = "write a made-up history of pages as a trace, to try `freshet replay` on",
	.description =
		"Sites with directories with pages, which change at rates of their own and in bursts\n"
		"of whole directories. Every knob has a known consequence: without bursts and spreads\n"
		"pages are independent, and no honest policy can beat random under --observe cycle.\n\n"
		"FILE may end in .gz or .zst; - is standard output.",
	.examples =
		"  freshet world world.cdxj && freshet replay world.cdxj --policy all\n"
		"  freshet world quiet.cdxj --burst 0\n"
		"  freshet world old.cdxj --site-dies .3 --dir-dies .3 --page-dies .2\n"
		"  freshet world old.cdxj --site-dies .3 && freshet replay old.cdxj --goal alive\n",
	.options = world_options,
	.opts_size = sizeof(struct world_opts),
	.n_args_min = 1,
	.n_args_max = 1,
	.run = world_run,
};
