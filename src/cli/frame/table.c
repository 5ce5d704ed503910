/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - tables whose columns line up; see command.h. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/frame/command.h"
#include "cli/frame/terminal.h"

struct table {
	const char *const *heads;
	size_t n_columns;
	VEC(char *) cells;
	const char **own_heads;         /* heads, if they are its own; or NULL */
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

struct cell { const char *text, *tone_on, *tone_off; };

static void print_cell(FILE *out, const struct cell *c, int column, bool left, bool last)
{
	int pad = column - width(c->text);

	if (!left)
		fprintf(out, "%*s", pad > 0 ? pad : 0, "");
	fprintf(out, "%s%s%s", c->tone_on, c->text, c->tone_off);
	if (left)
		fprintf(out, "%*s", last || pad < 0 ? 0 : pad, "");
	fputs(last ? "\n" : "  ", out);
}

static void print(struct table *t, bool with_heads, FILE *out)
{
	size_t n = t->n_columns;
	int *columns = mem_zalloc(n, sizeof *columns);

	assert(n);
	for (size_t k = 0; k < n; k++)
		columns[k] = width(t->heads[k] + (t->heads[k][0] == '<'));
	for (size_t i = 0; i < t->cells.n; i++)
		if (width(t->cells.v[i]) > columns[i % n])
			columns[i % n] = width(t->cells.v[i]);
	for (size_t k = 0; with_heads && k < n; k++) {
		bool left = t->heads[k][0] == '<', colored = out == stdout;
		struct cell head = { t->heads[k] + left, colored ? tone_on(TONE_HEAD) : "",
		                     colored ? tone_off() : "" };

		print_cell(out, &head, columns[k], left, k + 1 == n);
	}
	for (size_t i = 0; i < t->cells.n; i++)
		print_cell(out, &(struct cell){ t->cells.v[i], "", "" }, columns[i % n],
		           t->heads[i % n][0] == '<', i % n + 1 == n);
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
	free(t->own_heads);
	free(t);
}

/* ---- of several shards ---- */

static bool has_heads(const struct table *joined, const struct table *t)
{
	if (joined->n_columns != t->n_columns + 1)
		return false;
	for (size_t k = 0; k < t->n_columns; k++)
		if (strcmp(joined->heads[k + 1], t->heads[k]))
			return false;
	return true;
}

static void print_joined(struct cli *cli)
{
	if (!cli->joined)
		return;
	table_print(cli->joined, stdout);
	table_free(cli->joined);
	cli->joined = NULL;
}

static void join(struct cli *cli, const struct table *t)
{
	struct table *all = cli->joined;

	if (all && !has_heads(all, t)) {
		print_joined(cli);
		all = NULL;
	}
	if (!all) {
		const char **heads = mem_array(t->n_columns + 1, sizeof *heads);

		heads[0] = "shard";
		memcpy(heads + 1, t->heads, t->n_columns * sizeof *heads);
		all = cli->joined = table_new(heads, t->n_columns + 1);
		all->own_heads = heads;
	}
	for (size_t i = 0; i < t->cells.n; i++) {
		if (i % t->n_columns == 0)
			table_cell(all, "%d", cli->shard);
		vec_push(&all->cells, mem_strdup(t->cells.v[i]));
	}
}

void table_finish(struct cli *cli, struct table *t)
{
	if (cli->joins)
		join(cli, t);
	else
		table_print(t, stdout);
	table_free(t);
}

void table_join_begin(struct cli *cli)
{
	cli->joins = true;
}

void table_join_end(struct cli *cli)
{
	cli->joins = false;
	print_joined(cli);
}
