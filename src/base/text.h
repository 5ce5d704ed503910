/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - a text in somebody else's memory: where it begins and its size.
 *
 * It need not end with a NUL.  Who hands one out says how long it lives.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text { const char *s; size_t size; };    /* s == NULL: no text */

/* Both are there, and equal. */
static inline bool text_same(struct text a, struct text b)
{
	return a.s && b.s && a.size == b.size && !memcmp(a.s, b.s, a.size);
}

/* Take the next word off a list whose words are parted by blanks, as links are kept.  False:
 * there is none.  The words live as long as the list. */
static inline bool text_word(struct text *rest, struct text *ret)
{
	const char *p = rest->s, *end, *stop;

	if (!rest->size)
		return false;
	end = p + rest->size;
	while (p < end && *p == ' ')
		p++;
	if (p == end)
		return false;
	stop = memchr(p, ' ', (size_t)(end - p));
	stop = stop ? stop : end;
	*ret = (struct text){ p, (size_t)(stop - p) };
	*rest = (struct text){ stop, (size_t)(end - stop) };
	return true;
}

#endif
