/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_help.c - the list of commands; man pages and completion from the tables. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli/frame/command.h"
#include "cli/completion/completion.h"

struct help_opts {
	const char *man_pages;
	bool completion;
	int shell;
};

static const struct option_spec help_options[] = {
	OPT_OUTPUT(help_opts, man_pages, NULL, "DIR", "write the man pages there"),
	OPT_FLAG(help_opts, completion, "print a completion script for a shell"),
	OPT_CHOICE(help_opts, shell, COMPLETION_SHELLS, "bash", "which shell's script"),
	OPT_END
};
static const char *const help_needs[][2] = { { "shell", "completion" }, { NULL, NULL } };

static const char intro[] =
	"Freshet keeps a crawl fresh on a fixed download budget: it decides which pages\n"
	"to download again, sees what changed, learns, and proves its choice on recorded\n"
	"history.\n";

/* Run by tests/e2e/examples.sh, as the examples of every command. */
static const char first_steps[] =
	"    freshet demo                                  # a living web on loopback\n"
	"    freshet init crawl\n"
	"    freshet -C crawl import urls.txt              # one URL a line\n"
	"    freshet -C crawl set contact mailto:you@example.org\n"
	"    freshet -C crawl cycle --budget 1000          # copies, then changes\n"
	"    freshet replay archive.cdxj.gz --policy all   # proof on recorded history\n";

#define STATUSES "0 done, 1 failed, 2 usage, 3 file or disk, 4 network, 5 store, " \
	"130 interrupted.\n"

/* The exit statuses of a command: each with its number and what it means. */
static void each_exit(const struct command *c,
                      void (*each)(FILE *out, int status, const char *text, int size),
                      FILE *out)
{
	static const struct { int status; const char *text; } usual[] = {
		{ 0, "done" }, { 1, NULL }, { 2, "wrong usage: nothing was done" },
		{ 3, "a file or the disk: missing, damaged, full" }, { 4, NULL },
		{ 5, "the tables: missing, damaged, held by another program, or their server away" },
		{ 130, "interrupted" },
	};

	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
		const char *text = usual[i].text, *line = c->exits;

		for (; line && *line; line = strchr(line, '\n') + 1)
			if (atoi(line) == usual[i].status)
				text = strchr(line, ' ') + 1;
		if (text)
			each(out, usual[i].status, text, (int)strcspn(text, "\n"));
	}
}

static void help_exit(FILE *out, int status, const char *text, int size)
{
	fprintf(out, "  %-4d %.*s\n", status, size, text);
}

static void man_exit(FILE *out, int status, const char *text, int size)
{
	fprintf(out, ".TP\n.B %d\n%.*s\n", status, size, text);
}

static void print_overview(FILE *out)
{
	fprintf(out, "%s\nusage: freshet COMMAND [options] [arguments]\n\n", intro);
	for (size_t i = 0; command_at(i); i++)
		fprintf(out, "  %-10s %s\n", command_at(i)->name, command_at(i)->summary);
	fputs("\nOptions of every command:\n", out);
	option_print_help(common_options, out);
	fprintf(out, "\nFirst steps:\n%s\n`freshet COMMAND --help` tells more. Exit status: 0 done, "
	        "1 failed, 2 wrong usage,\n3 file or disk, 4 nothing reachable, 5 store, 130 "
	        "interrupted.\n", first_steps);
}

void command_print_help(const struct command *c, FILE *out)
{
	fprintf(out, "usage: freshet %s%s%s%s\n\n%s\n", c->name, c->options ? " [options]" : "",
	        *c->arguments ? " " : "", c->arguments, c->summary);
	if (c->description)
		fprintf(out, "\n%s\n", c->description);
	if (c->options) {
		fputs("\nOptions:\n", out);
		option_print_help(c->options, out);
	}
	fputs("\nOptions of every command:\n", out);
	option_print_help(common_options, out);
	fputs("\nExit status:\n", out);
	each_exit(c, help_exit, out);
	if (c->examples)
		fprintf(out, "\nExamples:\n%s", c->examples);
}

static void json_options(struct json *j, const char *key, const struct option_spec *s)
{
	json_key(j, key);
	json_array(j);
	for (; s && s->name; s++) {
		json_object(j);
		cli_json_option(j, s);
		json_kbool(j, "repeatable", s->type == OPTION_LIST);
		json_kbool(j, "setting", s->setting);
		json_end_object(j);
	}
	json_end_array(j);
}

void command_print_json(const struct command *c)
{
	struct json j;

	cli_json_begin(&j, "help");
	json_kstr(&j, "name", c->name);
	json_kstr(&j, "arguments", c->arguments);
	json_kstr(&j, "summary", c->summary);
	json_kstr(&j, "description", c->description);
	json_options(&j, "options", c->options);
	json_options(&j, "common_options", common_options);
	json_kstr(&j, "examples", c->examples);
	cli_json_end(&j);
}

