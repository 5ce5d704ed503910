/* SPDX-License-Identifier: Apache-2.0 */
/* running.c - see running.h. */
#include "cli/frame/running.h"

#include "cli/frame/folders.h"
#include "cli/frame/shards.h"

static int check_arguments(const struct command *c, int n, struct err *err)
{
	if (n < c->n_args_min || (c->n_args_max >= 0 && n > c->n_args_max))
		return err_set(err, E_USAGE, "%s: wants %s; see freshet %s --help", c->name,
		               *c->arguments ? c->arguments :
		               "no arguments (-C DIR names a repository)", c->name);
	return 0;
}

/* An option that would be ignored is a mistake. */
static int check_needs(const struct cli *cli, struct err *err)
{
	const char *const (*pair)[2] = cli->command->needs;

	for (; pair && (*pair)[0]; pair++) {
		char shown[2][64];

		if (!cli_given(cli, (*pair)[0]) || cli_given(cli, (*pair)[1]))
			continue;
		for (int i = 0; i < 2; i++)
			option_display(option_find(cli->options, (*pair)[i], strlen((*pair)[i])), shown[i]);
		return err_set(err, E_USAGE, "%s: --%s goes with --%s", cli->command->name, shown[0],
		               shown[1]);
	}
	return 0;
}

static int run_on_arguments(struct cli *cli, int n, char **args, struct err *err)
{
	struct option_list files = { 0 };
	struct arena keep = { 0 };
	int rc;

	if (!cli->command->archives)
		return cli->command->run(cli, cli->opts, n, args, err);
	rc = folders_expand(n, args, &files, &keep, err);
	if (rc == 0)
		rc = cli->command->run(cli, cli->opts, (int)files.n, (char **)(uintptr_t)files.v, err);
	free(files.v);
	arena_release(&keep);
	return rc;
}

int running_parse(struct cli *cli, const struct command *c, const char *line, int argc,
                  char **argv, int *ret_n, struct err *err)
{
	static const struct option_spec none[] = { OPT_END };
	struct option_group groups[2];

	*cli = (struct cli){ .command = c, .options = c->options ? c->options : none,
	                     .line = line };
	cli->opts = mem_zalloc(1, c->opts_size);
	cli->given = mem_zalloc(option_count(cli->options) + 1, sizeof *cli->given);
	cli->common_given = mem_zalloc(option_count(common_options), sizeof *cli->common_given);
	groups[0] = (struct option_group){ common_options, &cli->common, cli->common_given };
	groups[1] = (struct option_group){ cli->options, cli->opts, cli->given };
	option_defaults(common_options, &cli->common);
	option_defaults(cli->options, cli->opts);
	return option_parse_args(groups, 2, argc, argv, ret_n, err);
}

int running_go(struct cli *cli, int n, char **args, struct err *err)
{
	int rc = check_arguments(cli->command, n, err);

	if (rc == 0)
		rc = check_needs(cli, err);
	return rc < 0 ? rc : shards_run(cli, n, args, run_on_arguments, err);
}

void running_release(struct cli *cli)
{
	option_release(cli->options, cli->opts);
	free(cli->opts);
	free(cli->given);
	free(cli->common_given);
}
