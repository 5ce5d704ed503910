/* SPDX-License-Identifier: Apache-2.0 */
/* commands.c - the list of commands, their common options, and begin and end of their
 * JSON documents; see command.h. */
#include <stdio.h>

#include "base/io/output.h"
#include "base/option/near.h"
#include "cli/frame/command.h"
#include "cli/frame/repository.h"
#include "cli/frame/terminal.h"
#include "repo/place.h"

const struct option_spec common_options[] = {
	{ .name = "repository", .type = OPTION_TEXT, .letter = 'C', .def = ".", .arg = "DIR",
	  .offset = offsetof(struct common_opts, repository), .help = "the repository" },
	OPT_TEXT(common_opts, store, NULL, "URL",
	         "where the repository's tables are: sqlite:FILE or postgresql://... (default: DIR/freshet.db)"),
	{ .name = "shard", .type = OPTION_INT, .def = "-1", .min = -1, .max = 65535, .arg = "K",
	  .offset = offsetof(struct common_opts, shard),
	  .help = "of a fleet, this shard only; -1: all of them, or that of the page" },
	OPT_INT(common_opts, seed, 1, 0, 9e15, "seed of every random choice"),
	OPT_FLAG(common_opts, json, "results as JSON"),
	OPT_FLAG(common_opts, quiet, "no messages but errors"),
	OPT_FLAG(common_opts, verbose, "more messages"),
	OPT_CHOICE(common_opts, color, TERMINAL_COLORS, "auto",
	           "colours; auto: on a terminal, unless NO_COLOR is set"),
	OPT_FLAG(common_opts, no_pager, "long output on a terminal is not paged"),
	OPT_FLAG(common_opts, no_sandbox, "run without the limits on files, network, programs and system "
	         "calls: for tools that look into the program"),
	{ .name = "help", .type = OPTION_FLAG, .letter = 'h',
	  .offset = offsetof(struct common_opts, help), .help = "this text" },
	{ .name = "version", .type = OPTION_FLAG, .letter = 'V',
	  .offset = offsetof(struct common_opts, version), .help = "the version" },
	OPT_END
};

#define COMMAND(x) extern const struct command command_##x;
#include "cli/frame/commands.def"
#undef COMMAND

static const struct command *const commands[] = {
#define COMMAND(x) &command_##x,
#include "cli/frame/commands.def"
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

int command_unknown(const char *name, struct err *err)
{
	struct near near = near_begin(name, strlen(name));
	char option[REPOSITORY_OPTION_SIZE];

	if (place_is_repository(name))
		return err_set(err, E_USAGE, "no command '%s', but a repository: freshet %sCOMMAND; "
		               "`freshet help` lists the commands", name, repository_option(name, option));
	for (size_t i = 0; command_at(i); i++)
		near_try(&near, command_at(i)->name);
	if (near.best)
		return err_set(err, E_USAGE, "no command '%s'; did you mean %s? `freshet help` lists "
		               "the commands", name, near.best);
	return err_set(err, E_USAGE, "no command '%s'; `freshet help` lists the commands", name);
}

void cli_json_begin(struct json *j, const char *command)
{
	json_to_file(j, output_standard());
	cli_json_schema(j, command);
}

void cli_json_schema(struct json *j, const char *command)
{
	char schema[64];

	json_object(j);
	snprintf(schema, sizeof schema, "freshet.%s/1", command);
	json_kstr(j, "schema", schema);
}

void cli_json_option(struct json *j, const struct option_spec *s)
{
	char shown[64];

	option_display(s, shown);
	json_kstr(j, "name", shown);
	json_kstr(j, "default", s->def);
	json_kstr(j, "values", s->type == OPTION_FLAG ? "0|1" : s->arg);
	if (s->max > s->min) {
		json_knum(j, "min", s->min);
		json_knum(j, "max", s->max);
	}
	json_kstr(j, "help", s->help);
}

void cli_json_end(struct json *j)
{
	json_end_object(j);
	json_newline(j);
}

bool cli_given(const struct cli *cli, const char *name)
{
	return cli->given[option_find(cli->options, name, strlen(name)) - cli->options];
}
