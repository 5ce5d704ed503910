/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion_zsh.c - see completion.h.
 *
 * The script is written for zsh's _arguments, whose specs are
 *   '--name[help]:what the value is:how to complete it'
 * An option that may be given many times has a '*' before it.
 */
#include "cli/completion/completion.h"

/* Text within a spec, which stands in single quotes. */
static void print_spec_text(const char *s)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", stdout);
		else if (*s == '[' || *s == ']' || *s == ':' || *s == '\\')
			printf("\\%c", *s);
		else
			putchar(*s == '\n' ? ' ' : *s);
	}
}

static void print_value(const struct option_spec *s)
{
	if (s->type == OPTION_FLAG)
		return;
	putchar(':');
	print_spec_text(s->arg ? s->arg : "value");
	putchar(':');
	if (s->type == OPTION_CHOICE) {
		putchar('(');
		completion_choices(s->choices);
		putchar(')');
	} else if (completion_takes_policy(s)) {
		putchar('(');
		completion_policies();
		putchar(')');
	} else if (s->arg && !strcmp(s->arg, "DIR")) {
		fputs("_files -/", stdout);
	} else if (s->type == OPTION_TEXT || s->type == OPTION_LIST) {
		fputs("_files", stdout);
	}
}

static void print_options(const struct option_spec *s)
{
	char shown[64];

	for (; s && s->name; s++) {
		option_display(s, shown);
		fputs("\t\t'", stdout);
		if (s->letter)
			printf("(-%c --%s)'{-%c,--%s}'", s->letter, shown, s->letter, shown);
		else
			printf("%s--%s", s->type == OPTION_LIST ? "*" : "", shown);
		putchar('[');
		print_spec_text(s->help);
		putchar(']');
		print_value(s);
		puts("'");
	}
}

static void print_command(const struct command *c)
{
	printf("\t%s) options=(\n", c->name);
	print_options(c->options);
	fputs("\t\t'*:argument:", stdout);
	if (completion_has_words(c)) {
		putchar('(');
		completion_words(c);
		putchar(')');
	} else if (c->n_args_max != 0) {
		fputs("_files", stdout);
	}
	puts("') ;;");
}

void completion_zsh(void)
{
	const struct command *c;

	puts("#compdef freshet\n"
	     "# zsh completion of freshet, made by `freshet help --completion --shell zsh`\n"
	     "_freshet() {\n"
	     "\tlocal curcontext=$curcontext state line\n"
	     "\tlocal -a common commands options\n"
	     "\ttypeset -A opt_args\n"
	     "\tcommon=(");
	print_options(common_options);
	puts("\t)\n\tcommands=(");
	for (size_t i = 0; (c = command_at(i)); i++) {
		printf("\t\t'%s:", c->name);
		print_spec_text(c->summary);
		puts("'");
	}
	puts("\t)\n"
	     "\t_arguments -C $common '1:command:->command' '*::argument:->argument' && return\n"
	     "\tif [[ $state = command ]]; then _describe command commands; return; fi\n"
	     "\tcase $words[1] in");
	for (size_t i = 0; (c = command_at(i)); i++)
		print_command(c);
	puts("\t*) return 1 ;;\n\tesac\n"
	     "\t_arguments $common $options\n"
	     "}\n"
	     "if [[ $funcstack[1] = _freshet ]]; then _freshet \"$@\"; else compdef _freshet freshet; fi");
}
