/* SPDX-License-Identifier: Apache-2.0 */
/* program_head.c - the head of an answer that a program of the user's wrote; see program.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fetch/program/program.h"

#define REQUESTS_MAX 100000

static bool named(const char *line, size_t size, const char *name)
{
	size_t n = strlen(name);

	return size >= n && !strncasecmp(line, name, n);
}

/* A whole number behind the colon; -1: it is none. */
static int64_t number_of(const char *line, size_t size)
{
	const char *v = memchr(line, ':', size), *end = line + size;
	int64_t n = 0;

	for (v++; v < end && (*v == ' ' || *v == '\t'); v++)
		;
	if (v == end || end - v > 15)
		return -1;
	for (; v < end; v++) {
		if (!isdigit((unsigned char)*v))
			return -1;
		n = n * 10 + (*v - '0');
	}
	return n;
}

/* Has the line a name that HTTP allows, and no control byte? */
static bool is_header(const char *line, size_t size)
{
	const char *colon = memchr(line, ':', size);

	if (!colon || colon == line)
		return false;
	for (const char *c = line; c < colon; c++)
		if (!isalnum((unsigned char)*c) && !strchr("!#$%&'*+-.^_`|~", *c))
			return false;
	for (const char *c = colon; c < line + size; c++)
		if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
			return false;
	return true;
}

static const char *read_line(const char *line, size_t size, struct buf *out, int64_t *length,
                             unsigned *requests)
{
	int64_t n;

	if (!is_header(line, size))
		return "a line of its head is no header";
	if (named(line, size, "Content-Length:")) {
		if ((n = number_of(line, size)) < 0 || *length >= 0)
			return "Content-Length is no number, or comes twice";
		*length = n;
	} else if (named(line, size, "Freshet-Requests:")) {
		if ((n = number_of(line, size)) < 0 || n > REQUESTS_MAX)
			return "Freshet-Requests is no number";
		*requests = (unsigned)n;
	}
	/* the body is written as it is, whatever it was on the wire */
	if (!named(line, size, "Freshet-") && !named(line, size, "Content-Encoding:") &&
	    !named(line, size, "Transfer-Encoding:")) {
		buf_add(out, line, size);
		buf_str(out, "\r\n");
	}
	return NULL;
}

const char *program_read_head(const char *text, size_t size, struct buf *out, int *ret_status,
                              int64_t *ret_length, unsigned *ret_requests)
{
	const char *end = text + size, *why = NULL;
	bool first = true;

	*ret_length = -1;
	*ret_requests = 0;
	while (text < end && !why) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);

		n -= n && text[n - 1] == '\r';
		if (!n)
			break;
		if (first) {
			if (n < 12 || memcmp(text, "HTTP/1.", 7) || text[8] != ' ' ||
			    !isdigit((unsigned char)text[9]) || !isdigit((unsigned char)text[10]) ||
			    !isdigit((unsigned char)text[11]) || text[9] < '1' || text[9] > '5')
				return "it does not begin with HTTP/1.1 and a status";
			*ret_status = atoi(text + 9);
			buf_printf(out, "HTTP/1.1 %d\r\n", *ret_status);
			first = false;
		} else {
			why = read_line(text, n, out, ret_length, ret_requests);
		}
		text = stop ? stop + 1 : end;
	}
	if (first)
		return "its head is empty";
	buf_str(out, "\r\n");
	return why;
}
