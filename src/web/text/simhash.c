/* SPDX-License-Identifier: Apache-2.0 */
/* simhash.c - bit-sliced majority counters; see simhash.h. */
#include "web/text/simhash.h"

#include <string.h>

#include "web/text/simd.h"

#define PLANES_AT_ONCE 12
#define BLOCK (8 * SIMHASH_LANES)

/* One plane of all lanes, or a hash for each of them. */
typedef uint64_t lanes __attribute__((vector_size(8 * SIMHASH_LANES)));
typedef uint64_t lanes_anywhere __attribute__((vector_size(8 * SIMHASH_LANES), aligned(8),
                                               may_alias));

/* *sum + *b + *c: the sum's low bits stay, its high bits go to *ret. */
static SIMD_INLINE void carry_save(lanes *sum, const lanes_anywhere *b,
                                   const lanes_anywhere *c, lanes *ret)
{
	lanes a = *sum, half = a ^ *b;

	*ret = (a & *b) | (half & *c);
	*sum = half ^ *c;
}

/* Add `carry` to a set of counters from plane k on. */
static void add_at(uint64_t (*plane)[SIMHASH_LANES], unsigned lane, int k, uint64_t carry)
{
	for (; carry && k < SIMHASH_PLANES; k++) {
		uint64_t both = plane[k][lane] & carry;

		plane[k][lane] ^= carry;
		carry = both;
	}
}

/* Add eight hashes to each set of counters, whose planes are p; returns the carry. */
static SIMD_INLINE void add_block(lanes p[PLANES_AT_ONCE], const uint64_t *hashes, lanes *ret)
{
	const lanes_anywhere *w = (const lanes_anywhere *)hashes;
	lanes a, b, c, d;

	carry_save(&p[0], &w[0], &w[1], &a);
	carry_save(&p[0], &w[2], &w[3], &b);
	carry_save(&p[1], &a, &b, &c);
	carry_save(&p[0], &w[4], &w[5], &a);
	carry_save(&p[0], &w[6], &w[7], &b);
	carry_save(&p[1], &a, &b, &d);
	carry_save(&p[2], &c, &d, &a);
	/* always through these planes, without a branch: a carry beyond them is rare */
	for (int k = 3; k < PLANES_AT_ONCE; k++) {
		b = p[k] & a;
		p[k] ^= a;
		a = b;
	}
	*ret = a;
}

static SIMD_INLINE void add_all(struct simhash *s, const uint64_t *hashes, size_t n)
{
	lanes p[PLANES_AT_ONCE], carry;
	uint64_t last[BLOCK] = { 0 };   /* padding that changes no counter */

	s->n += n;
	memcpy(p, s->plane, sizeof p);
	for (size_t at = 0; at < n; at += BLOCK) {
		const uint64_t *from = hashes + at;

		if (n - at < BLOCK)
			from = memcpy(last, from, (n - at) * sizeof *from);
		add_block(p, from, &carry);
		for (unsigned lane = 0; lane < SIMHASH_LANES; lane++)
			if (carry[lane])
				add_at(s->plane, lane, PLANES_AT_ONCE, carry[lane]);
	}
	memcpy(s->plane, p, sizeof p);
}

#ifdef SIMD_HAS_V3
SIMD_V3 static void add_all_v3(struct simhash *s, const uint64_t *hashes, size_t n)
{
	add_all(s, hashes, n);
}
#endif

void simhash_add(struct simhash *s, const uint64_t *hashes, size_t n)
{
#ifdef SIMD_HAS_V3
	if (simd_v3()) {
		add_all_v3(s, hashes, n);
		return;
	}
#endif
	add_all(s, hashes, n);
}

/* All 64 counters are compared with n / 2 at once, highest plane first. */
uint64_t simhash_value(const struct simhash *s)
{
	uint64_t sum[SIMHASH_PLANES][SIMHASH_LANES];
	uint64_t half = s->n / 2, more = 0, equal = ~(uint64_t)0;
	int planes = 0;

	while (planes < SIMHASH_PLANES && s->n >> planes)
		planes++;               /* planes in use: higher ones are zero */
	memcpy(sum, s->plane, sizeof sum);
	for (unsigned lane = 1; lane < SIMHASH_LANES; lane++)
		for (int k = 0; k < planes; k++)
			add_at(sum, 0, k, s->plane[k][lane]);
	for (int k = planes; k-- > 0;) {
		uint64_t bit = half >> k & 1 ? ~(uint64_t)0 : 0;

		more |= equal & sum[k][0] & ~bit;
		equal &= ~(sum[k][0] ^ bit);
	}
	return more;
}
