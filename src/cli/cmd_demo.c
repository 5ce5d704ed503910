/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_demo.c - `freshet demo`: a small made-up web, kept fresh by several
 * policies side by side.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/pool.h"
#include "cli/command.h"
#include "cli/replay_print.h"
#include "engine/experiment.h"
#include "engine/trace.h"
#include "engine/world.h"

static const char *const shown[] = { "random", "round-robin", "neighbour:by=dir,d=0" };

static int compare(const char *trace, const struct cli *cli, struct err *err)
{
	struct option_list specs = { 0 };
	struct trace_report report = { 0 };
	struct replay_opts ro = { .cycle_seconds = 14 * DAY_SECONDS, .budget = { 2, true } };
	struct history h;
	struct replay r = { 0 };
	struct experiment x = { 0 };
	struct arena keep = { 0 };
	unsigned needs = 0;
	int rc = 0;

	for (size_t i = 0; i < sizeof shown / sizeof *shown && rc == 0; i++)
		rc = policy_expand(shown[i], &specs, &keep, err);
	if (rc == 0)
		rc = policy_list_needs(&specs, &needs, err);
	history_init(&h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS);
	if (rc == 0)
		rc = trace_load(&h, &trace, 1, &report, err);
	if (rc == 0)
		rc = replay_open(&r, &h, &ro, needs, err);
	if (rc == 0)
		rc = experiment_run(&x, &r, &specs, (uint64_t)cli->common.seed, 5, pool_threads(),
		                    NULL, NULL, err);
	if (rc == 0) {
		struct replay_output out = { .x = &x, .first = true };

		if (cli->common.json)
			replay_print_json(&out, stdout);
		else
			replay_print_table(&out, stdout);
	}
	experiment_release(&x);
	replay_close(&r);
	history_release(&h);
	free(specs.v);
	arena_release(&keep);
	return rc;
}

static int demo_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct world_opts *o = opts;
	char path[] = "/tmp/freshet-demo-XXXXXX";
	int fd, rc;

	(void)n_args;
	(void)args;
	o->seed = cli->common.seed;
	if (o->write)
		return world_write(o, o->write, err);
	fd = mkstemp(path);
	if (fd < 0)
		return err_errno(err, E_IO, "%s", path);
	close(fd);
	if (!cli->common.json)
		puts("A made-up web with sites, directories and bursts; every policy may download "
		     "2 % of it each cycle.\n");
	rc = world_write(o, path, err);
	if (rc == 0)
		rc = compare(path, cli, err);
	unlink(path);
	return rc;
}

const struct command command_demo = {
	.name = "demo",
	.arguments = "",
	.summary = "a small made-up web, refreshed by several policies side by side",
	.examples = "  freshet demo\n"
	            "  freshet demo --burst 0 --write quiet.cdxj\n",
	.options = world_options,
	.opts_size = sizeof(struct world_opts),
	.n_args_min = 0,
	.n_args_max = 0,
	.run = demo_run,
};
