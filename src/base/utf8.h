/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - characters as bytes. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_MAX 4              /* bytes of a character */

/* The character that a text begins with; returns its bytes, 0: it is not UTF-8. */
size_t utf8_get(const char *s, size_t size, uint32_t *ret);
/* Control characters, ends of lines, direction of writing, no width: what a terminal obeys
 * and a reader does not see. */
bool utf8_is_hidden(uint32_t c);

/* Write the character (below U+110000); returns its bytes. */
static inline size_t utf8_put(uint32_t c, char out[UTF8_MAX])
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 63));
	out[0] = (char)(lead[n] | c);
	return n;
}

#endif
