/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unicode.c - tables and UTF-8.
 *
 * Kinds: two bits a character in pages of 256, equal pages stored once (11 KB).
 * Lower case: runs of characters with the same distance to their lower case,
 * searched by halving; ASCII never gets here.
 */
#include "web/text/unicode.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "web/text/unicode.inc"

enum unicode_kind unicode_kind(uint32_t c)
{
	uint32_t page = c >> 8;

	if (page >= UNICODE_PAGES)
		page = UNICODE_PAGES - 1;
	return kinds[page_of[page]][c >> 4 & 15] >> 2 * (c & 15) & 3;
}

uint32_t unicode_lower(uint32_t c)
{
	size_t lo = 0, hi = sizeof lower_runs / sizeof lower_runs[0];

	if (c < 0x80)
		return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (lower_runs[mid].last < c)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == sizeof lower_runs / sizeof lower_runs[0] || c < lower_runs[lo].first ||
	    (c - lower_runs[lo].first) % lower_runs[lo].step)
		return c;
	return c + (uint32_t)lower_runs[lo].delta;
}

size_t unicode_get(const char *data, size_t size, uint32_t *ret)
{
	const unsigned char *p = (const unsigned char *)data;
	uint32_t c = p[0], low;
	size_t n;

	if (c < 0x80) {
		*ret = c;
		return 1;
	}
	*ret = 0xfffd;
	if (c < 0xc2 || c > 0xf4)
		return 1;
	n = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	if (size < n)
		return 1;
	c &= 0xffu >> (n + 1);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 1;
		c = c << 6 | (p[i] & 0x3f);
	}
	low = n == 2 ? 0x80 : n == 3 ? 0x800 : 0x10000;
	if (c < low || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 1;
	*ret = c;
	return n;
}

static size_t ascii_run(const char *p, size_t size)
{
	size_t i = 0;

#ifdef __SSE2__
	for (; size - i >= 64; i += 64) {
		const __m128i *v = (const void *)(p + i);
		__m128i all = _mm_or_si128(
			_mm_or_si128(_mm_loadu_si128(v), _mm_loadu_si128(v + 1)),
			_mm_or_si128(_mm_loadu_si128(v + 2), _mm_loadu_si128(v + 3)));

		if (_mm_movemask_epi8(all))
			break;
	}
	for (; size - i >= 16; i += 16) {
		int mask = _mm_movemask_epi8(_mm_loadu_si128((const void *)(p + i)));

		if (mask)
			return i + (size_t)__builtin_ctz((unsigned)mask);
	}
#endif
	while (i < size && !(p[i] & 0x80))
		i++;
	return i;
}

size_t unicode_valid(const char *p, size_t size)
{
	size_t i = 0;

	while ((i += ascii_run(p + i, size - i)) < size)
		do {
			uint32_t c;
			size_t n = unicode_get(p + i, size - i, &c);

			if (n == 1)
				return i;
			i += n;
		} while (i < size && p[i] & 0x80);
	return i;
}

size_t unicode_plain(const char *p, size_t size)
{
	size_t i = 0;

#ifdef __SSE2__
	const __m128i nul = _mm_setzero_si128(), esc = _mm_set1_epi8(0x1b);

	for (; size - i >= 16; i += 16) {
		__m128i v = _mm_loadu_si128((const void *)(p + i));
		__m128i bad = _mm_or_si128(v, _mm_or_si128(_mm_cmpeq_epi8(v, nul),
		                                           _mm_cmpeq_epi8(v, esc)));
		int mask = _mm_movemask_epi8(bad);

		if (mask)
			return i + (size_t)__builtin_ctz((unsigned)mask);
	}
#endif
	while (i < size && !(p[i] & 0x80) && p[i] && p[i] != 0x1b)
		i++;
	return i;
}
