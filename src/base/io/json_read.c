/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_read.c - walks the members of one JSON object in place; see json.h.
 *
 * Lines of an index come by the hundred megabyte, so strings are found with
 * memchr and nothing is copied.  A value is checked only as far as its extent
 * needs: numbers and words by their first byte, nested values by balance.
 */
#include "base/io/json.h"

#include <string.h>

#include "base/utf8.h"

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* p behind the opening quote; returns the closing quote or NULL. */
static const char *string_end(const char *p, const char *end, bool *escaped)
{
	*escaped = false;
	for (;;) {
		const char *q = memchr(p, '"', (size_t)(end - p));
		const char *b;

		if (!q)
			return NULL;
		b = memchr(p, '\\', (size_t)(q - p));
		if (!b)
			return q;
		*escaped = true;
		p = b + 2;
		if (p > end)
			return NULL;
	}
}

static const char *nested_end(const char *p, const char *end)
{
	int depth = 0;
	bool escaped;

	for (; p < end; p++) {
		if (*p == '"') {
			p = string_end(p + 1, end, &escaped);
			if (!p)
				return NULL;
		} else if (*p == '{' || *p == '[') {
			if (++depth > JSON_DEPTH_MAX)
				return NULL;
		} else if (*p == '}' || *p == ']') {
			if (--depth == 0)
				return p + 1;
		}
	}
	return NULL;
}

static int read_value(const char **p, const char *end, struct json_member *m)
{
	const char *s = *p, *e;

	m->escaped = false;
	if (*s == '"') {
		m->value = s + 1;
		e = string_end(s + 1, end, &m->escaped);
		if (!e)
			return -1;
		m->value_size = (size_t)(e - m->value);
		m->type = JSON_STRING;
		*p = e + 1;
		return 1;
	}
	if (*s == '{' || *s == '[') {
		e = nested_end(s, end);
		if (!e)
			return -1;
		m->type = JSON_NESTED;
	} else {
		for (e = s; e < end && *e != ',' && *e != '}' && *e != ']' && *e != ' ' &&
		            *e != '\t' && *e != '\r' && *e != '\n'; e++)
			;
		if (e == s)
			return -1;
		m->type = *s == 't' || *s == 'f' ? JSON_BOOL :
		          *s == 'n' ? JSON_NULL : JSON_NUMBER;
		if (m->type == JSON_NUMBER && *s != '-' && (*s < '0' || *s > '9'))
			return -1;
	}
	m->value = s;
	m->value_size = (size_t)(e - s);
	*p = e;
	return 1;
}

int json_next(const char **p, const char *end, struct json_member *m)
{
	const char *s = skip_space(*p, end), *e;
	bool first = false, escaped;

	if (s < end && *s == '{') {
		s = skip_space(s + 1, end);
		first = true;
	}
	if (s < end && *s == '}') {
		*p = s + 1;
		return 0;
	}
	if (!first) {
		if (s == end || *s != ',')
			return -1;
		s = skip_space(s + 1, end);
	}
	if (s == end || *s != '"' || !(e = string_end(s + 1, end, &escaped)))
		return -1;
	m->key = s + 1;
	m->key_size = (size_t)(e - m->key);
	s = skip_space(e + 1, end);
	if (s == end || *s != ':')
		return -1;
	s = skip_space(s + 1, end);
	if (s == end)
		return -1;
	*p = s;
	return read_value(p, end, m);
}

int json_element(const char **p, const char *end, struct json_member *m)
{
	const char *s = skip_space(*p, end);
	bool first = s < end && *s == '[';      /* behind an element there is none */

	if (first)
		s = skip_space(s + 1, end);
	if (s < end && *s == ']') {
		*p = s + 1;
		return 0;
	}
	if (!first) {
		if (s == end || *s != ',')
			return -1;
		s = skip_space(s + 1, end);
	}
	if (s == end)
		return -1;
	*p = s;
	return read_value(p, end, m);
}

static int hex4(const char *s, unsigned *ret)
{
	unsigned v = 0;

	for (int i = 0; i < 4; i++) {
		char c = s[i];

		if (c >= '0' && c <= '9')
			v = v * 16 + (unsigned)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			v = v * 16 + (unsigned)((c | 32) - 'a' + 10);
		else
			return -1;
	}
	*ret = v;
	return 0;
}

/* \uXXXX, with its partner if it is half of a pair; a lone half is U+FFFD. */
static int unicode_escape(const char **s, const char *end, unsigned *ret)
{
	unsigned hi, lo;

	if (end - *s < 4 || hex4(*s, &hi))
		return -1;
	*s += 4;
	*ret = hi;
	if (hi < 0xd800 || hi > 0xdfff)
		return 0;
	*ret = 0xfffd;
	if (hi < 0xdc00 && end - *s >= 6 && (*s)[0] == '\\' && (*s)[1] == 'u' &&
	    !hex4(*s + 2, &lo) && lo >= 0xdc00 && lo <= 0xdfff) {
		*s += 6;
		*ret = 0x10000 + ((hi - 0xd800) << 10) + (lo - 0xdc00);
	}
	return 0;
}

long json_unescape(const struct json_member *m, char *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *s = m->value, *end = s + m->value_size;
	char *o = out;

	while (s < end) {
		const char *at;
		unsigned c;

		if (*s != '\\') {
			*o++ = *s++;
			continue;
		}
		if (++s == end)
			return -1;
		if (*s == 'u') {
			s++;
			if (unicode_escape(&s, end, &c))
				return -1;
			o += utf8_put(c, o);
			continue;
		}
		at = *s ? strchr(from, *s) : NULL;
		if (!at)
			return -1;
		*o++ = to[at - from];
		s++;
	}
	return o - out;
}
