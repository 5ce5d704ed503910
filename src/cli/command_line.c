/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_line.c - see command_line.h.
 *
 * The line ends up in reports, which people show to others: `scheme://user:pass@`
 * loses its password.  The program's name is written without its folder.
 */
#include "cli/command_line.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define LINE_MAX_BYTES 65536            /* the rest is `...` */

/* Where the password of scheme://user:pass@host begins and ends. */
static bool find_password(const char *s, const char **ret_from, const char **ret_to)
{
	const char *name = strstr(s, "://"), *end, *at = NULL, *colon;

	if (!name)
		return false;
	name += 3;
	end = name + strcspn(name, "/?#");
	for (const char *p = name; p < end; p++)
		at = *p == '@' ? p : at;
	colon = at ? memchr(name, ':', (size_t)(at - name)) : NULL;
	if (!colon)
		return false;
	*ret_from = colon + 1;
	*ret_to = at;
	return true;
}

static void add_word(struct buf *b, const char *s)
{
	const char *safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"%+,-./:=@_";
	const char *from = "", *to = "";
	bool hide = find_password(s, &from, &to), quote = !*s || s[strspn(s, safe)];

	if (quote)
		buf_byte(b, '\'');
	for (; *s; s++) {
		if (hide && s == from) {
			buf_str(b, "***");
			s = to;
		}
		if (*s == '\'')
			buf_str(b, "'\\''");
		else
			buf_byte(b, *s);
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
		memcpy(line + strlen(line) - 4, " ...", 4);
	buf_release(&b);
	return line;
}
