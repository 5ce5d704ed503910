/* SPDX-License-Identifier: Apache-2.0 */
/* naive_refs.c - character references, by looking at every name. */
#include "naive_tokens.h"

#include <string.h>

static const struct { const char *name, *text; size_t size; } names[] = {
#define FIRST(letter, number)
#define ENTITY(name, text) { name, text, sizeof text - 1 },
#include "web/html/entities.inc"
#undef FIRST
#undef ENTITY
};

static bool is_alpha(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static int low(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

static void put_char(struct buf *b, unsigned c)
{
	if (c < 0x80)
		buf_byte(b, (int)c);
	else if (c < 0x800)
		buf_printf(b, "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 63)));
	else if (c < 0x10000)
		buf_printf(b, "%c%c%c", (int)(0xe0 | c >> 12), (int)(0x80 | (c >> 6 & 63)),
		           (int)(0x80 | (c & 63)));
	else
		buf_printf(b, "%c%c%c%c", (int)(0xf0 | c >> 18), (int)(0x80 | (c >> 12 & 63)),
		           (int)(0x80 | (c >> 6 & 63)), (int)(0x80 | (c & 63)));
}

static unsigned number_char(unsigned long c)
{
	static const unsigned c1[32] = { 0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020,
		0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d, 0x8f, 0x90, 0x2018,
		0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a,
		0x153, 0x9d, 0x17e, 0x178 };

	if (!c || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0xfffd;
	return c >= 0x80 && c <= 0x9f ? c1[c - 0x80] : (unsigned)c;
}

/* A reference behind the '&' at p; appends what it is and returns its size. */
size_t naive_reference(const char *p, const char *end, bool in_value, struct buf *out)
{
	size_t left = (size_t)(end - p), best = 0, at = 0, n;

	if (left && *p == '#') {
		bool hex = left > 1 && low(p[1]) == 'x';
		size_t i = hex ? 2 : 1, from = i;
		unsigned long c = 0;

		while (i < left && (is_digit(p[i]) || (hex && strchr("abcdef", low(p[i])) && p[i]))) {
			int d = is_digit(p[i]) ? p[i] - '0' : low(p[i]) - 'a' + 10;

			if (c < 0x1000000)
				c = c * (hex ? 16 : 10) + (unsigned long)d;
			i++;
		}
		if (i == from)
			return 0;
		put_char(out, number_char(c));
		return i + (i < left && p[i] == ';');
	}
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		n = strlen(names[i].name);
		if (n > best && n <= left && !memcmp(names[i].name, p, n))
			best = n, at = i;
	}
	if (!best || (in_value && p[best - 1] != ';' && best < left &&
	              (p[best] == '=' || is_alpha(p[best]) || is_digit(p[best]))))
		return 0;
	buf_add(out, names[at].text, names[at].size);
	return best;
}
