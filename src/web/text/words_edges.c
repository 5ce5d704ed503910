/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words_edges.c - see words_edges.h.  Sixty-four bytes at a time become a mask of letters,
 * digits and bytes beyond ASCII, and the mask a list of where its runs of ones begin and end.
 */
#include "web/text/words_edges.h"

#include <string.h>

/* One bit for each of 16 bytes: a letter, a digit, or beyond ASCII; and the bytes
 * in lower case to `lower`, where they are letters or digits. */
static inline uint64_t read_16(const char *p, char *lower)
{
#ifdef __SSE2__
	__m128i v = _mm_loadu_si128((const void *)p);
	__m128i alpha = _mm_sub_epi8(_mm_or_si128(v, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
	__m128i digit = _mm_sub_epi8(v, _mm_set1_epi8('0'));
	__m128i is = _mm_or_si128(
		_mm_cmpeq_epi8(_mm_min_epu8(alpha, _mm_set1_epi8(25)), alpha),
		_mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit));

	_mm_storeu_si128((void *)lower, _mm_or_si128(v, _mm_srli_epi16(
		_mm_and_si128(v, _mm_set1_epi8(0x40)), 1)));
	return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_or_si128(is, v));
#else
	uint64_t mask = 0;

	for (int i = 0; i < 16; i++) {
		lower[i] = (char)(p[i] | (p[i] & 0x40) >> 1);
		mask |= (uint64_t)(words_is_ascii(p[i]) || p[i] & 0x80) << i;
	}
	return mask;
#endif
}

static inline uint64_t read_64(const char *p, char *lower)
{
	return read_16(p, lower) | read_16(p + 16, lower + 16) << 16 |
	       read_16(p + 32, lower + 32) << 32 | read_16(p + 48, lower + 48) << 48;
}

/* Sixty-four bytes at `at` of a window: out gets the edges of runs among them. */
static SIMD_INLINE uint16_t *put_edges(uint16_t *out, size_t at, uint64_t word,
                                       uint64_t *open)
{
	uint64_t edges = word ^ (word << 1 | *open);    /* begins, and behind ends */

	*open = word >> 63;
	for (; edges; edges &= edges - 1)
		*out++ = (uint16_t)(at + (size_t)__builtin_ctzll(edges));
	return out;
}

static inline uint16_t *read_edges(uint16_t *out, size_t at, const char *p, char *lower,
                                   uint64_t *open)
{
	return put_edges(out, at, read_64(p, lower), open);
}

/* 64 bytes at a time. */
static SIMD_INLINE size_t find_by(const char *text, size_t size, struct words_window *in,
                                  uint16_t *(*read)(uint16_t *, size_t, const char *, char *,
                                  uint64_t *))
{
	uint16_t *out = in->edge;
	uint64_t open = 0;
	char tail[64];

	for (size_t at = 0; at < size; at += 64) {
		const char *p = text + at;

		if (size - at < 64) {
			memset(tail, ' ', sizeof tail);
			memcpy(tail, p, size - at);
			p = tail;
		}
		out = read(out, at, p, in->lower + at, &open);
	}
	if (open)
		*out++ = (uint16_t)size;
	return (size_t)(out - in->edge);
}

size_t words_edges(const char *text, size_t size, struct words_window *in)
{
	return find_by(text, size, in, read_edges);
}

#ifdef SIMD_HAS_V3
SIMD_V3 static inline uint32_t read_32(const char *p, char *lower)
{
	__m256i v = _mm256_loadu_si256((const void *)p);
	__m256i alpha = _mm256_sub_epi8(_mm256_or_si256(v, _mm256_set1_epi8(0x20)),
		_mm256_set1_epi8('a'));
	__m256i digit = _mm256_sub_epi8(v, _mm256_set1_epi8('0'));
	__m256i is = _mm256_or_si256(
		_mm256_cmpeq_epi8(_mm256_min_epu8(alpha, _mm256_set1_epi8(25)), alpha),
		_mm256_cmpeq_epi8(_mm256_min_epu8(digit, _mm256_set1_epi8(9)), digit));

	_mm256_storeu_si256((void *)lower, _mm256_or_si256(v, _mm256_srli_epi16(
		_mm256_and_si256(v, _mm256_set1_epi8(0x40)), 1)));
	return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(is, v));
}

/* Eight edges at a time, more than there are: nothing to guess. */
SIMD_V3 static inline uint16_t *put_edges_v3(uint16_t *out, size_t at, uint64_t word,
                                             uint64_t *open)
{
	uint64_t edges = word ^ (word << 1 | *open);
	size_t n = (size_t)_mm_popcnt_u64(edges);

	*open = word >> 63;
	for (size_t i = 0; i < n; i += 8) {
#pragma GCC unroll 8
		for (size_t k = 0; k < 8; k++) {
			out[i + k] = (uint16_t)(at + _tzcnt_u64(edges));
			edges = _blsr_u64(edges);
		}
	}
	return out + n;
}

SIMD_V3 static inline uint16_t *read_edges_v3(uint16_t *out, size_t at, const char *p,
                                              char *lower, uint64_t *open)
{
	return put_edges_v3(out, at, read_32(p, lower) | (uint64_t)read_32(p + 32, lower + 32) << 32,
	                    open);
}

SIMD_V3 size_t words_edges_v3(const char *text, size_t size, struct words_window *in)
{
	return find_by(text, size, in, read_edges_v3);
}
#endif
