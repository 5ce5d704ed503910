/* SPDX-License-Identifier: Apache-2.0 */
/* option_print.c - option tables as --help, man page and text. */
#include "base/option/option.h"

#define HELP_COLUMN 30
#define HELP_WIDTH 79

/* "--max-age DURATION", with "-C, " before it where there is a letter. */
static void head(const struct option_spec *s, char *out, size_t size)
{
	char shown[64];

	option_display(s, shown);
	snprintf(out, size, "%c%c%s--%s%s%s", s->letter ? '-' : ' ',
	         s->letter ? s->letter : ' ', s->letter ? ", " : "  ", shown,
	         s->type == OPTION_FLAG ? "" : " ", s->type == OPTION_FLAG ? "" : s->arg);
}

/* Words of text, wrapped, from column `at` on. */
static void print_wrapped(FILE *out, const char *text, int at)
{
	int column = at;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > at && column + (int)word + 1 > HELP_WIDTH) {
			fprintf(out, "\n%*s", at, "");
			column = at;
		}
		column += fprintf(out, "%s%.*s", column > at ? " " : "", (int)word, text);
		text += word;
		text += strspn(text, " ");
	}
}

static void full_help(const struct option_spec *s, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "%s", s->help);

	if (s->def && n < size)
		n += (size_t)snprintf(out + n, size - n, " (default %s)", s->def);
	if (s->max > s->min && n < size)
		n += (size_t)snprintf(out + n, size - n, " [%.16g .. %.16g%s]", s->min, s->max,
		                      s->type == OPTION_SECONDS ? "s" :
		                      s->type == OPTION_SIZE ? " bytes" : "");
	if (s->type == OPTION_LIST && n < size)
		snprintf(out + n, size - n, " (repeatable)");
}

void option_print_help(const struct option_spec *specs, FILE *out)
{
	for (; specs->name; specs++) {
		char left[160], help[512];
		int n;

		head(specs, left, sizeof left);
		full_help(specs, help, sizeof help);
		n = fprintf(out, "  %s", left);
		if (n >= HELP_COLUMN - 1)
			fprintf(out, "\n%*s", HELP_COLUMN, "");
		else
			fprintf(out, "%*s", HELP_COLUMN - n, "");
		print_wrapped(out, help, HELP_COLUMN);
		fputc('\n', out);
	}
}

/* Text for roff: backslashes and leading dots made harmless, '-' kept. */
static void roff(FILE *out, const char *s)
{
	if (*s == '.' || *s == '\'')
		fputs("\\&", out);
	for (; *s; s++) {
		if (*s == '\\')
			fputs("\\e", out);
		else if (*s == '-')
			fputs("\\-", out);
		else
			fputc(*s, out);
	}
	fputc('\n', out);
}

void option_print_man(const struct option_spec *specs, FILE *out)
{
	for (; specs->name; specs++) {
		char left[160], help[512];

		head(specs, left, sizeof left);
		full_help(specs, help, sizeof help);
		fputs(".TP\n.B ", out);
		roff(out, left + (specs->letter ? 0 : 4));
		roff(out, help);
	}
}
