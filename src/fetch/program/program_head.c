/* SPDX-License-Identifier: Apache-2.0 */
/* program_head.c - the head of an answer that a program of the user's wrote; see program.h. */
#include <ctype.h>
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

/* The status of "HTTP/1.1 200 OK": three digits; 0: it is no such line. */
static int status_of(const char *line, size_t size)
{
	int status = 0;

	if (size < 12 || memcmp(line, "HTTP/1.", 7) || line[8] != ' ' || line[9] < '1' ||
	    line[9] > '5' || (size > 12 && line[12] != ' '))
		return 0;
	for (const char *c = line + 9; c < line + 12; c++) {
		if (!isdigit((unsigned char)*c))
			return 0;
		status = status * 10 + (*c - '0');
	}
	return status;
}

/* Has the line a name that HTTP allows, and no control byte? */
static bool is_header(const char *line, size_t size)
{
	const char *colon = memchr(line, ':', size);

	if (!colon || colon == line)
		return false;
	for (const char *c = line; c < colon; c++)
		if (!isalnum((unsigned char)*c) && (!*c || !strchr("!#$%&'*+-.^_`|~", *c)))
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
			*ret_status = status_of(text, n);
			if (!*ret_status)
				return "it does not begin with HTTP/1.1 and a status";
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
