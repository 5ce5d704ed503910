/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_line.c - see command_line.h.
 *
 * The line is printed in reports, which people show to others.  So the password of
 * `scheme://user:pass@` is removed.  The program's name is written without its folder.
 */
#include "cli/frame/command_line.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"

#define LINE_MAX_BYTES 65536            /* the rest is `...` */

static void add_word(struct buf *b, const char *s)
{
	const char *safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"%+,-./:=@_";
	size_t from = 0, to = 0;
	bool hide = log_password(s, strlen(s), &from, &to), quote = !*s || s[strspn(s, safe)];

	if (quote)
		buf_byte(b, '\'');
	for (size_t i = 0; s[i]; i++) {
		if (hide && i == from) {
			buf_str(b, "***");
			i = to;
		}
		if (s[i] == '\'')
			buf_str(b, "'\\''");
		else
			buf_byte(b, (unsigned char)s[i]);
	}
	if (quote)
		buf_byte(b, '\'');
}

char *command_line(int argc, char **argv)
{
	struct buf b;
	char *line;

	buf_init(&b, LINE_MAX_BYTES);
	buf_str(&b, "freshet");
	for (int i = 1; i < argc; i++) {
		buf_byte(&b, ' ');
		add_word(&b, argv[i]);
	}
	line = mem_strdup(buf_text(&b));
	if (b.full && strlen(line) > 4)
		strcpy(line + strlen(line) - 4, " ...");
	buf_release(&b);
	return line;
}
