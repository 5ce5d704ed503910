/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.h - random draws that depend on what is drawn, not on when.
 *
 * rng_draw(seed, cycle, page, purpose) is a hash: the same four numbers give
 * the same draw whatever was drawn before, by any thread, in any order.  Where
 * a whole sequence is wanted (a shuffle), struct rng is seeded by such a hash.
 */
#ifndef BASE_MATH_RNG_H
#define BASE_MATH_RNG_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* What a draw is for; keeps draws of one page in one cycle independent. */
enum rng_purpose {
	RNG_ORDER = 1, RNG_SAMPLE, RNG_TRIGGER, RNG_TIE, RNG_NOISE, RNG_FILL,
	RNG_EXPLORE, RNG_SPLIT, RNG_WORLD, RNG_QUERY, RNG_JITTER, RNG_CHECK,
	RNG_USER = 100          /* a module's own purposes start here */
};

static inline uint64_t rng_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static inline uint64_t rng_draw(uint64_t seed, uint64_t cycle, uint64_t page,
                                uint64_t purpose)
{
	return rng_mix(rng_mix(rng_mix(rng_mix(seed) ^ cycle) ^ page) ^ purpose);
}

/* A draw as a number in [0, 1). */
static inline double rng_unit(uint64_t draw)
{
	return (double)(draw >> 11) * 0x1p-53;
}

struct rng { uint64_t s[4]; };          /* xoshiro256** */

static inline void rng_init(struct rng *r, uint64_t draw)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = draw = rng_mix(draw);
}

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s, x = s[1] * 5, t = s[1] << 17;

	x = ((x << 7) | (x >> 57)) * 9;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = (s[3] << 45) | (s[3] >> 19);
	return x;
}

static inline double rng_next_unit(struct rng *r)
{
	return rng_unit(rng_next(r));
}

/* Uniform in 0 .. n-1; n must not be 0. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)rng_next(r) * n) >> 64);
}

/* Standard normal (Box and Muller, one of the pair). */
static inline double rng_normal(struct rng *r)
{
	double u = 1 - rng_next_unit(r), v = rng_next_unit(r);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static inline void rng_shuffle(struct rng *r, uint32_t *v, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)rng_below(r, i);
		uint32_t t = v[i - 1];

		v[i - 1] = v[j];
		v[j] = t;
	}
}

#endif
