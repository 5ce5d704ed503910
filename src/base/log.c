/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - the log sink; see log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

static enum log_level current_level = LOG_INFO;

void log_set_level(enum log_level level)
{
	current_level = level;
}

enum log_level log_level(void)
{
	return current_level;
}

void log_at(enum log_level level, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	if (level > current_level)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	fprintf(stderr, "freshet: %s%s\n", level == LOG_WARN ? "warning: " : "", log_plain(line));
}

char *log_plain(char *s)
{
	for (unsigned char *p = (unsigned char *)s; *p; p++) {
		if ((*p < 0x20 && *p != '\t' && *p != '\n') || *p == 0x7f)
			*p = '?';
		else if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
			p[0] = p[1] = '?';
	}
	return s;
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

const char *log_quote(const char *s, size_t size, char *out, size_t out_size)
{
	size_t o = 0;

	for (size_t i = 0; i < size && o + 5 < out_size; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= 0x20 && c < 0x7f)
			out[o++] = (char)c;
		else
			o += (size_t)snprintf(out + o, out_size - o, "\\x%02x", c);
	}
	if (out_size)
		out[o] = '\0';
	return out;
}