void command_print_overview(bool as_json)
{
	const struct command *c;
	struct json j;

	if (!as_json) {
		print_overview(stdout);
		return;
	}
	cli_json_begin(&j, "help");
	json_key(&j, "commands");
	json_array(&j);
	for (size_t i = 0; (c = command_at(i)); i++) {
		json_object(&j);
		json_kstr(&j, "name", c->name);
		json_kstr(&j, "summary", c->summary);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_options(&j, "common_options", common_options);
	cli_json_end(&j);
}

/* roff text: '-' as itself, backslash safe, no line that looks like a request. */
static void roff_text(FILE *out, const char *s, bool literal)
{
	bool start = true;

	for (; *s; s++) {
		if (start && (*s == '.' || *s == '\''))
			fputs("\\&", out);
		if (*s == '\n' && s[1] == '\n' && !literal) {
			fputs("\n.PP", out);
			continue;
		}
		if (*s == '-')
			fputs("\\-", out);
		else if (*s == '\\')
			fputs("\\e", out);
		else
			fputc(*s, out);
		start = *s == '\n';
	}
	fputc('\n', out);
}

void command_print_man(const struct command *c, FILE *out)
{
	fputs(".TH FRESHET-", out);
	for (const char *s = c->name; *s; s++)
		fputc(toupper((unsigned char)*s), out);
	fputs(" 1 \"\" \"freshet " FRESHET_VERSION "\" \"Freshet\"\n", out);
	fprintf(out, ".SH NAME\nfreshet-%s \\- ", c->name);
	roff_text(out, c->summary, false);
	fprintf(out, ".SH SYNOPSIS\n.B freshet %s\n[options] ", c->name);
	roff_text(out, c->arguments, false);
	if (c->description) {
		fputs(".SH DESCRIPTION\n", out);
		roff_text(out, c->description, false);
	}
	fputs(".SH OPTIONS\n", out);
	if (c->options)
		option_print_man(c->options, out);
	option_print_man(common_options, out);
	if (c->examples) {
		fputs(".SH EXAMPLES\n.nf\n", out);
		roff_text(out, c->examples, true);
		fputs(".fi\n", out);
	}
	fputs(".SH EXIT STATUS\n", out);
	each_exit(c, man_exit, out);
	fputs(".SH SEE ALSO\n.BR freshet (1)\n", out);
}

static int open_page(const char *dir, const char *name, FILE **ret, struct err *err)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	*ret = fopen(path, "w");
	return *ret ? 0 : err_errno(err, E_IO, "%s", path);
}

static int write_man_pages(const char *dir, struct err *err)
{
	FILE *out;
	int rc;

	if (mkdir(dir, 0777) && errno != EEXIST)
		return err_errno(err, E_IO, "%s", dir);
	rc = open_page(dir, "freshet.1", &out, err);
	if (rc < 0)
		return rc;
	fputs(".TH FRESHET 1 \"\" \"freshet " FRESHET_VERSION "\" \"Freshet\"\n.SH NAME\n"
	      "freshet \\- keeps a crawl fresh on a fixed download budget\n.SH SYNOPSIS\n"
	      ".B freshet\nCOMMAND [options] [arguments]\n.SH DESCRIPTION\n", out);
	roff_text(out, intro, false);
	fputs(".SH COMMANDS\n", out);
	for (size_t i = 0; command_at(i); i++) {
		fprintf(out, ".TP\n.BR freshet-%s (1)\n", command_at(i)->name);
		roff_text(out, command_at(i)->summary, false);
	}
	fputs(".SH OPTIONS\n", out);
	option_print_man(common_options, out);
	fputs(".SH EXAMPLES\n.nf\n", out);
	roff_text(out, first_steps, true);
	fputs(".fi\n.SH FILES\n.TP\n.I freshet.db\nthe tables of a repository: pages, "
	      "captures, visits, cycles, settings\n.TP\n.I warc/\nthe answers, as WARC\n"
	      ".SH EXIT STATUS\n" STATUSES, out);
	fclose(out);
	for (size_t i = 0; command_at(i); i++) {
		char name[80];

		snprintf(name, sizeof name, "freshet-%s.1", command_at(i)->name);
		rc = open_page(dir, name, &out, err);
		if (rc < 0)
			return rc;
		command_print_man(command_at(i), out);
		if (fclose(out))
			return err_errno(err, E_IO, "%s/%s", dir, name);
	}
	return 0;
}

static int help_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct help_opts *o = opts;
	const struct command *c;

	if (o->man_pages)
		return write_man_pages(o->man_pages, err);
	if (o->completion) {
		completion_print((enum completion_shell)o->shell);
		return 0;
	}
	if (n_args) {
		c = command_find(args[0]);
		if (!c)
			return command_unknown(args[0], err);
		if (cli->common.json)
			command_print_json(c);
		else
			command_print_help(c, stdout);
		return 0;
	}
	command_print_overview(cli->common.json);
	return 0;
}

const struct command command_help = {
	.name = "help",
	.reach = MAY_SKIP_STORE,
	.arguments = "[COMMAND]",
	.summary = "the commands, or one command's options",
	.examples = "  freshet help replay\n"
	            "  freshet help --completion --shell fish\n",
	.options = help_options,
	.needs = help_needs,
	.opts_size = sizeof(struct help_opts),
	.n_args_min = 0,
	.n_args_max = 1,
	.read = true,
	.run = help_run,
};
