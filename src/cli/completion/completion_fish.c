/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion_fish.c - see completion.h.
 *
 * fish has one `complete` line for an option or a word.  -n is the condition: whether a
 * command was named yet, and which.  -x: the option has a value, from the words of -a
 * only; -r: it has one, which may be a file.
 */
#include "cli/completion/completion.h"

static void print_quoted(const char *s)
{
	putchar('\'');
	for (; *s; s++) {
		if (*s == '\'' || *s == '\\')
			putchar('\\');
		putchar(*s == '\n' ? ' ' : *s);
	}
	putchar('\'');
}

static void print_value(const struct option_spec *s)
{
	if (s->type == OPTION_FLAG)
		return;
	if (s->type == OPTION_CHOICE || completion_takes_policy(s)) {
		fputs(" -x -a '", stdout);
		if (s->type == OPTION_CHOICE)
			completion_choices(s->choices);
		else
			completion_policies();
		putchar('\'');
	} else if (s->arg && !strcmp(s->arg, "DIR")) {
		fputs(" -x -a '(__fish_complete_directories)'", stdout);
	} else {
		fputs(s->type == OPTION_TEXT || s->type == OPTION_LIST ? " -r" : " -x", stdout);
	}
}

static void print_options(const char *command, const struct option_spec *s)
{
	char shown[64];

	for (; s && s->name; s++) {
		option_display(s, shown);
		fputs("complete -c freshet", stdout);
		if (command)
			printf(" -n '__fish_seen_subcommand_from %s'", command);
		if (s->letter)
			printf(" -s %c", s->letter);
		printf(" -l %s", shown);
		print_value(s);
		fputs(" -d ", stdout);
		print_quoted(s->help);
		putchar('\n');
	}
}

/* Words for arguments that are from a list. */
static void print_arguments(const struct command *c)
{
	if (!completion_has_words(c))
		return;
	printf("complete -c freshet -n '__fish_seen_subcommand_from %s' -a '", c->name);
	completion_words(c);
	puts("'");
}

void completion_fish(void)
{
	const struct command *c;

	puts("# fish completion of freshet, made by `freshet help --completion --shell fish`");
	for (size_t i = 0; (c = command_at(i)); i++) {
		printf("complete -c freshet -f -n __fish_use_subcommand -a %s -d ", c->name);
		print_quoted(c->summary);
		putchar('\n');
	}
	print_options(NULL, common_options);
	for (size_t i = 0; (c = command_at(i)); i++) {
		print_options(c->name, c->options);
		print_arguments(c);
	}
}
