/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_best.c - the best of all scores, found by counting.
 *
 * Floats are ordered as their bits are, once negative ones are turned round: the rank.
 * Pages are counted by the upper half of their ranks.  Those above the half in which the
 * last of the best lies are in, those below are out; the others are counted by the lower
 * half, then, as equals, by the upper bits of their chance.
 *
 * Cost.  Two passes over all ranks, two over each rest; 256 KiB and 4 bytes for each page
 * of a rest.
 */
#include "base/math/rng.h"
#include "policy/evidence/evidence.h"

#define DIGITS 65536u

enum level { HIGH, LOW, CHANCE, N_LEVELS };

uint64_t evidence_chance(uint64_t seed, uint32_t page)
{
	return rng_draw(seed, 0, page, RNG_TIE);
}

float evidence_unrank(uint32_t rank)
{
	uint32_t bits = rank & 0x80000000u ? rank & 0x7fffffffu : ~rank;
	float score;

	memcpy(&score, &bits, sizeof score);
	return score;
}

struct choice {
	const uint32_t *rank;
	uint64_t seed;
	size_t need;                    /* pages that are still to be chosen */
	uint32_t *best;                 /* those that are */
	size_t n_best;
	uint32_t floor;                 /* the best rank of those that are out */
	uint32_t count[DIGITS];
};

static uint32_t digit_of(const struct choice *c, uint32_t page, enum level level)
{
	if (level == CHANCE)
		return (uint32_t)(evidence_chance(c->seed, page) >> 48);
	return level == HIGH ? c->rank[page] >> 16 : c->rank[page] & (DIGITS - 1);
}

/* Chooses by one digit among n pages; pages NULL: the first n, without those of rank 0.
 * Returns the rest, of which c->need are to be chosen; *ret_n: how many it has. */
static inline uint32_t *narrow(struct choice *c, const uint32_t *pages, size_t n,
                               enum level level, size_t *ret_n)
{
	uint32_t *rest, at = DIGITS - 1;

	memset(c->count, 0, sizeof c->count);
	for (size_t i = 0; i < n; i++) {
		uint32_t page = pages ? pages[i] : (uint32_t)i;

		c->count[digit_of(c, page, level)] += c->rank[page] > 0;
	}
	for (; at && c->count[at] < c->need; at--)
		c->need -= c->count[at];
	rest = mem_array(c->count[at], sizeof *rest);
	*ret_n = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t page = pages ? pages[i] : (uint32_t)i, digit = digit_of(c, page, level);

		if (digit > at)
			c->best[c->n_best++] = page;
		else if (digit == at && c->rank[page])
			rest[(*ret_n)++] = page;
		else if (c->rank[page] > c->floor)
			c->floor = c->rank[page];
	}
	return rest;
}

size_t evidence_best(const uint32_t *rank, uint32_t n, size_t keep, uint64_t seed,
                     uint32_t *ret_best, uint32_t *ret_floor)
{
	struct choice *c = mem_alloc(sizeof *c);
	size_t n_rest, n_best;
	uint32_t *rest;

	*c = (struct choice){ .rank = rank, .seed = seed, .need = keep, .best = ret_best };
	rest = narrow(c, NULL, n, HIGH, &n_rest);
	for (enum level level = LOW; level < N_LEVELS && n_rest > c->need; level++) {
		uint32_t *all = rest;

		rest = narrow(c, all, n_rest, level, &n_rest);
		free(all);
	}
	for (size_t i = 0; i < n_rest; i++)
		if (i < c->need)
			c->best[c->n_best++] = rest[i];
		else if (rank[rest[i]] > c->floor)
			c->floor = rank[rest[i]];
	*ret_floor = c->floor;
	n_best = c->n_best;
	free(rest);
	free(c);
	return n_best;
}
