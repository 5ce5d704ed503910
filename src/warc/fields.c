/* SPDX-License-Identifier: Apache-2.0 */
/* fields.c - parses "Name: value" lines in place; see fields.h. */
#include "warc/fields.h"

#include <string.h>
#include <strings.h>

size_t fields_head_size(const char *text, size_t size)
{
	const char *p = text, *end = text + size;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		p++;
		if (p < end && *p == '\n')
			return (size_t)(p + 1 - text);
		if (p + 1 < end && p[0] == '\r' && p[1] == '\n')
			return (size_t)(p + 2 - text);
	}
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void add_line(struct fields *f, const char *line, size_t size)
{
	const char *end = line + size, *colon = memchr(line, ':', size), *value;
	size_t name_size;

	if (!colon) {
		f->n_odd++;
		return;
	}
	name_size = (size_t)(colon - line);
	while (name_size && is_blank(line[name_size - 1]))
		name_size--;
	if (name_size == 0) {
		f->n_odd++;
		return;
	}
	value = colon + 1;
	while (value < end && is_blank(*value))
		value++;
	while (end > value && is_blank(end[-1]))
		end--;
	vec_push(&f->list, ((struct field){ line, value, name_size, (size_t)(end - value) }));
}

/* The end of the line that begins at p, continuations made part of it; its line
 * end, and any stray CR, are turned into blanks. */
static char *line_end(char *p, char *end)
{
	for (;;) {
		char *lf = memchr(p, '\n', (size_t)(end - p)), *stop = lf ? lf : end;
		char *cr = p;

		while (cr < stop && (cr = memchr(cr, '\r', (size_t)(stop - cr))))
			*cr++ = ' ';
		if (!lf)
			return end;
		if (lf + 1 >= end || !is_blank(lf[1]))
			return lf;
		*lf = ' ';
		p = lf + 1;
	}
}

int fields_parse(struct fields *f, char *text, size_t size, struct err *err)
{
	char *p = text, *end = text + size;

	f->list.n = 0;
	f->n_odd = 0;
	if (size && memchr(text, '\0', size))
		return err_set(err, E_PARSE, "a NUL byte in a header");
	while (p < end && *p != '\n' && !(*p == '\r' && p + 1 < end && p[1] == '\n')) {
		char *stop = line_end(p, end);

		if (f->list.n + f->n_odd >= FIELDS_MAX)
			return err_set(err, E_LIMIT, "more than %d header lines", FIELDS_MAX);
		add_line(f, p, (size_t)(stop - p));
		p = stop + 1;
	}
	return 0;
}

bool field_is(const struct field *f, const char *name)
{
	size_t size = strlen(name);

	return f->name_size == size && strncasecmp(f->name, name, size) == 0;
}

bool field_says(const struct field *f, const char *word)
{
	size_t size = strlen(word);
	const char *rest;

	if (f->value_size < size || strncasecmp(f->value, word, size))
		return false;
	rest = f->value + size;
	while (rest < f->value + f->value_size && is_blank(*rest))
		rest++;
	return rest == f->value + f->value_size || *rest == ';';
}

const struct field *fields_find(const struct fields *f, const char *name)
{
	for (size_t i = 0; i < f->list.n; i++)
		if (field_is(&f->list.v[i], name))
			return &f->list.v[i];
	return NULL;
}

void fields_release(struct fields *f)
{
	vec_release(&f->list);
	f->n_odd = 0;
}
