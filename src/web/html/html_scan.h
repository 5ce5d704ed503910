/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_scan.h - find the next special byte, 16 bytes at a time.
 *
 * Runs of text and values are short (tens of bytes), so one plain SSE2 load and
 * a few compares beat a call to memchr, and wider vectors bring nothing.  SSE2 is
 * part of every x86-64; elsewhere, and in the last bytes of the input, a byte
 * loop does the same.  Nothing is read past `end`.
 */
#ifndef WEB_HTML_HTML_SCAN_H
#define WEB_HTML_HTML_SCAN_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* First of four bytes, or end; pass a byte twice to look for fewer. */
static inline const char *scan_4(const char *p, const char *end,
                                 char a, char b, char c, char d)
{
#ifdef __SSE2__
	const __m128i va = _mm_set1_epi8(a), vb = _mm_set1_epi8(b);
	const __m128i vc = _mm_set1_epi8(c), vd = _mm_set1_epi8(d);

	for (; end - p >= 16; p += 16) {
		__m128i v = _mm_loadu_si128((const void *)p);
		__m128i hit = _mm_or_si128(
			_mm_or_si128(_mm_cmpeq_epi8(v, va), _mm_cmpeq_epi8(v, vb)),
			_mm_or_si128(_mm_cmpeq_epi8(v, vc), _mm_cmpeq_epi8(v, vd)));
		int mask = _mm_movemask_epi8(hit);

		if (mask)
			return p + __builtin_ctz((unsigned)mask);
	}
#endif
	while (p < end && *p != a && *p != b && *p != c && *p != d)
		p++;
	return p;
}

enum scan_class {
	IS_SPACE = 1,                   /* tab, LF, FF, CR, space */
	IS_UPPER = 2,
	IS_ALPHA = 4,
	IS_DIGIT = 8,
	IS_NUL = 16,
	ENDS_TAG_NAME = 32,             /* space / > */
	ENDS_ATTR_NAME = 64,            /* space / > = */
	ENDS_UNQUOTED = 128,            /* space > */
};
extern const unsigned char scan_class[256];

static inline unsigned scan_class_of(char c)
{
	return scan_class[(unsigned char)c];
}
static inline const char *scan_space(const char *p, const char *end)
{
	while (p < end && scan_class_of(*p) & IS_SPACE)
		p++;
	return p;
}
/* Lower case for ASCII letters given that c is one. */
static inline char scan_lower(char c)
{
	return (char)(scan_class_of(c) & IS_UPPER ? c | 0x20 : c);
}

#endif
