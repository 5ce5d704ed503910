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

void simhash_add(struct simhash *s, const uint64_t *w, size_t n)
{
	uint64_t p0 = s->plane[0], p1 = s->plane[1], p2 = s->plane[2], a, b, c, d;

	s->n += n;
	for (; n >= 8; n -= 8, w += 8) {
		a = carry_save(&p0, w[0], w[1]);
		b = carry_save(&p0, w[2], w[3]);
		c = carry_save(&p1, a, b);
		a = carry_save(&p0, w[4], w[5]);
		b = carry_save(&p0, w[6], w[7]);
		d = carry_save(&p1, a, b);
		a = carry_save(&p2, c, d);
		/* four planes without asking, so that there is nothing to guess */
		for (int k = 3; k < 7; k++) {
			b = s->plane[k] & a;
			s->plane[k] ^= a;
			a = b;
		}
		add_at(s, 7, a);
	}
	s->plane[0] = p0;
	s->plane[1] = p1;
	s->plane[2] = p2;
	while (n--)
		add_at(s, 0, *w++);
}

/* All 64 counters are compared with n / 2 at once, highest plane first. */
uint64_t simhash_value(const struct simhash *s)
{
	uint64_t half = s->n / 2, more = 0, equal = ~(uint64_t)0;

	for (int k = SIMHASH_PLANES; k-- > 0;) {
		uint64_t bit = half >> k & 1 ? ~(uint64_t)0 : 0;

		more |= equal & s->plane[k] & ~bit;
		equal &= ~(s->plane[k] ^ bit);
	}
	return more;
}
