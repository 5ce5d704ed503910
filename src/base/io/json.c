/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - streaming JSON writer; see json.h. */
#include "base/io/json.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"

void json_to_file(struct json *j, FILE *out)
{
	*j = (struct json){ .out = out };
}

void json_to_buf(struct json *j, struct buf *buf)
{
	*j = (struct json){ .buf = buf };
}

static void put(struct json *j, const char *s, size_t n)
{
	if (j->out)
		fwrite(s, 1, n, j->out);
	else
		buf_add(j->buf, s, n);
}

static void before_value(struct json *j)
{
	if (j->after_key)
		j->after_key = false;
	else if (j->comma[j->depth])
		put(j, ",", 1);
	j->comma[j->depth] = true;
}

static void open_level(struct json *j, const char *c)
{
	before_value(j);
	put(j, c, 1);
	if (j->depth < JSON_DEPTH_MAX - 1)
		j->depth++;
	j->comma[j->depth] = false;
}

static void close_level(struct json *j, const char *c)
{
	if (j->depth)
		j->depth--;
	put(j, c, 1);
}

void json_object(struct json *j)     { open_level(j, "{"); }
void json_end_object(struct json *j) { close_level(j, "}"); }
void json_array(struct json *j)      { open_level(j, "["); }
void json_end_array(struct json *j)  { close_level(j, "]"); }

/* As \uXXXX, beyond U+FFFF as a pair. */
static void put_escaped(struct json *j, uint32_t c)
{
	char esc[16];
	int n;

	if (c < 0x10000)
		n = snprintf(esc, sizeof esc, "\\u%04x", c);
	else
		n = snprintf(esc, sizeof esc, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10),
		             0xdc00 + (c & 0x3ff));
	put(j, esc, (size_t)n);
}

static void put_string(struct json *j, const char *s, size_t size)
{
	const unsigned char *p = (const unsigned char *)s;
	char esc[8];

	put(j, "\"", 1);
	for (size_t i = 0; i < size;) {
		size_t from = i, len;
		uint32_t c;

		while (i < size && p[i] >= 0x20 && p[i] < 0x7f && p[i] != '"' && p[i] != '\\')
			i++;
		if (i > from)
			put(j, s + from, i - from);
		if (i == size)
			break;
		if (p[i] == '"' || p[i] == '\\') {
			snprintf(esc, sizeof esc, "\\%c", p[i]);
			put(j, esc, 2);
			i++;
		} else if ((len = utf8_get(s + i, size - i, &c))) {
			if (utf8_is_hidden(c))
				put_escaped(j, c);
			else
				put(j, s + i, len);
			i += len;
		} else {
			put(j, "\xef\xbf\xbd", 3);
			i++;
		}
	}
	put(j, "\"", 1);
}

void json_key(struct json *j, const char *key)
{
	before_value(j);
	put_string(j, key, strlen(key));
	put(j, ":", 1);
	j->after_key = true;
}

void json_strn(struct json *j, const char *s, size_t size)
{
	before_value(j);
	put_string(j, s, size);
}

void json_str(struct json *j, const char *s)
{
	if (s)
		json_strn(j, s, strlen(s));
	else
		json_null(j);
}

void json_int(struct json *j, int64_t v)
{
	char text[24];
	int n = snprintf(text, sizeof text, "%lld", (long long)v);

	before_value(j);
	put(j, text, (size_t)n);
}

void json_num(struct json *j, double v)
{
	char text[40];
	int n;

	if (!isfinite(v)) {
		json_null(j);
		return;
	}
	n = snprintf(text, sizeof text, "%.9g", v);
	before_value(j);
	put(j, text, (size_t)n);
}

void json_bool(struct json *j, bool v)
{
	before_value(j);
	put(j, v ? "true" : "false", v ? 4 : 5);
}

void json_null(struct json *j)
{
	before_value(j);
	put(j, "null", 4);
}

void json_raw(struct json *j, const char *text)
{
	size_t size = strlen(text);

	while (size && text[size - 1] == '\n')
		size--;
	before_value(j);
	put(j, text, size);
}

void json_newline(struct json *j)
{
	put(j, "\n", 1);
	j->comma[0] = false;
}

void json_kstr(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_str(j, s);
}

void json_kint(struct json *j, const char *key, int64_t v)
{
	json_key(j, key);
	json_int(j, v);
}

void json_knum(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_num(j, v);
}

void json_kbool(struct json *j, const char *key, bool v)
{
	json_key(j, key);
	json_bool(j, v);
}
