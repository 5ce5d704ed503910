/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - characters as bytes. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_MAX 4              /* bytes of a character */

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
