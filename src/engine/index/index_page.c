/* SPDX-License-Identifier: Apache-2.0 */
/* index_page.c - what an answer of an index server says of its pages; see index_server.h. */
#include <ctype.h>
#include <string.h>

#include "base/io/json.h"
#include "engine/index/index_server.h"

static void trim(const char **s, size_t *size)
{
	while (*size && isspace((unsigned char)**s)) {
		++*s;
		--*size;
	}
	while (*size && isspace((unsigned char)(*s)[*size - 1]))
		--*size;
}

static int64_t number(const char *s, size_t size)
{
	int64_t n = 0;

	if (size == 0 || size > 9)
		return -1;
	for (size_t i = 0; i < size; i++) {
		if (!isdigit((unsigned char)s[i]))
			return -1;
		n = n * 10 + (s[i] - '0');
	}
	return n;
}

int64_t index_page_count(const char *body, size_t size)
{
	const char *end;
	struct json_member m;

	trim(&body, &size);
	end = body + size;
	if (size == 0 || *body != '{')
		return number(body, size);
	while (json_next(&body, end, &m) > 0)
		if (m.key_size == 5 && !memcmp(m.key, "pages", 5))
			return number(m.value, m.value_size);
	return -1;
}

/* The last line of a text, without blanks around it: its offset and size.  False: none. */
static bool last_line(const char *body, size_t size, size_t *ret_at, size_t *ret_size)
{
	const char *start;

	while (size && isspace((unsigned char)body[size - 1]))
		size--;
	start = size ? memrchr(body, '\n', size) : NULL;
	*ret_at = start ? (size_t)(start - body) + 1 : 0;
	*ret_size = size - *ret_at;
	return size > 0;
}

static bool is_key(const char *s, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)s[i] <= ' ' || s[i] == 0x7f)
			return false;
	return size > 0 && size < INDEX_KEY_MAX;
}

/* Rows: ..., [], ["KEY"]] */
static bool row_key(const char *body, size_t *size, size_t at, size_t n, char *out)
{
	const char *s = body + at;
	size_t before = at, empty, empty_size;

	while (n && (s[n - 1] == ']' || isspace((unsigned char)s[n - 1])))
		n--;
	while (n && (*s == '[' || isspace((unsigned char)*s))) {
		s++;
		n--;
	}
	if (n < 3 || s[0] != '"' || s[n - 1] != '"' || memchr(s + 1, '"', n - 2) ||
	    !is_key(s + 1, n - 2) || !last_line(body, before, &empty, &empty_size) ||
	    empty_size < 2 || memcmp(body + empty, "[]", 2))
		return false;
	memcpy(out, s + 1, n - 2);
	out[n - 2] = '\0';
	*size = empty;
	return true;
}

bool index_page_key(const char *body, size_t *size, char *out)
{
	size_t at, n, back;

	if (!last_line(body, *size, &at, &n))
		return false;
	if (body[at] == '[')
		return row_key(body, size, at, n, out);
	/* an empty line before it, and nothing but lines before that */
	back = at;
	while (back && (body[back - 1] == '\r' || body[back - 1] == ' '))
		back--;
	if (!back || body[back - 1] != '\n')
		return false;
	back--;
	while (back && (body[back - 1] == '\r' || body[back - 1] == ' '))
		back--;
	if ((back && body[back - 1] != '\n') || !is_key(body + at, n))
		return false;
	memcpy(out, body + at, n);
	out[n] = '\0';
	*size = back;
	return true;
}

uint64_t index_page_lines(const char *body, size_t size)
{
	const char *p = body, *end = body + size;
	uint64_t n = 0;

	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		const char *line_end = stop ? stop : end;

		while (p < line_end && isspace((unsigned char)*p))
			p++;
		n += p < line_end;
		p = line_end + 1;
	}
	return n;
}
