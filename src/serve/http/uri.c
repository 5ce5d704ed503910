/* SPDX-License-Identifier: Apache-2.0 */
/* uri.c - see uri.h. */
#include "serve/http/uri.h"

#include <ctype.h>

#include "base/utf8.h"

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_text(const char *s)
{
	size_t size = strlen(s), len;

	for (size_t i = 0; i < size; i += len) {
		uint32_t c;

		if (!(len = utf8_get(s + i, size - i, &c)))
			return false;
	}
	return true;
}

/* Undo %XX, and '+' in a query.  NULL: it is malformed. */
static const char *decode(const char *s, size_t size, bool query, struct arena *keep)
{
	char *out = arena_alloc(keep, size + 1), *o = out;

	for (size_t i = 0; i < size; i++) {
		int c = (unsigned char)s[i];

		if (c == '%') {
			if (size - i < 3 || hex(s[i + 1]) < 0 || hex(s[i + 2]) < 0)
				return NULL;
			c = hex(s[i + 1]) << 4 | hex(s[i + 2]);
			i += 2;
		} else if (c == '+' && query) {
			c = ' ';
		}
		if (!c)
			return NULL;
		*o++ = (char)c;
	}
	*o = '\0';
	return is_text(out) ? out : NULL;
}

static const char *parse_path(struct uri *u, const char *s, size_t size, struct arena *keep)
{
	const char *end = s + size;

	if (!size || *s != '/')
		return "the path must begin with /";
	for (s++; s <= end;) {
		const char *stop = memchr(s, '/', (size_t)(end - s));
		const char *text;

		stop = stop ? stop : end;
		if (stop == end && s == end)    /* a slash at the end, or the path "/" */
			break;
		if (u->n_segments == URI_SEGMENTS_MAX)
			return "the path has too many parts: is the URL of a page percent-encoded?";
		text = decode(s, (size_t)(stop - s), false, keep);
		if (!text)
			return "the path is not percent-encoded UTF-8";
		if (!*text || !strcmp(text, ".") || !strcmp(text, ".."))
			return "the path has an empty part, or one that is a dot";
		u->segments[u->n_segments++] = text;
		s = stop + 1;
	}
	return NULL;
}

static const char *parse_query(struct uri *u, const char *s, struct arena *keep)
{
	while (*s) {
		size_t size = strcspn(s, "&"), key = strcspn(s, "=&");
		const char *k, *v;

		if (size) {
			bool has = key < size;

			if (u->n_params == URI_PARAMS_MAX)
				return "too many parameters";
			k = decode(s, has ? key : size, true, keep);
			v = has ? decode(s + key + 1, size - key - 1, true, keep) : "";
			if (!k || !v)
				return "the query is not percent-encoded UTF-8";
			if (uri_param(u, k))
				return "a parameter is there twice";
			u->params[u->n_params].key = k;
			u->params[u->n_params++].value = v;
		}
		s += size + (s[size] == '&');
	}
	return NULL;
}

const char *uri_parse(struct uri *u, const char *target, struct arena *keep)
{
	size_t path = strcspn(target, "?#");
	const char *why;

	*u = (struct uri){ 0 };
	why = parse_path(u, target, path, keep);
	if (!why && target[path] == '?')
		why = parse_query(u, target + path + 1, keep);
	if (!why && strchr(target, '#'))
		why = "a fragment does not belong into a request";
	return why;
}

const char *uri_param(const struct uri *u, const char *key)
{
	for (size_t i = 0; i < u->n_params; i++)
		if (!strcmp(u->params[i].key, key))
			return u->params[i].value;
	return NULL;
}
