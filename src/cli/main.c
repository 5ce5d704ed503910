/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - finds the command, parses its options, runs it, and turns its error
 * into a message and an exit status.
 *
 *   freshet [common options] COMMAND [options] [arguments]
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/frame/command.h"
#include "cli/frame/command_line.h"
#include "cli/frame/folders.h"

/* The first word that is neither an option nor its value is the command.  Without one the
 * command is help, and *ret_named is false. */
static const struct command *find_command(int *argc, char **argv, bool *ret_named,
                                          int *ret_rc, struct err *err)
{
	const struct command *c;

	for (int i = 1; i < *argc; i++) {
		const char *a = argv[i];

		if (a[0] == '-') {
			const struct option_spec *s = a[1] == '-' ?
				option_find(common_options, a + 2, strlen(a + 2)) : NULL;

			if (!strcmp(a, "-C") || (s && s->type != OPTION_FLAG))
				i++;
			continue;
		}
		c = command_find(a);
		if (!c) {
			*ret_rc = command_unknown(a, err);
			return NULL;
		}
		memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof *argv);
		--*argc;
		*ret_named = true;
		return c;
	}
	return command_find("help");
}

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

static void print_version(bool as_json)
{
	struct json j;

	if (!as_json) {
		puts("freshet " FRESHET_VERSION);
		return;
	}
	cli_json_begin(&j, "version");
	json_kstr(&j, "version", FRESHET_VERSION);
	cli_json_end(&j);
}

/* named: the user gave the command's name. */
static int run_command(const struct command *c, bool named, int argc, char **argv,
                       const char *line, struct err *err)
{
	static const struct option_spec none[] = { OPT_END };
	struct cli cli = { .command = c, .options = c->options ? c->options : none,
	                   .line = line };
	struct option_group groups[2];
	int n = 0, rc;

	cli.opts = mem_zalloc(1, c->opts_size);
	cli.given = mem_zalloc(option_count(cli.options) + 1, sizeof *cli.given);
	cli.common_given = mem_zalloc(option_count(common_options), sizeof *cli.common_given);
	groups[0] = (struct option_group){ common_options, &cli.common, cli.common_given };
	groups[1] = (struct option_group){ cli.options, cli.opts, cli.given };
	option_defaults(common_options, &cli.common);
	option_defaults(cli.options, cli.opts);
	rc = option_parse_args(groups, 2, argc - 1, argv + 1, &n, err);
	if (rc < 0 && named)
		err_prefix(err, "%s", c->name);
	if (cli.common.quiet)
		log_set_level(LOG_QUIET);
	else if (cli.common.verbose)
		log_set_level(LOG_DEBUG);
	if (rc == 0 && cli.common.version) {
		print_version(cli.common.json);
	} else if (rc == 0 && cli.common.help && !named) {
		command_print_overview(cli.common.json);
	} else if (rc == 0 && cli.common.help && cli.common.json) {
		command_print_json(c);
	} else if (rc == 0 && cli.common.help) {
		command_print_help(c, stdout);
	} else if (rc == 0) {
		rc = check_arguments(c, n, err);
		if (rc == 0)
			rc = check_needs(&cli, err);
		if (rc == 0)
			rc = run_on_arguments(&cli, n, argv + 1, err);
	}
	option_release(cli.options, cli.opts);
	free(cli.opts);
	free(cli.given);
	free(cli.common_given);
	return rc;
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	const struct command *c;
	char *line = command_line(argc, argv);
	bool named = false;
	int rc = 0;

	signal(SIGPIPE, SIG_DFL);
	c = find_command(&argc, argv, &named, &rc, &err);
	if (c)
		rc = run_command(c, named, argc, argv, line, &err);
	free(line);
	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && rc == 0) {
		errno = errno ? errno : EIO;    /* of an earlier flush it is no longer known */
		rc = err_errno(&err, E_IO, "standard output");
	}
	if (rc < 0)
		fprintf(stderr, "freshet: %s\n", log_plain(err.text));
	return err_exit_status(rc < 0 ? rc : 0);
}
