/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.c - see completion.h.
 *
 * After an option with choices, the choices are offered; after --policy, the policies.
 * Otherwise: the options of the command, its arguments if they are from a list (commands,
 * policies, settings, kinds of export), and files.
 */
#include "cli/frame/completion.h"

#include <stdio.h>

#include "cli/frame/repository.h"
#include "policy/catalogue/catalogue.h"
#include "policy/policy.h"

static void print_options(const struct option_spec *s)
{
	char shown[64];

	for (; s && s->name; s++) {
		option_display(s, shown);
		printf(" --%s", shown);
	}
}

static void print_choices(const char *choices)
{
	for (; *choices; choices++)
		putchar(*choices == '|' ? ' ' : *choices);
}

static void print_policies(void)
{
	const struct policy_ops *ops;

	for (size_t i = 0; (ops = policy_at(i)); i++)
		printf("%s%s", i ? " " : "", ops->name);
}

static void print_settings(void)
{
	const struct command *c;
	char shown[64];

	for (size_t i = 0; (c = command_at(i)); i++) {
		for (const struct option_spec *s = c->options; s && s->name; s++) {
			if (!s->setting || setting_find(s->name) != s)
				continue;
			option_display(s, shown);
			printf(" %s", shown);
		}
	}
}

static void print_commands(void)
{
	for (size_t i = 0; command_at(i); i++)
		printf(" %s", command_at(i)->name);
}

/* The values of options that have choices. */
static void print_values(const struct command *c)
{
	char shown[64];

	for (const struct option_spec *s = c->options; s && s->name; s++) {
		if (s->type != OPTION_CHOICE)
			continue;
		option_display(s, shown);
		printf("\t%s:--%s) words=\"", c->name, shown);
		print_choices(s->choices);
		puts("\" ;;");
	}
}

static void print_arguments(const struct command *c)
{
	if (!strcmp(c->name, "help"))
		print_commands();
	else if (!strcmp(c->name, "policies"))
		print_policies();
	else if (!strcmp(c->name, "set") || !strcmp(c->name, "get"))
		print_settings();
	else if (!strcmp(c->name, "export"))
		print_choices(c->arguments);
}

void completion_print(void)
{
	const struct command *c;

	fputs("# bash completion of freshet, made by `freshet help --completion`\n"
	      "_freshet() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} cmd= words= i\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tcase ${COMP_WORDS[i]} in -C|--repository|--store|--seed) ((i++)) ;; -*) ;; "
	      "*) cmd=${COMP_WORDS[i]}; break ;; esac\n\tdone\n"
	      "\tlocal common=\"", stdout);
	print_options(common_options);
	fputs("\"\n\tcase $cmd:${COMP_WORDS[COMP_CWORD - 1]} in\n", stdout);
	fputs("\t*:--policy) words=\"", stdout);
	print_policies();
	fputs("\" ;;\n", stdout);
	for (size_t i = 0; (c = command_at(i)); i++)
		print_values(c);
	fputs("\tesac\n\tif [ -n \"$words\" ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n\t\treturn\n\tfi\n"
	      "\tcase $cmd in\n\t'') COMPREPLY=($(compgen -W \"", stdout);
	print_commands();
	fputs(" $common\" -- \"$cur\")) ;;\n", stdout);
	for (size_t i = 0; (c = command_at(i)); i++) {
		printf("\t%s) COMPREPLY=($(compgen -f -W \"", c->name);
		print_options(c->options);
		putchar(' ');
		print_arguments(c);
		fputs(" $common\" -- \"$cur\")) ;;\n", stdout);
	}
	fputs("\tesac\n}\ncomplete -o filenames -F _freshet freshet\n", stdout);
}
