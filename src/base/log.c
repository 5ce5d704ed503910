/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - the log sink; see log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

static enum log_level current_level = LOG_INFO;
static _Thread_local bool hushed;       /* this thread says nothing */

void log_set_level(enum log_level level)
{
	current_level = level;
}

enum log_level log_level(void)
{
	return hushed ? LOG_QUIET : current_level;
}

void log_hush(bool on)
{
	hushed = on;
}

void log_at(enum log_level level, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	if (level > log_level())
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	fprintf(stderr, "freshet: %s%s\n", level == LOG_WARN ? "warning: " : "", log_plain(line));
}

char *log_plain(char *s)
{
	size_t size = strlen(s), o = 0, len;

	for (size_t i = 0; i < size; i += len) {
		uint32_t c;

		len = utf8_get(s + i, size - i, &c);
		if (len && (c == '\t' || c == '\n' || !utf8_is_hidden(c))) {
			memmove(s + o, s + i, len);
			o += len;
		} else {
			s[o++] = '?';
			len = len ? len : 1;
		}
	}
	s[o] = '\0';
	return s;
}

char *log_plain_line(const char *s, char *out, size_t out_size)
{
	char *plain = log_plain(mem_strdup(s));
	size_t n = strlen(plain);

	n = n < out_size ? n : out_size - 1;
	while (n && ((unsigned char)plain[n] & 0xc0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++)
		out[i] = plain[i] == '\t' || plain[i] == '\n' ? ' ' : plain[i];
	out[n] = '\0';
	free(plain);
	return out;
}

void log_print_plain(const char *s)
{
	char *plain = log_plain(mem_strdup(s));

	fputs(plain, stdout);
	free(plain);
}

void log_warn_text(void *arg, const char *text)
{
	(void)arg;
	log_warn("%s", text);
}

void log_warn_few(void *arg, const char *text)
{
	uint64_t *n = arg;

	if (++*n <= LOG_FEW + 1)
		log_warn("%s", *n <= LOG_FEW ? text : "more follow, which are only counted");
}

bool log_password(const char *s, size_t size, size_t *ret_from, size_t *ret_to)
{
	const char *name = memmem(s, size, "://", 3), *end = s + size, *at = NULL, *colon;

	if (!name)
		return false;
	name += 3;
	for (const char *p = name; p < end && *p != '/' && *p != '?' && *p != '#'; p++)
		at = *p == '@' ? p : at;
	colon = at ? memchr(name, ':', (size_t)(at - name)) : NULL;
	if (!colon)
		return false;
	*ret_from = (size_t)(colon + 1 - s);
	*ret_to = (size_t)(at - s);
	return true;
}

const char *log_quote(const char *s, size_t size, char *out, size_t out_size)
{
	size_t o = 0, from = SIZE_MAX, to = 0;

	log_password(s, size, &from, &to);
	for (size_t i = 0; i < size && o + 5 < out_size; i++) {
		unsigned char c = (unsigned char)s[i];

		if (i == from) {
			o += (size_t)snprintf(out + o, out_size - o, "***");
			i = to - 1;
			from = SIZE_MAX;        /* once: an empty range would match again */
		} else if (c >= 0x20 && c < 0x7f)
			out[o++] = (char)c;
		else
			o += (size_t)snprintf(out + o, out_size - o, "\\x%02x", c);
	}
	if (out_size)
		out[o] = '\0';
	return out;
}
