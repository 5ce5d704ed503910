/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - finds the command, parses its options, runs it, and turns its error
 * into a message and an exit status.
 *
 *   freshet [common options] COMMAND [options] [arguments]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/near.h"
#include "cli/command.h"
#include "cli/command_line.h"

const struct option_spec common_options[] = {
	{ .name = "repository", .type = OPTION_TEXT, .letter = 'C', .def = ".", .arg = "DIR",
	  .offset = offsetof(struct common_opts, repository), .help = "the repository" },
	OPT_TEXT(common_opts, store, NULL, "URL",
	         "where the repository's tables are: sqlite:FILE (default: DIR/freshet.db)"),
	OPT_INT(common_opts, seed, 1, 0, 9e15, "seed of every random choice"),
	OPT_FLAG(common_opts, json, "results as JSON"),
	OPT_FLAG(common_opts, quiet, "no messages but errors"),
	OPT_FLAG(common_opts, verbose, "more messages"),
	OPT_FLAG(common_opts, help, "this text"),
	OPT_FLAG(common_opts, version, "the version"),
	OPT_END
};

#define COMMAND(x) extern const struct command command_##x;
#include "cli/commands.def"
#undef COMMAND

static const struct command *const commands[] = {
#define COMMAND(x) &command_##x,
#include "cli/commands.def"
#undef COMMAND
};

const struct command *command_at(size_t i)
{
	return i < sizeof commands / sizeof *commands ? commands[i] : NULL;
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; command_at(i); i++)
		if (!strcmp(command_at(i)->name, name))
			return command_at(i);
	return NULL;
}

void cli_json_begin(struct json *j, const char *command)
{
	json_to_file(j, stdout);
	cli_json_schema(j, command);
}

void cli_json_schema(struct json *j, const char *command)
{
	char schema[64];

	json_object(j);
	snprintf(schema, sizeof schema, "freshet.%s/1", command);
	json_kstr(j, "schema", schema);
}

void cli_json_end(struct json *j)
{
	json_end_object(j);
	json_newline(j);
}

static void no_command(const char *name, struct err *err)
{
	struct near near = near_begin(name, strlen(name));

	for (size_t i = 0; command_at(i); i++)
		near_try(&near, command_at(i)->name);
	if (near.best)
		err_set(err, E_USAGE, "no command '%s'; did you mean %s? `freshet help` lists the "
		        "commands", name, near.best);
	else
		err_set(err, E_USAGE, "no command '%s'; `freshet help` lists the commands", name);
}

/* The first word that is no option (or an option's value) is the command. */
static const struct command *find_command(int *argc, char **argv, struct err *err)
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
			no_command(a, err);
			return NULL;
		}
		memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof *argv);
		--*argc;
		return c;
	}
	return command_find("help");
}

static int check_arguments(const struct command *c, int n, struct err *err)
{
	if (n < c->n_args_min || (c->n_args_max >= 0 && n > c->n_args_max))
		return err_set(err, E_USAGE, "%s: wants %s; see freshet %s --help", c->name,
		               *c->arguments ? c->arguments : "no arguments", c->name);
	return 0;
}

static int run_command(const struct command *c, int argc, char **argv, const char *line,
                       struct err *err)
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
	if (rc < 0)
		err_prefix(err, "%s", c->name);
	if (cli.common.quiet)
		log_set_level(LOG_QUIET);
	else if (cli.common.verbose)
		log_set_level(LOG_DEBUG);
	if (rc == 0 && cli.common.version) {
		puts("freshet " FRESHET_VERSION);
	} else if (rc == 0 && cli.common.help) {
		command_print_help(c, stdout);
	} else if (rc == 0) {
		rc = check_arguments(c, n, err);
		if (rc == 0)
			rc = c->run(&cli, cli.opts, n, argv + 1, err);
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
	int rc = E_USAGE;

	signal(SIGPIPE, SIG_DFL);
	c = find_command(&argc, argv, &err);
	if (c)
		rc = run_command(c, argc, argv, line, &err);
	free(line);
	if (fflush(stdout) && rc == 0)
		rc = err_errno(&err, E_IO, "standard output");
	if (rc < 0)
		fprintf(stderr, "freshet: %s\n", err.text);
	return err_exit_status(rc < 0 ? rc : 0);
}
