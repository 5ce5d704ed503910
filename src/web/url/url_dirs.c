/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_dirs.c - the directories above a page in its site's tree.
 *
 * The tree is over host and path, not scheme: a site that moves to https keeps
 * its directories and what was learnt about them.  Directories are prefixes of
 * the URL, so they cost no copy; only the pseudo-directory of a query has to be
 * written, because its keys are sorted.
 */
#include "web/url/url.h"

#include <string.h>

unsigned url_depth(const char *url, size_t size)
{
	struct url_parts p;
	unsigned n = 0;

	url_split(url, size, &p);
	for (uint32_t i = p.path; i < p.query; i++)
		n += url[i] == '/';
	return n;
}

void url_dirs(const char *url, size_t size, struct url_dirs *ret)
{
	struct url_parts p;

	url_split(url, size, &p);
	ret->n = 0;
	ret->begin = p.host;
	for (uint32_t i = p.path; i < p.query && ret->n < URL_LEVELS_MAX; i++)
		if (url[i] == '/')
			ret->end[ret->n++] = i + 1;
}

struct key { const char *s; size_t size; };

static int compare_keys(const struct key *a, const struct key *b)
{
	size_t n = a->size < b->size ? a->size : b->size;
	int c = memcmp(a->s, b->s, n);

	return c ? c : (a->size > b->size) - (a->size < b->size);
}

/* Put a key in its place among the n smallest so far, unless it is there. */
static size_t insert_key(struct key *keys, size_t n, struct key key)
{
	size_t i = n;

	while (i > 0) {
		int c = compare_keys(&key, &keys[i - 1]);

		if (!c)
			return n;
		if (c > 0)
			break;
		i--;
	}
	if (i == URL_KEYS_MAX)
		return n;
	if (n == URL_KEYS_MAX)
		n--;
	memmove(keys + i + 1, keys + i, (n - i) * sizeof *keys);
	keys[i] = key;
	return n + 1;
}

bool url_query_dir(const char *url, size_t size, struct buf *out)
{
	struct key keys[URL_KEYS_MAX];
	const char *s, *end = url + size;
	struct url_parts p;
	unsigned levels = 0;
	size_t n = 0;

	url_split(url, size, &p);
	if (p.query == p.end)
		return false;
	for (uint32_t i = p.path; i < p.query; i++)
		levels += url[i] == '/';
	if (levels >= URL_LEVELS_MAX)
		return false;
	for (s = url + p.query + 1; s <= end; ) {
		const char *next = memchr(s, '&', (size_t)(end - s)), *equals;
		size_t part = (size_t)((next ? next : end) - s);

		equals = memchr(s, '=', part);
		n = insert_key(keys, n, (struct key){ s, equals ? (size_t)(equals - s) : 0 });
		s = next ? next + 1 : end + 1;
	}
	buf_add(out, url + p.host, p.query - p.host);
	buf_byte(out, '?');
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_byte(out, ',');
		buf_add(out, keys[i].s, keys[i].size);
	}
	return true;
}
