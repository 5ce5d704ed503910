/* SPDX-License-Identifier: Apache-2.0 */
/* simhash.c - bit-sliced majority counters; see simhash.h. */
#include "web/simhash.h"

static void add_at(struct simhash *s, int k, uint64_t carry)
{
	for (; carry && k < SIMHASH_PLANES; k++) {
		uint64_t both = s->plane[k] & carry;

		s->plane[k] ^= carry;
		carry = both;
	}
}

/* a + b + c: the sum's low bits stay, its high bits are returned */
static inline uint64_t carry_save(uint64_t *sum, uint64_t b, uint64_t c)
{
	uint64_t a = *sum, half = a ^ b;

	*sum = half ^ c;
	return (a & b) | (half & c);
}

void simhash_add_8(struct simhash *s)
{
	const uint64_t *w = s->waiting;
	uint64_t *p = s->plane, a, b, c, d;

	a = carry_save(&p[0], w[0], w[1]);
	b = carry_save(&p[0], w[2], w[3]);
	c = carry_save(&p[1], a, b);
	a = carry_save(&p[0], w[4], w[5]);
	b = carry_save(&p[0], w[6], w[7]);
	d = carry_save(&p[1], a, b);
	add_at(s, 3, carry_save(&p[2], c, d));
}

uint64_t simhash_value(const struct simhash *s)
{
	struct simhash all = *s;
	uint64_t value = 0;

	for (unsigned i = 0; i < (s->n & 7); i++)
		add_at(&all, 0, s->waiting[i]);
	for (int bit = 0; bit < 64; bit++) {
		uint64_t count = 0;

		for (int k = 0; k < SIMHASH_PLANES; k++)
			count |= (all.plane[k] >> bit & 1) << k;
		if (count * 2 > s->n)
			value |= (uint64_t)1 << bit;
	}
	return value;
}
