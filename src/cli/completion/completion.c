/* SPDX-License-Identifier: Apache-2.0 */
/* completion.c - what the completion scripts of all shells share; see completion.h. */
#include "cli/completion/completion.h"

#include "cli/frame/repository.h"
#include "policy/catalogue/catalogue.h"
#include "policy/policy.h"

void completion_choices(const char *choices)
{
	for (; *choices; choices++)
		putchar(*choices == '|' ? ' ' : *choices);
}

void completion_policies(void)
{
	const struct policy_ops *ops;

	for (size_t i = 0; (ops = policy_at(i)); i++)
		printf("%s%s", i ? " " : "", ops->name);
}

/* The first word of a text of arguments: "a|b [DIR]" as "a b". */
static void print_alternatives(const char *arguments)
{
	for (; *arguments && *arguments != ' '; arguments++)
		putchar(*arguments == '|' ? ' ' : *arguments);
}

static void print_settings(void)
{
	const struct command *c;
	const char *space = "";
	char shown[64];

	for (size_t i = 0; (c = command_at(i)); i++) {
		for (const struct option_spec *s = c->options; s && s->name; s++) {
			if (!s->setting || setting_find(s->name) != s)
				continue;
			option_display(s, shown);
			printf("%s%s", space, shown);
			space = " ";
		}
	}
}

static void print_commands(void)
{
	for (size_t i = 0; command_at(i); i++)
		printf("%s%s", i ? " " : "", command_at(i)->name);
}

/* Commands whose arguments are words from a list, and who prints it. */
static const struct {
	const char *command;
	void (*print)(void);            /* NULL: its text of arguments has them, "a|b" */
} listed[] = {
	{ "help", print_commands }, { "policies", completion_policies },
	{ "set", print_settings }, { "get", print_settings }, { "export", NULL },
};

bool completion_has_words(const struct command *c)
{
	for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
		if (!strcmp(listed[i].command, c->name))
			return true;
	return false;
}

void completion_words(const struct command *c)
{
	for (size_t i = 0; i < sizeof listed / sizeof *listed; i++) {
		if (strcmp(listed[i].command, c->name))
			continue;
		if (listed[i].print)
			listed[i].print();
		else
			print_alternatives(c->arguments);
	}
}

bool completion_takes_policy(const struct option_spec *s)
{
	return !strcmp(s->name, "policy");
}

void completion_print(enum completion_shell shell)
{
	switch (shell) {
	case COMPLETION_BASH: completion_bash(); break;
	case COMPLETION_ZSH: completion_zsh(); break;
	case COMPLETION_FISH: completion_fish(); break;
	}
}
