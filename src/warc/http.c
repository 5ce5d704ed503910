/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c - HTTP heads and chunked framing; see http.h.
 *
 * Framing follows RFC 9112: a body is chunked if the last transfer encoding says
 * so; two Content-Length that differ are worth nothing.  The status line may lack
 * a reason; "HTTP/2 200" as some tools write it is taken.
 */
#include "warc/http.h"

#include <string.h>
#include <strings.h>

#define CHUNK_LINE_MAX 4096             /* bytes of a chunk's size line or trailer */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "HTTP/1.1 200 OK" */
static bool parse_status(struct http_head *h, const char *line, size_t size)
{
	const char *p = memchr(line, ' ', size), *end = line + size;

	if (!p || size < 8 || strncasecmp(line, "HTTP/", 5) || !is_digit(line[5]))
		return false;
	while (p < end && *p == ' ')
		p++;
	if (end - p < 3 || !is_digit(p[0]) || !is_digit(p[1]) || !is_digit(p[2]) ||
	    p[0] == '0' || (p + 3 < end && p[3] != ' '))
		return false;
	h->status = (p[0] - '0') * 100 + (p[1] - '0') * 10 + (p[2] - '0');
	return true;
}

/* "GET /path HTTP/1.1" */
static bool parse_request(struct http_head *h, const char *line, size_t size)
{
	const char *end = line + size, *a = memchr(line, ' ', size), *b;

	if (!a || a == line)
		return false;
	b = memrchr(line, ' ', size);
	if (b == a || end - b < 6 || strncasecmp(b + 1, "HTTP/", 5))
		return false;
	for (const char *p = line; p < a; p++)
		if (*p < 'A' || *p > 'Z')
			return false;
	h->is_request = true;
	h->method = line;
	h->method_size = (size_t)(a - line);
	h->target = a + 1;
	h->target_size = (size_t)(b - a - 1);
	return true;
}

static int64_t parse_length(const struct field *f)
{
	int64_t v = 0;

	if (f->value_size == 0 || f->value_size > 18)
		return -1;
	for (size_t i = 0; i < f->value_size; i++) {
		if (!is_digit(f->value[i]))
			return -1;
		v = v * 10 + (f->value[i] - '0');
	}
	return v;
}

static bool ends_in_chunked(const struct field *f)
{
	size_t n = f->value_size;

	return n >= 7 && strncasecmp(f->value + n - 7, "chunked", 7) == 0;
}

int http_parse_head(struct http_head *h, char *text, size_t size, struct err *err)
{
	char *lf = size ? memchr(text, '\n', size) : NULL;
	size_t line_size = lf ? (size_t)(lf - text) : size;
	struct fields fields = h->fields;
	bool two_lengths = false;
	int rc;

	*h = (struct http_head){ .fields = fields, .content_length = -1 };
	if (size > HTTP_HEAD_MAX)
		return err_set(err, E_LIMIT, "HTTP head of %zu bytes (at most %u)", size,
		               HTTP_HEAD_MAX);
	if (line_size && text[line_size - 1] == '\r')
		line_size--;
	if (!parse_status(h, text, line_size) && !parse_request(h, text, line_size))
		return err_set(err, E_PARSE, "no HTTP status or request line");
	rc = fields_parse(&h->fields, lf ? lf + 1 : text + size,
	                  lf ? size - (size_t)(lf + 1 - text) : 0, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < h->fields.list.n; i++) {
		const struct field *f = &h->fields.list.v[i];

		if (field_is(f, "Content-Length")) {
			int64_t length = parse_length(f);

			two_lengths |= length < 0 ||
			               (h->content_length >= 0 && h->content_length != length);
			h->content_length = length;
		} else if (field_is(f, "Transfer-Encoding")) {
			h->chunked = ends_in_chunked(f);
		}
	}
	if (two_lengths)
		h->content_length = -1;
	h->content_type = fields_find(&h->fields, "Content-Type");
	h->content_encoding = fields_find(&h->fields, "Content-Encoding");
	h->location = fields_find(&h->fields, "Location");
	return 0;
}

void http_release_head(struct http_head *h)
{
	fields_release(&h->fields);
}

enum chunk_state {
	CHUNK_SIZE, CHUNK_EXTENSION, CHUNK_DATA, CHUNK_END, TRAILER_START, TRAILER_LINE
};

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if ((c | 32) >= 'a' && (c | 32) <= 'f')
		return (c | 32) - 'a' + 10;
	return -1;
}

/* At the end of a size line: a chunk follows, or, if its size is 0, the trailer. */
static void end_size_line(struct http_chunked *c)
{
	c->state = c->left ? CHUNK_DATA : TRAILER_START;
	c->line_size = 0;
}

static void chunk_byte(struct http_chunked *c, char b)
{
	int digit;

	if (++c->line_size > CHUNK_LINE_MAX) {
		c->bad = true;
		return;
	}
	switch (c->state) {
	case CHUNK_SIZE:
		digit = hex_digit(b);
		if (digit >= 0 && c->left < UINT64_C(1) << 56)
			c->left = c->left << 4 | (uint64_t)digit;
		else if (c->line_size == 1 || digit >= 0)
			c->bad = true;
		else if (b == '\n')
			end_size_line(c);
		else if (b == ';' || b == ' ' || b == '\t' || b == '\r')
			c->state = CHUNK_EXTENSION;
		else
			c->bad = true;
		break;
	case CHUNK_EXTENSION:
		if (b == '\n')
			end_size_line(c);
		break;
	case CHUNK_END:                 /* CRLF after the data */
		if (b == '\n') {
			c->state = CHUNK_SIZE;
			c->line_size = 0;
		} else if (b != '\r' || c->line_size > 1) {
			c->bad = true;
		}
		break;
	case TRAILER_START:
		if (b == '\n')
			c->done = true;
		else if (b != '\r')
			c->state = TRAILER_LINE;
		break;
	default:
		if (b == '\n')
			c->state = TRAILER_START;
	}
}

size_t http_dechunk(struct http_chunked *c, const char *data, size_t size,
                    const char **ret_data, size_t *ret_size)
{
	size_t i = 0;

	*ret_data = data;
	*ret_size = 0;
	while (i < size && !c->done && !c->bad) {
		if (c->state == CHUNK_DATA) {
			size_t n = c->left < size - i ? (size_t)c->left : size - i;

			*ret_data = data + i;
			*ret_size = n;
			c->left -= n;
			if (c->left == 0)
				c->state = CHUNK_END;
			return i + n;
		}
		chunk_byte(c, data[i]);
		i++;
	}
	return i;
}

bool http_looks_chunked(const char *data, size_t size)
{
	struct http_chunked c = { 0 };

	if (size == 0)
		return false;
	for (size_t i = 0; i < size && c.state != CHUNK_DATA && !c.done && !c.bad; i++)
		chunk_byte(&c, data[i]);
	return !c.bad;
}
