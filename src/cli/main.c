/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - finds the command, parses its options, runs it, and turns its error
 * into a message and an exit status.
 *
 *   freshet [common options] COMMAND [options] [arguments]
 */
#include <errno.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/frame/command.h"
#include "cli/frame/command_line.h"
#include "cli/frame/confine.h"
#include "cli/frame/running.h"
#include "cli/frame/terminal.h"

/* The first word that is neither an option nor its value is the command.  Without one the
 * command is help, and *ret_named is false. */
static const struct command *find_command(int *argc, char **argv, bool *ret_named,
                                          int *ret_rc, struct err *err)
{
	const struct command *c;
	const char *unknown = NULL;     /* the option before this word, if no command has it */

	for (int i = 1; i < *argc; i++) {
		const char *a = argv[i];

		if (a[0] == '-') {
			size_t size = a[1] == '-' ? strcspn(a + 2, "=") : 0;
			const struct option_spec *s = size ?
				option_find(common_options, a + 2, size) : NULL;

			if (!strcmp(a, "-C") || (s && s->type != OPTION_FLAG && !a[2 + size]))
				i++;
			unknown = s || strchr("ChV", a[1]) ? NULL : a;
			continue;
		}
		c = command_find(a);
		if (!c) {
			*ret_rc = unknown ? err_set(err, E_USAGE, "no option %s comes before a command%s; "
			                            "those of a command come behind its name", unknown,
			                            unknown[1] == 'c' ? " (-C DIR names the repository)" : "") :
			                    command_unknown(a, err);
			return NULL;
		}
		memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof *argv);
		--*argc;
		*ret_named = true;
		return c;
	}
	return command_find("help");
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
	struct cli cli;
	int n = 0, rc = running_parse(&cli, c, line, argc - 1, argv + 1, &n, err);

	if (rc < 0 && named)
		err_prefix(err, "%s", c->name);
	if (cli.common.quiet)
		log_set_level(LOG_QUIET);
	else if (cli.common.verbose)
		log_set_level(LOG_DEBUG);
	terminal_begin((enum terminal_color)cli.common.color, rc == 0 && !cli.common.no_pager &&
	               (c->read || cli.common.help));
	if (rc == 0 && cli.common.version) {
		print_version(cli.common.json);
	} else if (rc == 0 && cli.common.help && !named) {
		command_print_overview(cli.common.json);
	} else if (rc == 0 && cli.common.help && cli.common.json) {
		command_print_json(c);
	} else if (rc == 0 && cli.common.help) {
		command_print_help(c, stdout);
	} else if (rc == 0) {
		confine_begin(&cli, n, argv + 1);
		rc = running_go(&cli, n, argv + 1, err);
	}
	running_release(&cli);
	return rc;
}

/* OpenSSL that has no memory while it starts crashes later, or does without a hash.  So it ends
 * as we do: with a message. */
static void *crypto_alloc(size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return mem_alloc(size);
}

static void *crypto_resize(void *p, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	if (size)
		return mem_resize(p, size, 1);
	free(p);
	return NULL;
}

static void crypto_free(void *p, const char *file, int line)
{
	(void)file;
	(void)line;
	free(p);
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	const struct command *c;
	char *line = command_line(argc, argv);
	bool named = false;
	int rc = 0;

	signal(SIGPIPE, SIG_DFL);
	CRYPTO_set_mem_functions(crypto_alloc, crypto_resize, crypto_free);
	terminal_begin(TERMINAL_AUTO, false);   /* until the options are known */
	c = find_command(&argc, argv, &named, &rc, &err);
	if (c)
		rc = run_command(c, named, argc, argv, line, &err);
	free(line);
	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && rc == 0) {
		errno = errno ? errno : EIO;    /* of an earlier flush it is no longer known */
		rc = err_errno(&err, E_IO, "standard output");
	}
	terminal_end();
	if (rc < 0)
		fprintf(stderr, "%sfreshet:%s %s\n", tone_on_messages(TONE_BAD), tone_off_messages(),
		        log_plain(err.text));
	return err_exit_status(rc < 0 ? rc : 0);
}
