/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion_bash.c - see completion.h.
 *
 * After an option with choices, the choices are offered; after --policy, the policies.
 * Otherwise: the options of the command, its arguments if they are from a list, and files.
 */
#include "cli/completion/completion.h"

static void print_options(const struct option_spec *s)
{
	char shown[64];

	for (; s && s->name; s++) {
		option_display(s, shown);
		printf(" --%s", shown);
	}
}

/* The values of options that have choices. */
static void print_values(const char *command, const struct option_spec *s)
{
	char shown[64];

	for (; s && s->name; s++) {
		if (s->type != OPTION_CHOICE)
			continue;
		option_display(s, shown);
		printf("\t%s:--%s) words=\"", command, shown);
		completion_choices(s->choices);
		puts("\" ;;");
	}
}

/* Options of every command that have a value: the word after them is no command. */
static void print_common_with_value(void)
{
	char shown[64];

	fputs("-C", stdout);
	for (const struct option_spec *s = common_options; s->name; s++) {
		if (s->type == OPTION_FLAG)
			continue;
		option_display(s, shown);
		printf("|--%s", shown);
	}
}

void completion_bash(void)
{
	const struct command *c;

	fputs("# bash completion of freshet, made by `freshet help --completion`\n"
	      "_freshet() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} cmd= words= i\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase ${COMP_WORDS[i]} in ", stdout);
	print_common_with_value();
	fputs(") ((i++)) ;; -*) ;; *) cmd=${COMP_WORDS[i]}; break ;; esac\n\tdone\n"
	      "\tlocal common=\"", stdout);
	print_options(common_options);
	fputs("\"\n\tcase $cmd:${COMP_WORDS[COMP_CWORD - 1]} in\n", stdout);
	fputs("\t*:--policy) words=\"", stdout);
	completion_policies();
	fputs("\" ;;\n", stdout);
	print_values("*", common_options);
	for (size_t i = 0; (c = command_at(i)); i++)
		print_values(c->name, c->options);
	fputs("\tesac\n\tif [ -n \"$words\" ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n\t\treturn\n\tfi\n"
	      "\tcase $cmd in\n\t'') COMPREPLY=($(compgen -W \"", stdout);
	for (size_t i = 0; command_at(i); i++)
		printf(" %s", command_at(i)->name);
	fputs(" $common\" -- \"$cur\")) ;;\n", stdout);
	for (size_t i = 0; (c = command_at(i)); i++) {
		printf("\t%s) COMPREPLY=($(compgen -f -W \"", c->name);
		print_options(c->options);
		putchar(' ');
		completion_words(c);
		fputs(" $common\" -- \"$cur\")) ;;\n", stdout);
	}
	fputs("\tesac\n}\ncomplete -o filenames -F _freshet freshet\n", stdout);
}
