/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits.h - reads instantaneous codes from bytes, most significant bit first.
 *
 * The bytes must be followed by BITS_PAD readable ones.  Reading past the end
 * gives zeros and leaves `at` behind `end`, or sets `bad`; a caller looks at
 * bits_ok() once in a while, not after every number.  Codes:
 *   unary x: x zeros and a one;      gamma x: unary length, bits of x + 1;
 *   delta: gamma length, bits;       zeta k: unary h, then h k + k - 1 or + k bits;
 *   nibble: groups of a stop bit and three bits;  Golomb b: unary x / b, x mod b.
 */
#ifndef GRAPH_BITS_H
#define GRAPH_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BITS_PAD 16

struct bits {
	const uint8_t *data;
	uint64_t at, end;               /* in bits */
	bool bad;
};

static inline bool bits_ok(const struct bits *b)
{
	return !b->bad && b->at <= b->end;
}

/* At least 57 bits from `at` on, in the high end. */
static inline uint64_t bits_peek(const struct bits *b)
{
	uint64_t w;

	if (b->at > b->end)
		return 0;
	memcpy(&w, b->data + (b->at >> 3), sizeof w);
	return __builtin_bswap64(w) << (b->at & 7);
}

static inline uint64_t bits_take(struct bits *b, uint64_t n)
{
	uint64_t v = 0;

	if (n > 63) {
		b->bad = true;
		return 0;
	}
	while (n > 56) {
		v = v << 8 | bits_peek(b) >> 56;
		b->at += 8;
		n -= 8;
	}
	if (n) {
		v = v << n | bits_peek(b) >> (64 - n);
		b->at += n;
	}
	return v;
}

static inline uint64_t bits_unary(struct bits *b)
{
	uint64_t n = 0;

	for (;;) {
		uint64_t w = bits_peek(b) >> 8;

		if (w) {
			uint64_t zeros = (uint64_t)__builtin_clzll(w) - 8;

			b->at += zeros + 1;
			return n + zeros;
		}
		b->at += 56;
		n += 56;
		if (b->at > b->end) {
			b->bad = true;
			return 0;
		}
	}
}

/* The number whose highest bit, not written, is followed by n bits; less 1. */
static inline uint64_t bits_with_leading_one(struct bits *b, uint64_t n)
{
	if (n > 62) {
		b->bad = true;
		return 0;
	}
	return ((uint64_t)1 << n | bits_take(b, n)) - 1;
}

static inline uint64_t bits_gamma(struct bits *b)
{
	uint64_t n = bits_unary(b);

	return bits_with_leading_one(b, n);
}

static inline uint64_t bits_delta(struct bits *b)
{
	uint64_t n = bits_gamma(b);

	return bits_with_leading_one(b, n);
}

static inline uint64_t bits_zeta(struct bits *b, uint64_t k)
{
	uint64_t h = bits_unary(b), left, m;

	if (h > 62 || h * k + k - 1 > 62) {
		b->bad = true;
		return 0;
	}
	left = (uint64_t)1 << h * k;
	m = bits_take(b, h * k + k - 1);
	return m < left ? m + left - 1 : (m << 1) + bits_take(b, 1) - 1;
}

static inline uint64_t bits_nibble(struct bits *b)
{
	uint64_t x = 0, group;

	do {
		group = bits_take(b, 4);
		x = x << 3 | (group & 7);
		if (x >> 60 || b->at > b->end) {
			b->bad = true;
			return 0;
		}
	} while (!(group & 8));
	return x;
}

static inline uint64_t bits_golomb(struct bits *b, uint64_t modulus)
{
	uint64_t quotient, log, spare, x;

	if (!modulus)
		return 0;
	quotient = bits_unary(b);
	log = 63 - (uint64_t)__builtin_clzll(modulus);
	spare = ((uint64_t)2 << log) - modulus;         /* how many are short */
	x = bits_take(b, log);
	if (x >= spare)
		x = (x << 1) + bits_take(b, 1) - spare;
	return quotient * modulus + x;
}

#endif
