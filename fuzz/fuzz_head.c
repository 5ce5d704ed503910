/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of an answer off the wire: a header is found as a reader finds it who splits
 * the head into lines and looks at each.  Behind the first NUL is the body, which is decoded as
 * the head says.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "fetch/fetch_inner.h"

#define DECODED_MAX (4u << 20)          /* a bomb is only looked at this far */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The line i of a text, without its end; NULL: there is none. */
static const char *line_of(const char *text, size_t size, size_t i, size_t *ret_size)
{
	size_t at = 0, from = 0;

	for (; at < size; at++) {
		if (text[at] != '\n')
			continue;
		if (i-- == 0)
			break;
		from = at + 1;
	}
	if (from >= size || (at == size && i))
		return NULL;
	*ret_size = at - from;
	return text + from;
}

static bool names(const char *line, size_t size, const char *name)
{
	size_t i = 0;

	for (; name[i]; i++)
		if (i >= size || tolower((unsigned char)line[i]) != tolower((unsigned char)name[i]))
			return false;
	return i < size && line[i] == ':';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool naive(const char *head, size_t size, const char *name, const char **ret,
                  size_t *ret_size)
{
	const char *line;
	size_t n;

	for (size_t i = 1; (line = line_of(head, size, i, &n)); i++) {
		size_t from = strlen(name) + 1, to = n;

		if (!names(line, n, name))
			continue;
		while (from < to && is_blank(line[from]))
			from++;
		while (to > from && (is_blank(line[to - 1]) || line[to - 1] == '\r'))
			to--;
		*ret = line + from;
		*ret_size = to - from;
		return true;
	}
	return false;
}

/* As the crawl hands it out. */
static void check_answer(struct text head, struct text body)
{
	struct fetch f = { .opt.decode = true };
	struct transfer t = { .status = 200, .head_done = true, .ip = "192.0.2.1" };
	struct job j = { .transfer = &t };
	const struct fetch_result *r = &f.result;

	buf_init(&f.decoded, DECODED_MAX);
	buf_init(&t.head, BUF_NO_LIMIT);
	buf_init(&t.body, BUF_NO_LIMIT);
	buf_init(&j.url, BUF_NO_LIMIT);
	buf_add(&t.head, head.s, head.size);
	buf_add(&t.body, body.s, body.size);
	job_fill_result(&f, &j);
	if (r->head_size != head.size || r->body_size != body.size || r->decoded_size > f.decoded.max + body.size)
		abort();
	if (r->error != FETCH_OK && (!r->undecodable || !*r->why || !*fetch_error_name(r->error)))
		abort();
	if (*fetch_cut_name(r->truncated))
		abort();
	buf_release(&f.decoded);
	buf_release(&t.head);
	buf_release(&t.body);
	buf_release(&j.url);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const wanted[] = { "ETag", "Location", "Retry-After", "Content-Type",
		"Last-Modified", "Content-Encoding", "X" };
	char *head = mem_strndup((const char *)data, size);
	const char *nul = memchr(head, 0, size);

	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		const char *a = NULL, *b = NULL;
		size_t n = 0, m = 0;
		bool found = fetch_header(head, size, wanted[i], &a, &n);

		if (found != naive(head, size, wanted[i], &b, &m) || a != b || n != m)
			abort();
	}
	if (nul)
		check_answer((struct text){ head, (size_t)(nul - head) },
		             (struct text){ nul + 1, size - (size_t)(nul - head) - 1 });
	free(head);
	return 0;
}
