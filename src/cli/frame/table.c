/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - tables whose columns line up; see command.h. */
#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/frame/command.h"

struct table {
	const char *const *heads;
	size_t n_columns;
	VEC(char *) cells;
};

struct table *table_new(const char *const *heads, size_t n)
{
	struct table *t = mem_zalloc(1, sizeof *t);

	t->heads = heads;
	t->n_columns = n;
	return t;
}

void table_cell(struct table *t, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	vec_push(&t->cells, mem_strdup(log_plain(text)));
}

/* Characters, not bytes, of UTF-8. */
static int width(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void print_cell(FILE *out, const char *text, int column, bool left, bool last)
{
	int pad = column - width(text);

	if (left)
		fprintf(out, "%s%*s", text, last || pad < 0 ? 0 : pad, "");
	else
		fprintf(out, "%*s%s", pad > 0 ? pad : 0, "", text);
	fputs(last ? "\n" : "  ", out);
}

static void print(struct table *t, bool with_heads, FILE *out)
{
	size_t n = t->n_columns;
	int *columns = mem_zalloc(n, sizeof *columns);

	for (size_t k = 0; k < n; k++)
		columns[k] = width(t->heads[k] + (t->heads[k][0] == '<'));
	for (size_t i = 0; i < t->cells.n; i++)
		if (width(t->cells.v[i]) > columns[i % n])
			columns[i % n] = width(t->cells.v[i]);
	for (size_t k = 0; with_heads && k < n; k++) {
		bool left = t->heads[k][0] == '<';

		print_cell(out, t->heads[k] + left, columns[k], left, k + 1 == n);
	}
	for (size_t i = 0; i < t->cells.n; i++)
		print_cell(out, t->cells.v[i], columns[i % n], t->heads[i % n][0] == '<',
		           i % n + 1 == n);
	free(columns);
}

void table_print(struct table *t, FILE *out)
{
	print(t, true, out);
}

void table_print_more(struct table *t, FILE *out)
{
	print(t, false, out);
}

void table_free(struct table *t)
{
	for (size_t i = 0; i < t->cells.n; i++)
		free(t->cells.v[i]);
	vec_release(&t->cells);
	free(t);
}
