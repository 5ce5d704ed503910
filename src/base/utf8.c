/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.c - see utf8.h. */
#include "base/utf8.h"

size_t utf8_get(const char *s, size_t size, uint32_t *ret)
{
	const unsigned char *p = (const unsigned char *)s;
	unsigned c = size ? p[0] : 0xff;
	size_t len = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 :
	             (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;

	if (!len || len > size)
		return 0;
	*ret = len == 1 ? c : c & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*ret = *ret << 6 | (p[i] & 0x3f);
	}
	/* overlong forms; surrogates; beyond U+10FFFF */
	return (len == 3 && *ret < 0x800) || (len == 4 && *ret < 0x10000) ||
		(*ret >= 0xd800 && *ret < 0xe000) || *ret > 0x10ffff ? 0 : len;
}

bool utf8_is_hidden(uint32_t c)
{
	static const struct { uint32_t from, to; } ranges[] = {
		{ 0x00, 0x1f }, { 0x7f, 0x9f },         /* control */
		{ 0xad, 0xad }, { 0x34f, 0x34f },       /* soft hyphen, joiner */
		{ 0x61c, 0x61c }, { 0x180e, 0x180e },
		{ 0x200b, 0x200f },                     /* of no width; direction of writing */
		{ 0x2028, 0x202e },                     /* ends of lines; direction */
		{ 0x2060, 0x206f },
		{ 0xfeff, 0xfeff }, { 0xfff9, 0xfffb },
		{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe007f },
	};

	if (c >= 0x20 && c < 0x7f)
		return false;
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return true;
	return false;
}
